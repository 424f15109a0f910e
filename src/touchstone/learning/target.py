"""The column to predict: its task, and its values as class codes or as numbers."""

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from touchstone.learning.choices import METRIC_BY_NAME, Task
from touchstone.learning.column_types import MISSING, ColumnKind, ColumnSchema
from touchstone.learning.learning_errors import LearningError
from touchstone.learning.request_checks import MIN_ROWS
from touchstone.learning.requests import Cell
from touchstone.learning.table_reader import Table

MAX_INTEGER_CLASSES: Final = 20  # A column with more different integers than this is a quantity.
MAX_CLASSES: Final = 100
MIN_CLASS_ROWS: Final = 5  # A rarer class can be neither learned nor measured.

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]
Values = npt.NDArray[Any]  # True or predicted values: class codes, or numbers.


@dataclass(frozen=True, slots=True)
class Target:
    """The values to predict, and the positions (`rows`) in the table of the rows that have a usable one.

    For classification `values` are codes 0..K-1 into `classes`; for regression they are the numbers themselves.
    """

    name: str
    task: Task
    values: npt.NDArray[Any] = field(repr=False)
    rows: Indices = field(repr=False)
    classes: tuple[Cell, ...] = ()
    missing: int = 0
    rare_classes: tuple[tuple[Cell, int], ...] = ()  # The classes too rare to be learned, with their numbers of rows.

    @property
    def is_classification(self) -> bool:
        """Whether classes are predicted."""
        return self.task is Task.CLASSIFICATION


def read_target(table: Table, name: str, task: Task = Task.AUTO, metric: str | None = None) -> Target:
    """Read the column to predict, either as class codes or as numbers.

    An automatic task becomes the one that the metric belongs to or, without a metric, the one that the column's values
    suggest. Raises `LearningError` if the column does not suit the task or has too few usable values.
    """
    column = table.columns[name]
    if column.kind is ColumnKind.UNSUPPORTED or column.missing == len(table.frame):
        raise LearningError("target_all_missing", field="target", name=name)

    is_classification = _choose_task(column, task, metric) is Task.CLASSIFICATION
    target = _read_classes(table, column) if is_classification else _read_numbers(table, column)

    usable_rows = len(target.rows)
    if usable_rows < MIN_ROWS:
        raise LearningError("too_few_rows", rows=usable_rows, minimum=MIN_ROWS)
    return target


def _choose_task(column: ColumnSchema, requested: Task, metric: str | None) -> Task:
    """Return the task of a training; raise `LearningError` if the metric belongs to another than the requested one."""
    if metric is None:
        return _guess_task(column) if requested is Task.AUTO else requested

    task_of_metric = METRIC_BY_NAME[metric].task
    if requested not in (Task.AUTO, task_of_metric):
        raise LearningError("metric_task_mismatch", field="metric", name=metric, task=str(requested))
    return task_of_metric


def _guess_task(column: ColumnSchema) -> Task:
    """Return regression for numbers, unless they are integers of few different values; otherwise classification."""
    if column.kind not in (ColumnKind.NUMBER, ColumnKind.IDENTIFIER):
        return Task.CLASSIFICATION
    if column.kind is ColumnKind.NUMBER and column.integral and column.distinct <= MAX_INTEGER_CLASSES:
        return Task.CLASSIFICATION
    return Task.REGRESSION


def _read_numbers(table: Table, column: ColumnSchema) -> Target:
    """Read the numbers to predict, without the rows in which they are missing."""
    cells = table.frame[column.name]
    if cells.dtype.kind != "f":
        raise LearningError("target_not_numeric", field="target", name=column.name)

    numbers = cells.to_numpy(dtype=np.float64)
    rows = np.flatnonzero(~np.isnan(numbers))
    if len(np.unique(numbers[rows])) < 2:
        raise LearningError("target_one_class", field="target", name=column.name)
    return Target(column.name, Task.REGRESSION, numbers[rows], rows, missing=len(cells) - len(rows))


def _read_classes(table: Table, column: ColumnSchema) -> Target:
    """Read the classes to predict, without the rows whose class is missing or too rare to be learned.

    Classes are numbered in the order of their names. Raises `LearningError` if fewer than two of them can be learned,
    or if there are too many.
    """
    labels = np.array([_class_label(column, cell) for cell in table.frame[column.name]], dtype=object)
    is_missing = np.array([label is None for label in labels])
    names, rows_per_class = np.unique(labels[~is_missing], return_counts=True)

    is_learnable = rows_per_class >= MIN_CLASS_ROWS
    classes = tuple(names[is_learnable].tolist())
    rare_classes = zip(names[~is_learnable].tolist(), rows_per_class[~is_learnable].tolist(), strict=True)
    _check_class_count(column.name, learnable=len(classes), present=len(names))

    code_by_class = {name: code for code, name in enumerate(classes)}
    is_usable = np.array([label in code_by_class for label in labels])
    codes = [code_by_class[label] for label in labels[is_usable]]
    return Target(
        name=column.name,
        task=Task.CLASSIFICATION,
        values=np.array(codes, dtype=np.intp),
        rows=np.flatnonzero(is_usable),
        classes=classes,
        missing=int(is_missing.sum()),
        rare_classes=tuple(rare_classes),
    )


def _check_class_count(name: str, *, learnable: int, present: int) -> None:
    """Raise `LearningError` for a target with fewer than two learnable classes, or with too many."""
    if learnable < 2 <= present:
        raise LearningError("target_classes_too_rare", field="target", name=name, minimum=MIN_CLASS_ROWS)
    if learnable < 2:
        raise LearningError("target_one_class", field="target", name=name)
    if learnable > MAX_CLASSES:
        raise LearningError(
            "target_too_many_classes", field="target", name=name, classes=learnable, maximum=MAX_CLASSES
        )


def _class_label(column: ColumnSchema, cell: Any) -> Cell:
    """Return the class of a cell as JSON: numbers stay numbers, a missing value is None, everything else is text."""
    if isinstance(cell, str):
        return None if cell == MISSING else cell
    if cell != cell:  # Only NaN and NaT differ from themselves.
        return None
    if isinstance(cell, float):
        return int(cell) if column.integral else cell
    return str(cell)
