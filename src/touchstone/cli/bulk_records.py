"""Files of records for bulk imports: JSON Lines, which may be compressed, and Parquet."""

import io
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from touchstone.cli.file_output import STANDARD_STREAM
from touchstone.client.bulk_calls import BulkRecord
from touchstone.client.record_files import COLUMNS, RecordError, check_field_names

PARQUET_SUFFIX: Final = ".parquet"
ROWS_PER_BATCH: Final = 2000
READ_BUFFER_BYTES: Final = 2**20


@dataclass(frozen=True, slots=True)
class BulkFile:
    """An open file of records.

    Attributes:
        records: an iterator over the records, which reads the file in small parts.
        record_count: the number of records, or None if it is unknown until the whole file has been read.
    """

    records: Iterator[BulkRecord]
    record_count: int | None


@contextmanager
def open_bulk_file(file: Path) -> Iterator[BulkFile]:
    """Open a file of records for the duration of the block; `-` means JSON Lines on the standard input.

    A file with the suffix .parquet is a Parquet file, and all others are JSON Lines. Unless it is a pipe, a file is
    decompressed if its suffix is .gz, .bz2 or .zst.

    Raises:
        OSError: the file cannot be read.
        RecordError: a file with the suffix .parquet is not a Parquet file, or one of its columns is unknown.
    """
    if file == STANDARD_STREAM:
        yield BulkFile(iter(sys.stdin.buffer), record_count=None)
    elif file.suffix.lower() == PARQUET_SUFFIX:
        try:
            with pq.ParquetFile(file) as parquet_file:
                yield BulkFile(_parquet_records(parquet_file), parquet_file.metadata.num_rows)
        except pa.ArrowInvalid as error:
            raise RecordError(f"{file}: {error}") from error
    elif file.is_fifo():
        # Arrow cannot read a pipe, because it asks for the size of the file.
        with file.open("rb") as pipe:
            yield BulkFile(iter(pipe), record_count=None)
    else:
        with pa.input_stream(str(file), compression="detect") as stream:
            lines = io.BufferedReader(stream, READ_BUFFER_BYTES)
            yield BulkFile(iter(lines), record_count=None)


def _parquet_records(file: pq.ParquetFile) -> Iterator[BulkRecord]:
    """Yield the records of a Parquet file, without the columns that only the service sets.

    Raises:
        RecordError: a column is unknown.
    """
    column_names = file.schema_arrow.names
    check_field_names(column_names, location="the first row")
    record_columns = [name for name in column_names if name in COLUMNS]

    for batch in file.iter_batches(batch_size=ROWS_PER_BATCH, columns=record_columns):
        for row in batch.to_pylist():
            yield _to_record(row)


def _to_record(row: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a row of a Parquet file to a record without unknown values.

    The column `metadata` may contain objects or strings of JSON.
    """
    record = {name: value for name, value in row.items() if value is not None}
    metadata = record.get("metadata")
    if isinstance(metadata, str):
        record["metadata"] = msgspec.Raw(metadata.encode())
    return record
