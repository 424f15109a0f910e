"""Queries for what has changed in the catalog since a version: records, deletions, and records that became private."""

from typing import Any, NamedTuple

import sqlalchemy as sa

from touchstone.core.attributes import INT32_MAX
from touchstone.database.engine import Reader
from touchstone.database.tables import dataset_deletions, datasets
from touchstone.services.selection.datasets.dataset_record import COLUMNS_WITHOUT_METADATA, DatasetRecord, to_records


class ChangePlace(NamedTuple):
    """A place in the order of all changes: by the version at which a record last changed, then by its id."""

    version: int
    id: int

    @classmethod
    def end_of(cls, version: int) -> "ChangePlace":
        """Return the place behind all records of a version."""
        return cls(version, INT32_MAX)


class PrivateRecord(NamedTuple):
    """A record that only its owner may see, and the version of the catalog at which it last changed."""

    id: int
    version: int


async def records_changed_after(connection: Reader, place: ChangePlace, limit: int) -> list[DatasetRecord]:
    """Return the records that changed after a place, without `metadata`, in the order of their changes.

    At most `limit` records are returned.
    """
    rows = [*await connection.all(rest_of_version(place, limit))]
    if len(rows) < limit:
        rows += await connection.all(later_versions(place.version, limit - len(rows)))
    return to_records(rows)


# Versions and ids are compared in two queries, each of which reads its part of the index of versions and ids and no
# more. In a single query, databases tend to read all later changes again for every batch of them.


def rest_of_version(place: ChangePlace, limit: int) -> sa.Select[Any]:
    """Return the query for the first records of the same version that follow a place."""
    version, id_ = datasets.c.changed_at_version, datasets.c.id
    query = sa.select(*COLUMNS_WITHOUT_METADATA).where(version == place.version, id_ > place.id)
    return query.order_by(id_).limit(limit)


def later_versions(version: int, limit: int) -> sa.Select[Any]:
    """Return the query for the first records that changed after a version."""
    changed_at_version = datasets.c.changed_at_version
    query = sa.select(*COLUMNS_WITHOUT_METADATA).where(changed_at_version > version)
    return query.order_by(changed_at_version, datasets.c.id).limit(limit)


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
