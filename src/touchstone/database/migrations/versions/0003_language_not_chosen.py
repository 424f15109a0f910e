"""Allow accounts without a chosen language, whose pages are then in the language of the browser."""

from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Let `users.locale` be null.

    The steps work on both databases and in place: recreating the table would delete the rows that refer to it.
    """
    op.execute("ALTER TABLE users ADD COLUMN chosen_locale TEXT")
    op.execute("UPDATE users SET chosen_locale = locale")
    op.execute("ALTER TABLE users DROP COLUMN locale")
    op.execute("ALTER TABLE users RENAME COLUMN chosen_locale TO locale")
