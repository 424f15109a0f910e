"""The weighted score: `sum of weight * criterion / sum of weights`, in float64, the terms in the order of CRITERIA."""

import math
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.columns.segment import Segment
from touchstone.ranking.criteria import CRITERION_NAMES, Floats

_OVERFLOW_SCALE: Final = 2.0**-64


class ActiveWeights(NamedTuple):
    """The criteria that have a weight, in the order of CRITERIA, with their weights, and the sum of the weights."""

    terms: tuple[tuple[str, float], ...]
    total: float


def active_weights(weights: Mapping[str, float]) -> ActiveWeights:
    """Return the weights that are greater than zero, in the order of CRITERIA.

    Weights whose sum would overflow are first multiplied by a power of two, which changes no digit of any score.
    """
    terms = tuple((name, float(weights[name])) for name in CRITERION_NAMES if weights.get(name, 0.0) > 0.0)
    total = _add_weights(terms)
    if math.isfinite(total):
        return ActiveWeights(terms, total)

    scaled = tuple((name, weight * _OVERFLOW_SCALE) for name, weight in terms)
    return ActiveWeights(scaled, _add_weights(scaled))


def _add_weights(terms: tuple[tuple[str, float], ...]) -> float:
    """Return the sum of the weights, added in order; `sum` and `fsum` would round differently."""
    total = 0.0
    for _, weight in terms:
        total += weight
    return total


def score_matrix(criteria: Floats, weights: Mapping[str, float]) -> Floats:
    """Return the scores of records given as a matrix with one row for each criterion and one column for each record."""
    return _weighted_mean(dict(zip(CRITERION_NAMES, criteria, strict=True)), weights, criteria.shape[1])


def score_segment(segment: Segment, positions: Any, weights: Mapping[str, float]) -> Floats:
    """Return the scores of the records of a segment at some positions, which may be a slice."""
    criteria = {name: segment.criteria[name][positions] for name, _ in active_weights(weights).terms}
    return _weighted_mean(criteria, weights, len(segment.columns["id"][positions]))


def _weighted_mean(criteria: Mapping[str, Floats], weights: Mapping[str, float], size: int) -> Floats:
    """Return the weighted mean of the criteria that have a weight; the others would add zero."""
    terms, total = active_weights(weights)
    weighted_sum = np.zeros(size)
    for name, weight in terms:
        weighted_sum += weight * criteria[name]
    return weighted_sum / total


def weight_shares(weights: Mapping[str, float]) -> NDArray[np.float32]:
    """Return the weights divided by their sum, in the order of CRITERIA, for products within FLOAT32_TOLERANCE."""
    ordered = [weights.get(name, 0.0) for name in CRITERION_NAMES]
    largest = max(ordered)  # divided by first, so that the sum cannot overflow
    total = sum(weight / largest for weight in ordered)
    return np.array([weight / largest / total for weight in ordered], np.float32)
