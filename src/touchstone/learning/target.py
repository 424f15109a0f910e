"""The column to predict: which task it asks for, and its values as codes of classes or as numbers."""

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from touchstone.learning.column_types import MISSING, Column, Kind
from touchstone.learning.errors import LearningError
from touchstone.learning.requests import METRIC_BY_NAME, MIN_ROWS, Cell, Task
from touchstone.learning.table_reader import Table

MAX_INTEGER_CLASSES: Final = 20  # more different integers than this are a quantity, not labels
MAX_CLASSES: Final = 100
MIN_CLASS_ROWS: Final = 5  # a rarer class can be neither learned nor measured

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Target:
    """What is predicted: `rows` are the positions in the table that have a usable target, `values` theirs.

    For classification `values` are codes 0..K-1 into `classes`; for regression they are the numbers themselves.
    """

    name: str
    task: Task
    values: npt.NDArray[Any] = field(repr=False)
    rows: Indices = field(repr=False)
    classes: tuple[Cell, ...] = ()
    missing: int = 0
    left_out: tuple[tuple[Cell, int], ...] = ()  # classes too rare to be learned, with their rows

    @property
    def classification(self) -> bool:
        """Whether classes are predicted."""
        return self.task is Task.CLASSIFICATION


def read_target(table: Table, name: str, wanted: Task = Task.AUTO, metric: str | None = None) -> Target:
    """Read the target; the task is the one wanted, else the metric's, else the one that the column looks like."""
    column = table.columns[name]
    if column.kind is Kind.UNSUPPORTED or column.missing == len(table.frame):
        raise LearningError("target_all_missing", field="target", name=name)
    task = _task(column, wanted, metric)
    make = _classes if task is Task.CLASSIFICATION else _numbers
    target = make(table, column)
    if len(target.rows) < MIN_ROWS:
        raise LearningError("too_few_rows", rows=len(target.rows), minimum=MIN_ROWS)
    return target


def _task(column: Column, wanted: Task, metric: str | None) -> Task:
    named = METRIC_BY_NAME[metric].task if metric is not None else Task.AUTO
    task = wanted if wanted is not Task.AUTO else named
    if task is Task.AUTO:
        task = _looks_like(column)
    if metric is not None and named is not task:
        raise LearningError("metric_task_mismatch", field="metric", name=metric, task=str(task))
    return task


def _looks_like(column: Column) -> Task:
    """Numbers are a quantity, unless they are integers of few different values."""
    if column.kind not in (Kind.NUMBER, Kind.IDENTIFIER):
        return Task.CLASSIFICATION
    if column.kind is Kind.NUMBER and column.integral and column.distinct <= MAX_INTEGER_CLASSES:
        return Task.CLASSIFICATION
    return Task.REGRESSION


def _numbers(table: Table, column: Column) -> Target:
    cells = table.frame[column.name]
    if cells.dtype.kind != "f":
        raise LearningError("target_not_numeric", field="target", name=column.name)
    numbers = cells.to_numpy(dtype=np.float64)
    rows = np.flatnonzero(~np.isnan(numbers))
    if len(np.unique(numbers[rows])) < 2:
        raise LearningError("target_one_class", field="target", name=column.name)
    return Target(column.name, Task.REGRESSION, numbers[rows], rows, missing=len(cells) - len(rows))


def _classes(table: Table, column: Column) -> Target:
    labels = np.array([_label(column, cell) for cell in table.frame[column.name]], dtype=object)
    present = np.array([label is not None for label in labels])
    names, counts = np.unique(labels[present], return_counts=True)
    usual = counts >= MIN_CLASS_ROWS
    kept = dict(zip(names[usual].tolist(), range(int(usual.sum())), strict=True))
    if len(kept) < 2 <= len(names):
        raise LearningError("target_classes_too_rare", field="target", name=column.name, minimum=MIN_CLASS_ROWS)
    _check_classes(column.name, len(kept))
    rows = np.array([position for position in np.flatnonzero(present) if labels[position] in kept], dtype=np.intp)
    rare = tuple(zip(names[~usual].tolist(), counts[~usual].tolist(), strict=True))
    codes = np.array([kept[label] for label in labels[rows]], dtype=np.intp)
    return Target(
        column.name, Task.CLASSIFICATION, codes, rows, tuple(kept), missing=int((~present).sum()), left_out=rare
    )


def _check_classes(name: str, classes: int) -> None:
    if classes < 2:
        raise LearningError("target_one_class", field="target", name=name)
    if classes > MAX_CLASSES:
        raise LearningError("target_too_many_classes", field="target", name=name, classes=classes, maximum=MAX_CLASSES)


def _label(column: Column, cell: Any) -> Cell:
    """A class as JSON: integers and numbers stay numbers, everything else is text, missing is None."""
    if isinstance(cell, str):
        return None if cell == MISSING else cell
    if cell != cell:  # NaN and NaT are the values that differ from themselves
        return None
    if isinstance(cell, float):
        return int(cell) if column.integral else cell
    return str(cell)
