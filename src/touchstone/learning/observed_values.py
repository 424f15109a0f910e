"""The values that a model saw in training, and warnings about rows with other values.

A model predicts any row, but its prediction for unseen values is a guess. The caller has to know that.
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
    """Summarize the training values of each column, to be stored with the model.

    Args:
        columns: the columns of the model.
        frame: the training rows.

    Returns:
        `{low, high}` for a column of numbers or dates and `{categories}` for a column of categories, by column name.
        Other columns, such as text, have no entry.
    """
    observed_by_column = {column.name: _observe_column(column, frame[column.name]) for column in columns}
    return {name: observed for name, observed in observed_by_column.items() if observed}


def _observe_column(column: ColumnSchema, cells: "pd.Series[Any]") -> Json:
    """Return the range or the categories of one column, or an empty dictionary if it is not checked."""
    if column.kind.is_ordered:
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
    """Return the warnings about each row.

    There are warnings about unseen categories, values outside the observed range, unreadable values, and rows without
    any value.

    Args:
        columns: the columns of the model.
        observed: the result of `observed_values` for the training rows.
        cells: the cells of the rows by column.
        row_count: the number of rows.
        given_rows: the original values, if the rows come from a request. They are needed to detect unreadable values,
            which are missing in `cells`.
    """
    warnings: list[RowWarnings] = [[] for _ in range(row_count)]
    row_has_value = np.zeros(row_count, dtype=np.bool_)

    for column in columns:
        column_cells = cells[column.name]
        is_present = _is_present(column, column_cells)
        row_has_value |= is_present

        # Only a column with unreadable cells in training accepts unreadable values at all.
        if column.mixed and given_rows:
            for row in np.flatnonzero(~is_present).tolist():
                warnings[row] += _warn_of_unreadable_value(column, given_rows[row].get(column.name))

        observed_in_column = observed.get(column.name)
        if observed_in_column is not None:
            is_unseen = is_present & _is_unseen(column_cells, observed_in_column)
            for row in np.flatnonzero(is_unseen).tolist():
                warnings[row].append(_unseen_value_warning(column, column_cells[row], observed_in_column))

    for row in np.flatnonzero(~row_has_value).tolist():
        warnings[row].append(row_warning("row_without_values"))
    return warnings


def _warn_of_unreadable_value(column: ColumnSchema, given_cell: Cell) -> RowWarnings:
    """Return a warning about a value of a request that was not read, unless it means a missing value."""
    if marks_missing(column, given_cell):
        return []
    return [row_warning("value_unreadable", column.name, value=json_as_text(given_cell))]


def row_warning(code: str, column: str | None = None, **values: str) -> Json:
    """Build a warning with its code, its column, its facts, and its sentence in both languages."""
    localized_values = {name: format_cell(value) for name, value in values.items()}
    text = localize(ROW_WARNINGS[code], name=column, **localized_values)
    return {"code": code, "column": column, "text": text, "facts": values}


def _is_present(column: ColumnSchema, cells: npt.NDArray[Any]) -> Mask:
    """Return the mask of the cells that have a value."""
    if column.kind is ColumnKind.NUMBER:
        is_missing: Mask = np.isnan(cells.astype(np.float64))
    elif column.kind is ColumnKind.DATE:
        is_missing = np.isnat(cells)
    else:
        is_missing = cells == MISSING
    return ~is_missing


def _is_unseen(cells: npt.NDArray[Any], observed_in_column: Json) -> Mask:
    """Return the mask of the cells that lie outside the observed range or have an unseen category."""
    if "categories" in observed_in_column:
        distinct_cells = set(cells.tolist())
        unseen_cells = {cell for cell in distinct_cells if not _contains(observed_in_column["categories"], cell)}
        return np.array([cell in unseen_cells for cell in cells.tolist()], dtype=np.bool_)

    low, high = observed_in_column["low"], observed_in_column["high"]
    if isinstance(low, str):  # a date in JSON
        low, high = np.datetime64(low), np.datetime64(high)
    is_outside: Mask = (cells < low) | (cells > high)
    return is_outside


def _contains(sorted_values: Sequence[str], value: str) -> bool:
    """Return whether a sorted list contains a value."""
    position = bisect_left(sorted_values, value)
    return position < len(sorted_values) and sorted_values[position] == value


def _unseen_value_warning(column: ColumnSchema, cell: Any, observed_in_column: Json) -> Json:
    """Return the warning about a cell with an unseen value."""
    value = cell_as_text(pd.Timestamp(cell) if column.kind is ColumnKind.DATE else cell)
    if "categories" in observed_in_column:
        return row_warning("category_unseen", column.name, value=value)

    low, high = cell_as_text(observed_in_column["low"]), cell_as_text(observed_in_column["high"])
    return row_warning("value_out_of_range", column.name, value=value, low=low, high=high)


def _is_categorical(column: ColumnSchema) -> bool:
    """Return whether a column holds categories."""
    return column.kind in (ColumnKind.CATEGORY, ColumnKind.BOOLEAN)


def _bound(value: Any) -> float | str:
    """Convert the end of a range to JSON, with dates as strings."""
    return cell_as_text(value) if isinstance(value, pd.Timestamp) else float(value)
