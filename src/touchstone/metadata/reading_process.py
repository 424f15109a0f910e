"""Reading of documents in a confined process, which limits the harm that a hostile document can do.

The service never parses a document itself. It passes the bytes to `reading_child`, a process with limited memory and
time, and decodes one dataset of the reply at a time.
"""

import asyncio
import contextlib
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from touchstone.core.confined_process import ProcessLimits, exceeded_time_limit, kill_if_running, start_confined_module
from touchstone.metadata.reading_protocol import (
    FileEntry,
    ReadCompanion,
    ReadDataset,
    ReadingEnd,
    ReadingLine,
    ReadingRequest,
    RejectedDataset,
    UploadedDocument,
)

MAX_REPLY_BYTES: Final = 64 * 2**20
_READ_BYTES: Final = 2**18
_DECODER: Final = msgspec.json.Decoder(ReadingLine)


async def read_documents(
    documents: Sequence[UploadedDocument], standard: str | None, limits: ProcessLimits
) -> "ReadingReply":
    """Read documents in a confined process, and return its reply.

    The process is killed if it takes too long or if the caller is cancelled. The reply then has only the documents that
    were read before.

    Args:
        documents: the documents. Those in the same folder may complete each other, such as a card and its list of tags.
        standard: the key of the standard to which all documents conform, or None to detect it for each of them.
        limits: the limits for the process.
    """
    encoded_limits = msgspec.json.encode(limits).decode()
    child = await start_confined_module("touchstone.metadata.reading_child", encoded_limits, has_input=True)
    reply = bytearray()
    is_late = False
    try:
        async with asyncio.timeout(limits.wall_seconds):
            await asyncio.gather(_send(child, documents, standard), _receive(child, reply))
    except TimeoutError:
        is_late = True
    finally:
        await kill_if_running(child)

    # The system also ends the process if it exceeds its processor time.
    is_late = is_late or exceeded_time_limit(child.returncode)
    return ReadingReply(bytes(reply), len(documents), is_late=is_late)


async def _send(child: asyncio.subprocess.Process, documents: Sequence[UploadedDocument], standard: str | None) -> None:
    """Write the request and the documents to the standard input of the child, and close it."""
    assert child.stdin is not None
    files = tuple(FileEntry(name=document.name, size=len(document.content)) for document in documents)
    request = ReadingRequest(files=files, standard=standard)

    # A child that dies early closes its input. The truncated reply is handled by `ReadingReply`.
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        child.stdin.write(msgspec.json.encode(request) + b"\n")
        for document in documents:
            child.stdin.write(document.content)
            await child.stdin.drain()
    child.stdin.close()


async def _receive(child: asyncio.subprocess.Process, reply: bytearray) -> None:
    """Append the standard output of the child to `reply` until it ends. A child whose output is too long is killed."""
    assert child.stdout is not None
    while chunk := await child.stdout.read(_READ_BYTES):
        reply += chunk
        if len(reply) > MAX_REPLY_BYTES:
            await kill_if_running(child)
            break
    await child.wait()


class ReadingReply:
    """The reply of the confined process."""

    def __init__(self, reply: bytes, file_count: int, *, is_late: bool) -> None:
        self._reply = reply
        self._file_count = file_count
        self._failure_code = "reading_too_slow" if is_late else "reading_failed"

    def lines(self) -> Iterator[ReadDataset | RejectedDataset]:
        """Yield the datasets and the rejections in the order of the reply.

        If the reply lacks its end marker, the process died, and every file without a reply is rejected.
        """
        answered_files: set[int] = set()
        for line in self._complete_lines():
            if isinstance(line, ReadingEnd):
                return
            answered_files.add(line.file)
            if not isinstance(line, ReadCompanion):
                yield line

        for file in range(self._file_count):
            if file not in answered_files:
                yield RejectedDataset(file=file, standard=None, place="", code=self._failure_code, facts={})

    def _complete_lines(self) -> Iterator[ReadingLine]:
        """Yield the decoded lines of the reply, except for an incomplete last line."""
        start = 0
        while (end := self._reply.find(b"\n", start)) >= 0:
            yield _DECODER.decode(memoryview(self._reply)[start:end])
            start = end + 1
