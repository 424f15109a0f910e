"""The groups of people that sensitive columns distinguish.

The groups are defined once for a table, and later rows are assigned to them in the same way.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.api.types import is_float_dtype

from touchstone.learning.column_types import MISSING, ColumnKind, ColumnSchema
from touchstone.learning.target import Floats

MAX_GROUPS: Final = 12  # The largest groups are compared one by one; the others are counted together.
NUMBER_RANGES: Final = 4
MAX_SINGLE_NUMBERS: Final = 6  # Up to this many different numbers are groups of their own; more are cut into ranges.
OTHER_GROUPS: Final = "…"
NO_VALUE: Final = "–"  # Stands for a missing value in the name of an intersection.
RANGE_SEPARATOR: Final = " – "
INTERSECTION: Final = " × "

Labels = npt.NDArray[Any]  # The name of the group of each row, or None.


@dataclass(frozen=True, slots=True)
class SensitiveColumn:
    """A sensitive column, and the groups that its values belong to.

    Attributes:
        schema: how the cells of the column are read.
        groups: the names of the groups, in the order in which readers expect them, without the group of rows that have
            no value. Dates have none: their groups are years, which later rows may add to.
        borders: for numbers that are divided into ranges, the lowest number of every range but the first.
    """

    schema: ColumnSchema
    groups: tuple[str, ...] = ()
    borders: tuple[float, ...] = ()

    @property
    def name(self) -> str:
        """The name of the column."""
        return self.schema.name

    def assign(self, cells: "pd.Series[Any]") -> Labels:
        """Return the group of each cell; that of a missing value is None."""
        if self.schema.kind is ColumnKind.DATE:
            years = [None if pd.isna(cell) else str(cell.year) for cell in cells]
            return np.array(years, dtype=object)
        if is_float_dtype(cells):
            return self._assign_numbers(cells.to_numpy())

        label_by_word: dict[Any, str | None] = {group: group for group in self.groups}
        label_by_word[MISSING] = None
        return np.array([label_by_word.get(cell, OTHER_GROUPS) for cell in cells], dtype=object)

    def _assign_numbers(self, numbers: Floats) -> Labels:
        """Return the range of each number or, if the numbers are not divided into ranges, the number as a text."""
        has_ranges = len(self.groups) == len(self.borders) + 1
        if has_ranges:
            range_of_row = np.searchsorted(np.array(self.borders), numbers, side="right")
            labels = np.array(self.groups, dtype=object)[range_of_row]
        else:
            labels = np.array([f"{number:g}" for number in numbers], dtype=object)

        labels[np.isnan(numbers)] = None
        return labels


def define_groups(schema: ColumnSchema, cells: "pd.Series[Any]") -> SensitiveColumn:
    """Divide the values of a sensitive column into groups, by which the quality of a model is compared.

    Dates are grouped by year and numbers by range. Each of the most frequent categories is a group, and all others
    share one.
    """
    if schema.kind is ColumnKind.DATE:
        return SensitiveColumn(schema)
    if is_float_dtype(cells):
        return _define_ranges(schema, cells.to_numpy())

    present_cells = cells[cells != MISSING]
    rows_per_category = present_cells.value_counts().sort_index()
    largest_categories = rows_per_category.nlargest(MAX_GROUPS).index
    return SensitiveColumn(schema, groups=tuple(sorted(largest_categories)))


def _define_ranges(schema: ColumnSchema, numbers: Floats) -> SensitiveColumn:
    """Divide numbers into four ranges that hold about as many rows each.

    A range is named after the lowest and the highest number that occur in it. A column with only a few different
    numbers is not divided into ranges; each number is then a group of its own.
    """
    known_numbers = numbers[~np.isnan(numbers)]
    distinct_numbers = np.unique(known_numbers)
    if len(distinct_numbers) <= MAX_SINGLE_NUMBERS:
        return SensitiveColumn(schema, groups=tuple(f"{number:g}" for number in distinct_numbers))

    # With the method "nearest" every border is a number that occurs. Equal quartiles merge into one range.
    quartiles = np.quantile(known_numbers, np.linspace(0, 1, NUMBER_RANGES + 1), method="nearest")
    borders = np.unique(quartiles)[1:-1]

    range_of_number = np.searchsorted(borders, distinct_numbers, side="right")
    names = []
    for range_index in range(len(borders) + 1):
        numbers_in_range = distinct_numbers[range_of_number == range_index]
        names.append(_range_name(numbers_in_range, integral=schema.integral))
    return SensitiveColumn(schema, groups=tuple(names), borders=tuple(borders.tolist()))


def _range_name(sorted_numbers: Floats, *, integral: bool) -> str:
    """Name a range by the lowest and the highest number that occur in it, or by its only number."""
    number_format = ".0f" if integral else ".4g"
    lowest = format(sorted_numbers[0], number_format)
    highest = format(sorted_numbers[-1], number_format)
    return lowest if lowest == highest else f"{lowest}{RANGE_SEPARATOR}{highest}"


def intersect_labels(labels_of_columns: Sequence[Labels]) -> Labels:
    """Return the name of the intersection of groups that each row belongs to, such as "f × 20 – 34".

    In the name of an intersection, a dash stands for a missing value.
    """
    rows = zip(*labels_of_columns, strict=True)
    names = [INTERSECTION.join(NO_VALUE if label is None else label for label in row) for row in rows]
    return np.array(names, dtype=object)


def merge_small_groups(labels: Labels) -> Labels:
    """Give the same name to all groups but the largest ones, so that a table of them remains readable."""
    names, rows_per_name = np.unique(labels, return_counts=True)
    if len(names) <= MAX_GROUPS:
        return labels

    # A stable sort keeps groups of equal size in the order of their names.
    largest_first = names[np.argsort(-rows_per_name, kind="stable")]
    is_large = np.isin(labels, largest_first[:MAX_GROUPS])
    return np.where(is_large, labels, OTHER_GROUPS)
