"""Counterfactuals: the smallest change of a row, towards values of real rows, that changes the predicted class.

The nearest background rows for which the model predicts another class are the candidates (the nearest unlike
neighbours). The row takes over values of a neighbour one column at a time, always the one that moves the prediction
most, until the predicted class changes. The counterfactual with the fewest changes wins.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from touchstone.learning.explaining.explained_model import ExplainedModel
from touchstone.learning.target import Floats

NEIGHBOURS: Final = 8
MAX_CHANGES: Final = 6


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """The background row that lends its values, the positions of the changed columns, and the class reached."""

    neighbour: int
    changed: tuple[int, ...]
    class_code: int


def find_counterfactual(explained: ExplainedModel, row: Floats) -> Counterfactual | None:
    """Return the smallest change of an encoded row, towards a similar real row, that changes its predicted class.

    Returns None for a regression, and if none of the nearest background rows of another class is reached within a few
    changes.
    """
    if explained.class_code is None:
        return None

    row_class = explained.predict_row(row)
    background_classes, _probabilities = explained.predict(explained.background)

    unlike = np.flatnonzero(background_classes != row_class)
    distances = np.abs(explained.background[unlike] - row).sum(axis=1)
    nearest_unlike = unlike[np.argsort(distances, kind="stable")[:NEIGHBOURS]]

    counterfactuals = []
    for neighbour in nearest_unlike.tolist():
        wanted_class = int(background_classes[neighbour])
        counterfactual = _approach_neighbour(explained, row, neighbour, wanted_class)
        if counterfactual is not None:
            counterfactuals.append(counterfactual)
    return min(counterfactuals, key=lambda counterfactual: len(counterfactual.changed), default=None)


def _approach_neighbour(
    explained: ExplainedModel, row: Floats, neighbour: int, wanted_class: int
) -> Counterfactual | None:
    """Copy values of a background row into the row, column by column, until the wanted class is predicted.

    Each step copies the source column that raises the probability of the wanted class most. Returns None if the class
    is not reached within `MAX_CHANGES` columns.
    """
    current_row = row.copy()
    neighbour_row = explained.background[neighbour]
    remaining_columns = list(np.unique(explained.sources[current_row != neighbour_row]))
    changed_columns: list[int] = []

    while remaining_columns and len(changed_columns) < MAX_CHANGES:
        # One candidate per remaining column: the current row with the neighbour's value of that column.
        is_copied = explained.sources[None, :] == np.array(remaining_columns)[:, None]
        candidates = np.where(is_copied, neighbour_row, current_row)

        _classes, probabilities = explained.predict(candidates)
        best = int(probabilities[:, wanted_class].argmax())
        current_row = candidates[best]
        changed_columns.append(int(remaining_columns.pop(best)))

        if explained.predict_row(current_row) == wanted_class:
            return Counterfactual(neighbour, tuple(changed_columns), wanted_class)
    return None
