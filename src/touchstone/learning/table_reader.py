"""Reading of tables from opened CSV, TSV and Parquet files, within limits.

The limits keep a hostile file (a million columns, a line of a gigabyte, a compression bomb) from costing much.
"""

import codecs
import csv
import hashlib
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, BinaryIO, Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from touchstone.learning.column_types import (
    ColumnSchema,
    TypedColumn,
    from_booleans,
    from_dates,
    from_numbers,
    from_texts,
    from_unsupported,
)
from touchstone.learning.interfaces import DataFile, Json
from touchstone.learning.learning_errors import LearningError

MAX_BYTES: Final = 2 * 2**30
MAX_COLUMNS: Final = 5_000
MAX_CELLS: Final = 50_000_000
MAX_LINE_BYTES: Final = 4 * 2**20
MAX_UNCOMPRESSED_BYTES: Final = 4 * 2**30
CHUNK: Final = 2**20
DELIMITERS: Final = (",", ";", "\t", "|")
SAMPLE_LINES: Final = 200
SAMPLE_NONEMPTY_LINES: Final = 50
TICKS_A_SECOND: Final = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}
FIRST_SECOND, LAST_SECOND = np.array(["0001-01-01", "10000-01-01"], dtype="datetime64[s]").astype(np.int64)
NO_MOMENT: Final = int(np.iinfo(np.int64).min)  # How datetime64 represents a missing moment.
BINARY_SIGNATURES: Final = (b"\x80", b"PK\x03\x04", b"\x1f\x8b", b"PAR1", b"%PDF", b"\x89PNG", b"BZh", b"\xfd7zXZ")
UTF16_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True, slots=True)
class Table:
    """A typed table: `frame` has one column per entry of `columns`, rows in the order of the file from 0."""

    frame: pd.DataFrame = field(repr=False)
    columns: dict[str, ColumnSchema]
    sha256: str
    renamed: dict[str, str]  # From each changed name to the name in the file, which occurred twice or was empty.

    @property
    def summary(self) -> Json:
        """The rows, columns and digest that a job's `inputs` show."""
        return {"rows": len(self.frame), "columns": len(self.columns), "sha256": self.sha256}


def read_table(file: DataFile) -> Table:
    """Read a CSV, TSV or Parquet file as a typed table.

    Columns that have no name, or the same name as another one, are renamed. Raises `LearningError` if the file has
    another type, cannot be read, contains no rows, or is too large.
    """
    reader = READERS.get(file.file_type.lower().lstrip("."))
    if reader is None:
        raise LearningError("file_type_unknown", file_type=file.file_type, known=list(READERS))

    digest = _digest(file.stream)
    names_in_file, typed_columns = reader(file.stream)

    frame = pd.DataFrame({typed.column.name: typed.values for typed in typed_columns})
    if frame.empty:
        raise LearningError("file_empty")

    schemas = {typed.column.name: typed.column for typed in typed_columns}
    original_names = dict(zip(schemas, names_in_file, strict=True))
    renamed = {name: original for name, original in original_names.items() if name != original}
    return Table(frame, schemas, digest, renamed)


def unique_names(names: list[str]) -> list[str]:
    """Return usable column names: trimmed, empty ones numbered, repeated ones distinguished by a suffix."""
    unique: list[str] = []
    taken: set[str] = set()
    for position, name in enumerate(names, start=1):
        base = name.strip() or f"column_{position}"
        candidate = base
        suffix = 2
        while candidate in taken:
            candidate = f"{base}_{suffix}"
            suffix += 1

        taken.add(candidate)
        unique.append(candidate)
    return unique


def _digest(stream: BinaryIO) -> str:
    """Return the SHA-256 digest of a file as hexadecimal digits, and rewind the file.

    Raises `LearningError` (file_too_large) as soon as more than `MAX_BYTES` have been read.
    """
    digest = hashlib.sha256()
    size = 0

    stream.seek(0)
    while chunk := stream.read(CHUNK):
        digest.update(chunk)
        size += len(chunk)
        if size > MAX_BYTES:
            raise LearningError("file_too_large", maximum=MAX_BYTES)

    stream.seek(0)
    return digest.hexdigest()


def _read_csv(stream: BinaryIO, delimiter: str | None = None) -> tuple[list[str], list[TypedColumn]]:
    """Read a CSV file, and return the column names as they are written and the columns with their inferred types.

    The encoding is detected from the file, and so is the delimiter unless it is given.
    """
    encoding = _detect_encoding(stream)
    sample = _sample_lines(stream, encoding)
    delimiter = delimiter or _detect_delimiter(sample)
    header = _read_header(sample, delimiter)
    _check_size(columns=header.width, rows=1)

    cells = _read_cells(stream, encoding, delimiter, header.width)
    names = header.names
    if header.rows_are_wider:
        names, cells = _resolve_extra_field(names, cells)
    _check_size(columns=len(names), rows=len(cells))

    columns = []
    for name, position in zip(unique_names(names), cells, strict=True):
        columns.append(from_texts(name, cells[position], delimiter=delimiter))
    return names, columns


def _resolve_extra_field(names: list[str], cells: pd.DataFrame) -> tuple[list[str], pd.DataFrame]:
    """Return names and cells that fit together, for a file whose rows have one field more than the header has names.

    Some programs end each row with a delimiter, so that the last field is always empty; it is dropped. Others begin
    each row with its name, for which the header has no column name; an empty one is added.
    """
    rows_end_with_delimiter = not cells.iloc[:, -1].str.strip().any()
    if rows_end_with_delimiter:
        return names, cells.iloc[:, :-1]
    return ["", *names], cells


def _read_tsv(stream: BinaryIO) -> tuple[list[str], list[TypedColumn]]:
    """Read a file whose cells are separated by tabs."""
    return _read_csv(stream, delimiter="\t")


def _read_cells(stream: BinaryIO, encoding: str, delimiter: str, width: int) -> pd.DataFrame:
    """Return the cells below the header as texts, in columns that are numbered from 0.

    Raises `LearningError` if a row has more fields than `width`, or if the file cannot be parsed for another reason.
    """
    stream.seek(0)
    try:
        with warnings.catch_warnings():
            # pandas only warns when it cuts off the surplus fields of a row.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            return pd.read_csv(
                stream,
                sep=delimiter,
                header=0,
                names=range(width),
                dtype=str,
                na_filter=False,
                encoding=encoding,
                encoding_errors="replace",
                low_memory=False,
                index_col=False,
            )
    except pd.errors.EmptyDataError as error:
        raise LearningError("file_empty") from error
    except (pd.errors.ParserError, pd.errors.ParserWarning, csv.Error) as error:
        line = _line_number(str(error))
        if line is None:
            raise LearningError("file_unreadable") from error
        raise LearningError("file_malformed", line=line) from error


def _line_number(message: str) -> int | None:
    """Return the line that an error message of pandas mentions, as in "Expected 3 fields in line 5, saw 4"."""
    words = message.replace(",", " ").split()
    for word, next_word in pairwise(words):
        if word == "line" and next_word.isdigit():
            return int(next_word)
    return None


def _detect_encoding(stream: BinaryIO) -> str:
    """Return the encoding of a text file: UTF-16, UTF-8, or else Windows-1252, in which any bytes are valid.

    Raises `LearningError` if the file is empty, if it is not a text, or if one of its lines is too long.
    """
    stream.seek(0)
    first_chunk = stream.read(CHUNK)
    if not first_chunk.strip():
        raise LearningError("file_empty")
    if first_chunk.startswith(UTF16_MARKS):
        return "utf-16"
    if first_chunk.startswith(BINARY_SIGNATURES):
        raise LearningError("file_not_text")
    return _detect_utf8_or_windows(stream)


def _detect_utf8_or_windows(stream: BinaryIO) -> str:
    """Return UTF-8 if all bytes of a text file are valid in it, otherwise Windows-1252, in which any bytes are valid.

    Raises `LearningError` if the file is not a text, or if one of its lines is too long.
    """
    utf8 = _Utf8Check()
    open_line_bytes = 0

    stream.seek(0)
    while chunk := stream.read(CHUNK):
        if b"\x00" in chunk:
            raise LearningError("file_not_text")
        utf8.feed(chunk)
        open_line_bytes = _open_line_bytes(chunk, open_line_bytes)

    return "utf-8-sig" if utf8.is_valid else "cp1252"


def _open_line_bytes(chunk: bytes, bytes_before: int) -> int:
    """Return the length of the line that a chunk leaves unfinished, and refuse lines that are too long.

    `bytes_before` is the length of the line that the previous chunk left unfinished.
    """
    lines = chunk.replace(b"\r", b"\n").split(b"\n")
    lengths = [bytes_before + len(lines[0]), *map(len, lines[1:])]
    if max(lengths) > MAX_LINE_BYTES:
        raise LearningError("line_too_long", maximum=MAX_LINE_BYTES)
    return lengths[-1]


class _Utf8Check:
    """A check, chunk by chunk, whether a stream is valid UTF-8."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self.is_valid = True

    def feed(self, chunk: bytes) -> None:
        """Check the next chunk."""
        if not self.is_valid:
            return
        try:
            self._decoder.decode(chunk)
        except UnicodeDecodeError:
            self.is_valid = False


def _sample_lines(stream: BinaryIO, encoding: str) -> list[str]:
    """Return the first lines of a file that are not empty; there is at least one."""
    stream.seek(0)
    beginning = stream.read(MAX_LINE_BYTES + CHUNK).decode(encoding, errors="replace").lstrip("\ufeff")

    lines = beginning.splitlines()[:SAMPLE_LINES]
    nonempty_lines = [line for line in lines if line.strip()]
    if not nonempty_lines:
        raise LearningError("file_empty")
    return nonempty_lines[:SAMPLE_NONEMPTY_LINES]


def _detect_delimiter(sample: list[str]) -> str:
    """Return the delimiter that splits most lines of a sample into the same number of fields.

    Among equally good delimiters, the one that makes more fields is preferred.
    """

    def agreement(delimiter: str) -> tuple[float, int]:
        """Return the share of the lines that have the most common number of fields, and that number."""
        field_counts = Counter(len(row) for row in csv.reader(sample, delimiter=delimiter))
        fields, lines = field_counts.most_common(1)[0]
        if fields < 2:
            return 0.0, fields  # A character that splits no line is not the delimiter, although all lines agree.
        return lines / field_counts.total(), fields

    return max(DELIMITERS, key=agreement)


@dataclass(frozen=True, slots=True)
class _Header:
    """The column names of a CSV file, and whether its rows have one more field than there are names.

    The additional field is a row name in front, or an empty field after a delimiter at the end.
    """

    names: list[str]
    rows_are_wider: bool

    @property
    def width(self) -> int:
        """The number of fields in a row."""
        return len(self.names) + 1 if self.rows_are_wider else len(self.names)


def _read_header(sample: list[str], delimiter: str) -> _Header:
    """Read the column names from the first line, and compare their number with the fields of the other lines."""
    csv.field_size_limit(MAX_LINE_BYTES)
    header, *rows = csv.reader(sample, delimiter=delimiter)
    if not rows:
        return _Header(header, rows_are_wider=False)

    field_counts = Counter(len(row) for row in rows)
    usual_width, _lines = field_counts.most_common(1)[0]
    return _Header(header, rows_are_wider=usual_width == len(header) + 1)


def _check_size(*, columns: int, rows: int) -> None:
    """Raise `LearningError` if a table has too many columns or too many cells."""
    if columns > MAX_COLUMNS:
        raise LearningError("too_many_columns", columns=columns, maximum=MAX_COLUMNS)

    cells = columns * rows
    if cells > MAX_CELLS:
        raise LearningError("too_many_cells", cells=cells, maximum=MAX_CELLS)


def _read_parquet(stream: BinaryIO) -> tuple[list[str], list[TypedColumn]]:
    """Read a Parquet file, and return the column names as they are written and the typed columns.

    The sizes that the file declares are checked before anything is decompressed.
    """
    stream.seek(0)
    try:
        parquet = pq.ParquetFile(stream)
        _check_size(columns=parquet.metadata.num_columns, rows=parquet.metadata.num_rows)
        _check_uncompressed_size(parquet.metadata)
        table = parquet.read(use_threads=False)
        names = list(table.column_names)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise LearningError("file_unreadable") from error

    columns = [_from_arrow(name, values) for name, values in zip(unique_names(names), table.columns, strict=True)]
    return names, columns


def _check_uncompressed_size(metadata: Any) -> None:
    """Raise `LearningError` if a Parquet file would become too large when it is decompressed."""
    size = sum(metadata.row_group(index).total_byte_size for index in range(metadata.num_row_groups))
    if size > MAX_UNCOMPRESSED_BYTES:
        raise LearningError("file_too_large", maximum=MAX_UNCOMPRESSED_BYTES)


def _from_arrow(name: str, values: Any) -> TypedColumn:
    """Convert an Arrow column by the first converter that accepts its type."""
    is_dictionary = pa.types.is_dictionary(values.type)
    arrow_type = values.type.value_type if is_dictionary else values.type
    for accepts, convert in ARROW_CONVERTERS:
        if accepts(arrow_type):
            return convert(name, values.cast(arrow_type))
    return from_unsupported(name, len(values))


def _arrow_texts(name: str, values: Any) -> TypedColumn:
    """Convert a column of texts, and infer the type of its values."""
    # The texts are decoded here, because nothing guarantees that what a file calls text is UTF-8.
    encoded_cells = values.cast(pa.large_binary()).to_pylist()
    cells = [None if cell is None else cell.decode(errors="replace") for cell in encoded_cells]
    return from_texts(name, pd.Series(cells, dtype=object))


def _arrow_numbers(name: str, values: Any) -> TypedColumn:
    """Convert a column of integers, decimals or floats."""
    return from_numbers(name, values.cast(pa.float64(), safe=False).to_numpy())


def _arrow_booleans(name: str, values: Any) -> TypedColumn:
    """Convert a column of booleans."""
    return from_booleans(name, pd.Series(values.to_pylist(), dtype=object))


def _arrow_days(name: str, values: Any) -> TypedColumn:
    """Convert a column of days without a time."""
    unit = "s" if pa.types.is_date32(values.type) else "ms"
    return _arrow_moments(name, values.cast(pa.timestamp(unit)))


def _arrow_moments(name: str, values: Any) -> TypedColumn:
    """Convert a column of moments; those outside the years 1 to 9999 become missing."""
    unit = values.type.unit
    ticks = values.cast(pa.int64()).fill_null(NO_MOMENT).to_numpy()
    seconds = ticks / TICKS_A_SECOND[unit]

    is_representable = (seconds >= FIRST_SECOND) & (seconds < LAST_SECOND)
    moments = np.where(is_representable, ticks, NO_MOMENT).astype(f"datetime64[{unit}]")
    return from_dates(name, pd.Series(moments.astype("datetime64[us]")))


def _is_number(arrow_type: Any) -> bool:
    """Return whether an Arrow type holds integers, floats or decimals."""
    types = pa.types
    return bool(types.is_integer(arrow_type) or types.is_floating(arrow_type) or types.is_decimal(arrow_type))


def _is_text(arrow_type: Any) -> bool:
    """Return whether an Arrow type holds texts, in any of its three layouts."""
    types = pa.types
    return bool(types.is_string(arrow_type) or types.is_large_string(arrow_type) or types.is_string_view(arrow_type))


ARROW_CONVERTERS: Final[tuple[tuple[Callable[[Any], bool], Callable[[str, Any], TypedColumn]], ...]] = (
    (pa.types.is_boolean, _arrow_booleans),
    (_is_number, _arrow_numbers),
    (_is_text, _arrow_texts),
    (pa.types.is_date, _arrow_days),
    (pa.types.is_timestamp, _arrow_moments),
)

READERS: Final[dict[str, Callable[[BinaryIO], tuple[list[str], list[TypedColumn]]]]] = {
    "csv": _read_csv,
    "tsv": _read_tsv,
    "parquet": _read_parquet,
}
