"""From cells as they were written to typed columns: numbers, categories, dates, texts, and what can't be learned from.

The type of a column is inferred from its different values, not from its rows, so that long tables cost little.
"""

import math
import re
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

from touchstone.core.date_formats import DATE_FORMATS, ISO_8601
from touchstone.core.missing_values import MISSING_MARKS, MISSING_NUMBER_MARKS, PLUS, missing_marks
from touchstone.core.number_notation import (
    CODE_WITH_LEADING_ZERO,
    PLAIN_NOTATION,
    NumberNotation,
    infer_notation,
    is_code,
)
from touchstone.core.text import fold
from touchstone.learning.identifiers import is_row_identifier

MISSING: Final = ""  # How text columns represent a missing value; no other cell can become an empty text.
LONGEST_MISSING_MARK: Final = max(map(len, MISSING_MARKS))
AGREEMENT: Final = 0.95  # The share of the different values that must agree on a type; the rest becomes missing.
MAX_MAGNITUDE: Final = 1e30  # Larger magnitudes overflow single precision once squared, and count as infinite.
MAX_EXACT_INTEGER: Final = 2.0**53  # Up to here floats can tell neighbouring integers apart.
MANY_VALUES: Final = 30
MIN_WORDS_OF_TEXT: Final = 4
DATE_SAMPLE: Final = 20
PLAIN_SAMPLE: Final = 200
_BOOLEAN_WORDS: Final = frozenset({"true", "false"})
_BOOLEAN_BY_NUMBER: Final = {"1": "true", "1.0": "true", "0": "false", "0.0": "false"}
_DATE_START: Final = re.compile(r"^(\w+[-/. ,T]+\d|\d{1,2}[- ][^\W\d]{3})")
_PLAIN_CODE: Final = rf"^\s*{CODE_WITH_LEADING_ZERO}\s*$"
_ALL_MISSING_MARKS: Final = pa.array(sorted(MISSING_MARKS | MISSING_NUMBER_MARKS))


class ColumnKind(StrEnum):
    """What a column holds, which decides how it is prepared."""

    NUMBER = "number"
    BOOLEAN = "boolean"
    CATEGORY = "category"
    TEXT = "text"  # Sentences: many different values of several words.
    DATE = "date"
    IDENTIFIER = "identifier"  # A different value in every row, so that there is nothing to learn.
    UNSUPPORTED = "unsupported"  # Nested or binary values.


@dataclass(frozen=True, slots=True)
class ColumnSchema:
    """The kind of a column and how its cells are read, so that later rows are read the same way."""

    name: str
    kind: ColumnKind
    distinct: int
    missing: int
    date_format: str | None = None
    decimal_comma: bool = False
    thousands: str = ""
    integral: bool = False
    mixed: int = 0  # The number of cells that did not agree with the type of their column.
    infinite: int = 0
    unit: str = ""  # The unit or currency that the file writes beside the numbers, such as %, $ or kg.
    has_plus: bool = False  # Whether a word of the column is a plus sign, so that a minus sign is no missing mark.

    @property
    def notation(self) -> NumberNotation:
        """How the numbers of the column are written."""
        return NumberNotation(self.decimal_comma, self.thousands, self.unit)


@dataclass(frozen=True, slots=True)
class TypedColumn:
    """A column with its values: float64 for numbers, datetime64 for dates, text with `MISSING` for the rest."""

    column: ColumnSchema
    values: "pd.Series[Any]" = field(repr=False)


@dataclass(frozen=True, slots=True)
class _TextCells:
    """The cells of a text column: its different values, and for every row the position of its value.

    `has_plus` says whether one of the values is a plus sign.
    """

    name: str
    values: npt.NDArray[np.object_]
    codes: npt.NDArray[np.intp]
    has_plus: bool

    @property
    def present(self) -> list[str]:
        """The values that are not missing."""
        return [value for value in self.values.tolist() if value != MISSING]


def from_texts(name: str, cells: "pd.Series[Any]", *, delimiter: str = ",") -> TypedColumn:
    """Infer the type of a column of texts: numbers, booleans, dates, or else words.

    `delimiter` is what separates the cells in the file; it decides what commas in numbers can mean.
    """
    return from_arrow_texts(name, pa.array(cells, type=pa.large_string(), from_pandas=True), delimiter=delimiter)


def from_arrow_texts(name: str, cells: pa.Array | pa.ChunkedArray, *, delimiter: str = ",") -> TypedColumn:
    """Infer the type of a column of Arrow texts, like `from_texts`."""
    plain_numbers = _read_plain_numbers(cells)
    if plain_numbers is not None:
        notation = NumberNotation(decimal_comma=delimiter != ",")
        return from_numbers(name, plain_numbers, notation=notation)

    text_cells = _distinct_cells(name, cells)
    if not text_cells.present:
        return _infer_words(text_cells)

    # Each of these returns None if the values are of another type; any values are words.
    return (
        _infer_numbers(text_cells, delimiter)
        or _infer_booleans(text_cells)
        or _infer_dates(text_cells)
        or _infer_words(text_cells)
    )


def from_numbers(
    name: str, cells: npt.ArrayLike, *, mixed: int = 0, notation: NumberNotation = PLAIN_NOTATION
) -> TypedColumn:
    """Return a column of numbers; infinite ones, and those too large to compute with, become missing.

    A column that merely identifies the rows becomes an identifier. `mixed` is how many cells were not numbers, and
    `notation` how the numbers were written; both are stored in the schema.
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
    )
    return TypedColumn(schema, pd.Series(values))


def from_dates(name: str, cells: "pd.Series[Any]", *, date_format: str = ISO_8601, mixed: int = 0) -> TypedColumn:
    """Return a column of dates and times, converted to UTC.

    `date_format` is how the dates were written, and `mixed` how many cells were not dates; both are stored in the
    schema.
    """
    moments_in_utc = pd.to_datetime(cells, utc=True).dt.tz_localize(None)
    moments = moments_in_utc.astype("datetime64[us]").reset_index(drop=True)
    schema = ColumnSchema(
        name,
        ColumnKind.DATE,
        distinct=int(moments.nunique()),
        missing=int(moments.isna().sum()),
        date_format=date_format,
        mixed=mixed,
    )
    return TypedColumn(schema, moments)


def from_booleans(name: str, cells: "pd.Series[Any]") -> TypedColumn:
    """Return a column of the words "true" and "false"."""
    words = cells.map({True: "true", False: "false"}).astype(object)
    return _word_column(name, ColumnKind.BOOLEAN, words.where(words.notna(), MISSING))


def from_unsupported(name: str, rows: int) -> TypedColumn:
    """Return a column whose values are nested or binary; all of them count as missing."""
    schema = ColumnSchema(name, ColumnKind.UNSUPPORTED, distinct=0, missing=rows)
    return TypedColumn(schema, pd.Series([MISSING] * rows, dtype=object))


def parse_cell(column: ColumnSchema, cell: object) -> Any:
    """Read one JSON value exactly as the cells of its column were read from the data file.

    This gives a model the same values for a row in a request as for a row in its table. Only numbers that are too large
    to compute with are not missing, as in files, but become the largest number, since a request can be answered with a
    warning about a value out of range. Raises ValueError if the value does not suit the column; `row_values` decides
    whether it counts as missing.
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
    """Return whether a JSON value stands for a missing value in its column, such as null, "n/a" or an empty text."""
    text = _clean_json(column, cell)
    return text == MISSING or (column.kind is ColumnKind.NUMBER and fold(text) in MISSING_NUMBER_MARKS)


def schema_to_dict(column: ColumnSchema) -> dict[str, Any]:
    """Return the schema as JSON, to be stored with a model."""
    return {name: getattr(column, name) for name in ColumnSchema.__slots__} | {"kind": str(column.kind)}


def schema_from_dict(record: dict[str, Any]) -> ColumnSchema:
    """Return the schema that `schema_to_dict` has stored."""
    return ColumnSchema(**(record | {"kind": ColumnKind(record["kind"])}))


def _clean(value: str, marks: Set[str]) -> str:
    """Trim a cell; every mark of a missing value becomes `MISSING`."""
    text = value.strip()
    is_missing = len(text) <= LONGEST_MISSING_MARK and text.lower() in marks
    return MISSING if is_missing else text


def _clean_json(column: ColumnSchema, cell: object) -> str:
    """Return a JSON value as the trimmed text of a cell of its column; a mark of a missing value becomes `MISSING`."""
    return _clean(json_as_text(cell), missing_marks(has_plus=column.has_plus))


def json_as_text(cell: object) -> str:
    """Write a JSON value as a file would hold it; 1.0 becomes 1, since JSON does not tell the two apart."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < MAX_EXACT_INTEGER:
        return str(int(cell))
    return str(cell)


def _limit_magnitude(number: float) -> float:
    """Return a number or, if it is too large to compute with, the largest number of its sign; NaN stays NaN."""
    return math.copysign(MAX_MAGNITUDE, number) if abs(number) > MAX_MAGNITUDE else number


def _parse_number(column: ColumnSchema, text: str) -> float:
    """Read a number in the notation of its column; a missing one becomes NaN, and true and false become 1 and 0."""
    if text == MISSING or fold(text) in MISSING_NUMBER_MARKS:
        return float("nan")

    word = text.casefold()
    if word in _BOOLEAN_WORDS:
        return float(word == "true")

    return _limit_magnitude(column.notation.parse(text))


def _parse_date(column: ColumnSchema, text: str) -> Any:
    """Read a date in the format of its column, or else in ISO 8601."""
    if text == MISSING:
        return pd.NaT

    for date_format in (column.date_format, ISO_8601):
        moment = pd.to_datetime(text, format=date_format, errors="coerce", utc=True)
        if moment is not pd.NaT:
            return moment.tz_localize(None)
    raise ValueError(text)


def _parse_boolean(text: str) -> str:
    """Read a boolean, which may also be written as 1 or 0."""
    word = _BOOLEAN_BY_NUMBER.get(text, text.casefold())
    if word != MISSING and word not in _BOOLEAN_WORDS:
        raise ValueError(text)
    return word


def _read_plain_numbers(cells: pa.Array | pa.ChunkedArray) -> npt.NDArray[np.float64] | None:
    """Return the numbers of a column in which every cell is a plain number or missing, or None if another cell occurs.

    Most columns of numbers are of this kind, and Arrow reads them a hundred times faster than anything in Python could.
    """
    # The first cells already rule out most columns of words.
    if _cast_to_numbers(cells.slice(0, PLAIN_SAMPLE)) is None:
        return None

    numbers = _cast_to_numbers(cells)
    if numbers is None or pc.all(pc.is_null(numbers, nan_is_null=True)).as_py():
        return None

    # Only whole numbers can be codes that begin with 0, such as postal codes.
    whole_numbers = cells.filter(pc.equal(numbers, pc.floor(numbers)))
    if pc.any(pc.match_substring_regex(whole_numbers, _PLAIN_CODE)).as_py():
        return None
    return np.asarray(numbers.to_numpy(zero_copy_only=False), dtype=np.float64)


def _cast_to_numbers(cells: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray | None:
    """Return texts as numbers, null where one is missing, or None if there are other texts than plain numbers."""
    with suppress(pa.ArrowInvalid):
        return pc.cast(cells, pa.float64())

    trimmed_cells = pc.utf8_trim_whitespace(cells)
    is_missing = pc.is_in(pc.utf8_lower(trimmed_cells), value_set=_ALL_MISSING_MARKS.cast(cells.type))
    known_cells = pc.if_else(is_missing, None, trimmed_cells)
    with suppress(pa.ArrowInvalid):
        return pc.cast(known_cells, pa.float64())
    return None


def _distinct_cells(name: str, cells: pa.Array | pa.ChunkedArray) -> _TextCells:
    """Return the different values of a column, trimmed, and which of them every row has."""
    encoded_cells = cells.combine_chunks() if isinstance(cells, pa.ChunkedArray) else cells
    encoded_cells = encoded_cells.fill_null(MISSING).dictionary_encode()
    values_in_file = encoded_cells.dictionary.to_pylist()
    has_plus = any(value.strip() == PLUS for value in values_in_file)
    marks = missing_marks(has_plus=has_plus)
    cleaned_values = [_clean(value, marks) for value in values_in_file]

    # Values that differ in white space only, or in how they mark a missing value, have become equal.
    new_codes, values = pd.factorize(np.array(cleaned_values, dtype=object))
    codes_in_file = encoded_cells.indices.to_numpy(zero_copy_only=False)
    return _TextCells(name, values, new_codes[codes_in_file], has_plus)


def _infer_numbers(cells: _TextCells, delimiter: str) -> TypedColumn | None:
    """Return a column of numbers, or None if its values are not numbers.

    A few words among many numbers become missing. Values with leading zeros, such as postal codes, are not numbers.
    """
    values = cells.values.tolist()
    is_missing = np.array([text == MISSING or text.lower() in MISSING_NUMBER_MARKS for text in values])
    known_texts = [text for text, missing in zip(values, is_missing, strict=True) if not missing]
    if not known_texts or any(map(is_code, known_texts)):
        return None

    notation = infer_notation(known_texts, delimiter)
    if notation is None:
        return None
    numbers = np.array([_parse_or_nan(notation, text) for text in values])

    is_word = np.isnan(numbers) & ~is_missing
    has_too_many_words = is_word.sum() > (1 - AGREEMENT) * len(known_texts)
    if has_too_many_words:
        return None

    # So far each different value was looked at once; `codes` holds, for every row, the position of its value.
    rows_with_word = int(is_word[cells.codes].sum())
    return from_numbers(cells.name, numbers[cells.codes], mixed=rows_with_word, notation=notation)


def _parse_or_nan(notation: NumberNotation, text: str) -> float:
    """Return the number that a text stands for in a notation, or NaN if it is none."""
    try:
        return notation.parse(text)
    except ValueError:
        return float("nan")


def _infer_booleans(cells: _TextCells) -> TypedColumn | None:
    """Return a column of booleans, or None if some value is neither true nor false."""
    words = np.array([text.casefold() for text in cells.values.tolist()], dtype=object)
    if not set(words) <= _BOOLEAN_WORDS | {MISSING}:
        return None
    return _word_column(cells.name, ColumnKind.BOOLEAN, pd.Series(words[cells.codes], dtype=object))


def _infer_dates(cells: _TextCells) -> TypedColumn | None:
    """Return a column of dates if nearly all of its values have the same format, otherwise None.

    The few values that have another format become missing.
    """
    # Parsing is slow, and a look at the first values rules out most columns of words.
    first_values = cells.present[:DATE_SAMPLE]
    if sum(bool(_DATE_START.match(text)) for text in first_values) < len(first_values) / 2:
        return None

    texts = pd.Series([text if text != MISSING else None for text in cells.values.tolist()], dtype=object)
    for date_format in DATE_FORMATS:
        moments = pd.to_datetime(texts, format=date_format, errors="coerce", utc=True)
        nearly_all_agree = moments.notna().sum() >= AGREEMENT * len(cells.present)
        if nearly_all_agree:
            has_other_format = (moments.isna() & texts.notna()).to_numpy()
            rows_with_other_format = int(has_other_format[cells.codes].sum())
            return from_dates(
                cells.name, moments.iloc[cells.codes], date_format=date_format, mixed=rows_with_other_format
            )
    return None


def _infer_words(cells: _TextCells) -> TypedColumn:
    """Return a column of words: categories, texts, or identifiers.

    Few different values are categories. Many different values are texts if they mostly consist of several words, and
    identifiers if no value occurs twice.
    """
    rows_per_value = np.bincount(cells.codes, minlength=len(cells.values))
    missing = int(rows_per_value[cells.values == MISSING].sum())
    distinct = len(cells.present)
    kind = _kind_of_words(cells, known_rows=len(cells.codes) - missing)
    schema = ColumnSchema(cells.name, kind, distinct, missing, has_plus=cells.has_plus)
    return TypedColumn(schema, pd.Series(cells.values[cells.codes], dtype=object))


def _kind_of_words(cells: _TextCells, *, known_rows: int) -> ColumnKind:
    """Return whether the words of a column are categories, texts, or identifiers; `known_rows` are not missing."""
    distinct_values = cells.present
    if len(distinct_values) <= MANY_VALUES:
        return ColumnKind.CATEGORY

    mean_words = np.mean([text.count(" ") + 1 for text in distinct_values])
    if mean_words >= MIN_WORDS_OF_TEXT:
        return ColumnKind.TEXT

    no_value_occurs_twice = len(distinct_values) == known_rows
    return ColumnKind.IDENTIFIER if no_value_occurs_twice else ColumnKind.CATEGORY


def _word_column(name: str, kind: ColumnKind, values: "pd.Series[Any]") -> TypedColumn:
    """Return a column of texts of a kind that has already been decided."""
    missing = int((values == MISSING).sum())
    distinct = int(values[values != MISSING].nunique())
    return TypedColumn(ColumnSchema(name, kind, distinct, missing), values.reset_index(drop=True))
