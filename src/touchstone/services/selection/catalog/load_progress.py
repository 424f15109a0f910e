"""The progress of loading the catalog, for the log, the health routes and error responses."""

import time
from collections.abc import Iterable, Iterator
from typing import Final

import structlog

from touchstone.core.errors import CatalogLoading
from touchstone.ranking.columns.record_batch import RecordBatch

# The interval between log messages about a long load.
LOG_SECONDS: Final = 5.0
# When clients should retry a request that needs the catalog.
RETRY_SECONDS: Final = 5

log = structlog.get_logger("touchstone.catalog")


class LoadAbandoned(Exception):
    """Loading was abandoned because the process is stopping."""


class LoadProgress:
    """Counts the records that a thread has loaded, while requests that need the catalog are refused.

    Attributes:
        records: the number of records loaded so far.
        total_records: the number of records when the load began, or 0 while it is unknown.
    """

    def __init__(self) -> None:
        self.records = 0
        self.total_records = 0
        self._is_abandoned = False

    def begin(self, total_records: int) -> None:
        """Start counting from zero, for a first or repeated attempt to load the records."""
        self.records = 0
        self.total_records = total_records

    def track(self, batches: Iterable[RecordBatch]) -> Iterator[RecordBatch]:
        """Yield the batches, count their records, and log the progress every `LOG_SECONDS`.

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
        """Stop loading before the next batch."""
        self._is_abandoned = True

    def to_error(self) -> CatalogLoading:
        """Return the error for requests that need the catalog."""
        return CatalogLoading(RETRY_SECONDS, records=self.records, total_records=self.total_records)
