"""List the completed sign-ins at identity providers, so that none is used twice."""

import sqlalchemy as sa
from alembic import op

from touchstone.database.utc_datetime import UtcDateTime

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "used_sign_in_states",
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("expires_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_used_sign_in_states")),
    )
    op.create_index(op.f("ix_used_sign_in_states_expires_at"), "used_sign_in_states", ["expires_at"], unique=False)


def downgrade() -> None:
    """Drop the table."""
    op.drop_table("used_sign_in_states")
