"""How much more alike the rows of a group are than rows at random."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from touchstone.learning.column_types import ColumnKind
from touchstone.learning.plain_numbers import column_as_numbers
from touchstone.learning.table_reader import Table
from touchstone.learning.target import Floats, Indices, Target

MAX_COLUMNS: Final = 60
BINS: Final = 10
SHUFFLES: Final = 5
COMPARABLE_KINDS: Final = (ColumnKind.NUMBER, ColumnKind.BOOLEAN, ColumnKind.CATEGORY, ColumnKind.DATE)


def likeness_of_target(target: Target, sample: Indices, groups: Indices) -> float:
    """Return how alike the rows of a group are in the target: 0 as at random, 1 if they are equal.

    `sample` holds positions into the target's values, and `groups` the group of each of them.
    """
    return likeness_within(groups, _divide_into_bins(target.values[sample].astype(np.float64)))


def greatest_likeness(
    table: Table, target: Target, sample: Indices, groups: Indices, *, left_out: Sequence[str]
) -> float:
    """Return how alike the rows of a group are in the column in which they are most alike; the target is one of them.

    `left_out` names the columns that do not count, such as the one that forms the groups. The result is 0 if chance
    alone may explain it, or if there is no column to compare.
    """
    columns = [
        column
        for column in table.columns.values()
        if column.kind in COMPARABLE_KINDS and column.name not in (target.name, *left_out) and column.distinct > 1
    ][:MAX_COLUMNS]
    frame = table.frame.iloc[target.rows[sample]]
    values_by_column = [_divide_into_bins(column_as_numbers(column, frame[column.name])) for column in columns]
    if target.name not in left_out:
        values_by_column.append(_divide_into_bins(target.values[sample].astype(np.float64)))
    if not values_by_column:
        return 0.0

    greatest = max(likeness_within(groups, values) for values in values_by_column)
    by_chance = _greatest_likeness_by_chance(groups, values_by_column)
    return greatest if greatest > 2 * by_chance else 0.0


def _greatest_likeness_by_chance(groups: Indices, values_by_column: list[Indices]) -> float:
    """Return the greatest likeness in any column when the rows are assigned to groups at random."""
    rng = np.random.default_rng(0)
    greatest = 0.0
    for _ in range(SHUFFLES):
        shuffled_groups = rng.permutation(groups)
        greatest = max(greatest, *(likeness_within(shuffled_groups, values) for values in values_by_column))
    return greatest


def likeness_within(groups: Indices, values: Indices) -> float:
    """Return how much more often two rows of a group have the same value than any two rows.

    The excess is divided by the greatest one that is possible, as in Cohen's kappa.
    """
    pairs_within_groups = _count_equal_pairs(groups)
    share_of_all = _count_equal_pairs(values) / _count_pairs(len(values))
    if pairs_within_groups == 0 or share_of_all == 1:
        return 0.0

    cells = groups * (int(values.max()) + 1) + values
    share_within_groups = _count_equal_pairs(cells) / pairs_within_groups
    return (share_within_groups - share_of_all) / (1 - share_of_all)


def _count_equal_pairs(values: Indices) -> float:
    """Return how many pairs of rows have the same value."""
    _values, rows_per_value = np.unique(values, return_counts=True)
    return float((rows_per_value * (rows_per_value - 1)).sum() / 2)


def _count_pairs(rows: int) -> float:
    """Return how many pairs of rows there are."""
    return rows * (rows - 1) / 2


def _divide_into_bins(numbers: Floats) -> Indices:
    """Number the different values, or up to ten ranges with about as many rows each."""
    values, codes = np.unique(numbers, return_inverse=True)
    if len(values) <= BINS:
        return codes.astype(np.intp)

    edges = np.unique(np.quantile(numbers, np.linspace(0, 1, BINS + 1)[1:-1]))
    return np.searchsorted(edges, numbers, side="right").astype(np.intp)
