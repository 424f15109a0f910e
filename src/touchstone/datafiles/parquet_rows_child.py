"""The child process that reads the rows of one Parquet file for `parquet_rows` and writes them as lines of JSON.

If it fails, its exit status is not 0.
"""

import os
import sys
from collections.abc import Iterator
from typing import Final

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from touchstone.core.confined_process import end_successfully, limit_this_process
from touchstone.datafiles.parquet_rows import READY_LINE, RowsRequest
from touchstone.datafiles.record_lines import read_record_lines

_BUFFER_BYTES: Final = 2**20


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
        _write_lines(b"".join(lines) for lines in read_record_lines(parquet_file, request.ignored_columns))

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


if __name__ == "__main__":
    main()
