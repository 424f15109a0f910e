"""Queries for what has changed in the catalog since a version: records, deletions, and records that became private."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any, Final, NamedTuple

import pyarrow as pa
import sqlalchemy as sa

from touchstone.core.attributes import INT32_MAX
from touchstone.database.columnar import ColumnConnection
from touchstone.database.engine import Reader
from touchstone.database.tables import dataset_deletions, datasets
from touchstone.ranking.columns.record_batch import RecordBatch
from touchstone.services.selection.datasets import store
from touchstone.services.selection.datasets.dataset_record import COLUMNS_WITHOUT_METADATA, DatasetRecord, to_records
from touchstone.services.selection.datasets.record_batches import RowConverter

# Requests are answered between two batches of columns that are applied.
ROWS_PER_BATCH: Final = 2000
_RECORDS: Final = sa.select(*COLUMNS_WITHOUT_METADATA)
_RECORDS_AS_COLUMNS: Final = store.CATALOG_QUERY.add_columns(datasets.c.changed_at_version)


class ChangePlace(NamedTuple):
    """A place in the order of all changes: by the version at which a record last changed, then by its id."""

    version: int
    id: int

    @classmethod
    def end_of(cls, version: int) -> "ChangePlace":
        """Return the place behind all records of a version."""
        return cls(version, INT32_MAX)

    @property
    def is_end_of_version(self) -> bool:
        """Whether no record of the same version follows."""
        return self.id == INT32_MAX


class ChangedBatch(NamedTuple):
    """Some changed records, column by column, and the place of the last one in the order of all changes."""

    records: RecordBatch
    last_place: ChangePlace


class PrivateRecord(NamedTuple):
    """A record that only its owner may see, and the version of the catalog at which it last changed."""

    id: int
    version: int


async def records_changed_after(connection: Reader, version: int, limit: int) -> list[DatasetRecord]:
    """Return the records that changed after a version, without `metadata`, in the order of their changes.

    At most `limit` records are returned.
    """
    return to_records(await connection.all(later_versions(_RECORDS, version, limit)))


def batches_changed_after(connection: ColumnConnection, place: ChangePlace, limit: int) -> list[ChangedBatch]:
    """Return the records that changed after a place, as columns, in the order of their changes.

    At most `limit` records are returned, each batch with distinct ids. A record that changes meanwhile may be in two
    batches. Call this in a thread, because it waits for the database.

    Raises:
        Unavailable: the database cannot be reached.
    """
    batches = []
    with closing(RowConverter(thread_count=1)) as converter:
        for rows in _stream_columns_changed_after(connection, place, limit):
            for start in range(0, rows.num_rows, ROWS_PER_BATCH):
                batch_rows = rows.slice(start, ROWS_PER_BATCH)
                batches.append(ChangedBatch(converter.convert(batch_rows), _last_place(batch_rows)))
    return batches


def _stream_columns_changed_after(
    connection: ColumnConnection, place: ChangePlace, limit: int
) -> Iterator[pa.RecordBatch]:
    """Yield at most `limit` rows that changed after a place, in the order of their changes."""
    row_count = 0
    for rows in connection.stream(rest_of_version(_RECORDS_AS_COLUMNS, place, limit)):
        row_count += rows.num_rows
        yield rows

    if row_count < limit:
        yield from connection.stream(later_versions(_RECORDS_AS_COLUMNS, place.version, limit - row_count))


def _last_place(rows: pa.RecordBatch) -> ChangePlace:
    """Return the place of the last row in the order of all changes."""
    return ChangePlace(rows["changed_at_version"][-1].as_py(), rows["id"][-1].as_py())


# Versions and ids are compared in two queries, each of which reads its part of the index of versions and ids and no
# more. In a single query, databases tend to read all later changes again for every batch of them.


def rest_of_version(records: sa.Select[Any], place: ChangePlace, limit: int) -> sa.Select[Any]:
    """Restrict a query of records to the first ones of the same version that follow a place."""
    version, id_ = datasets.c.changed_at_version, datasets.c.id
    return records.where(version == place.version, id_ > place.id).order_by(id_).limit(limit)


def later_versions(records: sa.Select[Any], version: int, limit: int) -> sa.Select[Any]:
    """Restrict a query of records to the first ones that changed after a version."""
    changed_at_version = datasets.c.changed_at_version
    return records.where(changed_at_version > version).order_by(changed_at_version, datasets.c.id).limit(limit)


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
