"""The child process that reads the rows of one Parquet file for `parquet_rows` and writes them as lines of JSON.

If it fails, its exit status is not 0.
"""

import os
import sys
from collections.abc import Iterator, Mapping
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
    column_names = [name for name in file.schema_arrow.names if name not in request.ignored_columns]

    for batch in file.iter_batches(batch_size=_ROWS_AT_ONCE, columns=column_names, use_threads=False):
        yield b"".join(_ENCODER.encode(_to_record(row)) + b"\n" for row in batch.to_pylist())


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
