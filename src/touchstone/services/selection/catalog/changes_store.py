"""Queries for changes since a version of the catalog: changed, deleted and newly private records."""

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

# Small enough that applying a batch does not delay requests noticeably.
ROWS_PER_BATCH: Final = 2000
_RECORDS: Final = sa.select(*COLUMNS_WITHOUT_METADATA)
_RECORDS_AS_COLUMNS: Final = store.CATALOG_QUERY.add_columns(datasets.c.changed_at_version)


class ChangePosition(NamedTuple):
    """A position in the order of all changes.

    Records are ordered by the version of their last change, then by their id.
    """

    version: int
    id: int

    @classmethod
    def end_of(cls, version: int) -> "ChangePosition":
        """Return the position after all records of a version."""
        return cls(version, INT32_MAX)

    @property
    def is_end_of_version(self) -> bool:
        """Whether no further record of the same version can follow."""
        return self.id == INT32_MAX


class ChangedBatch(NamedTuple):
    """A batch of changed records, and the position of its last record in the order of all changes."""

    records: RecordBatch
    last_position: ChangePosition


class PrivateRecord(NamedTuple):
    """A record that only its owner may see, and the version of its last change."""

    id: int
    version: int


async def records_changed_after(connection: Reader, version: int, limit: int) -> list[DatasetRecord]:
    """Return the first `limit` records that changed after a version, in the order of their changes.

    The records are read without their `metadata`.
    """
    return to_records(await connection.all(later_versions(_RECORDS, version, limit)))


def batches_changed_after(connection: ColumnConnection, position: ChangePosition, limit: int) -> list[ChangedBatch]:
    """Return the first `limit` records that changed after a position, in batches.

    The batches are in the order of the changes. The ids in a batch are distinct, but a record that changes during the
    query may be in two batches. This waits for the database, so call it in a thread.

    Raises:
        Unavailable: the database cannot be reached.
    """
    batches = []
    with closing(RowConverter(thread_count=1)) as converter:
        for rows in _stream_columns_changed_after(connection, position, limit):
            for start in range(0, rows.num_rows, ROWS_PER_BATCH):
                batch_rows = rows.slice(start, ROWS_PER_BATCH)
                batches.append(ChangedBatch(converter.convert(batch_rows), _last_position(batch_rows)))
    return batches


def _stream_columns_changed_after(
    connection: ColumnConnection, position: ChangePosition, limit: int
) -> Iterator[pa.RecordBatch]:
    """Yield the first `limit` rows that changed after a position, in the order of their changes."""
    row_count = 0
    for rows in connection.stream(rest_of_version(_RECORDS_AS_COLUMNS, position, limit)):
        row_count += rows.num_rows
        yield rows

    if row_count < limit:
        yield from connection.stream(later_versions(_RECORDS_AS_COLUMNS, position.version, limit - row_count))


def _last_position(rows: pa.RecordBatch) -> ChangePosition:
    """Return the position of the last row in the order of all changes."""
    return ChangePosition(rows["changed_at_version"][-1].as_py(), rows["id"][-1].as_py())


# Two queries compare the version and the id, so that each of them scans only the matching range of the index on both
# columns. With a single query, databases tend to scan all later changes again for every batch.


def rest_of_version(records: sa.Select[Any], position: ChangePosition, limit: int) -> sa.Select[Any]:
    """Restrict a query to the first `limit` records of the same version after a position."""
    version, id_ = datasets.c.changed_at_version, datasets.c.id
    return records.where(version == position.version, id_ > position.id).order_by(id_).limit(limit)


def later_versions(records: sa.Select[Any], version: int, limit: int) -> sa.Select[Any]:
    """Restrict a query to the first `limit` records that changed after a version."""
    changed_at_version = datasets.c.changed_at_version
    return records.where(changed_at_version > version).order_by(changed_at_version, datasets.c.id).limit(limit)


async def records_deleted_since(connection: Reader, version: int) -> list[int]:
    """Return the ids of all records that were deleted after a version of the catalog."""
    query = sa.select(dataset_deletions.c.id).where(dataset_deletions.c.deleted_at_version > version)
    return [row["id"] for row in await connection.all(query)]


async def private_records_changed_since(connection: Reader, version: int) -> list[PrivateRecord]:
    """Return all records that changed after a version of the catalog and are private or hidden now."""
    is_private = (datasets.c.visibility != "public") | datasets.c.is_hidden
    columns = (datasets.c.id, datasets.c.changed_at_version.label("version"))
    query = sa.select(*columns).where(datasets.c.changed_at_version > version, is_private)
    return await connection.all_as(PrivateRecord, query)
