"""The score of a record, which is the weighted mean of its criteria: `sum(weight * criterion) / sum(weight)`.

Everything is computed in float64 with the terms in the order of CRITERIA. The formulas of the criteria are in
`criterion_formulas`.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.array_types import Floats
from touchstone.ranking.columns.segment import Segment
from touchstone.ranking.criteria import CRITERION_NAMES

_OVERFLOW_SCALE: Final = 2.0**-64


class ActiveWeights(NamedTuple):
    """The weights that are not zero.

    Attributes:
        terms: the name and weight of each weighted criterion, in the order of CRITERIA.
        total: the sum of the weights.
    """

    terms: tuple[tuple[str, float], ...]
    total: float


def active_weights(weights: Mapping[str, float]) -> ActiveWeights:
    """Return the weights that are greater than zero, in the order of CRITERIA, with their sum.

    If the sum would overflow, all weights are scaled down by a power of two. This does not change any score because
    only the proportions of the weights matter.
    """
    weighted_names = [name for name in CRITERION_NAMES if weights.get(name, 0.0) > 0.0]
    terms = tuple((name, float(weights[name])) for name in weighted_names)
    total = _sum_weights(terms)
    if math.isfinite(total):
        return ActiveWeights(terms, total)

    scaled_terms = tuple((name, weight * _OVERFLOW_SCALE) for name, weight in terms)
    return ActiveWeights(scaled_terms, _sum_weights(scaled_terms))


def _sum_weights(terms: tuple[tuple[str, float], ...]) -> float:
    """Return the sum of the weights, added one by one in order because `sum` and `fsum` may round differently."""
    total = 0.0
    for _, weight in terms:
        total += weight
    return total


def power_of_two_scale(weights: Mapping[str, float]) -> float:
    """Return the power of two such that the largest weight divided by it is at least 1 and less than 2.

    Dividing all weights by it prevents overflows of their sums without rounding.
    """
    _, exponent = math.frexp(max(weights.values()))
    return math.ldexp(1.0, exponent - 1)


def score_matrix(criteria: Floats, weights: Mapping[str, float]) -> Floats:
    """Return the scores of records.

    Args:
        criteria: a matrix with one row for each of CRITERIA and one column for each record.
        weights: the weights by criterion.
    """
    values_by_criterion = dict(zip(CRITERION_NAMES, criteria, strict=True))
    record_count = criteria.shape[1]
    return weighted_mean(values_by_criterion, weights, record_count)


def score_segment(segment: Segment, positions: Any, weights: Mapping[str, float]) -> Floats:
    """Return the scores of a segment's records at the given positions, an array or a slice."""
    weighted_names = [name for name, _ in active_weights(weights).terms]
    values_by_criterion = {name: segment.criteria[name][positions] for name in weighted_names}
    record_count = len(segment.columns["id"][positions])
    return weighted_mean(values_by_criterion, weights, record_count)


def weighted_mean(values_by_criterion: Mapping[str, Floats], weights: Mapping[str, float], record_count: int) -> Floats:
    """Return the weighted mean of the criteria for each record.

    Only criteria with a weight are required.
    """
    terms, total_weight = active_weights(weights)

    weighted_sum = np.zeros(record_count)
    for name, weight in terms:
        weighted_sum += weight * values_by_criterion[name]
    return weighted_sum / total_weight


@dataclass(frozen=True, slots=True)
class WeightSets:
    """Several sets of weights for the same criteria.

    Attributes:
        names: the names of the weighted criteria, in the order of CRITERIA.
        weights: the weights, with one row for each of these criteria and one column for each set.
        totals: the sum of the weights of each set.
    """

    names: tuple[str, ...]
    weights: Floats
    totals: Floats

    @classmethod
    def from_matrix(cls, names: tuple[str, ...], weights: Floats) -> Self:
        """Create sets of weights from a matrix with one row for each named criterion and one column for each set."""
        with np.errstate(over="ignore"):
            totals = _sum_rows(weights)
        if not np.isfinite(totals).all():
            weights = weights * _OVERFLOW_SCALE
            totals = _sum_rows(weights)
        return cls(names, weights, totals)

    @property
    def count(self) -> int:
        """The number of sets."""
        return len(self.totals)

    def at(self, index: int) -> dict[str, float]:
        """Return the set at the given index as weights by criterion."""
        return dict(zip(self.names, self.weights[:, index].tolist(), strict=True))

    def mean(self) -> dict[str, float]:
        """Return the mean of all sets, each scaled to a sum of 1."""
        shares = self.weights / self.totals
        return dict(zip(self.names, shares.mean(axis=1).tolist(), strict=True))

    def score(self, values_by_criterion: Mapping[str, Floats]) -> Floats:
        """Return the scores of records as a matrix with one row for each set and one column for each record."""
        first_values = values_by_criterion[self.names[0]]
        weighted_sums = np.zeros((self.count, len(first_values)))
        for name, weights in zip(self.names, self.weights, strict=True):
            weighted_sums += weights.reshape(-1, 1) * values_by_criterion[name]
        return np.asarray(weighted_sums / self.totals.reshape(-1, 1))


def _sum_rows(weights: Floats) -> Floats:
    """Return the sum of each column of a matrix, added row by row as in `_sum_weights`."""
    totals = np.zeros(weights.shape[1])
    for row in weights:
        totals += row
    return totals


def weight_shares(weights: Mapping[str, float]) -> NDArray[np.float32]:
    """Return the weights in the order of CRITERIA as float32, scaled to a sum of 1.

    A score computed with these shares differs from the exact score by less than FLOAT32_TOLERANCE.
    """
    ordered_weights = [weights.get(name, 0.0) for name in CRITERION_NAMES]

    # Dividing by the largest weight first keeps the sum from overflowing.
    largest = max(ordered_weights)
    total = sum(weight / largest for weight in ordered_weights)
    return np.array([weight / largest / total for weight in ordered_weights], np.float32)
