"""The typed columns of a table, whose types are inferred from cells that were written as strings.

The type of a column is inferred from its distinct values instead of its rows, so that long tables cost little.
"""

import math
from collections.abc import Set
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from touchstone.core.date_formats import ISO_8601
from touchstone.core.missing_values import MIN_AGREEMENT, MISSING_MARKS, MISSING_NUMBER_MARKS, PLUS, missing_marks
from touchstone.core.number_notation import (
    CODE_WITH_LEADING_ZERO,
    DOTTED_NUMBER,
    PLAIN_NOTATION,
    NumberNotation,
    infer_notation,
    is_code,
    mixes_units,
)
from touchstone.core.text import fold
from touchstone.learning.date_columns import mixes_date_formats, parse_dates
from touchstone.learning.identifiers import is_row_identifier

MISSING: Final = ""  # A missing value in a column of strings. Other cells are never empty.
LONGEST_MISSING_MARK: Final = max(map(len, MISSING_MARKS))
MAX_MAGNITUDE: Final = 1e30  # Larger magnitudes count as infinite, because their squares overflow.
MAX_EXACT_INTEGER: Final = 2.0**53  # Floats represent all integers up to this magnitude exactly.
CARDINALITY_THRESHOLD: Final = 30  # Columns of strings with more distinct values have high cardinality.
MIN_MEAN_WORDS_FOR_TEXT: Final = 4  # the mean number of words per distinct value from which a column is text
PLAIN_NUMBER_SAMPLE: Final = 200
_BOOLEAN_WORDS: Final = frozenset({"true", "false"})
_BOOLEAN_BY_NUMBER: Final = {"1": "true", "1.0": "true", "0": "false", "0.0": "false"}
_PLAIN_CODE: Final = rf"^\s*{CODE_WITH_LEADING_ZERO}\s*$"
_DOTTED_NUMBER: Final = f"^{DOTTED_NUMBER}$"
_FIELDS_FOR_WARNINGS: Final = frozenset({"mixes_date_formats", "mixes_units", "has_ambiguous_dots"})
_ALL_MISSING_MARKS: Final = pa.array(sorted(MISSING_MARKS | MISSING_NUMBER_MARKS))


class ColumnKind(StrEnum):
    """The kind of a column's values, which determines how they are prepared for a model."""

    NUMBER = "number"
    BOOLEAN = "boolean"
    CATEGORY = "category"
    TEXT = "text"  # sentences: many distinct values of several words
    DATE = "date"
    IDENTIFIER = "identifier"  # a different value in every row, so there is nothing to learn
    UNSUPPORTED = "unsupported"  # nested or binary values

    @property
    def is_ordered(self) -> bool:
        """Whether the values are numbers or dates, which have an order and a range."""
        return self in (ColumnKind.NUMBER, ColumnKind.DATE)


@dataclass(frozen=True, slots=True)
class ColumnSchema:
    """The kind of a column and the format of its cells, so that later rows are read in the same way."""

    name: str
    kind: ColumnKind
    distinct: int
    missing: int
    date_format: str | None = None
    decimal_comma: bool = False
    thousands: str = ""
    integral: bool = False
    mixed: int = 0  # the number of cells that do not fit the type of the column
    infinite: int = 0
    unit: str = ""  # the unit or currency written next to the numbers, such as %, $ or kg
    has_plus: bool = False  # Whether a value is a plus sign. A minus sign then does not mean a missing value.
    mixes_date_formats: bool = False  # Whether the strings are dates in several formats, which are not read as dates.
    mixes_units: bool = False  # Whether the strings are numbers in several units, which are not comparable.
    has_ambiguous_dots: bool = False  # Whether dots in the numbers could be decimal marks or separate thousands.

    @property
    def notation(self) -> NumberNotation:
        """The notation of the column's numbers."""
        return NumberNotation(self.decimal_comma, self.thousands, self.unit)


@dataclass(frozen=True, slots=True)
class TypedColumn:
    """A column with its values, which are float64 for numbers, datetime64 for dates, and strings otherwise."""

    column: ColumnSchema
    values: "pd.Series[Any]" = field(repr=False)


@dataclass(frozen=True, slots=True)
class _EncodedStrings:
    """A dictionary-encoded column of strings.

    Attributes:
        name: the name of the column.
        values: the distinct values, trimmed, including `MISSING` if a value is missing.
        codes: the position in `values` of the value of each row.
        has_plus: whether one of the values is a plus sign.
    """

    name: str
    values: npt.NDArray[np.object_]
    codes: npt.NDArray[np.intp]
    has_plus: bool

    @property
    def distinct_values(self) -> list[str]:
        """The distinct values without `MISSING`."""
        return [value for value in self.values.tolist() if value != MISSING]


def from_strings(name: str, cells: "pd.Series[Any]", *, delimiter: str = ",") -> TypedColumn:
    """Infer the type of a column of strings.

    Args:
        name: the name of the column.
        cells: the strings of the column, one per row.
        delimiter: the delimiter of the file, which limits the possible meanings of a comma in a number.

    Returns:
        a column of numbers, booleans, dates, categories, texts or identifiers.
    """
    return from_arrow_strings(name, pa.array(cells, type=pa.large_string(), from_pandas=True), delimiter=delimiter)


def from_arrow_strings(name: str, cells: pa.Array | pa.ChunkedArray, *, delimiter: str = ",") -> TypedColumn:
    """Infer the type of a column of Arrow strings (see `from_strings`)."""
    plain_numbers = _read_plain_numbers(cells, delimiter)
    if plain_numbers is not None:
        notation = NumberNotation(decimal_comma=delimiter != ",")
        return from_numbers(name, plain_numbers, notation=notation)

    strings = _dictionary_encode(name, cells)
    if not strings.distinct_values:
        return _infer_text(strings)

    # Each function returns None if the values have another type, except the last, which accepts any values.
    return (
        _infer_numbers(strings, delimiter) or _infer_booleans(strings) or _infer_dates(strings) or _infer_text(strings)
    )


def from_numbers(
    name: str, cells: npt.ArrayLike, *, mixed: int = 0, notation: NumberNotation = PLAIN_NOTATION
) -> TypedColumn:
    """Build a column of numbers, or an identifier column if the numbers merely identify the rows.

    Infinite numbers and numbers above `MAX_MAGNITUDE` become missing.

    Args:
        name: the name of the column.
        cells: the numbers, NaN where one is missing.
        mixed: the number of cells that were not numbers.
        notation: the notation of the numbers in the file.
    """
    values = np.array(cells, dtype=np.float64)
    is_too_large = np.abs(values) > MAX_MAGNITUDE
    values[is_too_large] = np.nan

    known_values = values[~np.isnan(values)]
    all_are_whole = bool(np.all(known_values == np.floor(known_values)))
    is_integral = len(known_values) > 0 and all_are_whole
    is_identifier = is_integral and is_row_identifier(name, values)

    schema = ColumnSchema(
        name,
        ColumnKind.IDENTIFIER if is_identifier else ColumnKind.NUMBER,
        distinct=len(np.unique(known_values)),
        missing=len(values) - len(known_values),
        decimal_comma=notation.decimal_comma,
        thousands=notation.thousands,
        unit=notation.unit,
        integral=is_integral,
        mixed=mixed,
        infinite=int(is_too_large.sum()),
        has_ambiguous_dots=notation.has_ambiguous_dots,
    )
    return TypedColumn(schema, pd.Series(values))


def from_dates(name: str, cells: "pd.Series[Any]", *, date_format: str = ISO_8601, mixed: int = 0) -> TypedColumn:
    """Build a column of dates and times in UTC.

    Args:
        name: the name of the column.
        cells: the dates and times, NaT where one is missing.
        date_format: the format of the dates in the file.
        mixed: the number of cells that were not dates.
    """
    naive_utc = pd.to_datetime(cells, utc=True).dt.tz_localize(None)
    timestamps = naive_utc.astype("datetime64[us]").reset_index(drop=True)
    schema = ColumnSchema(
        name,
        ColumnKind.DATE,
        distinct=int(timestamps.nunique()),
        missing=int(timestamps.isna().sum()),
        date_format=date_format,
        mixed=mixed,
    )
    return TypedColumn(schema, timestamps)


def from_booleans(name: str, cells: "pd.Series[Any]") -> TypedColumn:
    """Build a column of the strings "true" and "false" from booleans."""
    words = cells.map({True: "true", False: "false"}).astype(object)
    return _build_string_column(name, ColumnKind.BOOLEAN, words.where(words.notna(), MISSING))


def from_unsupported(name: str, rows: int, *, missing: int) -> TypedColumn:
    """Build a column without values for cells that are not read, such as nested or binary ones."""
    schema = ColumnSchema(name, ColumnKind.UNSUPPORTED, distinct=0, missing=missing)
    return TypedColumn(schema, pd.Series([MISSING] * rows, dtype=object))


def parse_cell(column: ColumnSchema, cell: object) -> Any:
    """Convert one JSON value like a cell of its column in the data file.

    A model thus receives the same value from a request as from its table. There is one exception: a number above
    `MAX_MAGNITUDE` is missing in a file, but limited to `MAX_MAGNITUDE` here, because a prediction can warn about
    values out of range.

    Raises:
        ValueError: the value does not fit the column. The caller decides whether it counts as missing.
    """
    if column.kind is ColumnKind.NUMBER and isinstance(cell, int | float):
        return _limit_magnitude(float(cell))

    text = _clean_json(column, cell)
    if column.kind is ColumnKind.NUMBER:
        return _parse_number(column, text)
    if column.kind is ColumnKind.DATE:
        return _parse_date(column, text)
    if column.kind is ColumnKind.BOOLEAN:
        return _parse_boolean(text)
    return text


def marks_missing(column: ColumnSchema, cell: object) -> bool:
    """Return whether a JSON value, such as null, "n/a" or "", means a missing value in its column."""
    text = _clean_json(column, cell)
    return text == MISSING or (column.kind is ColumnKind.NUMBER and fold(text) in MISSING_NUMBER_MARKS)


def schema_to_dict(column: ColumnSchema) -> dict[str, Any]:
    """Convert a schema to JSON, which is stored with a model.

    Fields that only matter for the warnings of the training are left out.
    """
    names = [name for name in ColumnSchema.__slots__ if name not in _FIELDS_FOR_WARNINGS]
    return {name: getattr(column, name) for name in names} | {"kind": str(column.kind)}


def schema_from_dict(record: dict[str, Any]) -> ColumnSchema:
    """Restore a schema from the result of `schema_to_dict`."""
    return ColumnSchema(**(record | {"kind": ColumnKind(record["kind"])}))


def _clean(value: str, marks: Set[str]) -> str:
    """Trim a cell and replace the marks of a missing value by `MISSING`."""
    text = value.strip()
    is_missing = len(text) <= LONGEST_MISSING_MARK and text.lower() in marks
    return MISSING if is_missing else text


def _clean_json(column: ColumnSchema, cell: object) -> str:
    """Convert a JSON value to a string and clean it like a cell of its column."""
    return _clean(json_as_text(cell), missing_marks(has_plus=column.has_plus))


def json_as_text(cell: object) -> str:
    """Format a JSON value as in a file, with 1.0 as "1" because JSON does not distinguish the two."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < MAX_EXACT_INTEGER:
        return str(int(cell))
    return str(cell)


def _limit_magnitude(number: float) -> float:
    """Limit the magnitude of a number to `MAX_MAGNITUDE`. NaN stays NaN."""
    return math.copysign(MAX_MAGNITUDE, number) if abs(number) > MAX_MAGNITUDE else number


def _parse_number(column: ColumnSchema, text: str) -> float:
    """Parse a number in the notation of its column.

    A missing value becomes NaN, true becomes 1, and false becomes 0.
    """
    if text == MISSING or fold(text) in MISSING_NUMBER_MARKS:
        return float("nan")

    word = text.casefold()
    if word in _BOOLEAN_WORDS:
        return float(word == "true")

    return _limit_magnitude(column.notation.parse(text))


def _parse_date(column: ColumnSchema, text: str) -> Any:
    """Parse a date in the format of its column or in ISO 8601."""
    if text == MISSING:
        return pd.NaT

    for date_format in (column.date_format, ISO_8601):
        timestamp = pd.to_datetime(text, format=date_format, errors="coerce", utc=True)
        if timestamp is not pd.NaT:
            return timestamp.tz_localize(None)
    raise ValueError(text)


def _parse_boolean(text: str) -> str:
    """Parse a boolean, which may also be written as 1 or 0."""
    word = _BOOLEAN_BY_NUMBER.get(text, text.casefold())
    if word != MISSING and word not in _BOOLEAN_WORDS:
        raise ValueError(text)
    return word


def _read_plain_numbers(cells: pa.Array | pa.ChunkedArray, delimiter: str) -> npt.NDArray[np.float64] | None:
    """Return the numbers of a column, or None if any cell is neither a plain number nor missing.

    The result is also None if dots may separate thousands. Most numeric columns are plain, and Arrow parses them a
    hundred times faster than Python could.
    """
    # The first cells are enough to rule out most other columns.
    if _cast_to_numbers(cells.slice(0, PLAIN_NUMBER_SAMPLE)) is None:
        return None

    numbers = _cast_to_numbers(cells)
    if numbers is None or pc.all(pc.is_null(numbers, nan_is_null=True)).as_py():
        return None

    # Only whole numbers can be codes that begin with 0, such as postal codes.
    whole_numbers = cells.filter(pc.equal(numbers, pc.floor(numbers)))
    if pc.any(pc.match_substring_regex(whole_numbers, _PLAIN_CODE)).as_py():
        return None
    if delimiter != "," and _all_dots_precede_three_digits(cells):
        return None
    return np.asarray(numbers.to_numpy(zero_copy_only=False), dtype=np.float64)


def _all_dots_precede_three_digits(cells: pa.Array | pa.ChunkedArray) -> bool:
    """Return whether some numbers have a dot, and all of these have groups of three digits."""
    cells_with_dot = cells.filter(pc.match_substring(cells, ".", ignore_case=False))
    trimmed_cells = pc.utf8_trim_whitespace(cells_with_dot)
    numbers = trimmed_cells.filter(pc.not_equal(trimmed_cells, "."))  # a dot alone means a missing value
    return len(numbers) > 0 and bool(pc.all(pc.match_substring_regex(numbers, _DOTTED_NUMBER)).as_py())


def _cast_to_numbers(cells: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray | None:
    """Cast strings to numbers, with null for missing ones, or return None if that is impossible."""
    with suppress(pa.ArrowInvalid):
        return pc.cast(cells, pa.float64())

    # White space or the mark of a missing value may have prevented the cast.
    trimmed_cells = pc.utf8_trim_whitespace(cells)
    is_missing = pc.is_in(pc.utf8_lower(trimmed_cells), value_set=_ALL_MISSING_MARKS.cast(cells.type))
    present_cells = pc.if_else(is_missing, None, trimmed_cells)
    with suppress(pa.ArrowInvalid):
        return pc.cast(present_cells, pa.float64())
    return None


def _dictionary_encode(name: str, cells: pa.Array | pa.ChunkedArray) -> _EncodedStrings:
    """Trim the cells of a column and encode them by their distinct values."""
    encoded_cells = cells.combine_chunks() if isinstance(cells, pa.ChunkedArray) else cells
    encoded_cells = encoded_cells.fill_null(MISSING).dictionary_encode()
    values_in_file = encoded_cells.dictionary.to_pylist()
    has_plus = any(value.strip() == PLUS for value in values_in_file)
    marks = missing_marks(has_plus=has_plus)
    cleaned_values = [_clean(value, marks) for value in values_in_file]

    # Cleaning makes values equal that differed only in white space or in the mark of a missing value.
    new_codes, values = pd.factorize(np.array(cleaned_values, dtype=object))
    codes_in_file = encoded_cells.indices.to_numpy(zero_copy_only=False)
    return _EncodedStrings(name, values, new_codes[codes_in_file], has_plus)


def _infer_numbers(cells: _EncodedStrings, delimiter: str) -> TypedColumn | None:
    """Return a column of numbers, or None if the values are not numbers.

    A few other strings among many numbers become missing. Codes with leading zeros, such as postal codes, are not
    numbers.
    """
    values = cells.values.tolist()
    is_missing = np.array([text == MISSING or text.lower() in MISSING_NUMBER_MARKS for text in values])
    present_strings = [text for text, missing in zip(values, is_missing, strict=True) if not missing]
    if not present_strings or any(map(is_code, present_strings)):
        return None

    notation = infer_notation(present_strings, delimiter)
    if notation is None:
        return None
    numbers = np.array([_parse_or_nan(notation, text) for text in values])

    is_mixed = np.isnan(numbers) & ~is_missing
    has_too_many_mixed = is_mixed.sum() > (1 - MIN_AGREEMENT) * len(present_strings)
    if has_too_many_mixed:
        return None

    # The arrays above have one element per distinct value. Indexing them with the codes gives one element per row.
    mixed_rows = int(is_mixed[cells.codes].sum())
    return from_numbers(cells.name, numbers[cells.codes], mixed=mixed_rows, notation=notation)


def _parse_or_nan(notation: NumberNotation, text: str) -> float:
    """Parse a number in the given notation, or return NaN if the string is not a number."""
    try:
        return notation.parse(text)
    except ValueError:
        return float("nan")


def _infer_booleans(cells: _EncodedStrings) -> TypedColumn | None:
    """Return a column of booleans, or None if any value is neither true nor false."""
    words = np.array([text.casefold() for text in cells.values.tolist()], dtype=object)
    if not set(words) <= _BOOLEAN_WORDS | {MISSING}:
        return None
    return _build_string_column(cells.name, ColumnKind.BOOLEAN, pd.Series(words[cells.codes], dtype=object))


def _infer_dates(cells: _EncodedStrings) -> TypedColumn | None:
    """Return a column of dates if nearly all values have the same date format, or None otherwise.

    The few values in another format become missing.
    """
    dates = parse_dates(cells.values.tolist())
    if dates is None:
        return None
    mixed_rows = int(dates.is_invalid[cells.codes].sum())
    return from_dates(cells.name, dates.timestamps.iloc[cells.codes], date_format=dates.date_format, mixed=mixed_rows)


def _infer_text(cells: _EncodedStrings) -> TypedColumn:
    """Return a column of categories, texts or identifiers, which fits any values."""
    rows_per_value = np.bincount(cells.codes, minlength=len(cells.values))
    missing = int(rows_per_value[cells.values == MISSING].sum())
    distinct = len(cells.distinct_values)
    kind = _classify_text_column(cells, non_missing_rows=len(cells.codes) - missing)
    schema = ColumnSchema(
        cells.name,
        kind,
        distinct,
        missing,
        has_plus=cells.has_plus,
        mixes_date_formats=mixes_date_formats(cells.distinct_values),
        mixes_units=mixes_units(cells.distinct_values),
    )
    return TypedColumn(schema, pd.Series(cells.values[cells.codes], dtype=object))


def _classify_text_column(cells: _EncodedStrings, *, non_missing_rows: int) -> ColumnKind:
    """Classify a column of strings as category, text or identifier.

    Few distinct values are categories. Many distinct values are text if they mostly consist of several words, and
    identifiers if all of them are unique.

    Args:
        cells: the column.
        non_missing_rows: the number of rows with a value.
    """
    distinct_values = cells.distinct_values
    if len(distinct_values) <= CARDINALITY_THRESHOLD:
        return ColumnKind.CATEGORY

    mean_words = np.mean([len(text.split()) for text in distinct_values])
    if mean_words >= MIN_MEAN_WORDS_FOR_TEXT:
        return ColumnKind.TEXT

    all_values_unique = len(distinct_values) == non_missing_rows
    return ColumnKind.IDENTIFIER if all_values_unique else ColumnKind.CATEGORY


def _build_string_column(name: str, kind: ColumnKind, values: "pd.Series[Any]") -> TypedColumn:
    """Build a column of strings whose kind is known."""
    missing = int((values == MISSING).sum())
    distinct = int(values[values != MISSING].nunique())
    return TypedColumn(ColumnSchema(name, kind, distinct, missing), values.reset_index(drop=True))
