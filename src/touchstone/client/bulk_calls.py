"""API calls of a bulk import: records as JSON Lines, in requests of bounded size.

The service responds after it has read a whole request. An import therefore consists of many requests one after the
other, so that its caller learns after each of them up to which line everything is stored.
"""

import gzip
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

import httpx2
import msgspec

from touchstone.client.bulk_models import BulkBatch, RefusedLine
from touchstone.client.call import Call, build_path
from touchstone.client.errors import TouchstoneError
from touchstone.client.models import Dataset
from touchstone.client.record_files import record_of

# A record as a mapping, as a line of JSON, or as it was exported from a catalog.
BulkRecord: TypeAlias = Mapping[str, Any] | bytes | Dataset
# A JSON Lines file, which may be compressed with gzip, or records.
BulkSource: TypeAlias = Path | Iterable[BulkRecord]

LINES_PER_REQUEST: Final = 10_000  # the service lists up to so many refused lines in a response
BYTES_PER_REQUEST: Final = 32 * 2**20
JSON_LINES: Final = "application/x-ndjson"
GZIP_SUFFIX: Final = ".gz"
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class BulkResult:
    """What the service has done with the lines of one request.

    Attributes:
        batches: The transactions in which the lines were stored, in the order of the lines.
        error: Why the service has stored no more than these batches; None if it has taken all lines.
    """

    batches: list[BulkBatch]
    error: TouchstoneError | None


class _BatchLine(msgspec.Struct):
    """A line of the response about one transaction; its numbers of lines are counted within the request."""

    last_line: int
    created: int = msgspec.field(name="made")
    updated: int
    unchanged: int
    refused: list[RefusedLine]


class _LastLine(msgspec.Struct):
    """The last line of the response, which says whether all lines were taken, and if not, why."""

    done: bool
    code: str = ""
    detail: str = ""


def bulk_import_calls(source: BulkSource, lines_per_request: int = LINES_PER_REQUEST) -> Iterator[Call[BulkResult]]:
    """Yield the calls that import all lines of a source, each of which is to be sent after the one before it.

    Raises:
        OSError: The file cannot be read.
    """
    first_line = 1
    lines: list[bytes] = []
    byte_count = 0

    for line in _lines_of(source):
        is_full = len(lines) == lines_per_request or byte_count + len(line) > BYTES_PER_REQUEST
        if lines and is_full:
            yield _import_lines(lines, first_line)
            first_line += len(lines)
            lines, byte_count = [], 0

        lines.append(line)
        byte_count += len(line)

    if lines:
        yield _import_lines(lines, first_line)


def _lines_of(source: BulkSource) -> Iterator[bytes]:
    """Yield the lines of a source, each with a line break at its end."""
    if isinstance(source, Path):
        open_file = gzip.open if source.suffix == GZIP_SUFFIX else open
        with open_file(source, "rb") as file:
            first_line = file.readline()
            yield first_line.removeprefix(_BYTE_ORDER_MARK).rstrip(b"\r\n") + b"\n"
            yield from _lines_of(file)
        return

    for record in source:
        yield _encode_record(record).rstrip(b"\r\n") + b"\n"


def _encode_record(record: BulkRecord) -> bytes:
    """Return a record as a line of JSON; of an exported one, only what its creator may write."""
    if isinstance(record, bytes):
        return record
    if isinstance(record, Dataset):
        return msgspec.json.encode(record_of(record))
    return msgspec.json.encode(record)


def _import_lines(lines: list[bytes], first_line: int) -> Call[BulkResult]:
    """Import the records on these lines, the first of which has the number `first_line` in the whole import."""
    return Call(
        "POST",
        build_path("datasets", "bulk"),
        _read_result(first_line),
        content=b"".join(lines),
        headers={"Content-Type": JSON_LINES},
        done_if_accepted=True,
    )


def _read_result(first_line: int) -> Callable[[httpx2.Response], BulkResult]:
    """Return a function that reads the response to a request, and counts its lines over the whole import."""

    def read(response: httpx2.Response) -> BulkResult:
        response_lines = response.content.splitlines() or [b"{}"]
        *batch_lines, last_line = response_lines
        try:
            batches = [msgspec.json.decode(line, type=_BatchLine) for line in batch_lines]
            end = msgspec.json.decode(last_line, type=_LastLine)
        except msgspec.DecodeError as error:
            detail = f"The answer is not one of this service: {error}"
            raise TouchstoneError(response.status_code, "unreadable", detail) from error

        stored_batches = [_renumber(batch, first_line) for batch in batches]
        problem = None if end.done else TouchstoneError(httpx2.codes.SERVICE_UNAVAILABLE, end.code, end.detail)
        return BulkResult(stored_batches, problem)

    return read


def _renumber(batch: _BatchLine, first_line: int) -> BulkBatch:
    """Return a batch whose lines are counted over the whole import, in which its request begins at `first_line`."""
    offset = first_line - 1
    refused_lines = [
        RefusedLine(line=refused.line + offset, code=refused.code, detail=refused.detail) for refused in batch.refused
    ]
    return BulkBatch(
        last_line=batch.last_line + offset,
        created=batch.created,
        updated=batch.updated,
        unchanged=batch.unchanged,
        refused=refused_lines,
    )
