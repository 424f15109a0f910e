"""Importing records line by line, in transactions of a bounded size, while the body of the request arrives."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from touchstone.core.errors import FieldError, InvalidValue, RecordQuotaExceeded, ServiceError
from touchstone.database.engine import Database
from touchstone.services.selection.bulk.batch_writer import BatchWriter, RecordLine
from touchstone.services.selection.bulk.body_lines import BodyLine, split_lines
from touchstone.services.selection.bulk.record_parser import RecordParser
from touchstone.services.selection.bulk.report import BatchCounts, BulkReport, RefusedLine
from touchstone.services.selection.catalog.live_catalog import LiveCatalog

# Other writers wait for a transaction of this size, which takes some milliseconds.
LINES_PER_BATCH: Final = 500
BYTES_PER_BATCH: Final = 4 * 1024 * 1024
# Other requests wait while so many lines are parsed.
_LINES_AT_ONCE: Final = 50


@dataclass(frozen=True, slots=True)
class BulkLimits:
    """The limits of an import.

    Attributes:
        line_bytes: the length of a line, in bytes.
        quota_bytes: the size of all records of an owner together, in bytes.
    """

    line_bytes: int
    quota_bytes: int


class BulkImporter:
    """Imports records from bodies of any length."""

    def __init__(self, database: Database, catalog: LiveCatalog, limits: BulkLimits) -> None:
        self._database = database
        self._catalog = catalog
        self._limits = limits

    async def run(self, chunks: AsyncIterator[bytes], owner: UUID | None, locale: str) -> list[bytes]:
        """Import the records of a body on behalf of an owner, and return the lines of the report in a language.

        If the import cannot go on, the report says why; what it says of earlier batches is stored.
        """
        writer = BatchWriter(self._database, self._catalog, owner, quota_bytes=self._limits.quota_bytes)
        bulk_import = _BulkImport(writer, self._limits, BulkReport(locale), owner)
        failure: ServiceError | None = None
        try:
            with self._catalog.growing():
                await bulk_import.read(chunks)
        except ServiceError as error:
            failure = error
        finally:
            await bulk_import.close()

        return bulk_import.report.encode(failure)


@dataclass(slots=True)
class _Batch:
    """Lines that are to be stored in one transaction."""

    lines: list[RecordLine] = field(default_factory=list)
    refusals: list[RefusedLine] = field(default_factory=list)
    source_digests: set[str] = field(default_factory=set)
    byte_count: int = 0
    last_line: int = 0

    @property
    def is_full(self) -> bool:
        """Whether the batch must be stored before another line is added."""
        line_count = len(self.lines) + len(self.refusals)
        return line_count >= LINES_PER_BATCH or self.byte_count >= BYTES_PER_BATCH


class _BulkImport:
    """The import of one body."""

    def __init__(self, writer: BatchWriter, limits: BulkLimits, report: BulkReport, owner: UUID | None) -> None:
        self.report = report
        self._writer = writer
        self._limits = limits
        self._parser = RecordParser(limits.line_bytes)
        self._owner = owner
        self._batch = _Batch()
        self._storing: asyncio.Task[None] | None = None  # of the batch before, while the next one is parsed

    async def read(self, chunks: AsyncIterator[bytes]) -> None:
        """Import all lines of a body.

        Raises:
            ServiceError: the client sends too slowly, or the database cannot store more.
        """
        async for lines in split_lines(chunks, self._limits.line_bytes):
            for start in range(0, len(lines), _LINES_AT_ONCE):
                await self._add_lines(lines[start : start + _LINES_AT_ONCE])
                await asyncio.sleep(0)  # other requests have their turn

        await self._store_batch()
        await self._wait_until_stored()

    async def close(self) -> None:
        """Wait until the last batch is stored or has failed."""
        if self._storing is not None:
            await asyncio.wait([self._storing])

    async def _add_lines(self, lines: Sequence[BodyLine]) -> None:
        """Add lines to the current batch, which is stored whenever it is full, or a line repeats one of its keys."""
        for line in lines:
            if self._batch.is_full:
                await self._store_batch()

            try:
                record_line = self._parse(line)
            except ServiceError as error:
                self._batch.refusals.append(self.report.refusal(line.number, error))
            else:
                if not self._batch.source_digests.isdisjoint(record_line.source_digests):
                    await self._store_batch()
                self._batch.lines.append(record_line)
                self._batch.source_digests.update(record_line.source_digests)
                self._batch.byte_count += len(line.content or b"")

            self._batch.last_line = line.number

    def _parse(self, line: BodyLine) -> RecordLine:
        """Return the record that a line declares, with what identifies it.

        Raises:
            ServiceError: the line is not a valid record.
        """
        record = self._parser.parse(line)
        if record.visibility == "private" and self._owner is None:
            raise InvalidValue(FieldError(("body", "visibility"), "no_owner"))
        return RecordLine(line.number, record, record.source_digests(self._owner))

    async def _store_batch(self) -> None:
        """Begin to store the current batch as soon as the one before is stored, and begin a new one.

        Raises:
            ServiceError: the batch before could not be stored.
        """
        await self._wait_until_stored()
        if self._batch.lines or self._batch.refusals:
            self._storing = asyncio.ensure_future(self._store(self._batch))
        self._batch = _Batch()

    async def _wait_until_stored(self) -> None:
        """Wait until the batch that was completed last is stored.

        Raises:
            ServiceError: it could not be stored.
        """
        if self._storing is not None:
            await self._storing
            self._storing = None

    async def _store(self, batch: _Batch) -> None:
        """Store a batch and report it.

        Raises:
            ServiceError: the database cannot store it.
        """
        result = await self._writer.write(batch.lines)
        over_quota = RecordQuotaExceeded(limit=self._limits.quota_bytes)
        quota_refusals = [self.report.refusal(number, over_quota) for number in result.lines_over_quota]
        refusals = sorted([*batch.refusals, *quota_refusals], key=lambda refusal: refusal.line)

        counts = BatchCounts(created=result.created, updated=result.updated, unchanged=result.unchanged)
        self.report.add_batch(counts, refusals, batch.last_line)
