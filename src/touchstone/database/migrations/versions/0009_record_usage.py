"""Keep the size of all records of each owner, which quotas are compared with."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"

_ADD_UP_RECORDS = """
    INSERT INTO record_usage (owner, bytes)
    SELECT owner, SUM(bytes) FROM datasets WHERE owner IS NOT NULL GROUP BY owner
"""


def upgrade() -> None:
    """Create the table, and add up the records that are there already."""
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
