"""The rows of a Parquet file as lines of JSON, read in a child process.

The child process protects the service from hostile files, which the parent never parses. The parent passes the open
descriptor to `parquet_rows_child`, which limits its own memory and time. The child sends one line per row, but not
faster than the parent reads them.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import BinaryIO, Final, Self

import msgspec
import structlog

from touchstone.core.confined_process import ProcessLimits, kill_if_running, start_confined_module

log = structlog.get_logger("touchstone.datafiles")

# The child writes this line first, after it has read the first rows.
READY_LINE: Final = b"readable\n"
_READ_BYTES: Final = 2**18


class RowsRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The task of the child: the inherited file descriptor, the columns to ignore, and its limits."""

    descriptor: int
    ignored_columns: Sequence[str]
    max_rows: int
    limits: ProcessLimits


class UnreadableRows(Exception):
    """A file is not a Parquet file, is damaged, has too many rows, or needs too much memory or time.

    The service cannot tell which: whatever goes wrong, the child only ends early.
    """


class ParquetRows:
    """The rows of a Parquet file that a child process is reading; `close` ends the process."""

    def __init__(self, child: asyncio.subprocess.Process, deadline: float) -> None:
        """Prepare to read the output of a child until `deadline`, a time of the event loop in seconds."""
        self._child = child
        self._deadline = deadline

    @classmethod
    async def open(
        cls, file: BinaryIO, *, ignored_columns: Sequence[str], max_rows: int, limits: ProcessLimits
    ) -> Self:
        """Start a child process that reads an open Parquet file, and wait until it has read the first rows.

        Raises:
            UnreadableRows: the first rows of the file cannot be read, or it has more than `max_rows` rows.
        """
        request = RowsRequest(
            descriptor=file.fileno(), ignored_columns=ignored_columns, max_rows=max_rows, limits=limits
        )
        child = await start_confined_module(
            "touchstone.datafiles.parquet_rows_child",
            msgspec.json.encode(request).decode(),
            descriptors=[request.descriptor],
        )
        deadline = asyncio.get_running_loop().time() + limits.wall_seconds
        rows = cls(child, deadline)

        try:
            await rows._wait_until_readable()
        except BaseException:
            await rows.close()
            raise
        return rows

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield the rows as lines of JSON, in chunks that may end in the middle of a line.

        Raises:
            UnreadableRows: the file is damaged, or the child has exceeded its limits.
        """
        while chunk := await self._read(_READ_BYTES):
            yield chunk

        exit_status = await self._wait_for_exit_status()
        if exit_status != 0:
            log.info("reader of a Parquet file ended early", exit_status=exit_status)
            raise UnreadableRows

    async def close(self) -> None:
        """End the child process if it is still reading."""
        await kill_if_running(self._child)

    async def _wait_until_readable(self) -> None:
        """Wait until the child reports that it has read the first rows.

        Raises:
            UnreadableRows: the child ended without this report, or the deadline has passed.
        """
        first_line = b""
        while len(first_line) < len(READY_LINE):
            received_bytes = await self._read(len(READY_LINE) - len(first_line))
            if not received_bytes:
                raise UnreadableRows
            first_line += received_bytes

    async def _read(self, max_bytes: int) -> bytes:
        """Return the next output of the child, at most `max_bytes`, or empty bytes at its end.

        Raises:
            UnreadableRows: the deadline has passed.
        """
        assert self._child.stdout is not None
        try:
            async with asyncio.timeout_at(self._deadline):
                return await self._child.stdout.read(max_bytes)
        except TimeoutError:
            raise UnreadableRows from None

    async def _wait_for_exit_status(self) -> int:
        """Wait until the child has ended, and return its exit status.

        Raises:
            UnreadableRows: the deadline has passed.
        """
        try:
            async with asyncio.timeout_at(self._deadline):
                return await self._child.wait()
        except TimeoutError:
            raise UnreadableRows from None
