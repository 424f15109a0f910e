"""Values that were probably meant otherwise than they are read: marks for missing values, periods and times of day.

They are only reported, because each of them may also be what it seems to be.
"""

import math
import re
from collections.abc import Callable, Sequence
from itertools import filterfalse, islice
from typing import Any, Final

import numpy as np
import pandas as pd

from touchstone.core.missing_values import MIN_AGREEMENT
from touchstone.core.number_notation import is_code, split_number
from touchstone.core.text import fold
from touchstone.learning.column_types import CARDINALITY_THRESHOLD, MISSING, ColumnKind, ColumnSchema
from touchstone.learning.row_values import cell_as_text
from touchstone.learning.target import Floats
from touchstone.learning.task_interface import Json

MIN_REPEATS: Final = 3
MIN_OTHER_VALUES: Final = 5
MAX_WORD_SHARE: Final = 0.2
MIN_PERIODS: Final = 5
CLOCK_TIME: Final = re.compile(r"-?\d{1,3}:[0-5]\d(:[0-5]\d([.,]\d+)?)?( ?[ap]m)?", re.IGNORECASE)
_YEAR: Final = r"(1[89]|20)\d\d"
# The beginnings of the names of months in English and French, without accents
_MONTH: Final = "(jan|fe[bv]|mar|apr|avr|ma[iy]|ju[iln]|aug|aou|sep|oct|nov|dec)[a-z]*"
_MONTH_NUMBER: Final = r"(0?[1-9]|1[0-2])"
# Quarters, half-years and weeks, such as 2024-Q3, H1 2024 and 2024W07, and months, such as Jan 2024, avr. 2024, Jan-24
# and 01/2024.
PERIOD: Final = re.compile(
    rf"{_YEAR}[-/ ]?[qtshw]\d{{1,2}}|[qtsh][1-4][-/ ]?{_YEAR}"
    rf"|{_MONTH}([-/. ,]+{_YEAR}|-\d\d)|{_MONTH_NUMBER}[-/]{_YEAR}",
    re.IGNORECASE,
)


def find_repeated_outlier(cells: "pd.Series[Any]") -> Json | None:
    """Find a repeated number or date that is further from all others than these are from each other.

    An example is -999 among temperatures. The number 0 does not count, because it often means that there is none of
    something.

    Args:
        cells: a column of numbers or dates.

    Returns:
        the `value` as text, its number of `rows`, and the range of the others from `low` to `high`; or None.
    """
    present_cells = cells.dropna().reset_index(drop=True)
    may_count_things = pd.api.types.is_numeric_dtype(present_cells)
    numbers = present_cells.to_numpy().astype(np.float64)

    for position in (numbers.argmin(), numbers.argmax()) if len(numbers) else ():
        number = numbers[position]
        if number == 0 and may_count_things:
            continue

        is_extreme = numbers == number
        rows = int(is_extreme.sum())
        if rows >= MIN_REPEATS and _is_far(number, numbers[~is_extreme]):
            others = present_cells[~is_extreme]
            value, low, high = map(cell_as_text, (present_cells[position], others.min(), others.max()))
            return {"value": value, "rows": rows, "low": low, "high": high}
    return None


def list_words(column: ColumnSchema, cells: "pd.Series[Any]") -> list[str]:
    """Return the different cells of a column of categories or identifiers, or nothing for any other column."""
    if column.kind not in (ColumnKind.CATEGORY, ColumnKind.IDENTIFIER) or pd.api.types.is_numeric_dtype(cells):
        return []
    return [value for value in cells.unique() if isinstance(value, str) and value != MISSING]


def find_clock_time(words: Sequence[str]) -> str | None:
    """Return the first of the different words of a column that is a time, such as 10:30, if nearly all are times.

    A few different times are no problem, because a model learns about each of them.
    """
    return _find_notation(CLOCK_TIME.fullmatch, words, min_distinct=CARDINALITY_THRESHOLD + 1)


def find_period(words: Sequence[str]) -> str | None:
    """Return the first of the different words of a column that is a period, such as 2024-Q3, if nearly all are."""
    return _find_notation(_match_period, words, min_distinct=MIN_PERIODS)


def find_word_among_numbers(words: Sequence[str]) -> str | None:
    """Return the first of the different words of a column that is no number, if most, but not nearly all, are numbers.

    Whole numbers with leading zeros are codes, beside which all others are codes, too.
    """
    if len(words) <= CARDINALITY_THRESHOLD:
        return None
    others = _list_exceptions(words, split_number, max_share=MAX_WORD_SHARE)
    return None if not others or any(map(is_code, words)) else others[0]


def _match_period(word: str) -> re.Match[str] | None:
    """Match a period, in which the name of a month may have accents."""
    return PERIOD.fullmatch(fold(word))


def _find_notation(match: Callable[[str], Any], words: Sequence[str], *, min_distinct: int) -> str | None:
    """Return the first word that matches a notation if there are enough words and nearly all of them match."""
    if len(words) < min_distinct or _list_exceptions(words, match, max_share=1 - MIN_AGREEMENT) is None:
        return None
    return next(filter(match, words))


def _list_exceptions(words: Sequence[str], parse: Callable[[str], Any], *, max_share: float) -> list[str] | None:
    """Return the words that cannot be parsed, or None if they have more than the given share.

    A long column may have a million different words, so stop as soon as there are too many exceptions.
    """
    max_count = math.floor(max_share * len(words))
    exceptions = list(islice(filterfalse(parse, words), max_count + 1))
    return exceptions if len(exceptions) <= max_count else None


def _is_far(number: float, others: Floats) -> bool:
    """Return whether a number is further from all others than these are from each other."""
    if not others.size or min(abs(number - others.min()), abs(number - others.max())) <= np.ptp(others):
        return False
    return len(np.unique(others)) >= MIN_OTHER_VALUES
