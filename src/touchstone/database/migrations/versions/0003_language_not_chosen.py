"""An account may have chosen no language: its pages are then in the browser's."""

from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Let `users.locale` be null.

    In place, with steps that both databases know: making the table anew would delete the rows that refer to it.
    """
    op.execute("ALTER TABLE users ADD COLUMN chosen_locale TEXT")
    op.execute("UPDATE users SET chosen_locale = locale")
    op.execute("ALTER TABLE users DROP COLUMN locale")
    op.execute("ALTER TABLE users RENAME COLUMN chosen_locale TO locale")
