"""Drop the index on the owner and the size of records, which is unused since migration 0009."""

from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    """Drop the index."""
    op.drop_index(op.f("ix_datasets_owner_bytes"), "datasets")


def downgrade() -> None:
    """Create the index again."""
    op.create_index(op.f("ix_datasets_owner_bytes"), "datasets", ["owner", "bytes"])
