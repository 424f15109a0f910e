"""The weighted score: `sum of weight * criterion / sum of weights`, in float64, the terms in the order of CRITERIA."""

import math
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.columns.segment import Segment
from touchstone.ranking.criteria import CRITERION_NAMES, Floats

SLACK: Final = 4e-6  # more than float32 can lose over twelve terms
_SCALE: Final = 2.0**-64
Terms: TypeAlias = tuple[tuple[str, float], ...]


def active_weights(weights: Mapping[str, float]) -> tuple[Terms, float]:
    """The criteria that weigh anything, in the order of CRITERIA, and the sum of the weights.

    Weights whose sum would overflow are scaled by a power of two first, which changes no digit of any score.
    """
    kept = tuple((name, float(weights[name])) for name in CRITERION_NAMES if weights.get(name, 0.0) > 0.0)
    if not math.isfinite(_total(kept)):
        kept = tuple((name, weight * _SCALE) for name, weight in kept)
    return kept, _total(kept)


def _total(kept: Terms) -> float:
    total = 0.0
    for _, weight in kept:
        total += weight
    return total


def weighted(criteria: Floats, weights: Mapping[str, float]) -> Floats:
    """The scores of records given as a matrix, one row for each of the twelve criteria and one column a record."""
    return _added(dict(zip(CRITERION_NAMES, criteria, strict=True)), weights, criteria.shape[1])


def shares(weights: Mapping[str, float]) -> NDArray[np.float32]:
    """The weights over their sum as float32, in the order of CRITERIA: for products that are right to within SLACK."""
    given = [weights.get(name, 0.0) for name in CRITERION_NAMES]
    largest = max(given)  # divided by first, so that the sum cannot overflow
    total = sum(weight / largest for weight in given)
    return np.array([weight / largest / total for weight in given], np.float32)


def scores(segment: Segment, positions: Any, weights: Mapping[str, float]) -> Floats:
    """The scores of the records of a segment at these positions, or in this slice."""
    gathered = {name: segment.criteria[name][positions] for name, _ in active_weights(weights)[0]}
    return _added(gathered, weights, len(segment.columns["id"][positions]))


def _added(criteria: Mapping[str, Floats], weights: Mapping[str, float], size: int) -> Floats:
    """Left-out criteria add nothing: a term of weight zero is zero, and adding it would change no digit either."""
    kept, total = active_weights(weights)
    found = np.zeros(size)
    for name, weight in kept:
        found += weight * criteria[name]
    return found / total
