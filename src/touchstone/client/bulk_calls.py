"""API calls of a bulk import: records as JSON Lines, in requests of limited size.

The service responds only after it has stored all lines of a request. A long import is therefore divided into several
requests, so that the caller learns regularly which lines are stored.

The service counts the lines of each request from 1, but the caller sees line numbers of the whole import. They are the
sum of the number within the request and the number of preceding lines.
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
from touchstone.client.errors import TouchstoneError, unreadable_response
from touchstone.client.json_values import json_value
from touchstone.client.models import Dataset
from touchstone.client.record_files import bulk_record_of
from touchstone.core.json_decoding import decode_json

# A record as a mapping, as a line of JSON, or as exported from a catalog.
BulkRecord: TypeAlias = Mapping[str, Any] | bytes | str | Dataset
# A JSON Lines file, which may be compressed with gzip, or an iterable of records.
BulkSource: TypeAlias = Path | Iterable[BulkRecord]

LINES_PER_REQUEST: Final = 10_000  # a response lists at most this many refused lines
BYTES_PER_REQUEST: Final = 32 * 2**20
# The service sends nothing until it has stored all lines of a request, which may take minutes if it is busy.
TIMEOUT_SECONDS: Final = 300.0
JSON_LINES: Final = "application/x-ndjson"
GZIP_SUFFIX: Final = ".gz"
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
# The first bytes of files that are easily taken for JSON Lines, because their lines would be refused one by one.
_BINARY_FORMATS: Final = {
    b"PAR1": "Parquet",
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"\x28\xb5\x2f\xfd": "Zstandard",
}


@dataclass(frozen=True, slots=True)
class BulkResult:
    """The result of one request of a bulk import.

    Attributes:
        batches: the results of the batches that the service has stored, in the order of the lines.
        error: the reason why the service stopped after these batches, or None if it processed all lines.
    """

    batches: list[BulkBatch]
    error: TouchstoneError | None


class _BatchLine(msgspec.Struct):
    """A line of a response, with the result of one batch; its line numbers are counted within the request."""

    last_line: int
    created: int = msgspec.field(name="made")
    updated: int
    unchanged: int
    refused: list[RefusedLine]


class _LastLine(msgspec.Struct):
    """The last line of a response: the error, or that all lines of the request were processed."""

    done: bool
    code: str = ""
    detail: str = ""


def bulk_import_calls(source: BulkSource, lines_per_request: int = LINES_PER_REQUEST) -> Iterator[Call[BulkResult]]:
    """Yield the calls for importing all lines of a source. They must be sent in this order.

    Raises:
        OSError: the file cannot be read.
        ValueError: the file is not a text file.
        TypeError: the source is a single record, or a path as a string.
    """
    preceding_lines = 0
    for lines in _split_into_requests(_json_lines(source), lines_per_request):
        yield _import_lines(lines, preceding_lines)
        preceding_lines += len(lines)


def _split_into_requests(lines: Iterable[bytes], lines_per_request: int) -> Iterator[list[bytes]]:
    """Divide lines into lists that are small enough for one request each, and yield these lists.

    A line that exceeds the limit on bytes forms a request of its own.
    """
    request_lines: list[bytes] = []
    byte_count = 0

    for line in lines:
        is_full = len(request_lines) == lines_per_request or byte_count + len(line) > BYTES_PER_REQUEST
        if request_lines and is_full:
            yield request_lines
            request_lines = []
            byte_count = 0

        request_lines.append(line)
        byte_count += len(line)

    if request_lines:
        yield request_lines


def _json_lines(source: BulkSource) -> Iterator[bytes]:
    """Yield the records of a source as lines of JSON, each with a line feed at its end.

    The service counts lines, so each record becomes exactly one. Between the tokens of JSON, a line break is a space.

    Raises:
        ValueError: the source is a file, but not a text file.
        TypeError: the source is a single record, or a path as a string, and not an iterable of records.
    """
    if isinstance(source, str | bytes | Mapping | Dataset):
        raise TypeError(f"a bulk import reads a Path or an iterable of records, not {type(source).__name__}")

    records = _read_lines(source) if isinstance(source, Path) else source
    for record in records:
        yield _encode_record(record).rstrip(b"\r\n").replace(b"\n", b" ") + b"\n"


def _read_lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of a file, which is decompressed if its suffix is .gz.

    Some programs write a byte order mark at the beginning of a text file. It is removed, because it is not JSON.

    Raises:
        ValueError: the file is not a text file, but a Parquet file or compressed in another way.
    """
    open_file = gzip.open if path.suffix == GZIP_SUFFIX else open
    with open_file(path, "rb") as file:
        first_line = file.readline()
        for beginning, format_name in _BINARY_FORMATS.items():
            if first_line.startswith(beginning):
                raise ValueError(
                    f"{path} is a {format_name} file, but a bulk import in Python reads JSON Lines, plain or as "
                    f"{GZIP_SUFFIX}; `touchstone import --bulk` reads more formats"
                )
        yield first_line.removeprefix(_BYTE_ORDER_MARK)
        yield from file


def _encode_record(record: BulkRecord) -> bytes:
    """Return a record as a line of JSON, without fields that only the service sets."""
    if isinstance(record, bytes):
        return record
    if isinstance(record, str):
        return record.encode()
    if isinstance(record, Dataset):
        return msgspec.json.encode(bulk_record_of(record))
    return msgspec.json.encode(json_value(record))


def _import_lines(lines: list[bytes], preceding_lines: int) -> Call[BulkResult]:
    """Import the records in the given lines, which follow the `preceding_lines` lines of earlier requests."""
    return Call(
        "POST",
        build_path("datasets", "bulk"),
        _read_result(preceding_lines),
        content=b"".join(lines),
        headers={"Content-Type": JSON_LINES},
        unchanged_on_error=True,
        min_timeout_seconds=TIMEOUT_SECONDS,
    )


def _read_result(preceding_lines: int) -> Callable[[httpx2.Response], BulkResult]:
    """Return a function that reads the response to a request of a bulk import.

    The response contains a JSON line for each batch of records, and a last line about the whole request. The function
    adds `preceding_lines`, the number of lines in earlier requests, to all line numbers. It raises TouchstoneError with
    the code `unreadable` if the response has another form.
    """

    def read(response: httpx2.Response) -> BulkResult:
        response_lines = response.content.splitlines()
        if not response_lines:
            raise unreadable_response(response.status_code, "it is empty")

        *batch_lines, last_response_line = response_lines
        try:
            batches = [decode_json(line, _BatchLine) for line in batch_lines]
            last_line = decode_json(last_response_line, _LastLine)
        except msgspec.DecodeError as error:
            raise unreadable_response(response.status_code, error) from error

        numbered_batches = [_number_lines(batch, preceding_lines) for batch in batches]
        return BulkResult(numbered_batches, _reported_error(last_line))

    return read


def _number_lines(batch: _BatchLine, preceding_lines: int) -> BulkBatch:
    """Return the result of a batch with line numbers of the whole import."""
    refused_lines = [msgspec.structs.replace(refused, line=preceding_lines + refused.line) for refused in batch.refused]
    return BulkBatch(
        last_line=preceding_lines + batch.last_line,
        created=batch.created,
        updated=batch.updated,
        unchanged=batch.unchanged,
        refused=refused_lines,
    )


def _reported_error(last_line: _LastLine) -> TouchstoneError | None:
    """Return the error that the last line of a response reports, or None if all lines were processed."""
    if last_line.done:
        return None
    return TouchstoneError(httpx2.codes.SERVICE_UNAVAILABLE, last_line.code, last_line.detail)
