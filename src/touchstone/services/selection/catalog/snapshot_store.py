"""Queries on the register of snapshot files that belong to this database."""

from typing import Final

import sqlalchemy as sa

from touchstone.database.engine import Reader, Writer
from touchstone.database.tables import catalog_snapshots

# Two processes may register the same file at the same time.
_REGISTER_SNAPSHOT: Final = sa.text(
    "INSERT INTO catalog_snapshots (digest, version) VALUES (:digest, :version) ON CONFLICT (digest) DO NOTHING"
)


async def is_registered(connection: Reader, digest: str) -> bool:
    """Return whether the snapshot with a digest belongs to this database."""
    query = sa.select(catalog_snapshots.c.digest).where(catalog_snapshots.c.digest == digest)
    return await connection.first(query) is not None


async def register_snapshot(transaction: Writer, digest: str, version: int) -> None:
    """Register the digest of a snapshot with the version of its records."""
    await transaction.execute(_REGISTER_SNAPSHOT.bindparams(digest=digest, version=version))
