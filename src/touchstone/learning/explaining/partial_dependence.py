"""Partial dependence and individual curves: the prediction as one column takes other values (Friedman 2001; ICE:
Goldstein et al. 2015).
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd

from touchstone.learning.column_types import MISSING, Column, Kind
from touchstone.learning.explaining.explained_model import Subject

GRID: Final = 15
CURVES: Final = 25


@dataclass(frozen=True, slots=True)
class Dependence:
    """The values tried (dates as ISO 8601), the mean prediction at each, the curves of single rows (rows, values)."""

    column: str
    kind: Kind
    grid: list[Any]
    mean: list[float]
    curves: list[list[float]]


def partial_dependence(subject: Subject, frame: pd.DataFrame, position: int) -> Dependence | None:
    """The dependence on one source column over the background rows (`frame` is their source); None for a text."""
    column = subject.columns[position]
    grid = _grid(column, frame[column.name])
    if len(grid) < 2:
        return None
    probe = pd.concat([frame.iloc[[0]]] * len(grid), ignore_index=True)
    probe[column.name] = pd.Series(grid, dtype=frame[column.name].dtype)
    encoded, block = subject.encode(probe), subject.block(position)
    curves = np.empty((len(subject.background), len(grid)))
    for place in range(len(grid)):
        mixed = subject.background.copy()
        mixed[:, block] = encoded[place, block]
        curves[:, place] = subject.value(mixed)
    shown = [_shown(value) for value in grid]
    return Dependence(column.name, column.kind, shown, curves.mean(axis=0).tolist(), curves[:CURVES].tolist())


def _grid(column: Column, cells: "pd.Series[Any]") -> list[Any]:
    if column.kind is Kind.TEXT:
        return []
    if column.kind in (Kind.NUMBER, Kind.DATE):
        known = cells.dropna()
        return sorted(set(known.quantile(np.linspace(0.02, 0.98, GRID), interpolation="nearest")))
    counts = cells[cells != MISSING].value_counts()
    return sorted(counts.sort_index().nlargest(GRID).index)


def _shown(value: Any) -> Any:
    return value.isoformat() if isinstance(value, pd.Timestamp) else value
