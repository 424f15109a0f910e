"""Records in files for a bulk import: JSON Lines, compressed or not, and Parquet, read a small part at a time."""

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

from touchstone.client.bulk_calls import BulkRecord
from touchstone.client.record_files import COLUMNS, check_field_names

STANDARD_INPUT: Final = Path("-")
PARQUET_SUFFIX: Final = ".parquet"
RECORDS_PER_BATCH: Final = 2000
READ_BUFFER_BYTES: Final = 2**20


@dataclass(frozen=True, slots=True)
class BulkFile:
    """An open file of records.

    Attributes:
        records: The records in the order of the file, read while they are iterated over.
        record_count: How many there are; None if only reading the whole file would tell.
    """

    records: Iterator[BulkRecord]
    record_count: int | None


@contextmanager
def open_bulk_file(file: Path) -> Iterator[BulkFile]:
    """Open a Parquet file, a JSON Lines file, or JSON Lines on the standard input for `-`, until the end of the block.

    The suffixes .gz, .bz2 and .zst say that JSON Lines are compressed.

    Raises:
        OSError: The file cannot be read.
        pyarrow.ArrowInvalid: The file is not a Parquet file, although its name says so.
        RecordError: A column of a Parquet file is unknown.
    """
    if file == STANDARD_INPUT:
        yield BulkFile(iter(sys.stdin.buffer), record_count=None)
    elif file.suffix.lower() == PARQUET_SUFFIX:
        with pq.ParquetFile(file) as parquet_file:
            yield BulkFile(_parquet_records(parquet_file), parquet_file.metadata.num_rows)
    else:
        with pa.input_stream(str(file), compression="detect") as stream:
            lines = io.BufferedReader(stream, READ_BUFFER_BYTES)
            yield BulkFile(iter(lines), record_count=None)


def _parquet_records(file: pq.ParquetFile) -> Iterator[BulkRecord]:
    """Yield the records of a Parquet file, without the columns that the service determines.

    Raises:
        RecordError: A column is unknown.
    """
    column_names = file.schema_arrow.names
    check_field_names(column_names, location="the first row")
    record_columns = [name for name in column_names if name in COLUMNS]

    for batch in file.iter_batches(batch_size=RECORDS_PER_BATCH, columns=record_columns):
        for row in batch.to_pylist():
            yield _to_record(row)


def _to_record(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of a Parquet file as a record without unknown values; metadata may be an object or a JSON text."""
    record = {name: value for name, value in row.items() if value is not None}
    metadata = record.get("metadata")
    if isinstance(metadata, str):
        record["metadata"] = msgspec.Raw(metadata.encode())
    return record
