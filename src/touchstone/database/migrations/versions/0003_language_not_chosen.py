"""Allow accounts without a preferred language, so that pages are in the language of the browser."""

from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Make `users.locale` nullable.

    These steps work with both databases. SQLite would have to recreate the table to change the column itself, which
    would delete the rows that refer to it.
    """
    op.execute("ALTER TABLE users ADD COLUMN chosen_locale TEXT")
    op.execute("UPDATE users SET chosen_locale = locale")
    op.execute("ALTER TABLE users DROP COLUMN locale")
    op.execute("ALTER TABLE users RENAME COLUMN chosen_locale TO locale")
