"""Reading dataset records by id, from a cache of encoded records or from the database."""

from collections.abc import Collection, Sequence
from uuid import UUID

from touchstone.database.engine import Database
from touchstone.services.selection.datasets import store
from touchstone.services.selection.datasets.dataset_record import DatasetRecord
from touchstone.services.selection.datasets.encoded_records import (
    EncodedRecord,
    encode_records,
    encode_records_without_metadata,
)
from touchstone.services.selection.datasets.record_cache import RecordCache
from touchstone.services.selection.response_size_limit import ByteBudget


class RecordReader:
    """Reads the records of the catalog as JSON, and caches the ones that were read last."""

    def __init__(self, database: Database) -> None:
        self.cache = RecordCache()
        self._database = database
        # Incremented whenever records are evicted because they may have changed.
        self._generation = 0
        # The version of the names of users, which cached records contain.
        self._names_version = 0

    async def encoded_records(self, ids: Sequence[int], viewer: UUID | None) -> list[EncodedRecord]:
        """Return the records with these ids that the viewer may see, in the order of the ids.

        A cached record that the viewer may not see is queried in the database nevertheless, so that the response time
        does not reveal that it exists.
        """
        records: dict[int, EncodedRecord] = {}
        for dataset_id in ids:
            record = self.cache.get(dataset_id)
            if record is not None and record.is_visible_to(viewer):
                records[dataset_id] = record

        if len(records) < len(ids):
            missing_ids = [dataset_id for dataset_id in ids if dataset_id not in records]
            records |= await self._fetch_records(missing_ids, viewer)

        return [records[dataset_id] for dataset_id in ids if dataset_id in records]

    async def record_bodies(self, ids: Sequence[int], viewer: UUID | None, budget: ByteBudget) -> list[bytes]:
        """Return the JSON of the records with these ids that the viewer may see, in the order of the ids.

        Args:
            ids: the ids of the records.
            viewer: the user who will receive the records.
            budget: the size limit of the response. Records that would exceed it are returned without `metadata`.
        """
        await self._cache_small_records(ids, viewer, max_bytes=budget.share(len(ids)))
        content_sizes = await self._content_sizes(ids)
        complete_ids = [dataset_id for dataset_id in ids if budget.try_reserve(content_sizes.get(dataset_id, 0))]
        complete_records = await self.encoded_records(complete_ids, viewer)
        bodies = {record.id: record.body for record in complete_records}

        if len(complete_ids) < len(ids):
            reduced_ids = set(ids).difference(complete_ids)
            async with self._database.reading() as connection:
                records = await store.visible_datasets_without_metadata(connection, list(reduced_ids), viewer)
            bodies |= encode_records_without_metadata(records)

        return [bodies[dataset_id] for dataset_id in ids if dataset_id in bodies]

    async def stored_record(self, dataset_id: int, viewer: UUID | None) -> DatasetRecord | None:
        """Return a record from the database, or None if it does not exist or the viewer may not see it."""
        async with self._database.reading() as connection:
            return await store.visible_dataset(connection, dataset_id, viewer)

    async def find_id_of_uuid(self, dataset_id: UUID, viewer: UUID | None) -> int | None:
        """Return the integer id of a record, or None if it does not exist or the viewer may not see it."""
        async with self._database.reading() as connection:
            return await store.visible_dataset_id(connection, dataset_id, viewer)

    def evict_changed(self, ids: Collection[int]) -> None:
        """Evict records that have changed."""
        self._generation += 1
        self.cache.drop(ids)

    def evict_if_names_changed(self, names_version: int) -> None:
        """Clear the cache if any user has changed their name, which is part of their records."""
        if names_version != self._names_version:
            self._names_version = names_version
            self.evict_all()

    def evict_all(self) -> None:
        """Clear the cache."""
        self._generation += 1
        self.cache.clear()

    async def _cache_small_records(self, ids: Sequence[int], viewer: UUID | None, *, max_bytes: int) -> None:
        """Read uncached records of at most `max_bytes` each into the cache.

        Most records are small, so that this is usually the only query that a response needs.
        """
        uncached_ids = [dataset_id for dataset_id in ids if self.cache.get(dataset_id) is None]
        if uncached_ids:
            await self._fetch_records(uncached_ids, viewer, max_bytes=max_bytes)

    async def _content_sizes(self, ids: Sequence[int]) -> dict[int, int]:
        """Return the sizes of the contents of records in bytes, keyed by id.

        Records that do not exist are missing from the result.
        """
        sizes: dict[int, int] = {}
        for dataset_id in ids:
            record = self.cache.get(dataset_id)
            if record is not None:
                sizes[dataset_id] = record.content_bytes

        if len(sizes) < len(ids):
            missing_ids = [dataset_id for dataset_id in ids if dataset_id not in sizes]
            async with self._database.reading() as connection:
                sizes |= await store.content_sizes(connection, missing_ids)

        return sizes

    async def _fetch_records(
        self, ids: Sequence[int], viewer: UUID | None, *, max_bytes: int = store.ANY_SIZE
    ) -> dict[int, EncodedRecord]:
        """Read the records that the viewer may see from the database, cache them, and return them by id.

        Records that take more than `max_bytes` are left out.
        """
        generation = self._generation
        async with self._database.reading() as connection:
            records = encode_records(await store.visible_datasets(connection, ids, viewer, max_bytes=max_bytes))

        # If changes were applied during the query, these records may be outdated and must not be cached.
        if generation == self._generation:
            self.cache.put(records)

        return records
