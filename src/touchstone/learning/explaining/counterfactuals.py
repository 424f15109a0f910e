"""Counterfactuals: the smallest change of a row, towards values of real rows, that changes the predicted class.

For each of the nearest background rows of another predicted class (the nearest unlike neighbours), columns are taken
over one at a time, always the one that moves the prediction most, until the class changes. The fewest changes win.
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
    """Return the counterfactual with the fewest changes.

    Returns None for a regression, and when no neighbour leads to another class.
    """
    if explained.class_code is None:
        return None
    row_class = explained.predict(row[None, :])[0][0]
    background_classes = explained.predict(explained.background)[0]

    unlike = np.flatnonzero(background_classes != row_class)
    distances = np.abs(explained.background[unlike] - row).sum(axis=1)
    nearest = unlike[np.argsort(distances, kind="stable")[:NEIGHBOURS]]

    attempts = [
        _approach_neighbour(explained, row, int(neighbour), int(background_classes[neighbour])) for neighbour in nearest
    ]
    successes = [attempt for attempt in attempts if attempt is not None]
    return min(successes, key=lambda counterfactual: len(counterfactual.changed), default=None)


def _approach_neighbour(
    explained: ExplainedModel, row: Floats, neighbour: int, wanted_class: int
) -> Counterfactual | None:
    """Take over columns of the neighbour until the prediction is the wanted class; None if that takes too many."""
    current = row.copy()
    lender = explained.background[neighbour]
    remaining = list(np.unique(explained.sources[current != lender]))
    changed: list[int] = []
    while remaining and len(changed) < MAX_CHANGES:
        is_taken_over = explained.sources[None, :] == np.array(remaining)[:, None]
        candidates = np.where(is_taken_over, lender, current)
        _codes, probabilities = explained.predict(candidates)

        best = int(probabilities[:, wanted_class].argmax())
        current = candidates[best]
        changed.append(int(remaining.pop(best)))
        if explained.predict(current[None, :])[0][0] == wanted_class:
            return Counterfactual(neighbour, tuple(changed), wanted_class)
    return None
