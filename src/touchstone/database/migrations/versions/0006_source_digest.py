"""Add what identifies the source of an imported record."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Add a column to the records, and the index by which an import finds its record again."""
    op.add_column("datasets", sa.Column("source_digest", sa.Text(), nullable=True))
    op.create_index(op.f("ix_datasets_source_digest"), "datasets", ["source_digest"], unique=True)
