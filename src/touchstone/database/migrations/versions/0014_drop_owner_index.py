"""Drop the index of records by owner and size, which nothing has used since the sum of each owner is kept."""

from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    """Drop the index."""
    op.drop_index(op.f("ix_datasets_owner_bytes"), "datasets")


def downgrade() -> None:
    """Create the index again."""
    op.create_index(op.f("ix_datasets_owner_bytes"), "datasets", ["owner", "bytes"])
