"""Writes records to the database, and collects the changes for the catalog in memory."""

from collections.abc import Sequence

from touchstone.database.engine import Writer
from touchstone.ranking.columns.record_batch import RecordBatch
from touchstone.services.selection.datasets import store
from touchstone.services.selection.datasets.dataset_record import DatasetDraft, DatasetRecord
from touchstone.services.selection.datasets.new_records import NewRecords


class CatalogWriter:
    """Writes records in a transaction, and collects the changes to apply to the catalog in memory."""

    def __init__(self, transaction: Writer, version: int) -> None:
        self.transaction = transaction
        self.version = version
        self.deleted_ids: list[int] = []
        # The records of bulk imports, in the columnar form of the catalog in memory.
        self.new_batches: list[RecordBatch] = []
        self._upserts: dict[int, DatasetRecord] = {}

    @property
    def upserts(self) -> list[DatasetRecord]:
        """The records that the transaction has inserted individually or changed, in their latest state."""
        return list(self._upserts.values())

    @property
    def written_ids(self) -> list[int]:
        """The ids of all records that the transaction has inserted, changed or deleted."""
        new_ids = [dataset_id for batch in self.new_batches for dataset_id in batch.ids.tolist()]
        return [*self._upserts, *self.deleted_ids, *new_ids]

    async def insert(self, draft: DatasetDraft) -> DatasetRecord:
        """Insert a record, and return it as stored."""
        record = await store.insert_dataset(self.transaction, draft, self.version)
        self._upserts[record.id] = record
        return record

    async def insert_new(self, new_records: NewRecords) -> None:
        """Insert records of one owner that have not been stored before.

        Raises:
            SourceConflict: another transaction has inserted a record with the same source.
        """
        ids = await store.insert_new_datasets(self.transaction, new_records, self.version)
        self.new_batches.append(new_records.catalog_batch(ids))

    async def update(self, dataset_id: int, draft: DatasetDraft) -> DatasetRecord:
        """Replace the content of a record, and return it as stored."""
        record = await store.update_dataset(self.transaction, dataset_id, draft, self.version)
        self._upserts[record.id] = record
        return record

    async def update_many(self, drafts: Sequence[DatasetRecord]) -> list[DatasetRecord]:
        """Replace the content of many records with one statement, and return them as stored.

        The drafts have the new content of the records, but the `content_bytes` of the old content.
        """
        if not drafts:
            return []

        records = await store.update_datasets(self.transaction, drafts, self.version)
        self._upserts |= {record.id: record for record in records}
        return records

    async def delete(self, dataset_id: int) -> None:
        """Delete a record."""
        await store.delete_dataset(self.transaction, dataset_id, self.version)
        self._upserts.pop(dataset_id, None)
        self.deleted_ids.append(dataset_id)
