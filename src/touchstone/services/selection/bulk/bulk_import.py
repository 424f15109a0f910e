"""Importing the records of a request body in batches while the body arrives, each in a transaction of its own."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple
from uuid import UUID

import pyarrow as pa

from touchstone.core.errors import FieldError, InvalidValue, RecordQuotaExceeded, ServiceError
from touchstone.database.engine import Database
from touchstone.services.selection.bulk.batch_writer import BatchWriter, PreparedBatch, RecordLine
from touchstone.services.selection.bulk.body_lines import BodyLine, split_lines
from touchstone.services.selection.bulk.bulk_report import BatchCounts, BulkReport, RefusedLine
from touchstone.services.selection.bulk.record_parser import RecordParser
from touchstone.services.selection.catalog.live_catalog import LiveCatalog

# The limits of a batch, whose lines are prepared together and stored in one transaction. Each step of the preparation
# takes a few milliseconds, during which no other request runs. The transaction takes about a tenth of a second, during
# which other writers wait. While others write single records, batches are smaller, although the import takes longer
# then.
LINES_PER_BATCH: Final = 2000
BYTES_PER_BATCH: Final = 4 * 1024 * 1024
LINES_PER_BATCH_BESIDE_WRITERS: Final = 75
# How many lines are parsed before other requests may run.
_LINES_AT_ONCE: Final = 50
# How many batches are pending at a time: one is stored while others are prepared, and lines are parsed meanwhile. To
# prepare a batch, its keys are looked up, for which the database of a large catalog may have to read many blocks.
_PENDING_BATCHES: Final = 4


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
        """Import the records of a request body, and return the lines of the report.

        An error that stops the import is reported in the last line. The batches before it remain stored.
        """
        await asyncio.to_thread(_prepare_arrow)
        report = BulkReport(locale)
        writer = BatchWriter(self._database, self._catalog, owner, quota_bytes=self._limits.quota_bytes)
        bulk_import = _BulkImport(self._catalog, writer, self._limits, report, owner)
        try:
            with self._catalog.importing_in_bulk():
                await bulk_import.run(chunks)
        except ServiceError as error:
            return report.encode(failure=error)

        return report.encode()


def _prepare_arrow() -> None:
    """Let Arrow load what it needs to convert lists.

    It imports pandas for the first one, which takes half a second, in which a thread does not keep requests waiting.
    """
    pa.array([])


@dataclass(slots=True)
class _Batch:
    """Lines to prepare together, and the lines among them that were refused."""

    lines: list[RecordLine] = field(default_factory=list)
    refusals: list[RefusedLine] = field(default_factory=list)
    source_digests: set[str] = field(default_factory=set)
    byte_count: int = 0
    last_line: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether no line has been added."""
        return not self.lines and not self.refusals

    @property
    def line_count(self) -> int:
        """The number of lines, including refused ones."""
        return len(self.lines) + len(self.refusals)

    def is_full(self, max_lines: int) -> bool:
        """Return whether the batch, of at most `max_lines` lines, must be queued before another line is added."""
        return self.line_count >= max_lines or self.byte_count >= BYTES_PER_BATCH

    def has_key_of(self, line: RecordLine) -> bool:
        """Return whether an earlier line of the batch has the same key."""
        return not self.source_digests.isdisjoint(line.source_digests)

    def add(self, line: RecordLine, byte_count: int) -> None:
        """Add a line of `byte_count` bytes."""
        self.lines.append(line)
        self.source_digests.update(line.source_digests)
        self.byte_count += byte_count
        self.last_line = line.number

    def shares_key_with(self, batch: "_Batch") -> bool:
        """Return whether a line of another batch has the same key as a line of this one."""
        return not self.source_digests.isdisjoint(batch.source_digests)

    def add_refusal(self, refusal: RefusedLine) -> None:
        """Add a line that was refused."""
        self.refusals.append(refusal)
        self.last_line = refusal.line


class _PendingBatch(NamedTuple):
    """A batch that is not stored yet, the task that prepares it, and the task that then stores it."""

    batch: _Batch
    preparation: asyncio.Task[PreparedBatch]
    storing: asyncio.Task[None]


class _BulkImport:
    """The import of one body. While a batch is stored, the next are prepared, and further lines are parsed."""

    def __init__(
        self, catalog: LiveCatalog, writer: BatchWriter, limits: BulkLimits, report: BulkReport, owner: UUID | None
    ) -> None:
        self._report = report
        self._catalog = catalog
        self._writer = writer
        self._limits = limits
        self._parser = RecordParser(limits.line_bytes)
        self._owner = owner
        self._batch = _Batch()
        # The batches that are not stored yet, in the order of their lines.
        self._pending_batches: list[_PendingBatch] = []

    async def run(self, chunks: AsyncIterator[bytes]) -> None:
        """Import all lines of a body, and report what was done.

        Raises:
            ServiceError: the client sends too slowly, or the database cannot store more.
        """
        try:
            await self._import_lines(chunks)
        finally:
            # If the import fails while batches are being stored, the report tells about these, too.
            tasks = [task for pending in self._pending_batches for task in (pending.preparation, pending.storing)]
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _import_lines(self, chunks: AsyncIterator[bytes]) -> None:
        """Add all lines of a body to batches, and store these.

        Raises:
            ServiceError: the client sends too slowly, or the database cannot store more.
        """
        async for lines in split_lines(chunks, self._limits.line_bytes):
            for start in range(0, len(lines), _LINES_AT_ONCE):
                next_lines = lines[start : start + _LINES_AT_ONCE]
                await self._add_lines(next_lines)
                await asyncio.sleep(0)  # Let other requests run.
                # A client that sends line by line would otherwise wait for single writes after each line.
                if len(next_lines) == _LINES_AT_ONCE:
                    await self._catalog.single_writes.wait_until_done()

        await self._queue_batch()
        await self._wait_until_stored(remaining_batches=0)

    async def _add_lines(self, lines: Sequence[BodyLine]) -> None:
        """Add lines to the current batch, which is queued whenever it is full."""
        max_lines = self._max_lines
        for line in lines:
            if self._batch.is_full(max_lines):
                await self._queue_batch()

            try:
                record_line = self._parse(line)
            except ServiceError as error:
                self._batch.add_refusal(self._report.refusal(line.number, error))
                continue

            # A transaction writes each record once, so a line with the same key goes into the next batch.
            if self._batch.has_key_of(record_line):
                await self._queue_batch()
            self._batch.add(record_line, byte_count=len(line.content or b""))

    def _parse(self, line: BodyLine) -> RecordLine:
        """Parse a line, and check that its record may belong to the owner.

        Raises:
            ServiceError: the line is not a valid record.
        """
        record = self._parser.parse(line)
        if record.visibility == "private" and self._owner is None:
            raise InvalidValue(FieldError(("body", "visibility"), "no_owner"))
        return RecordLine(line.number, record, record.source_digests(self._owner))

    @property
    def _max_lines(self) -> int:
        """The largest number of lines in a batch, which depends on whether others write single records meanwhile."""
        return LINES_PER_BATCH_BESIDE_WRITERS if self._catalog.single_writes.are_recent else LINES_PER_BATCH

    async def _queue_batch(self) -> None:
        """Queue the current batch for being prepared and stored, and start a new one.

        Raises:
            ServiceError: a previous batch could not be stored.
        """
        batch = self._batch
        self._batch = _Batch()
        if batch.is_empty:
            return

        await self._wait_until_stored(remaining_batches=_PENDING_BATCHES - 1)
        previous_batches = list(self._pending_batches)
        preparation = asyncio.ensure_future(self._prepare(batch, previous_batches))
        storing = asyncio.ensure_future(self._store(batch, preparation, previous_batches))
        self._pending_batches.append(_PendingBatch(batch, preparation, storing))

    async def _wait_until_stored(self, remaining_batches: int) -> None:
        """Wait until no more than some batches remain to be stored.

        Raises:
            ServiceError: a batch could not be stored.
        """
        while len(self._pending_batches) > remaining_batches:
            await self._pending_batches[0].storing

    async def _prepare(self, batch: _Batch, previous_batches: Sequence[_PendingBatch]) -> PreparedBatch:
        """Prepare to store a batch.

        Raises:
            ServiceError: the database cannot be reached, or a previous batch could not be stored.
        """
        # What a previous batch writes about a record must be known before this one is compared with the record.
        for previous in previous_batches:
            if batch.shares_key_with(previous.batch):
                await previous.storing
        await self._catalog.single_writes.wait_until_done()
        return await self._writer.prepare(batch.lines)

    async def _store(
        self, batch: _Batch, preparation: asyncio.Task[PreparedBatch], previous_batches: Sequence[_PendingBatch]
    ) -> None:
        """Store a batch once it is prepared and the previous ones are stored, and add it to the report.

        Raises:
            ServiceError: the batch or a previous one could not be stored; it remains pending.
        """
        for previous in previous_batches:
            await previous.storing
        prepared_batch = await preparation
        await self._catalog.single_writes.wait_until_done()
        result = await self._writer.write(prepared_batch)
        del self._pending_batches[0]  # The previous batches are stored, so this one is the first.

        over_quota = RecordQuotaExceeded(limit=self._limits.quota_bytes)
        refusals = batch.refusals + [self._report.refusal(number, over_quota) for number in result.lines_over_quota]
        refusals.sort(key=lambda refusal: refusal.line)

        counts = BatchCounts(created=result.created, updated=result.updated, unchanged=result.unchanged)
        self._report.add_batch(counts, refusals, batch.last_line)
