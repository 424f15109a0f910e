"""Parquet files as request bodies, which are saved to a temporary file and read in a sandboxed process."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import BinaryIO, Final
from uuid import UUID

from starlette.requests import Request

from touchstone.core.confined_process import ProcessLimits
from touchstone.core.errors import FieldError, InvalidValue, TooLarge
from touchstone.core.fair_slots import FairSlots, Slot
from touchstone.core.settings import Settings
from touchstone.database.engine import Database
from touchstone.database.failures import translate_failures
from touchstone.datafiles.parquet_rows import ParquetRows, UnreadableRows
from touchstone.services.selection.datasets.schemas import SERVICE_FIELDS
from touchstone.services.selection.files.uploads import SizeLimit, declared_length, enforce_limit

# `hidden` is not ignored, because the `visibility` of an exported record depends on it.
_IGNORED_COLUMNS: Final = sorted(SERVICE_FIELDS - {"hidden"})
# A small Parquet file can contain any number of equal rows, because it is compressed.
MAX_ROWS: Final = 10_000_000
# A file with the maximum number of rows takes less than half of this time, most of it waiting for the database.
_CPU_SECONDS: Final = 900
_WALL_SECONDS: Final = 3600.0
_CONCURRENT_READINGS: Final = 2
_MAX_WAIT_SECONDS: Final = 5.0
_BUFFER_BYTES: Final = 1024 * 1024


class ParquetBody:
    """A received Parquet file whose rows are read while they are imported. It must be closed after use."""

    def __init__(self, rows: ParquetRows, slot: Slot) -> None:
        """Take ownership of the rows, and of the slot for reading them."""
        self._rows = rows
        self._slot = slot

    async def lines(self) -> AsyncIterator[bytes]:
        """Yield the rows as JSON Lines, in chunks that may end in the middle of a line.

        Raises:
            InvalidValue: the file is damaged.
        """
        try:
            async for chunk in self._rows.chunks():
                yield chunk
        except UnreadableRows:
            raise _unreadable_parquet() from None

    async def close(self) -> None:
        """Stop reading the file, and release the slot."""
        try:
            await self._rows.close()
        finally:
            self._slot.release()


class ParquetBodies:
    """Receives Parquet files, and reads at most `_CONCURRENT_READINGS` of them at a time."""

    def __init__(self, settings: Settings, database: Database) -> None:
        self._database = database
        self._folder = settings.uploads_dir
        self._max_bytes = settings.upload_max_bytes
        self._limits = ProcessLimits(
            memory_bytes=settings.profile_memory_bytes, cpu_seconds=_CPU_SECONDS, wall_seconds=_WALL_SECONDS
        )
        self._slots = FairSlots(_CONCURRENT_READINGS, max_wait_seconds=_MAX_WAIT_SECONDS)

    async def receive(self, request: Request, owner: UUID) -> ParquetBody:
        """Receive the file in a request body of the user `owner`, and start reading it.

        Raises:
            TooLarge: the file exceeds the size limit for uploads.
            StorageFull: the disk is full.
            InvalidValue: the body is not a Parquet file.
            Overloaded: too many other files are being read.
        """
        expected_bytes = declared_length(request)
        size_limit = SizeLimit(self._max_bytes, TooLarge(limit=self._max_bytes))
        if expected_bytes > self._max_bytes:
            raise size_limit.error
        self._database.prepare_for_file(expected_bytes)

        with translate_failures():
            file = await asyncio.to_thread(_create_spool_file, self._folder)
        with file:
            with translate_failures():
                await _spool(enforce_limit(request.stream(), size_limit), file)
            return await self._open(file, owner)

    async def _open(self, file: BinaryIO, owner: UUID) -> ParquetBody:
        """Start reading a file in a process that inherits it. The caller may close the file afterwards.

        Raises:
            InvalidValue: the file is not a Parquet file.
            Overloaded: no slot becomes free in time.
        """
        slot = await self._slots.acquire(owner)
        try:
            rows = await self._start_reader(file)
        except BaseException:
            slot.release()
            raise
        return ParquetBody(rows, slot)

    async def _start_reader(self, file: BinaryIO) -> ParquetRows:
        """Start a process that reads a file.

        Raises:
            InvalidValue: the file is not a Parquet file.
        """
        try:
            return await ParquetRows.open(
                file, ignored_columns=_IGNORED_COLUMNS, max_rows=MAX_ROWS, limits=self._limits
            )
        except UnreadableRows:
            raise _unreadable_parquet() from None


def _create_spool_file(folder: Path) -> BinaryIO:
    """Create an unnamed file that is deleted once all processes have closed it."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return tempfile.TemporaryFile(dir=folder)


async def _spool(chunks: AsyncIterator[bytes], file: BinaryIO) -> None:
    """Write the chunks of a body to a file, a megabyte at a time."""
    buffer = bytearray()
    async for chunk in chunks:
        buffer += chunk
        if len(buffer) >= _BUFFER_BYTES:
            await asyncio.to_thread(file.write, bytes(buffer))
            buffer.clear()

    file.write(buffer)
    await asyncio.to_thread(file.flush)


def _unreadable_parquet() -> InvalidValue:
    """Return the error for a file that is not a readable Parquet file."""
    return InvalidValue(FieldError(("body",), "unreadable_parquet", {"max_rows": MAX_ROWS}))
