"""The child process that reads the rows of one Parquet file for `parquet_rows` and writes them as lines of JSON.

If it fails, its exit status is not 0.
"""

import math
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from touchstone.core.confined_process import end_successfully, limit_this_process
from touchstone.datafiles.parquet_rows import READY_LINE, RowsRequest

# A row may have megabytes of metadata, so only a few rows are in memory at a time.
_ROWS_AT_ONCE: Final = 256
_BUFFER_BYTES: Final = 2**20
_METADATA: Final = "metadata"
# The types with values that JSON cannot represent. The encoder would write them as null or in Base64.
_KINDS_NOT_IN_JSON: Final[Sequence[Callable[[pa.DataType], bool]]] = (
    pa.types.is_floating,
    pa.types.is_binary,
    pa.types.is_large_binary,
    pa.types.is_binary_view,
    pa.types.is_fixed_size_binary,
)
# Invalid JSON, so that the service refuses rows with infinite numbers, and with bytes that are not text.
_INFINITY: Final = msgspec.Raw(b"Infinity")
_UNREADABLE_TEXT: Final = msgspec.Raw(b'"\xff"')
# Other values that JSON cannot represent, such as dates, are written as strings.
_ENCODER: Final = msgspec.json.Encoder(enc_hook=str)


def main() -> None:
    """Carry out the request in the first argument, and write the lines to standard output."""
    request = msgspec.json.decode(sys.argv[1], type=RowsRequest)
    limit_this_process(request.limits)
    # Several threads, or an allocator that reserves memory in advance, would use up the limit on address space.
    pa.set_memory_pool(pa.system_memory_pool())
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)

    with os.fdopen(request.descriptor, "rb") as file, pq.ParquetFile(file, buffer_size=_BUFFER_BYTES) as parquet_file:
        if parquet_file.metadata.num_rows > request.max_rows:
            sys.exit("too many rows")
        _write_lines(_read_lines(parquet_file, request))

    end_successfully()


def _write_lines(chunks: Iterator[bytes]) -> None:
    """Write chunks of lines to standard output, after a line that reports that the first chunk could be read."""
    output = sys.stdout.buffer
    first_chunk = next(chunks, b"")
    output.write(READY_LINE + first_chunk)
    output.flush()

    for chunk in chunks:
        output.write(chunk)
        output.flush()


def _read_lines(file: pq.ParquetFile, request: RowsRequest) -> Iterator[bytes]:
    """Yield the rows of the file as lines of JSON, with the lines of several rows in each chunk."""
    fields = [field for field in file.schema_arrow if field.name not in request.ignored_columns]
    column_names = [field.name for field in fields]
    converted_names = [field.name for field in fields if _needs_conversion(field.type)]

    for batch in file.iter_batches(batch_size=_ROWS_AT_ONCE, columns=column_names, use_threads=False):
        rows = batch.to_pylist()
        for row in rows:
            row.update({name: _as_json_value(row[name]) for name in converted_names})
        yield b"".join(_ENCODER.encode(_to_record(row)) + b"\n" for row in rows)


def _needs_conversion(data_type: pa.DataType) -> bool:
    """Return whether values of a type may contain floating-point numbers or bytes."""
    if isinstance(data_type, pa.BaseExtensionType):
        return _needs_conversion(data_type.storage_type)
    if pa.types.is_dictionary(data_type):
        return _needs_conversion(data_type.value_type)
    if pa.types.is_nested(data_type):
        return any(_needs_conversion(data_type.field(position).type) for position in range(data_type.num_fields))

    return any(is_kind(data_type) for is_kind in _KINDS_NOT_IN_JSON)


def _as_json_value(value: Any) -> Any:
    """Return a value with strings instead of bytes.

    Infinite numbers, and bytes that are not UTF-8, are replaced by invalid JSON.
    """
    if isinstance(value, float):
        return _INFINITY if math.isinf(value) else value
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return _UNREADABLE_TEXT

    if isinstance(value, dict):
        return {name: _as_json_value(member) for name, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [_as_json_value(item) for item in value]
    return value


def _to_record(row: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a row to a record without null values; its metadata may be a struct or a string of JSON."""
    record = {name: value for name, value in row.items() if value is not None}
    metadata = record.get(_METADATA)
    if isinstance(metadata, str):
        record[_METADATA] = _raw_json(metadata)
    elif isinstance(metadata, dict):
        record[_METADATA] = _without_nulls(metadata)
    return record


def _raw_json(text: str) -> msgspec.Raw | str:
    """Return a string of JSON as raw JSON without line breaks, and any other string unchanged."""
    try:
        msgspec.json.decode(text, type=msgspec.Raw)
    except (msgspec.DecodeError, RecursionError):
        return text

    # In JSON, line breaks are escaped within strings, and white space anywhere else.
    return msgspec.Raw(text.replace("\n", " ").replace("\r", " ").encode())


def _without_nulls(value: Any) -> Any:
    """Return a value without null members of structs.

    All structs of a column have the same members, so a null usually means that a row has no such member.
    """
    if isinstance(value, dict):
        return {name: _without_nulls(member) for name, member in value.items() if member is not None}
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    return value


if __name__ == "__main__":
    main()
