"""Counterfactuals: the smallest change of a row, towards values that real rows have, that changes the predicted class.

For each of the nearest background rows of another predicted class (the nearest unlike neighbours), columns are taken
over one at a time, always the one that moves the prediction most, until the class changes; the shortest list wins.
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from touchstone.learning.explaining.explained_model import Subject
from touchstone.learning.model_search import predict
from touchstone.learning.target import Floats, Indices

NEIGHBOURS: Final = 8
MOST_CHANGES: Final = 6


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """The background row that lends the values, the columns changed (positions), and the class reached (code)."""

    neighbour: int
    changed: tuple[int, ...]
    code: int


def counterfactual(subject: Subject, row: Floats) -> Counterfactual | None:
    """The shortest change found, or None when no background row helps (or the target is a number)."""
    if subject.code is None:
        return None
    own = int(_codes(subject, row[None, :])[0])
    codes = _codes(subject, subject.background)
    others = np.flatnonzero(codes != own)
    distances = np.abs(subject.background[others] - row).sum(axis=1)
    nearest = others[np.argsort(distances, kind="stable")[:NEIGHBOURS]]
    found = [_towards(subject, row, int(other), int(codes[other])) for other in nearest]
    return min((one for one in found if one is not None), key=lambda one: len(one.changed), default=None)


def _towards(subject: Subject, row: Floats, neighbour: int, wanted: int) -> Counterfactual | None:
    current, lender = row.copy(), subject.background[neighbour]
    left = list(np.unique(subject.sources[current != lender]))
    changed: list[int] = []
    while left and len(changed) < MOST_CHANGES:
        tries = _tries(subject, current, lender, np.array(left))
        shares = _shares(subject, tries)[:, wanted]
        place = int(shares.argmax())
        current = tries[place]
        changed.append(int(left.pop(place)))
        if int(_codes(subject, current[None, :])[0]) == wanted:
            return Counterfactual(neighbour, tuple(changed), wanted)
    return None


def _tries(subject: Subject, current: Floats, lender: Floats, left: Indices) -> Floats:
    """The current row with each of the columns left taken over, one a row."""
    taken = subject.sources[None, :] == left[:, None]
    return np.where(taken, lender, current)


def _shares(subject: Subject, matrix: Floats) -> Floats:
    return predict(subject.model, matrix, len(subject.kept.classes))[1]


def _codes(subject: Subject, matrix: Floats) -> npt.NDArray[Any]:
    return predict(subject.model, matrix, len(subject.kept.classes))[0]
