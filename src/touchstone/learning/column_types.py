"""From cells as they were written to typed columns: numbers, categories, dates, texts, and what can't be learned from.

A column is judged on its different values, not on its rows, so that long tables cost little.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from touchstone.core.text import fold

MISSING: Final = ""  # the one missing mark of text columns once cleaned; no cell can hold it otherwise
MISSING_MARKS: Final = frozenset({"", "?", "na", "n/a", "#n/a", "<na>", "nan", "null", "-", "--", "."})
NUMBER_MARKS: Final = frozenset({"none", "missing", "unknown"})  # words that are missing marks among numbers only
AGREEMENT: Final = 0.95  # share of the different values that must agree on a type; the rest becomes missing
LARGEST: Final = 1e30  # larger magnitudes overflow single precision once squared, and count as infinite
EXACT: Final = 2.0**53  # whole numbers up to here are told apart
MANY_VALUES: Final = 30
WORDS_OF_A_TEXT: Final = 4
DATE_FORMATS: Final = (
    "ISO8601",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%d-%m-%Y",
    "%d.%m.%Y",
    "%Y/%m/%d",
    "%m/%d/%y",
    "%d/%m/%Y %H:%M",
    "%m/%d/%Y %H:%M",
    "%d %b %Y",
    "%b %d, %Y",
)
_LOOKS_DATED: Final = re.compile(r"^\w+[-/. ,T]+\d")
_LEADING_ZERO: Final = re.compile(r"^0\d+$")
_GROUPED: Final = {
    ",": re.compile(r"^[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?$"),
    ".": re.compile(r"^[+-]?[1-9]\d{0,2}(\.\d{3})+(,\d+)?$"),
}


class ColumnKind(StrEnum):
    """What a column holds, which decides how it is prepared."""

    NUMBER = "number"
    BOOLEAN = "boolean"
    CATEGORY = "category"
    TEXT = "text"  # sentences: many different values of several words
    DATE = "date"
    IDENTIFIER = "identifier"  # a different value in every row: nothing to learn
    UNSUPPORTED = "unsupported"  # nested or binary


@dataclass(frozen=True, slots=True)
class NumberNotation:
    """How the numbers of a column are written: 1234.5 as it stands, 1234,5, 1,234.5 or 1.234,5."""

    decimal_comma: bool = False
    thousands: str = ""  # the mark between groups of three digits

    def plain(self, text: str) -> str:
        """The same number as Python writes it."""
        if self.thousands and _GROUPED[self.thousands].match(text):
            text = text.replace(self.thousands, "")
        return text.replace(",", ".") if self.decimal_comma else text


PLAIN_NOTATION: Final = NumberNotation()


@dataclass(frozen=True, slots=True)
class ColumnSchema:
    """A typed column and how its cells are read, so that a later row is read the same way."""

    name: str
    kind: ColumnKind
    distinct: int
    missing: int
    date_format: str | None = None
    decimal_comma: bool = False
    thousands: str = ""
    integral: bool = False
    mixed: int = 0  # cells that did not agree with the type of their column
    infinite: int = 0


@dataclass(frozen=True, slots=True)
class TypedColumn:
    """A column with its values: float64 for numbers, datetime64 for dates, text with `MISSING` for the rest."""

    column: ColumnSchema
    values: "pd.Series[Any]" = field(repr=False)


def from_texts(name: str, cells: "pd.Series[Any]", *, delimiter: str = ",") -> TypedColumn:
    """Judge a column of texts: number, boolean, date, and else category, text or identifier.

    `delimiter` is what parts the cells in the file: where it is no comma, commas may belong to numbers.
    """
    codes, uniques = pd.factorize(cells, use_na_sentinel=False)
    texts = [_clean(value) for value in uniques]
    present = [text for text in texts if text != MISSING]
    for judge in (_as_numbers, _as_booleans, _as_dates):
        typed = judge(name, codes, texts, delimiter) if present else None
        if typed is not None:
            return typed
    return _as_words(name, codes, texts)


def from_numbers(
    name: str, cells: npt.ArrayLike, *, mixed: int = 0, spelling: NumberNotation = PLAIN_NOTATION
) -> TypedColumn:
    """A column of numbers; what is infinite, or too large to be computed with, becomes missing."""
    values = np.asarray(cells, dtype=np.float64).copy()
    infinite = np.abs(values) > LARGEST
    values[infinite] = np.nan
    known = values[~np.isnan(values)]
    integral = bool(len(known)) and bool(np.all(known == np.floor(known)))
    column = ColumnSchema(
        name,
        ColumnKind.IDENTIFIER if integral and _counts_rows(values) else ColumnKind.NUMBER,
        distinct=len(np.unique(known)),
        missing=len(values) - len(known),
        decimal_comma=spelling.decimal_comma,
        thousands=spelling.thousands,
        integral=integral,
        mixed=mixed,
        infinite=int(infinite.sum()),
    )
    return TypedColumn(column, pd.Series(values))


def from_dates(name: str, cells: "pd.Series[Any]", *, date_format: str = "ISO8601", mixed: int = 0) -> TypedColumn:
    """A column of moments, kept in UTC without a zone and to the microsecond."""
    moments = pd.to_datetime(cells, utc=True).dt.tz_localize(None).astype("datetime64[us]").reset_index(drop=True)
    missing = int(moments.isna().sum())
    return TypedColumn(
        ColumnSchema(name, ColumnKind.DATE, int(moments.nunique()), missing, date_format, mixed=mixed), moments
    )


def from_booleans(name: str, cells: "pd.Series[Any]") -> TypedColumn:
    """A column of true and false, kept as these two words."""
    words = cells.map({True: "true", False: "false"}).astype(object)
    return _worded(name, ColumnKind.BOOLEAN, words.where(words.notna(), MISSING))


def from_unsupported(name: str, rows: int) -> TypedColumn:
    """A column that is noted, and never looked into."""
    return TypedColumn(ColumnSchema(name, ColumnKind.UNSUPPORTED, 0, rows), pd.Series([MISSING] * rows, dtype=object))


def parse_cell(column: ColumnSchema, cell: object) -> Any:
    """One cell given by value, read as its column was; raises ValueError when it can't be."""
    if column.kind is ColumnKind.NUMBER and isinstance(cell, int | float):
        return _bounded(float(cell))
    return _CELLS.get(column.kind, _word_cell)(column, _clean(_written(cell)))


def _written(cell: object) -> str:
    """A JSON value as a file holds it; 1.0 is 1, since JSON does not tell the two apart."""
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < EXACT:
        return str(int(cell))
    return "" if cell is None else str(cell)


def _bounded(number: float) -> float:
    return number if abs(number) <= LARGEST else float("nan")


def _number_cell(column: ColumnSchema, text: str) -> float:
    if text == MISSING or fold(text) in NUMBER_MARKS:
        return float("nan")
    if text.casefold() in ("true", "false"):
        return float(text.casefold() == "true")
    return _bounded(float(NumberNotation(column.decimal_comma, column.thousands).plain(text)))


def _date_cell(column: ColumnSchema, text: str) -> Any:
    if text == MISSING:
        return pd.NaT
    formats = dict.fromkeys((column.date_format, "ISO8601"))
    for date_format in formats:
        moment = pd.to_datetime(text, format=date_format, errors="coerce", utc=True)
        if moment is not pd.NaT:
            return moment.tz_localize(None)
    raise ValueError(text)


def _boolean_cell(_column: ColumnSchema, text: str) -> str:
    word = {"1": "true", "1.0": "true", "0": "false", "0.0": "false"}.get(text, text.casefold())
    if word not in ("true", "false", MISSING):
        raise ValueError(text)
    return word


def _word_cell(_column: ColumnSchema, text: str) -> str:
    return text


_CELLS: Final[dict[ColumnKind, Callable[[ColumnSchema, str], Any]]] = {
    ColumnKind.NUMBER: _number_cell,
    ColumnKind.DATE: _date_cell,
    ColumnKind.BOOLEAN: _boolean_cell,
}


def _clean(value: object) -> str:
    """Trim a cell; a missing mark of any spelling becomes `MISSING`."""
    if not isinstance(value, str):
        return MISSING
    text = value.strip()
    return MISSING if len(text) <= 4 and text.lower() in MISSING_MARKS else text


def _as_numbers(name: str, codes: npt.NDArray[np.intp], texts: list[str], delimiter: str) -> TypedColumn | None:
    marks = np.array([text == MISSING or text.lower() in NUMBER_MARKS for text in texts])
    spelling = _spelling([text for text, mark in zip(texts, marks, strict=True) if not mark], delimiter)
    spelt = [spelling.plain(text) for text in texts]
    numbers = pd.to_numeric(pd.Series(spelt, dtype=object), errors="coerce").to_numpy(dtype=np.float64)
    words = np.isnan(numbers) & ~marks
    known = len(texts) - int(marks.sum())
    if known == 0 or words.sum() > (1 - AGREEMENT) * known or any(map(_LEADING_ZERO.match, texts)):
        return None
    return from_numbers(name, numbers[codes], mixed=int(words[codes].sum()), spelling=spelling)


def _spelling(texts: list[str], delimiter: str) -> NumberNotation:
    """What commas and dots mean in a column.

    Commas that all part groups of three digits are thousands; between semicolons, where a comma mostly is a decimal
    mark, every value must then have one. A dot parts thousands where a decimal comma follows it somewhere.
    """
    if delimiter == ",":
        return PLAIN_NOTATION
    with_comma = [text for text in texts if "," in text]
    judged = texts if delimiter == ";" else with_comma
    if judged and all(map(_GROUPED[","].match, judged)):
        return NumberNotation(thousands=",")
    dotted = [text for text in texts if "." in text]
    grouped = any("," in text for text in dotted) and all(map(_GROUPED["."].match, dotted))
    return NumberNotation(decimal_comma=True, thousands="." if grouped else "")


def _as_booleans(name: str, codes: npt.NDArray[np.intp], texts: list[str], _delimiter: str) -> TypedColumn | None:
    folded = np.array([text.casefold() for text in texts], dtype=object)
    if not set(folded) <= {"true", "false", MISSING}:
        return None
    return _worded(name, ColumnKind.BOOLEAN, pd.Series(folded[codes], dtype=object))


def _as_dates(name: str, codes: npt.NDArray[np.intp], texts: list[str], _delimiter: str) -> TypedColumn | None:
    present = pd.Series([text if text != MISSING else None for text in texts], dtype=object)
    known = int(present.notna().sum())
    if not all(_LOOKS_DATED.match(text) for text in present.dropna().head(20)):
        return None
    for date_format in DATE_FORMATS:
        moments = pd.to_datetime(present, format=date_format, errors="coerce", utc=True)
        if moments.notna().sum() >= AGREEMENT * known:
            lost = (moments.isna() & present.notna()).to_numpy()
            return from_dates(name, moments.iloc[codes], date_format=date_format, mixed=int(lost[codes].sum()))
    return None


def _as_words(name: str, codes: npt.NDArray[np.intp], texts: list[str]) -> TypedColumn:
    values = pd.Series(np.array(texts, dtype=object)[codes], dtype=object)
    present = {text for text in texts if text != MISSING}
    known = int((values != MISSING).sum())
    kind = ColumnKind.CATEGORY
    if len(present) > MANY_VALUES and np.mean([text.count(" ") + 1 for text in present]) >= WORDS_OF_A_TEXT:
        kind = ColumnKind.TEXT
    elif len(present) > MANY_VALUES and len(present) == known:
        kind = ColumnKind.IDENTIFIER
    return _worded(name, kind, values)


def _worded(name: str, kind: ColumnKind, values: "pd.Series[Any]") -> TypedColumn:
    missing = int((values == MISSING).sum())
    distinct = int(values.nunique()) - bool(missing)
    return TypedColumn(ColumnSchema(name, kind, distinct, missing), values.reset_index(drop=True))


def _counts_rows(values: npt.NDArray[np.float64]) -> bool:
    """Whether a column only numbers the rows, from 0 or from 1."""
    if len(values) <= MANY_VALUES or values[0] not in (0.0, 1.0):
        return False
    return bool(np.array_equal(values, np.arange(len(values), dtype=np.float64) + values[0]))


def schema_to_dict(column: ColumnSchema) -> dict[str, Any]:
    """The column as JSON, for a model's own record."""
    return {name: getattr(column, name) for name in ColumnSchema.__slots__} | {"kind": str(column.kind)}


def schema_from_dict(record: dict[str, Any]) -> ColumnSchema:
    """The inverse of `as_dict`."""
    return ColumnSchema(**(record | {"kind": ColumnKind(record["kind"])}))
