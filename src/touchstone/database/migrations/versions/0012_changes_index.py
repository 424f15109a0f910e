"""Index the records in the order of their changes, in which processes read what they have missed."""

from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    """Replace the index of the versions by an index of the versions and ids."""
    op.create_index(op.f("ix_datasets_changed_at_version_id"), "datasets", ["changed_at_version", "id"])
    op.drop_index(op.f("ix_datasets_changed_at_version"), "datasets")


def downgrade() -> None:
    """Replace the index of the versions and ids by an index of the versions alone."""
    op.create_index(op.f("ix_datasets_changed_at_version"), "datasets", ["changed_at_version"])
    op.drop_index(op.f("ix_datasets_changed_at_version_id"), "datasets")
