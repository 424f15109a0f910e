"""Queries on the table with the total size of each owner's records.

The totals are stored, because adding up all records of an owner for every write would be slow.
"""

from collections.abc import Mapping
from typing import Final
from uuid import UUID

import sqlalchemy as sa

from touchstone.database.engine import Reader, Writer
from touchstone.database.tables import record_usage

_ADD_BYTES: Final = sa.text(
    "INSERT INTO record_usage (owner, bytes) VALUES (:owner, :bytes)"
    " ON CONFLICT (owner) DO UPDATE SET bytes = record_usage.bytes + excluded.bytes"
).bindparams(sa.bindparam("owner", type_=sa.Uuid()), sa.bindparam("bytes", type_=sa.BigInteger()))


async def read_bytes(connection: Reader, owner: UUID) -> int:
    """Return the total size of an owner's records in bytes."""
    used_bytes = await connection.scalar(sa.select(record_usage.c.bytes).where(record_usage.c.owner == owner))
    return int(used_bytes or 0)


async def add_bytes(transaction: Writer, added_bytes: Mapping[UUID | None, int]) -> None:
    """Update the total size of each owner's records. Records without an owner are not counted.

    Args:
        transaction: the transaction that writes the records.
        added_bytes: the number of bytes to add for each owner, which is negative if the records became smaller.
    """
    rows = [
        {"owner": owner, "bytes": byte_count}
        for owner, byte_count in added_bytes.items()
        if owner is not None and byte_count != 0
    ]
    if rows:
        await transaction.execute(_ADD_BYTES, rows)
