"""A size-limited cache of encoded dataset records."""

from collections.abc import Iterable, Mapping
from typing import Final

from touchstone.services.selection.datasets.encoded_records import EncodedRecord

CACHE_BYTES: Final = 64 * 1024 * 1024


class RecordCache:
    """A cache of encoded records by id, with a limit on their total size.

    The records that were added first are evicted first.
    """

    def __init__(self, limit: int = CACHE_BYTES) -> None:
        self.limit = limit
        self.bytes = 0
        self._records: dict[int, EncodedRecord] = {}

    def get(self, dataset_id: int) -> EncodedRecord | None:
        """Return the record with an id, or None if it is not cached."""
        return self._records.get(dataset_id)

    def put(self, records: Mapping[int, EncodedRecord]) -> None:
        """Add or replace records, and evict the oldest ones while the cache exceeds its limit."""
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
        """Remove the records with these ids from the cache, if present."""
        for dataset_id in ids:
            record = self._records.pop(dataset_id, None)
            if record is not None:
                self.bytes -= len(record.body)
