"""The progress of loading the catalog, for the log, the health routes and error responses."""

import time
from collections.abc import Iterable, Iterator
from typing import Final

import structlog

from touchstone.core.errors import CatalogLoading
from touchstone.ranking.columns.record_batch import RecordBatch

# How often the progress of a long load is logged.
LOG_SECONDS: Final = 5.0
# How long callers who need the catalog should wait before they ask again.
RETRY_SECONDS: Final = 5

log = structlog.get_logger("touchstone.catalog")


class LoadAbandoned(Exception):
    """Loading was abandoned, because the process is ending."""


class LoadProgress:
    """Counts the records that have been loaded, in a thread, while requests that need the catalog are refused.

    Attributes:
        records: How many records have been read.
        total_records: How many there were when the load began; 0 if that is not known yet.
    """

    def __init__(self) -> None:
        self.records = 0
        self.total_records = 0
        self._is_abandoned = False

    def begin(self, total_records: int) -> None:
        """Start counting from zero, for the first attempt to load the records or for another one."""
        self.records = 0
        self.total_records = total_records

    def track(self, batches: Iterable[RecordBatch]) -> Iterator[RecordBatch]:
        """Yield the batches, count the records that the caller has used, and log the progress every few seconds.

        Raises:
            LoadAbandoned: `abandon` has been called.
        """
        last_log_time = time.monotonic()
        for batch in batches:
            if self._is_abandoned:
                raise LoadAbandoned
            yield batch

            self.records += batch.size
            if time.monotonic() - last_log_time >= LOG_SECONDS:
                last_log_time = time.monotonic()
                log.info("catalog loading", records=self.records, total=self.total_records)

    def abandon(self) -> None:
        """Stop the load at its next batch."""
        self._is_abandoned = True

    def to_error(self) -> CatalogLoading:
        """Return the error for requests that need the catalog."""
        return CatalogLoading(RETRY_SECONDS, records=self.records, total_records=self.total_records)
