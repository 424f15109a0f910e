"""The in-memory catalog with the version of its records, and the application of changes to it."""

import asyncio
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from touchstone.database import change_counters
from touchstone.database.engine import Database, Reader
from touchstone.ranking.catalog.catalog import Catalog
from touchstone.ranking.columns.row_batches import to_record_batch
from touchstone.services.selection.catalog.changes_store import (
    ChangedBatch,
    ChangePosition,
    batches_changed_after,
    private_records_changed_since,
    records_changed_after,
    records_deleted_since,
)
from touchstone.services.selection.catalog_writer import CatalogWriter
from touchstone.services.selection.datasets.dataset_record import DatasetRecord
from touchstone.services.selection.datasets.encoded_records import to_catalog_row

# Fewer than FEW_CHANGES changed records are read as rows. Otherwise, up to MANY_CHANGES at a time are read as columns,
# which is much faster per record, but takes a tenth of a second until the first record arrives.
FEW_CHANGES: Final = 100
MANY_CHANGES: Final = 8000


class NextChanges(NamedTuple):
    """The next changes in the database that a catalog has not applied yet.

    Attributes:
        version: the version of the database when the changes were read.
        removed_ids: the ids of all records that were deleted or made private.
        batches: the changed records in the order of their changes.
        is_last: whether the batches contain all changed records.
    """

    version: int
    removed_ids: Sequence[int]
    batches: Sequence[ChangedBatch]
    is_last: bool

    @property
    def ids(self) -> list[int]:
        """The ids of all changed and removed records."""
        changed_ids = [id_ for batch in self.batches for id_ in batch.records.ids.tolist()]
        return [*changed_ids, *self.removed_ids]

    def split(self) -> Iterator["NextChanges"]:
        """Yield the changes in parts with at most one batch each, which must be applied in order."""
        if len(self.batches) <= 1:
            yield self
            return

        *earlier_batches, last_batch = self.batches
        removed_ids = self.removed_ids
        for batch in earlier_batches:
            yield NextChanges(self.version, removed_ids, [batch], is_last=False)
            removed_ids = ()
        yield NextChanges(self.version, (), [last_batch], self.is_last)


class VersionedCatalog:
    """The in-memory catalog, with the versions of the database that it corresponds to.

    Attributes:
        columns: the catalog.
        version: the version up to which all changes have been applied.
        index_version: the version of the records in the index.
    """

    def __init__(self, columns: Catalog, version: int) -> None:
        self.columns = columns
        self.version = version
        self.index_version = version
        # The position up to which the changes of other processes have been applied, maybe in the middle of a version.
        self._position = ChangePosition.end_of(version)
        # All deletions and all changes to private have been applied up to this version.
        self._removals_version = version
        # Versions written by this process and applied while older versions of other processes were still missing.
        self._versions_ahead: set[int] = set()
        # The records that this process has written since changes were read; None if no changes have to be applied.
        self._ids_written_since: set[int] | None = None

    async def read_next_changes(self, database: Database) -> NextChanges:
        """Read the next changes in the database that have not been applied yet.

        Only one caller at a time may read changes, and it must apply them before it reads the next ones. This process
        may write to the catalog in between.
        """
        self._ids_written_since = set()
        async with database.reading() as connection:
            current_version = await change_counters.read_version(connection, change_counters.CATALOG)
            removed_ids = await self._read_removed_ids(connection)

            # If there were too many changes to read in one query, the last ones ended in the middle of a version.
            position = max(self._position, ChangePosition.end_of(self.version))
            if position.is_end_of_version:
                records = await records_changed_after(connection, position.version, FEW_CHANGES)
                if len(records) < FEW_CHANGES:
                    return NextChanges(current_version, removed_ids, _to_batches(records), is_last=True)

        batches = await database.read_columns(
            lambda column_connection: batches_changed_after(column_connection, position, MANY_CHANGES)
        )
        is_last = sum(batch.records.size for batch in batches) < MANY_CHANGES
        return NextChanges(current_version, removed_ids, batches, is_last)

    async def catch_up(self, database: Database) -> None:
        """Read and apply all changes in the database. This process must not write to this catalog meanwhile."""
        is_up_to_date = False
        while not is_up_to_date:
            changes = await self.read_next_changes(database)
            for part in changes.split():
                self.apply(part)
                await asyncio.sleep(0)
            is_up_to_date = changes.is_last

    def is_outdated(self, changes: NextChanges) -> bool:
        """Return whether this process has written one of the changed records since the changes were read.

        In this case the catalog contains a newer state of the record, and the changes must be read again.
        """
        return self._ids_written_since is not None and not self._ids_written_since.isdisjoint(changes.ids)

    def apply(self, changes: NextChanges) -> None:
        """Apply changes from `read_next_changes`, which must not be outdated.

        All deleted and private records are removed first, even if their change is only part of a later batch, so that
        they are not shown in the meantime.
        """
        if changes.removed_ids:
            self.columns.apply(upserts=(), deleted=changes.removed_ids)
        for batch in changes.batches:
            self.columns.replace(batch.records)

        self._ids_written_since = None
        self._removals_version = changes.version
        # Read later versions again next time, so that their private records are removed first.
        self._position = ChangePosition.end_of(changes.version)
        if not changes.is_last:
            self._position = min(self._position, changes.batches[-1].last_position)

        # The next batch may contain more records of the last version, so only the version before it is complete.
        complete_version = changes.version if changes.is_last else self._position.version - 1
        self._advance_to(max(self.version, complete_version))

    async def _read_removed_ids(self, connection: Reader) -> list[int]:
        """Return the ids of the records that were deleted or made private since removals were last applied.

        Private records that this process has written are left out, because their changes have already been applied.
        """
        version = max(self._removals_version, self.version)
        deleted_ids = await records_deleted_since(connection, version)
        private_records = await private_records_changed_since(connection, version)
        private_ids = [record.id for record in private_records if record.version not in self._versions_ahead]
        return [*deleted_ids, *private_ids]

    def apply_own_write(self, writer: CatalogWriter) -> None:
        """Apply the changes of a committed transaction of this process."""
        if writer.upserts or writer.deleted_ids:
            changed_rows = [to_catalog_row(record) for record in writer.upserts]
            # A record that the transaction has deleted and written again still exists.
            removed_only = set(writer.deleted_ids).difference(row.id for row in changed_rows)
            self.columns.apply(upserts=changed_rows, deleted=removed_only)
        for batch in writer.new_batches:
            self.columns.append(batch)
        if self._ids_written_since is not None:
            self._ids_written_since.update(writer.written_ids)

        self._versions_ahead.add(writer.version)
        self._advance_to(self.version)

    def _advance_to(self, version: int) -> None:
        """Record that all changes up to a version of the database have been applied.

        Later versions that this process has written and applied are included if they follow without a gap.
        """
        last_version = version
        while last_version + 1 in self._versions_ahead:
            last_version += 1

        self.version = last_version
        self._versions_ahead = {ahead for ahead in self._versions_ahead if ahead > last_version}


def _to_batches(records: Sequence[DatasetRecord]) -> list[ChangedBatch]:
    """Return a list with one batch of all records, or an empty list if there are no records."""
    if not records:
        return []

    last_position = ChangePosition(records[-1].changed_at_version, records[-1].id)
    return [ChangedBatch(to_record_batch([to_catalog_row(record) for record in records]), last_position)]
