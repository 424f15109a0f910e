"""Index the records in the order of their changes, for processes that read recent changes."""

from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    """Replace the index on versions by an index on versions and ids."""
    op.create_index(op.f("ix_datasets_changed_at_version_id"), "datasets", ["changed_at_version", "id"])
    op.drop_index(op.f("ix_datasets_changed_at_version"), "datasets")


def downgrade() -> None:
    """Replace the index on versions and ids by an index on versions."""
    op.create_index(op.f("ix_datasets_changed_at_version"), "datasets", ["changed_at_version"])
    op.drop_index(op.f("ix_datasets_changed_at_version_id"), "datasets")
