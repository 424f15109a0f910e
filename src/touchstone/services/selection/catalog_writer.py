"""Writing of records to the database in a form that is then applied to the catalog in memory."""

from touchstone.database.engine import Writer
from touchstone.services.selection.datasets import store
from touchstone.services.selection.datasets.store import DatasetDraft, DatasetRecord


class CatalogWriter:
    """A transaction on the catalog that records its changes, so that they can be applied to the columns."""

    def __init__(self, transaction: Writer, version: int) -> None:
        self.transaction = transaction
        self.version = version
        self.deleted_ids: list[int] = []
        self._upserts: dict[int, DatasetRecord] = {}

    @property
    def upserts(self) -> list[DatasetRecord]:
        """The records that the transaction has inserted or changed, each in its last state."""
        return list(self._upserts.values())

    async def insert(self, draft: DatasetDraft) -> DatasetRecord:
        """Insert a record and return it as stored."""
        record = await store.insert_dataset(self.transaction, draft, self.version)
        self._upserts[record.id] = record
        return record

    async def update(self, dataset_id: int, draft: DatasetDraft) -> DatasetRecord:
        """Replace the content of a record and return it as stored."""
        record = await store.update_dataset(self.transaction, dataset_id, draft, self.version)
        self._upserts[record.id] = record
        return record

    async def delete(self, dataset_id: int) -> None:
        """Delete a record."""
        await store.delete_dataset(self.transaction, dataset_id, self.version)
        self._upserts.pop(dataset_id, None)
        self.deleted_ids.append(dataset_id)
