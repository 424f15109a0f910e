"""The values that a model has seen in each column, and warnings about rows with other ones.

A model answers for any row. For values that it has never seen the answer is a guess, which its caller has to know.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from touchstone.learning.column_types import MISSING, ColumnKind, ColumnSchema, json_as_text, marks_missing
from touchstone.learning.localized_text import format_cell, localize
from touchstone.learning.request_definitions import Cell
from touchstone.learning.row_values import Cells, cell_as_text
from touchstone.learning.task_interface import Json
from touchstone.messages.row_warnings import ROW_WARNINGS

MAX_LISTED_CATEGORIES: Final = 20_000  # A column with more categories is not checked.

RowWarnings = list[Json]
Mask = npt.NDArray[np.bool_]


def observed_values(columns: Sequence[ColumnSchema], frame: pd.DataFrame) -> Json:
    """Return what a model sees in the rows from which it learns, to be stored with it, by column.

    This is `{low, high}` for numbers and dates, and `{categories}` for categories. There is nothing about other
    columns, such as texts.
    """
    observed: Json = {}
    for column in columns:
        entry = _observed_in_column(column, frame[column.name])
        if entry:
            observed[column.name] = entry
    return observed


def _observed_in_column(column: ColumnSchema, cells: "pd.Series[Any]") -> Json:
    """Return the range or the categories of one column; empty if there are none to compare with."""
    if _has_range(column):
        present_cells = cells.dropna()
        if present_cells.empty:
            return {}
        return {"low": _bound(present_cells.min()), "high": _bound(present_cells.max())}

    categories = {str(cell) for cell in cells.unique() if cell != MISSING}
    if _is_categorical(column) and len(categories) <= MAX_LISTED_CATEGORIES:
        return {"categories": sorted(categories)}
    return {}


def warn_of_unseen_values(
    columns: Sequence[ColumnSchema],
    observed: Json,
    cells: Cells,
    *,
    row_count: int,
    given_rows: Sequence[Mapping[str, Cell]] = (),
) -> list[RowWarnings]:
    """Return the warnings about each of some rows, compared with what `observed_values` has returned.

    Warned of are categories that were not seen, values outside the range that was seen, and rows without any value. If
    a request gives the rows by value, `given_rows` are these values as they were given, and those that count as missing
    because they cannot be read are warned of, too.
    """
    warnings: list[RowWarnings] = [[] for _ in range(row_count)]
    has_value = np.zeros(row_count, dtype=np.bool_)

    for column in columns:
        column_cells = cells[column.name]
        is_present = _is_present(column, column_cells)
        has_value |= is_present

        if column.mixed and given_rows:
            for given_row, has_cell, row_warnings in zip(given_rows, is_present, warnings, strict=True):
                given_cell = given_row.get(column.name)
                if not has_cell and not marks_missing(column, given_cell):
                    row_warnings.append(row_warning("value_unreadable", column.name, value=json_as_text(given_cell)))

        entry = observed.get(column.name)
        if entry is not None:
            for row in np.flatnonzero(is_present & _is_unseen(column_cells, entry)):
                warnings[row].append(_cell_warning(column, column_cells[row], entry))

    for row in np.flatnonzero(~has_value):
        warnings[row].append(row_warning("row_without_values"))
    return warnings


def row_warning(code: str, column: str | None = None, **values: str) -> Json:
    """Return a warning: its code, its column, its facts, and its sentence in both languages."""
    localized_values = {name: format_cell(value) for name, value in values.items()}
    text = localize(ROW_WARNINGS[code], name=column, **localized_values)
    return {"code": code, "column": column, "text": text, "facts": values}


def _is_present(column: ColumnSchema, cells: npt.NDArray[Any]) -> Mask:
    """Return which cells of a column have a value."""
    if column.kind is ColumnKind.NUMBER:
        is_missing: Mask = np.isnan(cells.astype(np.float64))
    elif column.kind is ColumnKind.DATE:
        is_missing = np.isnat(cells)
    else:
        is_missing = cells == MISSING
    return ~is_missing


def _is_unseen(cells: npt.NDArray[Any], entry: Json) -> Mask:
    """Return which cells are lower or higher than any that was seen, or have a category that was not seen."""
    if "categories" in entry:
        distinct_cells = set(cells.tolist())
        unseen_cells = {cell for cell in distinct_cells if not _contains(entry["categories"], cell)}
        return np.array([cell in unseen_cells for cell in cells.tolist()], dtype=np.bool_)

    low, high = entry["low"], entry["high"]
    if isinstance(low, str):
        low, high = np.datetime64(low), np.datetime64(high)
    is_outside: Mask = (cells < low) | (cells > high)
    return is_outside


def _contains(sorted_values: Sequence[str], value: str) -> bool:
    """Return whether a value is in a sorted list."""
    position = bisect_left(sorted_values, value)
    return position < len(sorted_values) and sorted_values[position] == value


def _cell_warning(column: ColumnSchema, cell: Any, entry: Json) -> Json:
    """Return the warning about a cell whose value was not seen."""
    value = cell_as_text(pd.Timestamp(cell) if column.kind is ColumnKind.DATE else cell)
    if "low" not in entry:
        return row_warning("category_unseen", column.name, value=value)

    low, high = cell_as_text(entry["low"]), cell_as_text(entry["high"])
    return row_warning("value_out_of_range", column.name, value=value, low=low, high=high)


def _has_range(column: ColumnSchema) -> bool:
    """Return whether the values of a column have a smallest and a largest one."""
    return column.kind in (ColumnKind.NUMBER, ColumnKind.DATE)


def _is_categorical(column: ColumnSchema) -> bool:
    """Return whether a column holds categories."""
    return column.kind in (ColumnKind.CATEGORY, ColumnKind.BOOLEAN)


def _bound(value: Any) -> float | str:
    """Return the end of a range as JSON: a number, or a date as text."""
    return cell_as_text(value) if isinstance(value, pd.Timestamp) else float(value)
