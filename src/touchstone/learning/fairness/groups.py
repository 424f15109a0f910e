"""The groups of people defined by sensitive columns.

The groups are defined once for a table, and new rows are assigned to the same groups.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.api.types import is_float_dtype

from touchstone.learning.column_types import MISSING, ColumnKind, ColumnSchema
from touchstone.learning.target import Floats

MAX_GROUPS: Final = 12  # The largest groups are compared separately, and all others are combined.
NUMBER_RANGES: Final = 4
MAX_SINGLE_NUMBERS: Final = 6  # Up to this many distinct numbers form separate groups; more are divided into ranges.
OTHER_GROUPS: Final = "…"
NO_VALUE: Final = "–"  # replaces a missing value in the name of an intersection
RANGE_SEPARATOR: Final = " – "
INTERSECTION: Final = " × "
SIGNIFICANT_DIGITS: Final = 4  # In the names of ranges of numbers.

Labels = npt.NDArray[Any]  # the name of the group of each row, or None


@dataclass(frozen=True, slots=True)
class SensitiveColumn:
    """A sensitive column with the groups of its values.

    Attributes:
        schema: the schema of the column.
        groups: the names of the groups in their natural order, without the group of missing values. New rows of a
            column of dates may have further groups, because its groups are years.
        borders: the lowest number of every range except the first, if numbers are divided into ranges.
    """

    schema: ColumnSchema
    groups: tuple[str, ...] = ()
    borders: tuple[float, ...] = ()

    @property
    def name(self) -> str:
        """The name of the column."""
        return self.schema.name

    def assign(self, cells: "pd.Series[Any]") -> Labels:
        """Return the name of the group of each cell, or None for a missing value."""
        if self.schema.kind is ColumnKind.DATE:
            return _years(cells)
        if is_float_dtype(cells):
            return self._assign_numbers(cells.to_numpy())

        label_by_value: dict[Any, str | None] = {group: group for group in self.groups}
        label_by_value[MISSING] = None
        return np.array([label_by_value.get(cell, OTHER_GROUPS) for cell in cells], dtype=object)

    def _assign_numbers(self, numbers: Floats) -> Labels:
        """Return the name of the range of each number, or the number itself if there are no ranges."""
        has_ranges = len(self.groups) == len(self.borders) + 1
        if has_ranges:
            range_of_row = np.searchsorted(np.array(self.borders), numbers, side="right")
            labels = np.array(self.groups, dtype=object)[range_of_row]
        else:
            labels = np.array([_number_name(number) for number in numbers], dtype=object)

        labels[np.isnan(numbers)] = None
        return labels


def define_groups(schema: ColumnSchema, cells: "pd.Series[Any]") -> SensitiveColumn:
    """Divide the values of a sensitive column into groups.

    Dates are grouped by year and numbers by range. Each of the most frequent categories forms a group, and all others
    share one.
    """
    if schema.kind is ColumnKind.DATE:
        years = {year for year in _years(cells) if year is not None}
        return SensitiveColumn(schema, groups=tuple(sorted(years)))
    if is_float_dtype(cells):
        # The column may hold identifiers, but the cells of new rows have to be read as numbers, too.
        return _define_ranges(replace(schema, kind=ColumnKind.NUMBER), cells.to_numpy())

    present_cells = cells[cells != MISSING]
    rows_per_category = present_cells.value_counts().sort_index()
    largest_categories = rows_per_category.nlargest(MAX_GROUPS).index
    return SensitiveColumn(schema, groups=tuple(sorted(largest_categories)))


def _years(cells: "pd.Series[Any]") -> Labels:
    """Return the year of each date, or None for a missing date."""
    return np.array([None if pd.isna(cell) else str(cell.year) for cell in cells], dtype=object)


def _define_ranges(schema: ColumnSchema, numbers: Floats) -> SensitiveColumn:
    """Divide numbers into about four ranges, each named after the lowest and the highest number in it.

    If there are only a few distinct numbers, each one forms a separate group.
    """
    present_numbers = numbers[~np.isnan(numbers)]
    distinct_numbers = np.unique(present_numbers)
    if len(distinct_numbers) <= MAX_SINGLE_NUMBERS:
        return SensitiveColumn(schema, groups=tuple(_number_name(number) for number in distinct_numbers))

    borders = _range_borders(present_numbers)
    ranges = np.split(distinct_numbers, np.searchsorted(distinct_numbers, borders))
    ends = [(float(numbers_in_range[0]), float(numbers_in_range[-1])) for numbers_in_range in ranges]
    return SensitiveColumn(schema, groups=tuple(_range_names(ends)), borders=tuple(borders.tolist()))


def _range_borders(numbers: Floats) -> Floats:
    """Return the lowest number of every range except the first, so that the ranges have similar numbers of rows.

    A number that at least a quarter of the rows share is a range of its own, as zero often is, and the other numbers
    are divided into the remaining ranges.
    """
    # The method "nearest" selects numbers that occur. A number is frequent if it is also the next quartile.
    quartiles = np.quantile(numbers, np.linspace(0, 1, NUMBER_RANGES + 1), method="nearest")
    equals_next = quartiles[:-1] == quartiles[1:]
    frequent_numbers = np.unique(quartiles[:-1][equals_next])

    other_numbers = numbers[~np.isin(numbers, frequent_numbers)]
    other_ranges = NUMBER_RANGES - len(frequent_numbers)
    quantiles = np.quantile(other_numbers, np.linspace(0, 1, other_ranges + 1), method="nearest")

    distinct_numbers = np.unique(numbers)
    next_positions = np.searchsorted(distinct_numbers, frequent_numbers) + 1
    numbers_after_frequent = distinct_numbers[next_positions[next_positions < len(distinct_numbers)]]
    starts: Floats = np.unique(np.concatenate([frequent_numbers, numbers_after_frequent, quantiles[1:-1]]))
    return np.setdiff1d(starts, distinct_numbers[:1])


def _range_names(ends: Sequence[tuple[float, float]]) -> list[str]:
    """Name ranges after their lowest and highest numbers, or after their only number.

    The numbers are rounded to four significant digits of the largest one, or to more decimals if different numbers
    would otherwise look the same. Digits before the decimal point are never rounded.
    """
    distinct_ends = {end for pair in ends for end in pair}
    largest = max(abs(end) for end in distinct_ends)
    decimals = max(0, SIGNIFICANT_DIGITS - 1 - math.floor(math.log10(largest)))
    while len({round(end, decimals) for end in distinct_ends}) < len(distinct_ends):
        decimals += 1

    names = [[_number_name(round(end, decimals)) for end in pair] for pair in ends]
    return [lowest if lowest == highest else f"{lowest}{RANGE_SEPARATOR}{highest}" for lowest, highest in names]


def _number_name(number: float) -> str:
    """Write a number with all its digits and without an exponent, so that different numbers have different names."""
    return np.format_float_positional(number + 0.0, trim="-")  # The sum turns -0.0 into 0.0.


def intersect_labels(labels_by_column: Sequence[Labels]) -> Labels:
    """Return the name of the intersection of groups for each row, such as "f × 20 – 34".

    A missing value is written as a dash.
    """
    rows = zip(*labels_by_column, strict=True)
    names = [INTERSECTION.join(NO_VALUE if label is None else label for label in row) for row in rows]
    return np.array(names, dtype=object)


def merge_small_groups(labels: Labels) -> Labels:
    """Combine all groups except the largest ones, so that a table of groups remains readable."""
    names, rows_per_name = np.unique(labels, return_counts=True)
    if len(names) <= MAX_GROUPS:
        return labels

    # A stable sort keeps groups of equal size in the order of their names.
    largest_first = names[np.argsort(-rows_per_name, kind="stable")]
    is_large = np.isin(labels, largest_first[:MAX_GROUPS])
    return np.where(is_large, labels, OTHER_GROUPS)
