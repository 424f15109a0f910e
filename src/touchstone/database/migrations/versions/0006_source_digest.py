"""Add a digest that identifies the source of an imported record."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Add the column, and an index for finding the record of a repeated import."""
    op.add_column("datasets", sa.Column("source_digest", sa.Text(), nullable=True))
    op.create_index(op.f("ix_datasets_source_digest"), "datasets", ["source_digest"], unique=True)
