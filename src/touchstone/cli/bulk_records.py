"""Files of records for bulk imports: JSON Lines, which may be compressed, and Parquet."""

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from touchstone.cli.file_output import STANDARD_STREAM
from touchstone.client.bulk_calls import BulkRecord
from touchstone.client.record_files import IGNORED_FIELDS, RecordError, check_field_names, check_names_are_unique
from touchstone.datafiles.record_lines import read_record_lines, record_columns

PARQUET_SUFFIX: Final = ".parquet"
CSV_SUFFIX: Final = ".csv"
READ_BUFFER_BYTES: Final = 2**20
# `hidden` is not ignored, because the `visibility` of an exported record depends on it.
_IGNORED_COLUMNS: Final = IGNORED_FIELDS - {"hidden"}


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
        RecordError: a file with the suffix .parquet is not a Parquet file, one of its columns is unknown or repeated,
            or a file has the suffix .csv.
    """
    if file.suffix.lower() == CSV_SUFFIX:
        raise RecordError(f"{file}: --bulk reads JSON Lines and Parquet; for CSV, use `touchstone catalog import`")

    if file == STANDARD_STREAM:
        yield BulkFile(iter(sys.stdin.buffer), record_count=None)
    elif file.suffix.lower() == PARQUET_SUFFIX:
        with _open_parquet(file) as parquet_file:
            yield BulkFile(_parquet_records(file, parquet_file), parquet_file.metadata.num_rows)
    elif file.is_fifo():
        # Arrow cannot read a pipe, because it asks for the size of the file.
        with file.open("rb") as pipe:
            yield BulkFile(iter(pipe), record_count=None)
    else:
        with pa.input_stream(str(file), compression="detect") as stream:
            lines = io.BufferedReader(stream, READ_BUFFER_BYTES)
            yield BulkFile(iter(lines), record_count=None)


def _open_parquet(file: Path) -> pq.ParquetFile:
    """Open a Parquet file.

    Raises:
        OSError: the file cannot be read.
        RecordError: it is not a Parquet file, or one of its columns is unknown or repeated.
    """
    try:
        parquet_file = pq.ParquetFile(file)
    except pa.ArrowInvalid as error:
        raise RecordError(f"{file}: {error}") from error

    column_names = record_columns(parquet_file)
    location = f"{file}, names of columns"
    check_field_names(column_names, location)
    check_names_are_unique(column_names, location)
    return parquet_file


def _parquet_records(file: Path, parquet_file: pq.ParquetFile) -> Iterator[BulkRecord]:
    """Yield the rows of a Parquet file as the service reads them, without columns that only the service sets.

    Raises:
        RecordError: the file is damaged.
    """
    try:
        for lines in read_record_lines(parquet_file, _IGNORED_COLUMNS):
            yield from lines
    except pa.ArrowException as error:
        raise RecordError(f"{file}: {error}") from error
