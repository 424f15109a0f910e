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
    """How far the weight of one criterion may move, the others unchanged, before two neighbours change places.

    Attributes:
        criterion: The name of the criterion.
        down, up: How far its weight may fall and rise; infinite if no such move changes the order.
        swaps_down, swaps_up: The index of the upper record of the first pair to change places; None if no pair does.
    """

    criterion: str
    down: float
    up: float
    swaps_down: int | None
    swaps_up: int | None


def stability(criterion_scores: Floats, weights: Mapping[str, float]) -> tuple[Leeway, ...]:
    """Return for each criterion how far its weight may move before the order of some ranked records changes.

    `criterion_scores` holds the records in the order of the ranking, one row each with the twelve criteria, as
    `View.criterion_scores` returns them. The result is exact for these records, but a record that is not among them may
    come in between earlier.
    """
    ordered_weights = np.array([weights.get(name, 0.0) for name in CRITERION_NAMES])
    criterion_differences = criterion_scores[:-1] - criterion_scores[1:]  # one row for each pair of neighbours
    leads = np.maximum(0.0, criterion_differences @ ordered_weights)

    return tuple(
        _leeway(name, float(ordered_weights[column]), criterion_differences[:, column], leads)
        for column, name in enumerate(CRITERION_NAMES)
    )


def _leeway(criterion: str, weight: float, differences: Floats, leads: Floats) -> Leeway:
    """Return how far the weight of one criterion may move before two neighbours of a ranking change places.

    For each pair of neighbours, `differences` says by how much the upper record is better in this criterion, and
    `leads` by how much it is ahead of the lower one in total.
    """
    # Where the upper record is better, a smaller weight costs it the lead; where it is worse, a larger weight does.
    down, swaps_down = _first_swap(leads, differences)
    up, swaps_up = _first_swap(leads, -differences)
    if down > weight:
        down, swaps_down = math.inf, None  # a weight cannot fall below zero
    return Leeway(criterion, down, up, swaps_down, swaps_up)


def _first_swap(leads: Floats, losses_per_unit: Floats) -> tuple[float, int | None]:
    """Return how far a weight may move before a pair of neighbours changes places, and the index of the first pair.

    `leads` holds the lead of the upper record in each pair, and `losses_per_unit` how much of it is lost when the
    weight moves by 1. If no lead is lost, the result is (inf, None).
    """
    shrinking_pairs: Ints = np.flatnonzero(losses_per_unit > 0)
    if not len(shrinking_pairs):
        return math.inf, None

    moves = leads[shrinking_pairs] / losses_per_unit[shrinking_pairs]
    first = int(moves.argmin())
    return float(moves[first]), int(shrinking_pairs[first])
