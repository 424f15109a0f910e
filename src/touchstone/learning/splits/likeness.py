"""The similarity of the rows within groups, compared with random rows."""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from touchstone.learning.column_types import ColumnKind
from touchstone.learning.plain_numbers import column_as_numbers
from touchstone.learning.table_reader import Table
from touchstone.learning.target import Floats, Indices, Target

MAX_COLUMNS: Final = 60
BINS: Final = 10
SHUFFLES: Final = 99  # So chance is mistaken for a similarity at most once in a hundred times.
MAX_SPARSENESS: Final = 20  # Codes up to this many times the number of rows are counted in an array, which is fast.
COMPARABLE_KINDS: Final = (ColumnKind.NUMBER, ColumnKind.BOOLEAN, ColumnKind.CATEGORY, ColumnKind.DATE)


def target_similarity(target: Target, sample: Indices, groups: Indices) -> float:
    """Return the similarity of the targets within groups, from 0 (as random rows) to 1 (equal).

    `sample` holds positions into the target's values, and `groups` holds the group of each of them.
    """
    return similarity_within(groups, _assign_to_bins(target.values[sample].astype(np.float64)))


def greatest_similarity(
    table: Table, target: Target, sample: Indices, groups: Indices, *, excluded: Sequence[str]
) -> float:
    """Return the greatest similarity within groups in any column, including the target.

    Args:
        table: the table with the compared columns.
        target: the target, which is also compared.
        sample: positions into the target's values.
        groups: the group of each row of the sample.
        excluded: the names of columns that are not compared, such as the group column.

    Returns:
        the similarity from 0 to 1. It is 0 if chance may explain it, or if there is no column to compare.
    """
    columns = [
        column
        for column in table.columns.values()
        if column.kind in COMPARABLE_KINDS and column.name not in (target.name, *excluded) and column.distinct > 1
    ][:MAX_COLUMNS]
    frame = table.frame.iloc[target.rows[sample]]
    values_by_column = [_assign_to_bins(column_as_numbers(column, frame[column.name])) for column in columns]
    if target.name not in excluded:
        values_by_column.append(_assign_to_bins(target.values[sample].astype(np.float64)))
    if not values_by_column:
        return 0.0

    _groups, dense_groups = np.unique(groups, return_inverse=True)
    greatest = max(similarity_within(dense_groups, values) for values in values_by_column)
    return 0.0 if _may_be_chance(greatest, dense_groups, values_by_column) else greatest


def _may_be_chance(similarity: float, groups: Indices, values_by_column: list[Indices]) -> bool:
    """Return whether the rows are as similar in any column when they are assigned to groups at random.

    This is a permutation test of the greatest similarity, so the number of columns does not matter.
    """
    rng = np.random.default_rng(0)
    for _ in range(SHUFFLES):
        shuffled_groups = rng.permutation(groups)
        if any(similarity_within(shuffled_groups, values) >= similarity for values in values_by_column):
            return True
    return False


def similarity_within(groups: Indices, values: Indices) -> float:
    """Return the excess probability that two rows have the same value if they belong to the same group.

    The excess over random pairs of rows is divided by its maximum, as in Cohen's kappa.
    """
    pairs_within_groups = _count_equal_pairs(groups)
    share_of_all = _count_equal_pairs(values) / math.comb(len(values), 2)
    if pairs_within_groups == 0 or share_of_all == 1:
        return 0.0

    cells = groups * (int(values.max()) + 1) + values
    share_within_groups = _count_equal_pairs(cells) / pairs_within_groups
    return (share_within_groups - share_of_all) / (1 - share_of_all)


def _count_equal_pairs(values: Indices) -> float:
    """Return the number of pairs of rows with the same value."""
    is_dense = values.max() <= MAX_SPARSENESS * len(values)
    rows_per_value = np.bincount(values) if is_dense else np.unique(values, return_counts=True)[1]
    return float((rows_per_value * (rows_per_value - 1)).sum() / 2)


def _assign_to_bins(numbers: Floats) -> Indices:
    """Return the bin of each number, which is a single value unless there are more than `BINS` values."""
    values, codes = np.unique(numbers, return_inverse=True)
    if len(values) <= BINS:
        return codes.astype(np.intp)

    edges = np.unique(np.quantile(numbers, np.linspace(0, 1, BINS + 1)[1:-1]))
    return np.searchsorted(edges, numbers, side="right").astype(np.intp)
