"""Partial dependence: how predictions change as one column takes other values.

The mean over all rows is Friedman's partial dependence (2001); the curves of single rows are the individual
conditional expectations of Goldstein et al. (2015).
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd

from touchstone.learning.column_types import MISSING, ColumnKind, ColumnSchema
from touchstone.learning.explaining.explained_model import ExplainedModel

GRID_SIZE: Final = 15
CURVES: Final = 25


@dataclass(frozen=True, slots=True)
class Dependence:
    """The grid of values (dates as ISO 8601), the mean prediction at each, and curves of shape (rows, values)."""

    column: str
    kind: ColumnKind
    grid: list[Any]
    mean: list[float]
    curves: list[list[float]]


def partial_dependence(explained: ExplainedModel, background: pd.DataFrame, position: int) -> Dependence | None:
    """Return the dependence of the prediction on one source column; None where it has no two values to compare.

    `background` holds the source rows of `explained.background`.
    """
    column = explained.columns[position]
    grid = _build_grid(column, background[column.name])
    if len(grid) < 2:
        return None

    rows_of_grid = pd.concat([background.iloc[[0]]] * len(grid), ignore_index=True)
    rows_of_grid[column.name] = pd.Series(grid, dtype=background[column.name].dtype)
    encoded_grid = explained.encode(rows_of_grid)

    block = explained.block(position)
    curves = np.empty((len(explained.background), len(grid)))
    for place in range(len(grid)):
        changed = explained.background.copy()
        changed[:, block] = encoded_grid[place, block]
        curves[:, place] = explained.value(changed)

    return Dependence(
        column=column.name,
        kind=column.kind,
        grid=[value.isoformat() if isinstance(value, pd.Timestamp) else value for value in grid],
        mean=curves.mean(axis=0).tolist(),
        curves=curves[:CURVES].tolist(),
    )


def _build_grid(column: ColumnSchema, cells: "pd.Series[Any]") -> list[Any]:
    """Return the values to try: quantiles of numbers and dates, the most frequent categories, none for texts."""
    if column.kind is ColumnKind.TEXT:
        return []
    if column.kind in (ColumnKind.NUMBER, ColumnKind.DATE):
        quantiles = cells.dropna().quantile(np.linspace(0.02, 0.98, GRID_SIZE), interpolation="nearest")
        return sorted(set(quantiles))
    counts = cells[cells != MISSING].value_counts()
    return sorted(counts.sort_index().nlargest(GRID_SIZE).index)
