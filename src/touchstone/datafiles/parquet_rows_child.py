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
from touchstone.datafiles.parquet_rows import READABLE, RowsRequest

# A row may have megabytes of metadata, so only few rows are in memory at a time.
_ROWS_AT_ONCE: Final = 256
_BUFFER_BYTES: Final = 2**20
_METADATA: Final = "metadata"
# The kinds of types with values that JSON does not have, and that the encoder would write as null or in Base64.
_KINDS_NOT_IN_JSON: Final[Sequence[Callable[[pa.DataType], bool]]] = (
    pa.types.is_floating,
    pa.types.is_binary,
    pa.types.is_large_binary,
    pa.types.is_binary_view,
    pa.types.is_fixed_size_binary,
)
# What a line of JSON may not contain, so that a row is refused in which a number is infinite or bytes are no text.
_INFINITY: Final = msgspec.Raw(b"Infinity")
_UNREADABLE_TEXT: Final = msgspec.Raw(b'"\xff"')
# Values that JSON does not have are written as texts.
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
    """Write chunks of lines to standard output, after a line that says that the first of them could be read."""
    output = sys.stdout.buffer
    first_chunk = next(chunks, b"")
    output.write(READABLE + first_chunk)
    output.flush()

    for chunk in chunks:
        output.write(chunk)
        output.flush()


def _read_lines(file: pq.ParquetFile, request: RowsRequest) -> Iterator[bytes]:
    """Yield the lines of the file, those of some rows together."""
    fields = [field for field in file.schema_arrow if field.name not in request.ignored_columns]
    column_names = [field.name for field in fields]
    converted_names = [field.name for field in fields if _may_not_be_json(field.type)]

    for batch in file.iter_batches(batch_size=_ROWS_AT_ONCE, columns=column_names, use_threads=False):
        rows = batch.to_pylist()
        for row in rows:
            row.update({name: _as_json_value(row[name]) for name in converted_names})
        yield b"".join(_ENCODER.encode(_to_record(row)) + b"\n" for row in rows)


def _may_not_be_json(data_type: pa.DataType) -> bool:
    """Return whether values of a type contain numbers, which may be infinite, or bytes."""
    if isinstance(data_type, pa.BaseExtensionType):
        return _may_not_be_json(data_type.storage_type)
    if pa.types.is_dictionary(data_type):
        return _may_not_be_json(data_type.value_type)
    if pa.types.is_nested(data_type):
        return any(_may_not_be_json(data_type.field(position).type) for position in range(data_type.num_fields))

    return any(is_kind(data_type) for is_kind in _KINDS_NOT_IN_JSON)


def _as_json_value(value: Any) -> Any:
    """Return a value with texts instead of bytes; what no line of JSON can say makes the line invalid."""
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
    """Return a row as a record, without what is null; metadata may be a struct or a JSON text."""
    record = {name: value for name, value in row.items() if value is not None}
    metadata = record.get(_METADATA)
    if isinstance(metadata, str):
        record[_METADATA] = _as_json(metadata)
    elif isinstance(metadata, dict):
        record[_METADATA] = _without_nulls(metadata)
    return record


def _as_json(text: str) -> msgspec.Raw | str:
    """Return a JSON text as it is to be written on one line; a text that is not JSON remains a text."""
    try:
        msgspec.json.decode(text, type=msgspec.Raw)
    except (msgspec.DecodeError, RecursionError):
        return text

    # Outside of strings, in which they are escaped, line breaks are white space.
    return msgspec.Raw(text.replace("\n", " ").replace("\r", " ").encode())


def _without_nulls(value: Any) -> Any:
    """Return a value without the members of structs that are null, because all structs of a column have the same."""
    if isinstance(value, dict):
        return {name: _without_nulls(member) for name, member in value.items() if member is not None}
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    return value


if __name__ == "__main__":
    main()
