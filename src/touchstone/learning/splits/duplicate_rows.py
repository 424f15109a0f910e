"""Rows that are equal in all features, which are either copies or different cases that merely look alike.

Copies of training rows among the test rows make any model look good, so copies must stay together. If the columns have
few distinct values, however, many different cases are equal by chance. Keeping those together would distort the score.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import pandas as pd

from touchstone.learning.column_types import ColumnKind, ColumnSchema
from touchstone.learning.row_hashes import row_hashes
from touchstone.learning.splits.likeness import similarity_within
from touchstone.learning.table_reader import Table
from touchstone.learning.target import Indices, Target

# Equal rows are a coincidence if they are frequent, and at least this share of them is expected by chance.
FREQUENT_SHARE: Final = 0.2
EXPECTED_SHARE: Final = 0.5
COPIED_SIMILARITY: Final = 0.95  # Copies have the same target, with few exceptions due to coincidences.
MAX_SAMPLED_ROWS: Final = 20_000


@dataclass(frozen=True, slots=True)
class EqualRows:
    """The partition of rows into sets of equal rows.

    Attributes:
        names: the compared columns.
        numbers: the number of the set of each row, counted from 0.
        is_approximate: whether rows in the same set may differ slightly.
    """

    names: tuple[str, ...]
    numbers: Indices = field(repr=False)
    is_approximate: bool = False

    @property
    def repeats(self) -> int:
        """The number of rows that repeat an earlier one."""
        return len(self.numbers) - (int(self.numbers.max()) + 1)

    @property
    def repeated_rows(self) -> Indices:
        """The positions of all rows that are equal to another one."""
        return np.flatnonzero(np.bincount(self.numbers)[self.numbers] > 1)

    @property
    def are_frequent(self) -> bool:
        """Whether a large share of the rows repeats an earlier one."""
        return self.repeats >= FREQUENT_SHARE * len(self.numbers)


@dataclass(frozen=True, slots=True)
class DuplicateRows:
    """The number of rows that repeat an earlier one, and whether chance explains them."""

    rows: int
    is_coincidence: bool
    is_approximate: bool = False


def find_equal_rows(table: Table, target: Target, feature_names: Sequence[str]) -> EqualRows:
    """Compare the features of all rows that have a target.

    A column of unique numbers may merely number the rows, so that copies look different. Such columns are ignored if
    the rows are copies otherwise.
    """
    equal_rows = _compare_rows(table, target, feature_names)
    row_count = len(table.frame)
    relevant_names = [name for name in feature_names if not _may_number_rows(table.columns[name], row_count)]
    if equal_rows.repeats or not relevant_names or len(relevant_names) == len(feature_names):
        return equal_rows

    equal_otherwise = _compare_rows(table, target, relevant_names)
    return equal_otherwise if _are_copies(table, target, equal_otherwise) else equal_rows


def classify_equal_rows(table: Table, target: Target, equal_rows: EqualRows) -> DuplicateRows:
    """Count the rows that repeat an earlier one, and decide whether they are a coincidence."""
    if equal_rows.is_approximate:
        return DuplicateRows(equal_rows.repeats, is_coincidence=False, is_approximate=True)

    is_coincidence = equal_rows.are_frequent and _are_expected_by_chance(table, target, equal_rows)
    return DuplicateRows(equal_rows.repeats, is_coincidence)


def _compare_rows(table: Table, target: Target, names: Sequence[str]) -> EqualRows:
    """Compare the rows in the named columns."""
    hashes = row_hashes(table.frame[list(names)].iloc[target.rows])
    order = np.argsort(hashes, kind="stable")
    differs_from_previous = np.diff(hashes[order], prepend=hashes[order[:1]]) != 0

    numbers = np.empty(len(hashes), dtype=np.intp)
    numbers[order] = np.cumsum(differs_from_previous)
    return EqualRows(tuple(names), numbers)


def _may_number_rows(column: ColumnSchema, row_count: int) -> bool:
    """Return whether a column holds a unique number in each row."""
    return column.kind is ColumnKind.NUMBER and column.distinct == row_count


def _are_copies(table: Table, target: Target, equal_rows: EqualRows) -> bool:
    """Return whether many rows are equal, not by chance, and equal rows have the same target.

    Rows that merely share their properties, such as the make and model of a car, still differ in the target.
    """
    if not equal_rows.are_frequent or _are_expected_by_chance(table, target, equal_rows):
        return False
    _values, target_codes = np.unique(target.values, return_inverse=True)
    return similarity_within(equal_rows.numbers, target_codes.astype(np.intp)) >= COPIED_SIMILARITY


def _are_expected_by_chance(table: Table, target: Target, equal_rows: EqualRows) -> bool:
    """Return whether about as many rows would be equal if the columns were independent of each other.

    Pairs of equal rows are counted before and after shuffling every column.
    """
    rng = np.random.default_rng(0)
    sampled_rows = rng.permutation(target.rows)[:MAX_SAMPLED_ROWS]
    sample = table.frame[list(equal_rows.names)].iloc[sampled_rows]
    shuffled_columns = {name: sample[name].to_numpy()[rng.permutation(len(sample))] for name in sample.columns}
    pairs_by_chance = _count_equal_pairs(pd.DataFrame(shuffled_columns))
    return pairs_by_chance >= EXPECTED_SHARE * _count_equal_pairs(sample)


def _count_equal_pairs(frame: pd.DataFrame) -> int:
    """Return the number of pairs of equal rows in a frame."""
    _hashes, rows_per_value = np.unique(row_hashes(frame), return_counts=True)
    return int((rows_per_value * (rows_per_value - 1) // 2).sum())
