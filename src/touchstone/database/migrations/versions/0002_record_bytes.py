"""Add the size of each record, for quotas and for the size limit of a page."""

import functools
import operator

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_TEXTS = ("description", "file_path", "file_type", "dataset_name", "objective")
_NAMES_BYTES = 1000  # the approximate size of the keys of a record
_DOCUMENTS = ("domain", "task", "metadata", "measured_attributes")


def upgrade() -> None:
    """Add the column with the approximate size of each record as JSON, and replace the index on owners."""
    op.add_column("datasets", sa.Column("bytes", sa.BigInteger(), nullable=False, server_default=sa.text("0")))
    columns: list[sa.ColumnClause[object]] = [sa.column(name) for name in (*_TEXTS, *_DOCUMENTS)]
    if op.get_bind().dialect.name == "sqlite":
        sizes = [sa.func.length(sa.cast(column, sa.LargeBinary)) for column in columns]
    else:
        sizes = [sa.func.octet_length(sa.cast(column, sa.Text)) for column in columns]
    total = functools.reduce(operator.add, (sa.func.coalesce(size, 0) for size in sizes))
    op.execute(sa.update(sa.table("datasets", sa.column("bytes"))).values(bytes=total + _NAMES_BYTES))
    op.drop_index(op.f("ix_datasets_owner"), table_name="datasets")
    op.create_index(op.f("ix_datasets_owner_bytes"), "datasets", ["owner", "bytes"], unique=False)


def downgrade() -> None:
    """Drop the column, and restore the previous index on owners."""
    op.drop_index(op.f("ix_datasets_owner_bytes"), table_name="datasets")
    op.create_index(op.f("ix_datasets_owner"), "datasets", ["owner"], unique=False)
    op.drop_column("datasets", "bytes")
