"""Store with each record when its creator has declared an attribute."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    """Add `datasets.declared_at`; what existing records declare counts as declared when they were created."""
    op.add_column("datasets", sa.Column("declared_at", sa.JSON(none_as_null=True), nullable=True))


def downgrade() -> None:
    """Drop the column again."""
    op.drop_column("datasets", "declared_at")
