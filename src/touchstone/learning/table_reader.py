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
TICKS_A_SECOND: Final = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}
FIRST_SECOND, LAST_SECOND = np.array(["0001-01-01", "10000-01-01"], dtype="datetime64[s]").astype(np.int64)
NO_MOMENT: Final = int(np.iinfo(np.int64).min)  # how datetime64 writes a missing moment
BINARY_SIGNATURES: Final = (b"\x80", b"PK\x03\x04", b"\x1f\x8b", b"PAR1", b"%PDF", b"\x89PNG", b"BZh", b"\xfd7zXZ")
UTF16_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True, slots=True)
class Table:
    """A typed table: `frame` has one column per entry of `columns`, rows in the order of the file from 0."""

    frame: pd.DataFrame = field(repr=False)
    columns: dict[str, ColumnSchema]
    sha256: str
    renamed: dict[str, str]  # new name -> the name as written, which occurred twice or was empty

    @property
    def summary(self) -> Json:
        """The rows, columns and digest that a job's `inputs` show."""
        return {"rows": len(self.frame), "columns": len(self.columns), "sha256": self.sha256}


def read_table(file: DataFile) -> Table:
    """Read a CSV, TSV or Parquet file as a typed table. Raises `LearningError` with a code of the reading phase."""
    reader = READERS.get(file.file_type.lower().lstrip("."))
    if reader is None:
        raise LearningError("file_type_unknown", file_type=file.file_type, known=list(READERS))
    digest = _digest(file.stream)
    names, columns = reader(file.stream)
    frame = pd.DataFrame({column.column.name: column.values for column in columns})
    if frame.empty:
        raise LearningError("file_empty")
    schemas = {column.column.name: column.column for column in columns}
    renamed = {name: written for name, written in zip(schemas, names, strict=True) if name != written}
    return Table(frame, schemas, digest, renamed)


def unique_names(names: list[str]) -> list[str]:
    """Return usable column names: trimmed, empty ones numbered, repeated ones distinguished by a suffix."""
    unique: dict[str, None] = {}  # A dictionary keeps the order and finds a name quickly.
    for position, name in enumerate(names, start=1):
        base = name.strip() or f"column_{position}"
        candidate = base
        suffix = 2
        while candidate in unique:
            candidate = f"{base}_{suffix}"
            suffix += 1
        unique[candidate] = None
    return list(unique)


def _digest(stream: BinaryIO) -> str:
    stream.seek(0)
    digest, size = hashlib.sha256(), 0
    while chunk := stream.read(CHUNK):
        digest.update(chunk)
        size += len(chunk)
        if size > MAX_BYTES:
            raise LearningError("file_too_large", maximum=MAX_BYTES)
    stream.seek(0)
    return digest.hexdigest()


def _read_csv(stream: BinaryIO, forced: str | None = None) -> tuple[list[str], list[TypedColumn]]:
    encoding = _detect_encoding(stream)
    sample = _sample(stream, encoding)
    delimiter = forced or _delimiter(sample)
    names, wider = _header(sample, delimiter)
    _check_size(len(names) + wider, 1)
    cells = _cells(stream, encoding, delimiter, len(names) + wider)
    if wider and not cells.iloc[:, -1].str.strip().any():  # every row only ends with a delimiter
        cells = cells.iloc[:, :-1]
    elif wider:
        names = ["", *names]
    _check_size(len(names), len(cells))
    columns = zip(unique_names(names), cells, strict=True)
    return names, [from_texts(name, cells[place], delimiter=delimiter) for name, place in columns]


def _read_tsv(stream: BinaryIO) -> tuple[list[str], list[TypedColumn]]:
    return _read_csv(stream, "\t")


def _cells(stream: BinaryIO, encoding: str, delimiter: str, width: int) -> pd.DataFrame:
    """Return the cells below the header as texts; the columns are numbered from 0."""
    stream.seek(0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)  # rows would be cut
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
        line = _line_of(str(error))
        raise (LearningError("file_malformed", line=line) if line else LearningError("file_unreadable")) from error


def _line_of(message: str) -> int | None:
    words = message.replace(",", " ").split()
    numbers = [int(after) for word, after in pairwise(words) if word == "line" and after.isdigit()]
    return numbers[0] if numbers else None


def _detect_encoding(stream: BinaryIO) -> str:
    """UTF-16 by its mark, UTF-8 when every byte says so, else the Western single-byte set.

    Looks at every line's length on the way, so that nothing later meets an endless one.
    """
    stream.seek(0)
    first = stream.read(CHUNK)
    if not first.strip():
        raise LearningError("file_empty")
    if first.startswith(UTF16_MARKS):
        return "utf-16"
    if first.startswith(BINARY_SIGNATURES):
        raise LearningError("file_not_text")
    return _detect_text_encoding(stream, first)


def _detect_text_encoding(stream: BinaryIO, chunk: bytes) -> str:
    utf8 = _Utf8()
    open_line = 0
    while chunk:
        if b"\x00" in chunk:
            raise LearningError("file_not_text")
        utf8.feed(chunk)
        open_line = _open_line(chunk, open_line)
        chunk = stream.read(CHUNK)
    return "utf-8-sig" if utf8.valid else "cp1252"


def _open_line(chunk: bytes, before: int) -> int:
    """Return the length of the line that the chunk leaves open. Raises when a line is longer than the limit."""
    lines = chunk.replace(b"\r", b"\n").split(b"\n")
    lengths = [before + len(lines[0]), *map(len, lines[1:])]
    if max(lengths) > MAX_LINE_BYTES:
        raise LearningError("line_too_long", maximum=MAX_LINE_BYTES)
    return lengths[-1]


class _Utf8:
    """A check, chunk by chunk, whether a stream is valid UTF-8."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self.valid = True

    def feed(self, chunk: bytes) -> None:
        """Check the next chunk."""
        if not self.valid:
            return
        try:
            self._decoder.decode(chunk)
        except UnicodeDecodeError:
            self.valid = False


def _sample(stream: BinaryIO, encoding: str) -> list[str]:
    stream.seek(0)
    text = stream.read(MAX_LINE_BYTES + CHUNK).decode(encoding, errors="replace").lstrip("\ufeff")
    lines = [line for line in text.splitlines()[:200] if line.strip()]
    if not lines:
        raise LearningError("file_empty")
    return lines[:50]


def _delimiter(sample: list[str]) -> str:
    """Return the delimiter that splits most lines into the same number of fields, more than one."""

    def agreement(delimiter: str) -> tuple[float, int]:
        counts = Counter(len(row) for row in csv.reader(sample, delimiter=delimiter))
        fields, lines = counts.most_common(1)[0]
        return (lines / sum(counts.values()) if fields > 1 else 0.0, fields)

    return max(DELIMITERS, key=agreement)


def _header(sample: list[str], delimiter: str) -> tuple[list[str], bool]:
    """Return the column names, and whether rows have one more field: a leading row name, or an empty last one."""
    csv.field_size_limit(MAX_LINE_BYTES)
    rows = list(csv.reader(sample, delimiter=delimiter))
    body = Counter(len(row) for row in rows[1:]).most_common(1)
    return rows[0], bool(body) and body[0][0] == len(rows[0]) + 1


def _check_size(columns: int, rows: int) -> None:
    if columns > MAX_COLUMNS:
        raise LearningError("too_many_columns", columns=columns, maximum=MAX_COLUMNS)
    if columns * rows > MAX_CELLS:
        raise LearningError("too_many_cells", cells=columns * rows, maximum=MAX_CELLS)


def _read_parquet(stream: BinaryIO) -> tuple[list[str], list[TypedColumn]]:
    stream.seek(0)
    try:
        parquet = pq.ParquetFile(stream)
        _check_size(parquet.metadata.num_columns, parquet.metadata.num_rows)
        _check_uncompressed_size(parquet.metadata)
        table = parquet.read(use_threads=False)
        names = list(table.column_names)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise LearningError("file_unreadable") from error
    columns = zip(unique_names(names), table.columns, strict=True)
    return names, [_from_arrow(name, values) for name, values in columns]


def _check_uncompressed_size(metadata: Any) -> None:
    size = sum(metadata.row_group(group).total_byte_size for group in range(metadata.num_row_groups))
    if size > MAX_UNCOMPRESSED_BYTES:
        raise LearningError("file_too_large", maximum=MAX_UNCOMPRESSED_BYTES)


def _from_arrow(name: str, values: Any) -> TypedColumn:
    kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
    for test, make in ARROW_KINDS:
        if test(kind):
            return make(name, values.cast(kind))
    return from_unsupported(name, len(values))


def _arrow_texts(name: str, values: Any) -> TypedColumn:
    # As bytes first: nothing checks that what a file calls text is UTF-8.
    cells = [
        None if cell is None else cell.decode(errors="replace") for cell in values.cast(pa.large_binary()).to_pylist()
    ]
    return from_texts(name, pd.Series(cells, dtype=object))


def _arrow_numbers(name: str, values: Any) -> TypedColumn:
    return from_numbers(name, values.cast(pa.float64(), safe=False).to_numpy())


def _arrow_booleans(name: str, values: Any) -> TypedColumn:
    return from_booleans(name, pd.Series(values.to_pylist(), dtype=object))


def _arrow_days(name: str, values: Any) -> TypedColumn:
    return _arrow_dates(name, values.cast(pa.timestamp("s" if pa.types.is_date32(values.type) else "ms")))


def _arrow_dates(name: str, values: Any) -> TypedColumn:
    """Return moments of the years 1 to 9999; moments outside that range count as missing."""
    unit = values.type.unit
    ticks = values.cast(pa.int64()).fill_null(NO_MOMENT).to_numpy()
    seconds = ticks / TICKS_A_SECOND[unit]
    is_representable = (seconds >= FIRST_SECOND) & (seconds < LAST_SECOND)
    moments = np.where(is_representable, ticks, NO_MOMENT).astype(f"datetime64[{unit}]")
    return from_dates(name, pd.Series(moments.astype("datetime64[us]")))


def _is_number(kind: Any) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _is_text(kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


ARROW_KINDS: Final[tuple[tuple[Callable[[Any], bool], Callable[[str, Any], TypedColumn]], ...]] = (
    (pa.types.is_boolean, _arrow_booleans),
    (_is_number, _arrow_numbers),
    (_is_text, _arrow_texts),
    (pa.types.is_date, _arrow_days),
    (pa.types.is_timestamp, _arrow_dates),
)

READERS: Final[dict[str, Callable[[BinaryIO], tuple[list[str], list[TypedColumn]]]]] = {
    "csv": _read_csv,
    "tsv": _read_tsv,
    "parquet": _read_parquet,
}
