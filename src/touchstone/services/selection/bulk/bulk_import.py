"""Import of the records in a request body, in batches that are stored while the body arrives."""

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
from touchstone.services.selection.bulk.line_errors import LineError
from touchstone.services.selection.bulk.record_parser import RecordParser
from touchstone.services.selection.catalog.live_catalog import LiveCatalog

# The limits of a batch, whose lines are prepared together and stored in one transaction. Each step of the preparation
# blocks other requests for a few milliseconds, and the transaction blocks other writers for about a tenth of a second.
# Batches are smaller while other requests write single records, although this slows the import down.
LINES_PER_BATCH: Final = 2000
BYTES_PER_BATCH: Final = 4 * 1024 * 1024
LINES_PER_BATCH_DURING_SINGLE_WRITES: Final = 75
# The number of lines to parse before other requests may run.
_LINES_PER_STEP: Final = 50
# The maximum number of pending batches: one is stored while the others are prepared. Several are prepared at a time,
# because looking up their keys in a large database may require many reads from the disk.
_PENDING_BATCHES: Final = 4


@dataclass(frozen=True, slots=True)
class BulkLimits:
    """The limits of an import.

    Attributes:
        line_bytes: the maximum length of a line, in bytes.
        quota_bytes: the maximum total size of an owner's records, in bytes.
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

        An error that stops the import is reported in the last line. Batches that were stored before are kept.
        """
        await asyncio.to_thread(_prepare_arrow)
        report = BulkReport(locale)
        writer = BatchWriter(self._database, self._catalog, owner, quota_bytes=self._limits.quota_bytes)
        bulk_import = _BulkImport(self._catalog, writer, report, limits=self._limits, owner=owner)
        try:
            with self._catalog.importing_in_bulk():
                await bulk_import.run(chunks)
        except ServiceError as error:
            return report.encode(failure=error)

        return report.encode()


def _prepare_arrow() -> None:
    """Make Arrow import pandas, which it does when it converts the first list.

    This takes half a second, so call it in a thread.
    """
    pa.array([])


@dataclass(slots=True)
class _Batch:
    """Lines to store together, and the refusals of invalid lines between them."""

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
        """Return whether the batch has reached `max_lines` lines or the maximum number of bytes."""
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
    """A batch that is not stored yet, with the tasks that prepare and store it."""

    batch: _Batch
    preparation: asyncio.Task[PreparedBatch]
    storing: asyncio.Task[None]


class _BulkImport:
    """The import of one body.

    While a batch is being stored, the next ones are prepared and further lines are parsed.
    """

    def __init__(
        self, catalog: LiveCatalog, writer: BatchWriter, report: BulkReport, *, limits: BulkLimits, owner: UUID | None
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
        """Import all lines of a body, and add the results to the report.

        Raises:
            ServiceError: the client sends too slowly, or the database cannot store more.
        """
        try:
            await self._import_lines(chunks)
        finally:
            # If the import fails, wait for batches that are being stored, so that the report includes them.
            preparations = [pending_batch.preparation for pending_batch in self._pending_batches]
            storing_tasks = [pending_batch.storing for pending_batch in self._pending_batches]
            await asyncio.gather(*preparations, *storing_tasks, return_exceptions=True)

    async def _import_lines(self, chunks: AsyncIterator[bytes]) -> None:
        """Add all lines of a body to batches, and store the batches.

        Raises:
            ServiceError: the client sends too slowly, or the database cannot store more.
        """
        async for lines in split_lines(chunks, self._limits.line_bytes):
            for start in range(0, len(lines), _LINES_PER_STEP):
                next_lines = lines[start : start + _LINES_PER_STEP]
                await self._add_lines(next_lines)
                await asyncio.sleep(0)  # Let other requests run.
                # Without this condition, a client that sends single lines would wait for other writers after each line.
                if len(next_lines) == _LINES_PER_STEP:
                    await self._catalog.single_writes.wait_until_done()

        await self._queue_batch()
        await self._wait_until_stored(remaining_batches=0)

    async def _add_lines(self, lines: Sequence[BodyLine]) -> None:
        """Add lines to the current batch, and queue it whenever it is full."""
        max_lines = self._max_lines
        for line in lines:
            if self._batch.is_full(max_lines):
                await self._queue_batch()

            try:
                record_line = self._parse(line)
            except (LineError, ServiceError) as error:
                self._batch.add_refusal(self._report.describe_refusal(line.number, error))
                continue

            # A transaction can write each record only once, so a line with the same key starts a new batch.
            if self._batch.has_key_of(record_line):
                await self._queue_batch()
            self._batch.add(record_line, byte_count=len(line.content or b""))

    def _parse(self, line: BodyLine) -> RecordLine:
        """Parse a line, and check that its record may belong to the owner.

        Raises:
            LineError: the line is longer than allowed, or not JSON.
            ServiceError: the line is not a valid record.
        """
        record = self._parser.parse(line)
        if record.visibility == "private" and self._owner is None:
            raise InvalidValue(FieldError(("body", "visibility"), "no_owner"))
        return RecordLine(line.number, record, record.source_digests(self._owner))

    @property
    def _max_lines(self) -> int:
        """The maximum number of lines in a batch, which is smaller while others write single records."""
        return LINES_PER_BATCH_DURING_SINGLE_WRITES if self._catalog.single_writes.are_recent else LINES_PER_BATCH

    async def _queue_batch(self) -> None:
        """Start to prepare and store the current batch, and begin a new one.

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
        """Wait until at most `remaining_batches` batches are pending.

        Raises:
            ServiceError: a batch could not be stored.
        """
        while len(self._pending_batches) > remaining_batches:
            await self._pending_batches[0].storing

    async def _prepare(self, batch: _Batch, previous_batches: Sequence[_PendingBatch]) -> PreparedBatch:
        """Compare a batch with the stored records.

        Raises:
            ServiceError: the database cannot be reached, or a previous batch could not be stored.
        """
        # A previous batch that writes the same record must be stored before this batch is compared with the record.
        for previous_batch in previous_batches:
            if batch.shares_key_with(previous_batch.batch):
                await previous_batch.storing
        await self._catalog.single_writes.wait_until_done()
        return await self._writer.prepare(batch.lines)

    async def _store(
        self, batch: _Batch, preparation: asyncio.Task[PreparedBatch], previous_batches: Sequence[_PendingBatch]
    ) -> None:
        """Store a batch once it is prepared and the previous ones are stored, and add it to the report.

        Raises:
            ServiceError: this batch or a previous one could not be stored. The batch remains pending.
        """
        for previous in previous_batches:
            await previous.storing
        prepared_batch = await preparation
        await self._catalog.single_writes.wait_until_done()
        result = await self._writer.write(prepared_batch)
        del self._pending_batches[0]  # All previous batches are stored, so this is the first one.

        over_quota = RecordQuotaExceeded(limit=self._limits.quota_bytes)
        refusals = batch.refusals + [
            self._report.describe_refusal(number, over_quota) for number in result.lines_over_quota
        ]
        refusals.sort(key=lambda refusal: refusal.line)

        counts = BatchCounts(created=result.created, updated=result.updated, unchanged=result.unchanged)
        self._report.add_batch(counts, refusals, batch.last_line)
