"""Queries for what has changed in the catalog since a version: records, deletions, and records that became private."""

from typing import NamedTuple

import sqlalchemy as sa

from touchstone.database.engine import Reader
from touchstone.database.tables import dataset_deletions, datasets
from touchstone.services.selection.datasets.store import COLUMNS_WITHOUT_METADATA, DatasetRecord, to_records


class PrivateRecord(NamedTuple):
    """A record that only its owner may see, and the version of the catalog at which it last changed."""

    id: int
    version: int


async def records_changed_since(connection: Reader, version: int, limit: int) -> list[DatasetRecord]:
    """Return the records that changed after a version of the catalog, without `metadata`, the oldest changes first.

    At most `limit` records are returned.
    """
    query = sa.select(*COLUMNS_WITHOUT_METADATA).where(datasets.c.changed_at_version > version)
    rows = await connection.all(query.order_by(datasets.c.changed_at_version).limit(limit))
    return to_records(rows)


async def records_changed_at(connection: Reader, version: int) -> list[DatasetRecord]:
    """Return the records that last changed at a version of the catalog, without `metadata`."""
    query = sa.select(*COLUMNS_WITHOUT_METADATA).where(datasets.c.changed_at_version == version)
    return to_records(await connection.all(query))


async def records_deleted_since(connection: Reader, version: int) -> list[int]:
    """Return the ids of the records that were deleted after a version of the catalog."""
    query = sa.select(dataset_deletions.c.id).where(dataset_deletions.c.deleted_at_version > version)
    return [row["id"] for row in await connection.all(query)]


async def private_records_changed_since(connection: Reader, version: int) -> list[PrivateRecord]:
    """Return the records that changed after a version of the catalog and that only their owner may see now."""
    is_private = (datasets.c.visibility != "public") | datasets.c.is_hidden
    columns = (datasets.c.id, datasets.c.changed_at_version.label("version"))
    query = sa.select(*columns).where(datasets.c.changed_at_version > version, is_private)
    return await connection.all_as(PrivateRecord, query)
