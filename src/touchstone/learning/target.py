"""The column to predict, with its values as class codes or as numbers."""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from touchstone.learning.column_types import MISSING, ColumnKind, ColumnSchema, json_as_text, parse_cell
from touchstone.learning.learning_errors import LearningError
from touchstone.learning.request_checks_against_data import MIN_ROWS
from touchstone.learning.request_choices import Task
from touchstone.learning.request_definitions import Cell
from touchstone.learning.table_reader import Table
from touchstone.learning.task_choice import TaskReason, choose_task

MAX_CLASSES: Final = 100
MIN_CLASS_ROWS: Final = 3  # Two rows for learning a class, and one for measuring the predictions.
MAX_INTEGER: Final = 2.0**63  # Larger whole numbers stay floats.
NO_CLASS: Final = -1  # The code for rows whose class is missing or too rare.

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]
Values = npt.NDArray[Any]  # true or predicted values: class codes, or numbers


class PositiveClassReason(StrEnum):
    """The reason for the choice of the positive class."""

    REQUESTED = "requested"
    RARER = "rarer"
    LAST_NAME = "last_name"  # Both classes are equally frequent.


@dataclass(frozen=True, slots=True)
class Target:
    """The values to predict.

    With two classes, the last one (code 1) is the positive class, which the model is meant to detect.

    Attributes:
        name: the name of the column.
        task: classification or regression.
        values: the values of the usable rows, as codes 0..K-1 of the `classes` or as numbers.
        rows: the positions of the usable rows in the table.
        classes: the classes in the order of their codes, empty for a regression.
        missing: the number of rows without a value.
        rare_classes: the classes that are too rare to be learned, with their numbers of rows.
        positive_class_reason: the reason for the choice of the positive class, or None unless there are two classes.
        task_reason: the reason for the choice of the task.
    """

    name: str
    task: Task
    values: npt.NDArray[Any] = field(repr=False)
    rows: Indices = field(repr=False)
    classes: tuple[Cell, ...] = ()
    missing: int = 0
    rare_classes: tuple[tuple[Cell, int], ...] = ()
    positive_class_reason: PositiveClassReason | None = None
    task_reason: TaskReason = TaskReason.REQUESTED

    @property
    def is_classification(self) -> bool:
        """Whether classes are predicted."""
        return self.task is Task.CLASSIFICATION

    @property
    def positive_code(self) -> int | None:
        """The code of the positive class, or None unless there are two classes."""
        return 1 if len(self.classes) == 2 else None

    @property
    def positive_class(self) -> Cell:
        """The positive class, or None unless there are two classes."""
        return None if self.positive_code is None else self.classes[self.positive_code]


def read_target(
    table: Table, name: str, task: Task = Task.AUTO, metric: str | None = None, positive_class: Cell = None
) -> Target:
    """Read the column to predict, either as class codes or as numbers.

    Args:
        table: the table.
        name: the name of the column.
        task: the requested task. `auto` chooses the task of the metric or, without a metric, the task suggested by the
            column's values.
        metric: the requested metric, or None.
        positive_class: the requested positive class of two classes, or None for the rarer class.

    Raises:
        LearningError: the column does not fit the task, lacks the positive class, or has too few usable values.
    """
    column = table.columns[name]
    if column.missing == len(table.frame):
        raise LearningError("target_all_missing", field="target", name=name)
    if column.kind is ColumnKind.UNSUPPORTED:
        raise LearningError("target_unsupported", field="target", name=name)

    choice = choose_task(table, column, task, metric)
    is_classification = choice.task is Task.CLASSIFICATION
    target = _read_classes(table, column, positive_class) if is_classification else _read_numbers(table, column)

    usable_rows = len(target.rows)
    if usable_rows < MIN_ROWS:
        raise LearningError("too_few_rows", rows=usable_rows, minimum=MIN_ROWS)
    return replace(target, task_reason=choice.reason)


def _read_numbers(table: Table, column: ColumnSchema) -> Target:
    """Read the numbers to predict, without the rows that have none."""
    cells = table.frame[column.name]
    if cells.dtype.kind != "f":
        raise LearningError("target_not_numeric", field="target", name=column.name)

    numbers = cells.to_numpy(dtype=np.float64)
    rows = np.flatnonzero(~np.isnan(numbers))
    if len(np.unique(numbers[rows])) < 2:
        raise LearningError("target_one_class", field="target", name=column.name)
    return Target(column.name, Task.REGRESSION, numbers[rows], rows, missing=len(cells) - len(rows))


def _read_classes(table: Table, column: ColumnSchema, positive_class: Cell) -> Target:
    """Read the classes to predict, without the rows whose class is missing or too rare to be learned.

    Codes follow the order of the class names, except that the positive one of two classes comes last.

    Raises:
        LearningError: there are too many classes, fewer than two can be learned, or the requested positive
            class is not one of two classes.
    """
    # Process each distinct cell only once, because a long table has far fewer classes than rows.
    codes_of_cells, distinct_cells = pd.factorize(table.frame[column.name], use_na_sentinel=False)
    labels = [_class_label(column, cell) for cell in distinct_cells]
    rows_per_class: Counter[Cell] = Counter()
    for label, rows in zip(labels, np.bincount(codes_of_cells).tolist(), strict=True):
        rows_per_class[label] += rows
    missing = rows_per_class.pop(None, 0)

    by_name = sorted(rows_per_class.items())
    learnable = {name: rows for name, rows in by_name if rows >= MIN_CLASS_ROWS}
    rare_classes = tuple((name, rows) for name, rows in by_name if rows < MIN_CLASS_ROWS)
    _check_class_count(column.name, learnable=len(learnable), present=len(by_name))
    classes, reason = _order_classes(column, learnable, positive_class)

    code_by_class = {name: code for code, name in enumerate(classes)}
    code_of_cell = np.array([code_by_class.get(label, NO_CLASS) for label in labels], dtype=np.intp)
    code_of_row = code_of_cell[codes_of_cells]
    usable_rows = np.flatnonzero(code_of_row != NO_CLASS)
    return Target(
        name=column.name,
        task=Task.CLASSIFICATION,
        values=code_of_row[usable_rows],
        rows=usable_rows,
        classes=classes,
        missing=missing,
        rare_classes=rare_classes,
        positive_class_reason=reason,
    )


def _order_classes(
    column: ColumnSchema, rows_per_class: Mapping[Cell, int], requested: Cell
) -> tuple[tuple[Cell, ...], PositiveClassReason | None]:
    """Order the classes by their codes, with the positive one of two classes last.

    Args:
        column: the target.
        rows_per_class: the number of rows of each class, sorted by class name.
        requested: the requested positive class, or None for the rarer class.

    Returns:
        the classes, and the reason for the choice of the positive class, which is None unless there are two classes.

    Raises:
        LearningError: the requested positive class is not one of two classes.
    """
    classes = tuple(rows_per_class)
    if len(classes) != 2:
        if requested is not None:
            raise LearningError(
                "two_classes_needed",
                field="positive_class",
                option="positive_class",
                name=column.name,
                classes=len(classes),
            )
        return classes, None

    first, last = classes
    reversed_classes = (last, first)
    if requested is not None:
        positive_class = find_class(column, classes, requested, field="positive_class")
        ordered_classes = classes if positive_class == last else reversed_classes
        return ordered_classes, PositiveClassReason.REQUESTED

    if rows_per_class[first] == rows_per_class[last]:
        return classes, PositiveClassReason.LAST_NAME

    last_is_rarer = rows_per_class[last] < rows_per_class[first]
    ordered_classes = classes if last_is_rarer else reversed_classes
    return ordered_classes, PositiveClassReason.RARER


def find_class(column: ColumnSchema, classes: Sequence[Cell], requested: Cell, *, field: str) -> Cell:
    """Return the class that a field of a request refers to.

    It may be written like the class in results, or like a cell of the target in the file, such as `TRUE` or `+1`.

    Args:
        column: the target.
        classes: the classes to choose from.
        requested: the requested class.
        field: the name of the field, for the error.

    Raises:
        LearningError: if there is no such class.
    """
    text = json_as_text(requested)
    for name in classes:
        if str(name) == text:
            return name

    with suppress(ValueError, OverflowError):
        cell = parse_cell(column, requested)
        # Models of earlier releases name a class of a day with its time, such as 2024-12-24 00:00:00.
        for label in (_class_label(column, cell), str(cell)):
            if label in classes:
                return label

    known = [str(name) for name in classes]
    raise LearningError("class_not_found", field=field, name=text, known=known)


def _check_class_count(name: str, *, learnable: int, present: int) -> None:
    """Raise `LearningError` if fewer than two classes can be learned, or if there are too many."""
    if learnable < 2 <= present:
        raise LearningError("target_classes_too_rare", field="target", name=name, minimum=MIN_CLASS_ROWS)
    if learnable < 2:
        raise LearningError("target_one_class", field="target", name=name)
    if learnable > MAX_CLASSES:
        raise LearningError(
            "target_too_many_classes", field="target", name=name, classes=learnable, maximum=MAX_CLASSES
        )


def _class_label(column: ColumnSchema, cell: Any) -> Cell:
    """Convert a cell to a class in JSON: a number, None for a missing value, or a string otherwise."""
    if isinstance(cell, str):
        return None if cell == MISSING else cell
    if cell != cell:  # Only NaN and NaT differ from themselves.
        return None
    if isinstance(cell, float):
        # Files of predictions have 64 bits for an integer.
        return int(cell) if column.integral and abs(cell) < MAX_INTEGER else cell
    if column.kind is ColumnKind.DATE:
        return str(cell).removesuffix(" 00:00:00")  # A date without a time is midnight.
    return str(cell)
