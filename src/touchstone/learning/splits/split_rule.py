"""A split plan applied to the rows of a table, with their times and the units that stay together."""

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
UNIT_FACTOR: Final = 1_000.0  # exceeds the days in a year and the minutes in an hour


@dataclass(frozen=True, slots=True)
class SplitRule:
    """The rule for dividing the rows that have a target.

    A unit is a set of rows that stay together: a group, or equal rows.

    Attributes:
        plan: the plan.
        target: the target, whose values have the same order as the rows.
        seed: the seed of all random choices.
        times: the time of each row as a number, or None without time columns.
        units: the unit number of each row, or None if no unit has several rows.
        group_count: the number of groups, or None without a group column. Equal rows may connect several groups to a
            single unit.
    """

    plan: SplitPlan
    target: Target
    seed: int
    times: Floats | None = field(repr=False, default=None)
    units: Indices | None = field(repr=False, default=None)
    group_count: int | None = None

    @property
    def unit_count(self) -> int:
        """The number of units."""
        return len(self.target.values) if self.units is None else len(np.unique(self.units))

    def has_single_class(self, rows: Indices) -> bool:
        """Return whether all given rows have the same class, so that nothing can be learned from them."""
        return self.target.is_classification and self.has_single_value(rows)

    def has_single_value(self, rows: Indices) -> bool:
        """Return whether all given rows have the same target value."""
        return len(np.unique(self.target.values[rows])) < 2


def build_split_rule(plan: SplitPlan, table: Table, target: Target, equal_rows: EqualRows, seed: int) -> SplitRule:
    """Apply a plan to the rows of a table that have a target.

    `equal_rows` describes the rows that are equal in all features.

    Raises:
        LearningError: the time columns do not order the rows.
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
    """Return the time of each row as a number, or None without a time column.

    Only the order of the numbers is meaningful. Several columns are combined from the longest to the shortest unit,
    such as year, month and day. Rows with a missing value come first.
    """
    if not plan.time_columns:
        return None

    first_name, *finer_names = plan.time_columns
    times = _read_time_column(table, target, first_name)
    for name in finer_names:
        times = times * UNIT_FACTOR + _read_time_column(table, target, name)

    times[np.isnan(times)] = -np.inf
    return times


def _read_time_column(table: Table, target: Target, name: str) -> Floats:
    """Return the numbers or dates of a column as numbers, or raise `LearningError` if they have no order."""
    cells = table.frame[name].iloc[target.rows]
    is_number_or_date = is_float_dtype(cells) or is_datetime64_any_dtype(cells)
    if table.columns[name].kind not in ORDERED_KINDS or not is_number_or_date:
        raise LearningError("time_column_not_ordered", field="split.time_column", name=name)

    times = cells.to_numpy().astype(np.float64)
    times[cells.isna().to_numpy()] = np.nan
    return times


def _number_units(plan: SplitPlan, groups: Indices | None, equal_rows: EqualRows) -> Indices | None:
    """Number the units formed by groups and equal rows, or return None if no unit has several rows."""
    partitions = [] if groups is None else [groups]
    if plan.duplicates is Duplicates.TOGETHER and equal_rows.repeats:
        partitions.append(equal_rows.numbers)

    units = _merge_partitions(partitions, rows=len(equal_rows.numbers))
    has_shared_unit = units is not None and np.bincount(units).max() > 1
    return units if has_shared_unit else None


def number_groups(cells: "pd.Series[Any]") -> Indices:
    """Number the groups of the rows from 0. Each row without a group forms a separate group."""
    codes, values = pd.factorize(cells)  # A missing number or date has the code -1.
    # Comparing the distinct values is faster than comparing a million strings.
    is_missing = (codes == -1) | np.isin(codes, np.flatnonzero(values == MISSING))

    groups = codes.astype(np.intp)
    groups[is_missing] = len(values) + np.arange(int(is_missing.sum()))
    return groups


def _merge_partitions(partitions: Sequence[Indices], *, rows: int) -> Indices | None:
    """Merge up to two partitions of the rows into units, and return the unit number of each row.

    A partition divides the rows into parts, for example by patient or into equal rows. Rows that share a part in either
    partition belong to the same unit, so two patients with an equal row form one unit.
    """
    if not partitions:
        return None
    if len(partitions) == 1:
        return partitions[0]

    # The rows and the parts are the vertices of a graph, and its connected components are the units.
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
