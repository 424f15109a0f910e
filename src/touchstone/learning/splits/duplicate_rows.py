"""Rows that are equal in every column that is learned from: copies, or different cases that merely look alike.

A copy in the test rows of what was learned makes any model look good. Where columns have few different values, though,
different cases must often be equal, and dividing the table between its different rows would measure something else.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from touchstone.learning.column_types import ColumnKind, ColumnSchema
from touchstone.learning.row_hashes import row_hashes
from touchstone.learning.table_reader import Table
from touchstone.learning.target import Indices, Target

# Equal rows are a coincidence if they are frequent, and at least this share of them is expected by chance.
FREQUENT_SHARE: Final = 0.2
EXPECTED_SHARE: Final = 0.5
MAX_SAMPLED_ROWS: Final = 20_000


@dataclass(frozen=True, slots=True)
class DuplicateRows:
    """How many rows repeat an earlier one, and whether chance explains that."""

    rows: int
    is_coincidence: bool


def find_duplicate_rows(table: Table, target: Target, feature_names: Sequence[str]) -> DuplicateRows:
    """Count the rows of a table that repeat an earlier one in the columns that are learned from.

    Only rows that have a target count.
    """
    names = comparable_columns(table, feature_names)
    frame = table.frame[names].iloc[target.rows]
    repeats = len(frame) - _count_distinct_rows(frame)
    is_frequent = repeats >= FREQUENT_SHARE * len(frame)
    return DuplicateRows(repeats, is_coincidence=is_frequent and _are_expected_by_chance(frame))


def comparable_columns(table: Table, feature_names: Sequence[str]) -> list[str]:
    """Return the columns by which equal rows are recognised: those that are learned from, without numbers of rows.

    A column of whole numbers that never repeat may number the rows, which would make copies look different. It is
    ignored if rows are often equal without it, unless chance explains that.
    """
    names = list(feature_names)
    if _count_distinct_rows(table.frame[names]) < len(table.frame):
        return names

    telling_names = [name for name in names if not _may_number_rows(table.columns[name], rows=len(table.frame))]
    if not telling_names or len(telling_names) == len(names):
        return names

    frame = table.frame[telling_names]
    repeats = len(frame) - _count_distinct_rows(frame)
    are_copies = repeats >= FREQUENT_SHARE * len(frame) and not _are_expected_by_chance(frame)
    return telling_names if are_copies else names


def number_equal_rows(frame: pd.DataFrame) -> Indices:
    """Number the different rows of a frame from 0, and return the number of each row."""
    codes, _hashes = pd.factorize(row_hashes(frame))
    return codes.astype(np.intp)


def _count_distinct_rows(frame: pd.DataFrame) -> int:
    """Return how many different rows a frame has."""
    return len(np.unique(row_hashes(frame)))


def _may_number_rows(column: ColumnSchema, *, rows: int) -> bool:
    """Return whether a column holds a different whole number in each row."""
    return column.kind is ColumnKind.NUMBER and column.integral and column.distinct == rows


def _are_expected_by_chance(frame: pd.DataFrame) -> bool:
    """Return whether rows would be equal about as often if the columns had nothing to do with each other.

    The frequency is that of two equal rows in a random pair, and chance is what remains of it after every column has
    been shuffled.
    """
    rng = np.random.default_rng(0)
    rows = min(len(frame), MAX_SAMPLED_ROWS)
    sample = frame.iloc[rng.permutation(len(frame))[:rows]]
    shuffled_columns = {name: sample[name].to_numpy()[rng.permutation(rows)] for name in sample.columns}
    shuffled_sample = pd.DataFrame(shuffled_columns)
    return _count_equal_pairs(shuffled_sample) >= EXPECTED_SHARE * _count_equal_pairs(sample)


def _count_equal_pairs(frame: pd.DataFrame) -> int:
    """Return how many pairs of rows of a frame are equal."""
    _hashes, rows_per_value = np.unique(row_hashes(frame), return_counts=True)
    return int((rows_per_value * (rows_per_value - 1) // 2).sum())
