"""How far each weight may move before two neighbours of a ranking change places.

A score is linear in the weights: the lead of a record over the next one is the sum of weight times difference of
criterion, so moving one weight by d moves the lead by d times the difference of that criterion. Nothing calls this
module yet; the page of a ranking will.
"""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from touchstone.ranking.column_types import Floats, Ints
from touchstone.ranking.criteria import CRITERION_NAMES


class Leeway(NamedTuple):
    """How far a weight may fall and rise, the others unchanged, before two neighbours change places; inf if never.

    `swaps_down` and `swaps_up`: the index of the upper record of the first pair to change places, None if none does.
    """

    criterion: str
    down: float
    up: float
    swaps_down: int | None
    swaps_up: int | None


def stability(criterion_scores: Floats, weights: Mapping[str, float]) -> tuple[Leeway, ...]:
    """Return for each criterion the leeway of its weight within which some records keep their order.

    `criterion_scores`: the records in their order, one row each, as `View.criterion_scores` returns them. The result is
    exact for these records; a record that is not among them may come in between.
    """
    ordered_weights = np.array([weights.get(name, 0.0) for name in CRITERION_NAMES])
    differences = criterion_scores[:-1] - criterion_scores[1:]
    leads = np.maximum(0.0, differences @ ordered_weights)
    return tuple(
        _leeway(name, float(ordered_weights[column]), differences[:, column], leads)
        for column, name in enumerate(CRITERION_NAMES)
    )


def _leeway(criterion: str, weight: float, differences: Floats, leads: Floats) -> Leeway:
    down, swaps_down = _first_swap(leads, differences)
    up, swaps_up = _first_swap(leads, -differences)
    if down > weight:  # a weight cannot fall below zero
        down, swaps_down = math.inf, None
    return Leeway(criterion, down, up, swaps_down, swaps_up)


def _first_swap(leads: Floats, losses: Floats) -> tuple[float, int | None]:
    """Return the smallest move of a weight that uses up a lead, and the pair; (inf, None) if no move does.

    `losses`: how much each lead shrinks for each unit of the move.
    """
    pairs: Ints = np.flatnonzero(losses > 0)
    if not len(pairs):
        return math.inf, None
    moves = leads[pairs] / losses[pairs]
    return float(moves.min()), int(pairs[moves.argmin()])
