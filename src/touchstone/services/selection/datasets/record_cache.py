"""The cache of dataset records as JSON, limited in bytes."""

from collections.abc import Iterable, Mapping
from typing import Final

from touchstone.services.selection.datasets.encoded_records import EncodedRecord

CACHE_BYTES: Final = 64 * 1024 * 1024


class RecordCache:
    """Encoded records by id, limited in bytes; the oldest entries are evicted first."""

    def __init__(self, limit: int = CACHE_BYTES) -> None:
        self.limit = limit
        self.bytes = 0
        self._records: dict[int, EncodedRecord] = {}

    def get(self, dataset_id: int) -> EncodedRecord | None:
        """Return the record with this id if it is cached."""
        return self._records.get(dataset_id)

    def put(self, records: Mapping[int, EncodedRecord]) -> None:
        """Add records, or replace those with the same id, and evict the oldest while the cache is over its limit."""
        self.drop(records)
        for dataset_id, record in records.items():
            self._records[dataset_id] = record
            self.bytes += len(record.body)

        while self.bytes > self.limit:
            oldest_id = next(iter(self._records))
            self.drop([oldest_id])

    def clear(self) -> None:
        """Remove all records."""
        self._records.clear()
        self.bytes = 0

    def drop(self, ids: Iterable[int]) -> None:
        """Remove the records with these ids, if they are cached."""
        for dataset_id in ids:
            record = self._records.pop(dataset_id, None)
            if record is not None:
                self.bytes -= len(record.body)
