"""Recognition of the dates among the distinct strings of a column.

Missing values are empty strings.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from touchstone.core.date_formats import DATE_FORMATS
from touchstone.core.missing_values import MIN_AGREEMENT

SAMPLE_SIZE: Final = 20
MIN_SIMILAR_SHARE: Final = 0.5  # the least share of the sample that must look like dates
# The beginning of a string that looks like a date, such as "2024-1", "jan 5" or "5. Jan".
_DATE_START: Final = re.compile(r"^(\w+[-/. ,T]+\d|\d{1,2}[-. ]+[^\W\d]{3})")


@dataclass(frozen=True, slots=True)
class ParsedDates:
    """The dates of a column.

    Attributes:
        date_format: their format.
        timestamps: the date of each string in UTC, or NaT.
        is_invalid: whether each string is present, but is not a date in this format.
    """

    date_format: str
    timestamps: "pd.Series[Any]" = field(repr=False)
    is_invalid: npt.NDArray[np.bool_] = field(repr=False)


def parse_dates(strings: Sequence[str]) -> ParsedDates | None:
    """Parse strings as dates if nearly all of them have the same date format, or return None otherwise."""
    present_strings = [text for text in strings if text]
    for dates in _parse_in_likely_formats(strings, present_strings):
        if _are_nearly_all(dates.timestamps.notna(), present_strings):
            return dates
    return None


def mixes_date_formats(strings: Sequence[str]) -> bool:
    """Return whether nearly all strings are dates, but in different formats. None of the strings may be empty."""
    is_date = pd.Series([False] * len(strings))
    for dates in _parse_in_likely_formats(strings, strings):
        has_this_format = dates.timestamps.notna()
        if _are_nearly_all(has_this_format, strings):
            return False
        is_date |= has_this_format
    return len(strings) > 0 and _are_nearly_all(is_date, strings)


def _parse_in_likely_formats(strings: Sequence[str], present_strings: Sequence[str]) -> Iterator[ParsedDates]:
    """Yield the dates of a column in each format that fits at least one string of a small sample.

    Parsing is slow, and the sample is enough to rule out most formats and most columns without dates. It consists of
    the first strings and of strings from the whole column, because the format may change in the middle of it.
    `present_strings` are the strings that are not missing.
    """
    step = max(1, len(present_strings) // SAMPLE_SIZE)
    sample = [*present_strings[:SAMPLE_SIZE], *present_strings[::step]]
    similar_count = sum(bool(_DATE_START.match(text)) for text in sample)
    if similar_count < MIN_SIMILAR_SHARE * len(sample):
        return

    # pandas expects None for a missing string.
    cells = pd.Series([text or None for text in strings], dtype=object)
    sampled_cells = pd.Series(sample, dtype=object)
    for date_format in DATE_FORMATS:
        if _parse(sampled_cells, date_format).notna().any():
            timestamps = _parse(cells, date_format)
            is_invalid = (timestamps.isna() & cells.notna()).to_numpy(dtype=np.bool_)
            yield ParsedDates(date_format, timestamps, is_invalid)


def _parse(strings: "pd.Series[Any]", date_format: str) -> "pd.Series[Any]":
    """Parse strings in a date format, with NaT for all others."""
    return pd.to_datetime(strings, format=date_format, errors="coerce", utc=True)


def _are_nearly_all(is_date: "pd.Series[Any]", present_strings: Sequence[str]) -> bool:
    """Return whether nearly all strings that are present are dates."""
    return bool(is_date.sum() >= MIN_AGREEMENT * len(present_strings))
