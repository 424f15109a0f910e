"""Add the total size of the records of each owner, for quotas."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"

_ADD_UP_RECORDS = """
    INSERT INTO record_usage (owner, bytes)
    SELECT owner, SUM(bytes) FROM datasets WHERE owner IS NOT NULL GROUP BY owner
"""


def upgrade() -> None:
    """Create the table, and insert the sizes of the existing records."""
    op.create_table(
        "record_usage",
        sa.Column("owner", sa.Uuid(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("owner", name=op.f("pk_record_usage")),
    )
    op.execute(sa.text(_ADD_UP_RECORDS))


def downgrade() -> None:
    """Drop the table."""
    op.drop_table("record_usage")
