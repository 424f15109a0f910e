"""Values that were probably meant otherwise than they are read: marks for missing values, periods and times of day.

They are only reported, because each of them may also be what it seems to be.
"""

import re
from typing import Any, Final

import numpy as np
import pandas as pd

from touchstone.core.missing_values import MIN_AGREEMENT
from touchstone.core.number_notation import is_code, split_number
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
_MONTH: Final = "(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
# Quarters, half-years and weeks, such as 2024-Q3, H1 2024 and 2024W07, and months, such as Jan 2024.
PERIOD: Final = re.compile(
    rf"{_YEAR}[-/ ]?[qtshw]\d{{1,2}}|[qtsh][1-4][-/ ]?{_YEAR}|{_MONTH}[-/. ,]+{_YEAR}", re.IGNORECASE
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
    numbers = present_cells.to_numpy().astype(np.float64)
    for position in (numbers.argmin(), numbers.argmax()) if len(numbers) else ():
        is_extreme = numbers == numbers[position]
        others = present_cells[~is_extreme]
        rows = int(is_extreme.sum())
        if numbers[position] != 0 and rows >= MIN_REPEATS and _is_far(numbers[position], numbers[~is_extreme]):
            value, low, high = map(cell_as_text, (present_cells[position], others.min(), others.max()))
            return {"value": value, "rows": rows, "low": low, "high": high}
    return None


def find_clock_time(column: ColumnSchema, cells: "pd.Series[Any]") -> str | None:
    """Return the first cell of a column of categories without an order if nearly all are times, such as 10:30.

    A few different times are no problem, because a model learns about each of them.
    """
    return _find_notation(CLOCK_TIME, column, cells, min_distinct=CARDINALITY_THRESHOLD + 1)


def find_period(column: ColumnSchema, cells: "pd.Series[Any]") -> str | None:
    """Return the first cell of a column of categories if nearly all are periods, such as 2024-Q3."""
    return _find_notation(PERIOD, column, cells, min_distinct=MIN_PERIODS)


def find_word_among_numbers(column: ColumnSchema, cells: "pd.Series[Any]") -> str | None:
    """Return the first word of a column of categories if most, but not nearly all, of its different cells are numbers.

    Whole numbers with leading zeros are codes, beside which all others are codes, too.
    """
    distinct_values = _distinct_words(column, cells, min_distinct=CARDINALITY_THRESHOLD + 1)
    if column.mixes_units or any(map(is_code, distinct_values)):
        return None
    words = [value for value in distinct_values if split_number(value) is None]
    return words[0] if 0 < len(words) <= MAX_WORD_SHARE * len(distinct_values) else None


def _find_notation(
    notation: re.Pattern[str], column: ColumnSchema, cells: "pd.Series[Any]", *, min_distinct: int
) -> str | None:
    """Return the first cell of a column of words that has a notation if nearly all different cells have it."""
    distinct_values = _distinct_words(column, cells, min_distinct=min_distinct)
    values = [value for value in distinct_values if notation.fullmatch(value)]
    return values[0] if values and len(values) >= MIN_AGREEMENT * len(distinct_values) else None


def _distinct_words(column: ColumnSchema, cells: "pd.Series[Any]", *, min_distinct: int) -> list[str]:
    """Return the different cells of a column of words, or nothing for other columns and for too few of them."""
    if column.kind not in (ColumnKind.CATEGORY, ColumnKind.IDENTIFIER) or column.distinct < min_distinct:
        return []
    return [value for value in cells.unique() if isinstance(value, str) and value != MISSING]


def _is_far(number: float, others: Floats) -> bool:
    """Return whether a number is further from all others than these are from each other."""
    if not others.size or min(abs(number - others.min()), abs(number - others.max())) <= np.ptp(others):
        return False
    return len(np.unique(others)) >= MIN_OTHER_VALUES
