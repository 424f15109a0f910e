"""Create the table of records whose data files have yet to be measured."""

import sqlalchemy as sa
from alembic import op

from touchstone.database.utc_datetime import UtcDateTime

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "pending_measurements",
        sa.Column("dataset_id", sa.Integer(), nullable=False),
        sa.Column("leased_until", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["dataset_id"], ["datasets.id"], name=op.f("fk_pending_measurements_dataset_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("dataset_id", name=op.f("pk_pending_measurements")),
    )
