"""The list of the snapshot files that were made of a database."""

from typing import Final

import sqlalchemy as sa

from touchstone.database.engine import Reader, Writer
from touchstone.database.tables import catalog_snapshots

# Two processes may write the same file at the same time.
_LIST_SNAPSHOT: Final = sa.text(
    "INSERT INTO catalog_snapshots (digest, version) VALUES (:digest, :version) ON CONFLICT (digest) DO NOTHING"
)


async def is_listed(connection: Reader, digest: str) -> bool:
    """Return whether the snapshot with a digest was made of this database."""
    query = sa.select(catalog_snapshots.c.digest).where(catalog_snapshots.c.digest == digest)
    return await connection.first(query) is not None


async def list_snapshot(transaction: Writer, digest: str, version: int) -> None:
    """List a snapshot, given by its digest, of the records at a version of the catalog."""
    await transaction.execute(_LIST_SNAPSHOT.bindparams(digest=digest, version=version))
