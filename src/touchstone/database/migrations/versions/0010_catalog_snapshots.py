"""List the files with the saved index of the catalog, so that a file of another database is recognized."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    """Create the table, without the existing files, so that the index is built again."""
    op.create_table(
        "catalog_snapshots",
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_catalog_snapshots")),
    )
