"""A split plan together with the rows that it divides: the moment of each, and which of them stay together."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pandas as pd
from pandas.api.types import is_datetime64_any_dtype, is_float_dtype
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from touchstone.learning.column_types import MISSING, ColumnKind
from touchstone.learning.learning_errors import LearningError
from touchstone.learning.request_choices import Duplicates
from touchstone.learning.splits.duplicate_rows import EqualRows
from touchstone.learning.splits.split_plan import SplitPlan
from touchstone.learning.table_reader import Table
from touchstone.learning.target import Floats, Indices, Target

ORDERED_KINDS: Final = (ColumnKind.DATE, ColumnKind.NUMBER, ColumnKind.IDENTIFIER)
MOMENT_UNITS: Final = 1_000.0  # More than a year has months or days, and more than a day has hours or minutes.


@dataclass(frozen=True, slots=True)
class SplitRule:
    """How the rows that have a target are divided, always in the same way for the same seed.

    A unit is a set of rows that are never divided: a group, or rows that are equal. `units` numbers the unit of each
    row; it is None if every row is a unit of its own. `group_count` is how many groups the group column forms, which
    are more than the units if equal rows connect some of them; None without a group column. `times` are the moments
    that order the rows, or None.
    """

    plan: SplitPlan
    target: Target
    seed: int
    times: Floats | None = field(repr=False, default=None)
    units: Indices | None = field(repr=False, default=None)
    group_count: int | None = None

    @property
    def unit_count(self) -> int:
        """How many units there are."""
        return len(self.target.values) if self.units is None else len(np.unique(self.units))

    def has_single_class(self, rows: Indices) -> bool:
        """Return whether rows show a single class, so that nothing can be learned from them."""
        return self.target.is_classification and self.has_single_value(rows)

    def has_single_value(self, rows: Indices) -> bool:
        """Return whether rows all have the same value of the target, which a model without any columns can predict."""
        return len(np.unique(self.target.values[rows])) < 2


def build_split_rule(plan: SplitPlan, table: Table, target: Target, equal_rows: EqualRows, seed: int) -> SplitRule:
    """Apply a plan to the rows of a table that have a target.

    `equal_rows` says which of them are equal in the columns that are learned from. Raises `LearningError` if the time
    columns do not order the rows.
    """
    groups = None
    if plan.group_column is not None:
        groups = number_groups(table.frame[plan.group_column].iloc[target.rows])
    return SplitRule(
        plan=plan,
        target=target,
        seed=seed,
        times=_read_times(plan, table, target),
        units=_number_units(plan, groups, equal_rows),
        group_count=None if groups is None else len(np.unique(groups)),
    )


def _read_times(plan: SplitPlan, table: Table, target: Target) -> Floats | None:
    """Return the moments of the rows as numbers, of which only the order has a meaning; None without a time column.

    Several columns are read from the longest to the shortest unit, such as the year, the month and the day. A missing
    value counts as older than all others.
    """
    if not plan.time_columns:
        return None

    first_name, *finer_names = plan.time_columns
    moments = _read_moments(table, target, first_name)
    for name in finer_names:
        moments = moments * MOMENT_UNITS + _read_moments(table, target, name)

    moments[np.isnan(moments)] = -np.inf
    return moments


def _read_moments(table: Table, target: Target, name: str) -> Floats:
    """Return the numbers or dates of a column as numbers; raise `LearningError` if they have no order."""
    cells = table.frame[name].iloc[target.rows]
    is_number_or_date = is_float_dtype(cells) or is_datetime64_any_dtype(cells)
    if table.columns[name].kind not in ORDERED_KINDS or not is_number_or_date:
        raise LearningError("time_column_not_ordered", field="split.time_column", name=name)

    moments = cells.to_numpy().astype(np.float64)
    moments[cells.isna().to_numpy()] = np.nan
    return moments


def _number_units(plan: SplitPlan, groups: Indices | None, equal_rows: EqualRows) -> Indices | None:
    """Number the units of the rows: groups, equal rows, or both; None if every row is a unit of its own."""
    partitions = [] if groups is None else [groups]
    if plan.duplicates is Duplicates.TOGETHER and equal_rows.repeats:
        partitions.append(equal_rows.numbers)

    units = _merge_partitions(partitions, rows=len(equal_rows.numbers))
    has_shared_unit = units is not None and np.bincount(units).max() > 1
    return units if has_shared_unit else None


def number_groups(cells: "pd.Series[Any]") -> Indices:
    """Number the groups of the rows, from 0; a row whose group is missing is a group of its own."""
    codes, values = pd.factorize(cells)  # A missing number or date has the code -1.
    # Different values are compared instead of cells, because comparing a million texts takes long.
    is_missing = (codes == -1) | np.isin(codes, np.flatnonzero(values == MISSING))

    groups = codes.astype(np.intp)
    groups[is_missing] = len(values) + np.arange(int(is_missing.sum()))
    return groups


def _merge_partitions(partitions: Sequence[Indices], *, rows: int) -> Indices | None:
    """Number the units of the rows: rows that must stay on the same side of a split have the same number.

    Each partition divides the rows into parts, for example by patient or by equal rows. Rows that share a part of any
    partition share a unit, so two patients with an equal row become one.
    """
    if not partitions:
        return None
    if len(partitions) == 1:
        return partitions[0]

    # Each part of each partition is a vertex of a graph, and so is each row; connected rows share a unit.
    first, second = partitions
    first_part_count = int(first.max()) + 1
    second_part_count = int(second.max()) + 1
    vertices = rows + first_part_count + second_part_count
    row_vertices = np.tile(np.arange(rows), 2)
    part_vertices = np.concatenate([rows + first, rows + first_part_count + second])

    edges = coo_matrix((np.ones(2 * rows), (row_vertices, part_vertices)), shape=(vertices, vertices))
    _count, components = connected_components(edges, directed=False)
    _units, unit_of_row = np.unique(components[:rows], return_inverse=True)
    return unit_of_row.astype(np.intp)
