"""The rows of a Parquet file as lines of JSON, read in a child process, so that a hostile file can harm nothing else.

The parent never parses the file. It passes the opened descriptor to `parquet_rows_child`, which limits its own memory
and time, and sends one line per row as soon as the parent has read the lines before it.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import BinaryIO, Final, Self

import msgspec
import structlog

from touchstone.core.confined_process import ProcessLimits, kill_if_running, start_confined_module

log = structlog.get_logger("touchstone.datafiles")

# The first line of the child, which says that it could read the beginning of the file.
READABLE: Final = b"readable\n"
_READ_BYTES: Final = 2**18


class RowsRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The task of the child: the file descriptor that it inherits, what to leave out, and its limits."""

    descriptor: int
    ignored_columns: Sequence[str]
    max_rows: int
    limits: ProcessLimits


class UnreadableRows(Exception):
    """The file is no Parquet file, is damaged, has too many rows, or exceeds the memory or the time of its reader."""


class ParquetRows:
    """The rows of one file, which a child process is reading; it has to be closed."""

    def __init__(self, child: asyncio.subprocess.Process, ends_at: float) -> None:
        """Prepare to read what a child sends until the event loop's time `ends_at`."""
        self._child = child
        self._ends_at = ends_at

    @classmethod
    async def open(
        cls, file: BinaryIO, *, ignored_columns: Sequence[str], max_rows: int, limits: ProcessLimits
    ) -> Self:
        """Start a child process that reads an open Parquet file, and wait until it has read the first rows.

        Raises:
            UnreadableRows: not even the first rows of the file can be read, or it has more than `max_rows` rows.
        """
        request = RowsRequest(
            descriptor=file.fileno(), ignored_columns=ignored_columns, max_rows=max_rows, limits=limits
        )
        child = await start_confined_module(
            "touchstone.datafiles.parquet_rows_child",
            msgspec.json.encode(request).decode(),
            descriptors=[request.descriptor],
        )
        ends_at = asyncio.get_running_loop().time() + limits.wall_seconds
        rows = cls(child, ends_at)

        try:
            await rows._check_readable()
        except BaseException:
            await rows.close()
            raise
        return rows

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield the lines, one for each row, in chunks that need not end where lines end.

        Raises:
            UnreadableRows: the file is damaged, or its reader has exceeded its limits.
        """
        while chunk := await self._read(_READ_BYTES):
            yield chunk

        exit_status = await self._exit_status()
        if exit_status != 0:
            log.info("reader of a Parquet file ended early", exit_status=exit_status)
            raise UnreadableRows

    async def close(self) -> None:
        """End the child process if it is still reading."""
        await kill_if_running(self._child)

    async def _check_readable(self) -> None:
        """Wait for the first line of the child, which it writes once it has read the first rows of the file.

        Raises:
            UnreadableRows: the child ends without this line.
        """
        first_line = b""
        while len(first_line) < len(READABLE):
            received_bytes = await self._read(len(READABLE) - len(first_line))
            if not received_bytes:
                raise UnreadableRows
            first_line += received_bytes

    async def _read(self, max_bytes: int) -> bytes:
        """Return the next bytes of the child, or none if it has ended.

        Raises:
            UnreadableRows: its time is over.
        """
        assert self._child.stdout is not None
        try:
            async with asyncio.timeout_at(self._ends_at):
                return await self._child.stdout.read(max_bytes)
        except TimeoutError:
            raise UnreadableRows from None

    async def _exit_status(self) -> int:
        """Return the exit status of the child, which has closed its output.

        Raises:
            UnreadableRows: its time is over.
        """
        try:
            async with asyncio.timeout_at(self._ends_at):
                return await self._child.wait()
        except TimeoutError:
            raise UnreadableRows from None
