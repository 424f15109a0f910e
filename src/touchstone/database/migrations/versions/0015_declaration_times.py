"""Add the times of the creator's declarations to each record."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    """Add `datasets.declared_at`. Existing declarations are dated to the creation of the record."""
    op.add_column("datasets", sa.Column("declared_at", sa.JSON(none_as_null=True), nullable=True))


def downgrade() -> None:
    """Drop the column again."""
    op.drop_column("datasets", "declared_at")
