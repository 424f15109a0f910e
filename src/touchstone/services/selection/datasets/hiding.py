"""Hiding of records by administrators. Only its owner can see a hidden record."""

from uuid import UUID

from msgspec.structs import replace

from touchstone.core.errors import DatasetNotFound
from touchstone.core.identity import Caller
from touchstone.database.engine import Database
from touchstone.services.selection.catalog.live_catalog import LiveCatalog
from touchstone.services.selection.datasets import store
from touchstone.services.selection.datasets.dataset_record import DatasetRecord


class HidingEditor:
    """Hides records, shows them again, and lists hidden records, on behalf of administrators."""

    def __init__(self, database: Database, catalog: LiveCatalog) -> None:
        self._database = database
        self._catalog = catalog

    async def find_id(self, uuid: UUID) -> int | None:
        """Return the integer id of any record, including private ones, or None if it does not exist."""
        async with self._database.reading() as connection:
            ids = await store.ids_of_uuids(connection, [uuid])
        return ids.get(uuid)

    async def list_hidden(self, *, skip: int, limit: int) -> tuple[list[DatasetRecord], int]:
        """Return a page of the hidden records, sorted by id, and the number of all hidden records."""
        async with self._database.reading() as connection:
            return await store.hidden_datasets(connection, offset=skip, limit=limit)

    async def set_hidden(
        self, dataset_id: int, caller: Caller, *, is_hidden: bool, reason: str | None
    ) -> DatasetRecord:
        """Hide a record, or show it again, and return it.

        Raises:
            DatasetNotFound: the record does not exist, or is a private record of another user.
        """
        async with self._catalog.writing() as writer:
            record = await store.read_dataset(writer.transaction, dataset_id)
            if record is None:
                raise DatasetNotFound
            is_visible = record.is_public or record.is_hidden or record.owner == caller.id
            if not is_visible:
                raise DatasetNotFound

            hidden_reason = reason if is_hidden else None
            draft = replace(record, is_hidden=is_hidden, hidden_reason=hidden_reason)
            return await writer.update(dataset_id, draft)
