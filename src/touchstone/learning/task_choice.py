"""The choice between classification and regression if a request leaves it open.

Strings are classes and measurements are numbers, but a few distinct whole numbers may be either. They may be codes of
classes, or they may be ratings or counts, whose order and distances a classification would ignore.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from touchstone.learning.column_types import MISSING, ColumnKind, ColumnSchema
from touchstone.learning.learning_errors import LearningError
from touchstone.learning.request_choices import METRIC_BY_NAME, Task
from touchstone.learning.table_reader import Table

MAX_INTEGER_CLASSES: Final = 20  # More distinct integers than this are quantities.
MAX_CODES: Final = 4  # Up to this many distinct integers are codes of classes.
SAMPLED_ROWS: Final = 5_000
SAMPLED_COLUMNS: Final = 200
CATEGORIES_PER_COLUMN: Final = 5
MIN_F_RATIO: Final = 4.0  # Columns with a lower F-ratio are not clearly related to the target.
MIN_ORDERED_SHARE: Final = 0.5

Numbers = npt.NDArray[np.float64]


class TaskReason(StrEnum):
    """The reason for the choice of the task."""

    REQUESTED = "requested"
    METRIC = "metric"  # The metric belongs to one of the tasks.
    NOT_NUMERIC = "not_numeric"
    DATES = "dates"
    TWO_VALUES = "two_values"
    FEW_INTEGERS = "few_integers"
    UNORDERED_INTEGERS = "unordered_integers"  # Whole numbers whose order is unrelated to the other columns.
    ORDERED_INTEGERS = "ordered_integers"  # a rating or a count
    NUMERIC = "numeric"


@dataclass(frozen=True, slots=True)
class TaskChoice:
    """The task of a training, and the reason for it."""

    task: Task
    reason: TaskReason


def choose_task(table: Table, column: ColumnSchema, requested: Task, metric: str | None) -> TaskChoice:
    """Choose the requested task, the task of the metric, or the task suggested by the target's values.

    Raises:
        LearningError: the metric does not belong to the requested task.
    """
    if metric is not None:
        task_of_metric = METRIC_BY_NAME[metric].task
        if requested not in (Task.AUTO, task_of_metric):
            raise LearningError("metric_task_mismatch", field="metric", name=metric, task=str(requested))
        if requested is Task.AUTO:
            return TaskChoice(task_of_metric, TaskReason.METRIC)

    if requested is not Task.AUTO:
        return TaskChoice(requested, TaskReason.REQUESTED)
    return _guess_task(table, column)


def _guess_task(table: Table, column: ColumnSchema) -> TaskChoice:
    """Choose the task suggested by the values of a column."""
    if not pd.api.types.is_numeric_dtype(table.frame[column.name]):
        reason = TaskReason.DATES if column.kind is ColumnKind.DATE else TaskReason.NOT_NUMERIC
        return TaskChoice(Task.CLASSIFICATION, reason)

    is_code_or_rating = column.kind is ColumnKind.NUMBER and column.integral and column.distinct <= MAX_INTEGER_CLASSES
    if not is_code_or_rating:
        return TaskChoice(Task.REGRESSION, TaskReason.NUMERIC)
    if column.distinct <= 2:
        return TaskChoice(Task.CLASSIFICATION, TaskReason.TWO_VALUES)
    if column.distinct <= MAX_CODES:
        return TaskChoice(Task.CLASSIFICATION, TaskReason.FEW_INTEGERS)
    if has_order(table, column.name):
        return TaskChoice(Task.REGRESSION, TaskReason.ORDERED_INTEGERS)
    return TaskChoice(Task.CLASSIFICATION, TaskReason.UNORDERED_INTEGERS)


def has_order(table: Table, name: str) -> bool:
    """Return whether the order of a column of whole numbers is meaningful, judging by the other columns.

    The mean of another column usually differs between the target's values. If the values are ordered, most of the
    variance of these means lies along a straight line; if they are codes, hardly any of it does. If no column is
    related to the target, the values are assumed to be ordered.

    Args:
        table: the table.
        name: the name of the target column.
    """
    frame = table.frame.sample(min(SAMPLED_ROWS, len(table.frame)), random_state=0)
    frame = frame[frame[name].notna()]
    values = frame[name].to_numpy(dtype=np.float64)

    variance_between_values = 0.0
    variance_along_line = 0.0
    other_columns = [column for column in table.columns.values() if column.name != name]
    for column in other_columns[:SAMPLED_COLUMNS]:
        for numbers in _to_numeric_columns(column, frame[column.name]):
            shares = _explained_shares(numbers, values)
            if shares is not None:
                variance_between_values += shares.between_values
                variance_along_line += shares.along_line

    return variance_along_line >= MIN_ORDERED_SHARE * variance_between_values


def _to_numeric_columns(column: ColumnSchema, cells: "pd.Series[Any]") -> list[Numbers]:
    """Convert a column to numbers, with one indicator column for each of the most frequent categories."""
    if column.kind is ColumnKind.NUMBER:
        return [cells.to_numpy(dtype=np.float64)]
    if column.kind not in (ColumnKind.CATEGORY, ColumnKind.BOOLEAN):
        return []

    frequent_categories = cells[cells != MISSING].value_counts().sort_index().nlargest(CATEGORIES_PER_COLUMN).index
    return [(cells == category).to_numpy(dtype=np.float64) for category in frequent_categories]


@dataclass(frozen=True, slots=True)
class _ExplainedShares:
    """The shares of a column's variance that the target explains beyond chance.

    Attributes:
        between_values: the share explained by a separate mean for each target value.
        along_line: the share explained by a straight line.
    """

    between_values: float
    along_line: float


def _explained_shares(numbers: Numbers, values: Numbers) -> _ExplainedShares | None:
    """Return the shares of a column's variance that the target explains, or None if they may be chance.

    Args:
        numbers: the values of the column, NaN where one is missing.
        values: the values of the target in the same rows.
    """
    is_present = ~np.isnan(numbers)
    numbers, values = numbers[is_present], values[is_present]
    distinct_values, group_of_row = np.unique(values, return_inverse=True)

    degrees_of_freedom = len(numbers) - len(distinct_values)
    if degrees_of_freedom < 1 or len(distinct_values) < 3 or numbers.std() == 0:
        return None

    rows_per_group = np.bincount(group_of_row)
    group_means = np.bincount(group_of_row, weights=numbers) / rows_per_group
    variance_of_means = np.average((group_means - numbers.mean()) ** 2, weights=rows_per_group)
    between_values = float(variance_of_means / numbers.var())
    along_line = float(np.corrcoef(numbers, values)[0, 1] ** 2)

    # `between_values / (1 - between_values) / chance_between_values` is the F-ratio of a one-way analysis of variance.
    chance_between_values = (len(distinct_values) - 1) / degrees_of_freedom
    if between_values < MIN_F_RATIO * chance_between_values * (1 - between_values):
        return None
    chance_along_line = 1 / (len(numbers) - 1)
    return _ExplainedShares(between_values - chance_between_values, max(0.0, along_line - chance_along_line))
