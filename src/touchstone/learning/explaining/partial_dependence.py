"""Partial dependence of the predictions on the values of one column.

The mean over all rows is Friedman's partial dependence (2001); the curves of single rows are the individual
conditional expectations of Goldstein et al. (2015).
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd

from touchstone.learning.column_types import MISSING, ColumnKind, ColumnSchema
from touchstone.learning.explaining.explained_model import ExplainedModel
from touchstone.learning.target import Floats

GRID_SIZE: Final = 15
QUANTILE_RANGE: Final = (0.02, 0.98)  # Outliers at either end would stretch the axis of the chart.
MAX_CURVES: Final = 25


@dataclass(frozen=True, slots=True)
class Dependence:
    """The predictions for each value of a grid.

    Attributes:
        column: the name of the column.
        kind: the kind of the column.
        grid: the values of the column, with dates in ISO 8601.
        mean: the mean prediction for each value.
        curves: the predictions for single rows, of shape (rows, values).
    """

    column: str
    kind: ColumnKind
    grid: list[Any]
    mean: list[float]
    curves: list[list[float]]


def partial_dependence(explained: ExplainedModel, background: pd.DataFrame, position: int) -> Dependence | None:
    """Compute the predictions for every background row with one source column set to each value of a grid.

    Args:
        explained: the model, with the encoded background rows.
        background: the same background rows before encoding.
        position: the position of the source column.

    Returns:
        the partial dependence, or None if the column has fewer than two values to compare.
    """
    column = explained.columns[position]
    grid = _build_grid(column, background[column.name])
    if len(grid) < 2:
        return None

    encoded_grid = _encode_grid(explained, background, column.name, grid)
    encoded_columns = explained.block(position)

    curves = np.empty((len(explained.background), len(grid)))
    for grid_index in range(len(grid)):
        changed_rows = explained.background.copy()
        changed_rows[:, encoded_columns] = encoded_grid[grid_index, encoded_columns]
        curves[:, grid_index] = explained.value(changed_rows)

    return Dependence(
        column=column.name,
        kind=column.kind,
        grid=[value.isoformat() if isinstance(value, pd.Timestamp) else value for value in grid],
        mean=curves.mean(axis=0).tolist(),
        curves=curves[:MAX_CURVES].tolist(),
    )


def _encode_grid(explained: ExplainedModel, background: pd.DataFrame, name: str, grid: list[Any]) -> Floats:
    """Return an encoded row for each value of the grid. Only the columns that encode `name` are meaningful."""
    first_row = background.iloc[[0]]
    frame = pd.concat([first_row] * len(grid), ignore_index=True)
    frame[name] = pd.Series(grid, dtype=background[name].dtype)
    return explained.encode(frame)


def _build_grid(column: ColumnSchema, cells: "pd.Series[Any]") -> list[Any]:
    """Return typical values of a column in ascending order.

    These are quantiles of numbers and dates, or the most frequent categories. The grid of a text column is empty.
    """
    if column.kind is ColumnKind.TEXT:
        return []

    if column.kind.is_ordered:
        levels = np.linspace(*QUANTILE_RANGE, GRID_SIZE)
        quantiles = cells.dropna().quantile(levels, interpolation="nearest")
        return sorted(set(quantiles))

    present_cells = cells[cells != MISSING]
    rows_per_category = present_cells.value_counts().sort_index()
    return sorted(rows_per_category.nlargest(GRID_SIZE).index)
