"""Detection of the columns that order the rows in time: a date, or a year with its months and days."""

from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np
import pandas as pd

from touchstone.learning.column_types import ColumnKind, ColumnSchema
from touchstone.learning.splits.column_names import (
    COUNTER_WORDS,
    DAY_WORDS,
    HOUR_WORDS,
    MINUTE_WORDS,
    MONTH_WORDS,
    YEAR_WORDS,
    names_birth,
    names_clock,
    parse_event,
)
from touchstone.learning.table_reader import Table
from touchstone.learning.target import Floats

MIN_TIMES: Final = 5  # With fewer distinct times, the latest rows would be a group rather than the future.
MIN_COUNTED_TIMES: Final = 32  # A column of days with fewer values may hold days of the month.
MAX_MISSING_SHARE: Final = 0.05
MAX_INCOMPLETE_SHARE: Final = 0.5  # A column with more missing dates hardly dates the rows.
FIRST_YEAR, LAST_YEAR = 1_500, 2_200
# The first and the last number in each format for numbers such as 202412 or 20241225. They are from the years 1900 to
# 2099, since other numbers may look alike by chance.
DATE_NUMBER_RANGES: Final = {"%Y%m": (190_001, 209_912), "%Y%m%d": (19_000_101, 20_991_231)}
# Seconds since 1970, from 1990 to 2040, which may also be counted in milliseconds, microseconds or nanoseconds.
FIRST_EPOCH_SECOND, LAST_EPOCH_SECOND = 631_152_000, 2_208_988_800
EPOCH_UNITS_PER_SECOND: Final = (1, 1_000, 1_000_000, 1_000_000_000)
UNITS_WITHIN_DAY: Final = (HOUR_WORDS, MINUTE_WORDS)


def find_time_columns(table: Table, target_name: str) -> tuple[str, ...]:
    """Return the columns that order the rows of a table in time, the longest unit first, or an empty tuple.

    A column of dates is preferred, or else dates that are written as numbers, such as 20241225. The next choice is a
    year with its month, day and time of day, and the last one is a column that counts days, weeks or seconds. Dates of
    birth are ignored, because they do not date the rows.
    """
    candidates = [
        column
        for column in table.columns.values()
        if column.name != target_name and column.missing <= MAX_MISSING_SHARE * len(table.frame)
    ]
    return (
        _find_date(candidates)
        or _find_date_numbers(table, candidates)
        or _find_year(table, candidates)
        or _find_counter(table, candidates)
    )


def find_incomplete_dates(table: Table, target_name: str) -> ColumnSchema | None:
    """Return the first column of dates that would order the rows in time if fewer of its dates were missing."""
    rows = len(table.frame)
    candidates = [
        column
        for column in table.columns.values()
        if column.name != target_name and MAX_MISSING_SHARE * rows < column.missing <= MAX_INCOMPLETE_SHARE * rows
    ]
    names = _find_date(candidates)
    return table.columns[names[0]] if names else None


def _find_date(candidates: Iterable[ColumnSchema]) -> tuple[str, ...]:
    """Return the first column of dates with enough distinct dates."""
    for column in candidates:
        if column.kind is ColumnKind.DATE and column.distinct >= MIN_TIMES and not names_birth(column.name):
            return (column.name,)
    return ()


def _find_date_numbers(table: Table, candidates: Iterable[ColumnSchema]) -> tuple[str, ...]:
    """Return the first column of numbers such as 20241225 or 202412, with enough distinct ones."""
    for column in candidates:
        has_enough_numbers = column.distinct >= MIN_TIMES
        may_be_dates = column.integral and has_enough_numbers and not names_birth(column.name)
        if may_be_dates and _holds_date_numbers(table, column):
            return (column.name,)
    return ()


def _find_year(table: Table, candidates: Iterable[ColumnSchema]) -> tuple[str, ...]:
    """Return the first column of years, followed by the columns of finer units for the same event."""
    whole_numbers = [column for column in candidates if column.integral]
    for column in whole_numbers:
        event = parse_event(column.name, YEAR_WORDS)
        if event is None or not _holds_years(table, column):
            continue

        names = [column.name, *_finer_units(whole_numbers, event)]
        if _count_distinct_times(table, names) >= MIN_TIMES:
            return tuple(names)
    return ()


def _finer_units(whole_numbers: Iterable[ColumnSchema], event: frozenset[str]) -> Iterator[str]:
    """Yield the columns of the month, the day and the time of day of an event, until a unit is missing.

    A day without a month must be a day of the year.
    """
    month = _find_unit(whole_numbers, MONTH_WORDS, event, longer_units=YEAR_WORDS)
    if month is not None:
        yield month.name

    longer_units = YEAR_WORDS | MONTH_WORDS
    day = _find_unit(whole_numbers, DAY_WORDS, event, longer_units=longer_units)
    if day is None or (month is None and day.distinct < MIN_COUNTED_TIMES):
        return
    yield day.name

    longer_units |= DAY_WORDS
    for unit_words in UNITS_WITHIN_DAY:
        column = _find_unit(whole_numbers, unit_words, event, longer_units=longer_units)
        if column is None:
            return
        yield column.name
        longer_units |= unit_words


def _find_unit(
    whole_numbers: Iterable[ColumnSchema],
    unit_words: frozenset[str],
    event: frozenset[str],
    *,
    longer_units: frozenset[str],
) -> ColumnSchema | None:
    """Return the first column that states the time of an event in the given unit, or None if there is none."""
    for column in whole_numbers:
        if parse_event(column.name, unit_words, longer_units) == event:
            return column
    return None


def _find_counter(table: Table, candidates: Iterable[ColumnSchema]) -> tuple[str, ...]:
    """Return the first column that counts days, weeks or seconds."""
    for column in candidates:
        if not column.integral or column.distinct < MIN_COUNTED_TIMES:
            continue
        counts_time = parse_event(column.name, COUNTER_WORDS) is not None
        reads_clock = names_clock(column.name) and _holds_epoch_times(table, column)
        if counts_time or reads_clock:
            return (column.name,)
    return ()


def _holds_years(table: Table, column: ColumnSchema) -> bool:
    """Return whether all numbers of a column can be years."""
    numbers = _present_numbers(table, column)
    return bool(numbers.min() >= FIRST_YEAR and numbers.max() <= LAST_YEAR)


def _holds_date_numbers(table: Table, column: ColumnSchema) -> bool:
    """Return whether all numbers of a column are dates in the form 20241225, or all are months in the form 202412."""
    numbers = np.unique(_present_numbers(table, column))
    for date_format, (first_number, last_number) in DATE_NUMBER_RANGES.items():
        if first_number <= numbers[0] and numbers[-1] <= last_number:
            texts = pd.Series(numbers.astype(np.int64).astype(str))
            return bool(pd.to_datetime(texts, format=date_format, errors="coerce").notna().all())
    return False


def _holds_epoch_times(table: Table, column: ColumnSchema) -> bool:
    """Return whether all numbers of a column can be seconds since 1970.

    They may also be milliseconds, microseconds or nanoseconds.
    """
    numbers = _present_numbers(table, column)
    return any(
        FIRST_EPOCH_SECOND * factor <= numbers.min() and numbers.max() <= LAST_EPOCH_SECOND * factor
        for factor in EPOCH_UNITS_PER_SECOND
    )


def _present_numbers(table: Table, column: ColumnSchema) -> Floats:
    """Return the numbers of a column that are not missing."""
    numbers: Floats = table.frame[column.name].to_numpy(dtype=np.float64)
    return numbers[~np.isnan(numbers)]


def _count_distinct_times(table: Table, names: list[str]) -> int:
    """Return the number of distinct times that the named columns distinguish together."""
    return len(table.frame[names].drop_duplicates())
