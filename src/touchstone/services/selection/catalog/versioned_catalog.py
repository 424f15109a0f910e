"""The catalog in memory, with the version of the database that it has reached, and the application of changes."""

import asyncio
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from touchstone.database import change_counters
from touchstone.database.engine import Database, Reader
from touchstone.ranking.catalog.catalog import Catalog
from touchstone.ranking.columns.row_batches import to_record_batch
from touchstone.services.selection.catalog.changes_store import (
    ChangedBatch,
    ChangePlace,
    batches_changed_after,
    private_records_changed_since,
    records_changed_after,
    records_deleted_since,
)
from touchstone.services.selection.catalog_writer import CatalogWriter
from touchstone.services.selection.datasets.dataset_record import DatasetRecord
from touchstone.services.selection.datasets.encoded_records import to_catalog_row

# Fewer changed records than FEW_CHANGES are read one by one. More of them are read as columns, up to MANY_CHANGES at a
# time, which takes a fraction of the time for each record, but a tenth of a second until the first one arrives.
FEW_CHANGES: Final = 100
MANY_CHANGES: Final = 8000


class NextChanges(NamedTuple):
    """The next changes in the database that a catalog has not applied yet.

    Attributes:
        version: The version of the database when they were read.
        removed_ids: The ids of all records that were deleted or made private.
        batches: Changed records in the order of their changes.
        is_last: Whether no further records had changed.
    """

    version: int
    removed_ids: Sequence[int]
    batches: Sequence[ChangedBatch]
    is_last: bool

    @property
    def ids(self) -> list[int]:
        """The ids of all records that the changes are about."""
        changed_ids = [id_ for batch in self.batches for id_ in batch.records.ids.tolist()]
        return [*changed_ids, *self.removed_ids]

    def split(self) -> Iterator["NextChanges"]:
        """Yield the same changes in parts of one batch each, which are applied in their order."""
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
    """The columns of a process, with the versions of the database that they have reached.

    Attributes:
        columns: The records.
        version: All changes up to this version have been applied.
        index_version: The version of the records behind the index.
    """

    def __init__(self, columns: Catalog, version: int) -> None:
        self.columns = columns
        self.version = version
        self.index_version = version
        # The changes of others have been applied up to here, which may be in the midst of the next version.
        self._place = ChangePlace.end_of(version)
        # All records that were deleted or made private up to this version have been removed or applied.
        self._removals_version = version
        # Versions of this process that were applied while an older one, of another process, was still missing.
        self._versions_ahead: set[int] = set()
        # The records that this process has written since changes were read; None while no changes are to be applied.
        self._ids_written_since: set[int] | None = None

    async def read_next_changes(self, database: Database) -> NextChanges:
        """Read the next changes in the database that have not been applied yet.

        This process may write meanwhile. One caller at a time may read changes, and has to apply them before it reads
        the next ones.
        """
        self._ids_written_since = set()
        async with database.reading() as connection:
            current_version = await change_counters.read_version(connection, change_counters.CATALOG)
            removed_ids = await self._read_removed_ids(connection)

            # The last changes ended in the midst of a version if there were too many of them to be read at once.
            place = max(self._place, ChangePlace.end_of(self.version))
            if place.is_end_of_version:
                records = await records_changed_after(connection, place.version, FEW_CHANGES)
                if len(records) < FEW_CHANGES:
                    return NextChanges(current_version, removed_ids, _to_batches(records), is_last=True)

        batches = await database.read_columns(
            lambda column_connection: batches_changed_after(column_connection, place, MANY_CHANGES)
        )
        is_last = sum(batch.records.size for batch in batches) < MANY_CHANGES
        return NextChanges(current_version, removed_ids, batches, is_last)

    async def catch_up(self, database: Database) -> None:
        """Read and apply all changes in the database, while this process writes nothing to the catalog."""
        is_up_to_date = False
        while not is_up_to_date:
            changes = await self.read_next_changes(database)
            for part in changes.split():
                self.apply(part)
                await asyncio.sleep(0)
            is_up_to_date = changes.is_last

    def is_outdated(self, changes: NextChanges) -> bool:
        """Return whether this process has written one of the records since the changes were read.

        The catalog then holds a newer state of the record, so that the changes have to be read again.
        """
        return self._ids_written_since is not None and not self._ids_written_since.isdisjoint(changes.ids)

    def apply(self, changes: NextChanges) -> None:
        """Apply changes that were read before, and are not outdated.

        Records that nobody or only their owner may see are removed first, however many changes there are: they must
        not be shown until their own change is applied. The others follow in batches.
        """
        if changes.removed_ids:
            self.columns.apply(upserts=(), deleted=changes.removed_ids)
        for batch in changes.batches:
            self.columns.replace(batch.records)

        self._ids_written_since = None
        self._removals_version = changes.version
        # Records that have changed after that version are read again: private ones among them will be removed first.
        self._place = ChangePlace.end_of(changes.version)
        if not changes.is_last:
            self._place = min(self._place, changes.batches[-1].last_place)

        # More records of the last version may follow in the next batch.
        complete_version = changes.version if changes.is_last else self._place.version - 1
        self._advance_to(max(self.version, complete_version))

    async def _read_removed_ids(self, connection: Reader) -> list[int]:
        """Return the ids of the records that were deleted or made private since removals were last applied.

        The writes of this process itself have been applied already.
        """
        version = max(self._removals_version, self.version)
        deleted_ids = await records_deleted_since(connection, version)
        private_records = await private_records_changed_since(connection, version)
        private_ids = [record.id for record in private_records if record.version not in self._versions_ahead]
        return [*deleted_ids, *private_ids]

    def apply_own_write(self, writer: CatalogWriter) -> None:
        """Apply what a committed transaction of this process has written."""
        if writer.upserts or writer.deleted_ids:
            changed_rows = [to_catalog_row(record) for record in writer.upserts]
            # A record that the transaction has both deleted and written still exists.
            removed_only = set(writer.deleted_ids).difference(row.id for row in changed_rows)
            self.columns.apply(upserts=changed_rows, deleted=removed_only)
        for batch in writer.new_batches:
            self.columns.append(batch)
        if self._ids_written_since is not None:
            self._ids_written_since.update(writer.written_ids)

        self._versions_ahead.add(writer.version)
        self._advance_to(self.version)

    def _advance_to(self, version: int) -> None:
        """Note that all changes up to a version of the database have been applied.

        Changes of this process itself may already have been applied beyond that version. If they follow it without a
        gap, they are included.
        """
        last_version = version
        while last_version + 1 in self._versions_ahead:
            last_version += 1

        self.version = last_version
        self._versions_ahead = {ahead for ahead in self._versions_ahead if ahead > last_version}


def _to_batches(records: Sequence[DatasetRecord]) -> list[ChangedBatch]:
    """Return a batch of all changed records, if there are any."""
    if not records:
        return []

    last_place = ChangePlace(records[-1].changed_at_version, records[-1].id)
    return [ChangedBatch(to_record_batch([to_catalog_row(record) for record in records]), last_place)]
