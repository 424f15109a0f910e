"""Comparison of two records of a ranking, and the changes of weights that would reverse their order.

The score of a record is the sum of weight times criterion, divided by the sum of all weights. The divisor is the same
for all records, so the order of two records depends only on the *weighted lead* of the upper record: the sum of weight
times difference over all criteria. If one weight rises by `d`, the weighted lead rises by `d` times the difference in
this criterion. The weighted lead is zero at the *reversing weight* of the criterion:

    reversing weight = weight - weighted lead / difference

Beyond this weight, the order of the two records is reversed.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from operator import itemgetter
from typing import Final, NamedTuple

import numpy as np

from touchstone.ranking.array_types import Floats, Ints
from touchstone.ranking.catalog.view import View
from touchstone.ranking.criteria import CRITERION_NAMES
from touchstone.ranking.reasons.points import points_by_criterion
from touchstone.ranking.weighted_mean import power_of_two_scale, score_matrix

_SMALLEST_DIFFERENCE: Final = 1e-12
"""Smaller differences between two values of a criterion are rounding errors."""
_SMALLEST_SHARE: Final = 1e-12
"""A reversing weight below this share of the present weight is a rounding error and treated as zero."""


class CriterionDifference(NamedTuple):
    """The difference between the upper and the lower record of a pair in one criterion.

    Attributes:
        criterion: the name of the criterion.
        weight: the weight of the criterion, as given.
        above: the value of the criterion for the upper record.
        below: the value of the criterion for the lower record.
        points: the contribution of the criterion to the lead of the upper record, which may be negative.
        reversing_weight: the weight beyond which the order of the records is reversed if no other weight changes, or
            None if no weight of this criterion reverses it.
    """

    criterion: str
    weight: float
    above: float
    below: float
    points: float
    reversing_weight: float | None


class Reversal(NamedTuple):
    """The smallest change of a single weight that reverses the order of two records.

    Attributes:
        criterion: the name of the criterion.
        weight: the weight of the criterion beyond which the order is reversed.
        weight_before: the weight as given.
    """

    criterion: str
    weight: float
    weight_before: float

    @property
    def change(self) -> float:
        """The change of the weight, which is negative for a decrease and 0 if the two records have equal scores."""
        return self.weight - self.weight_before


class PairComparison(NamedTuple):
    """The comparison of two records of a ranking.

    Attributes:
        above: the position of the upper record in the view.
        below: the position of the lower record in the view.
        lead: the difference of their scores.
        differences: their differences in all criteria, in the order of CRITERIA.
        reversal: the smallest change of a single weight that reverses their order, or None if there is none.
    """

    above: int
    below: int
    lead: float
    differences: tuple[CriterionDifference, ...]
    reversal: Reversal | None


class _ComparedRecord(NamedTuple):
    """A record to compare.

    Attributes:
        position: its position in the view.
        alphabetical_rank: its rank by name among the compared records, which is the tie-breaker for equal scores.
        score: its score.
        criteria: its criteria, in the order of CRITERIA.
        points: the contribution of each weighted criterion to its score.
    """

    position: int
    alphabetical_rank: int
    score: float
    criteria: Floats
    points: Mapping[str, float]

    def is_above(self, other: "_ComparedRecord") -> bool:
        """Return whether this record ranks above another."""
        if self.score != other.score:
            return self.score > other.score
        return self.alphabetical_rank < other.alphabetical_rank


def order_records(view: View, positions: Ints, weights: Mapping[str, float]) -> Ints:
    """Sort the positions of records in the order of a ranking with the given weights."""
    scores = score_matrix(view.criterion_scores(positions).T, weights)
    return positions[np.lexsort((view.alphabetical_ranks(positions), -scores))]


def compare_records(view: View, positions: Ints, weights: Mapping[str, float]) -> list[PairComparison]:
    """Compare all pairs of records, whose positions are given in the order of the ranking."""
    alphabetical_ranks = view.alphabetical_ranks(positions).tolist()
    criterion_scores = view.criterion_scores(positions)
    scores = score_matrix(criterion_scores.T, weights).tolist()
    points = points_by_criterion(criterion_scores, weights)

    records = []
    for index, position in enumerate(positions.tolist()):
        record = _ComparedRecord(
            position=position,
            alphabetical_rank=alphabetical_ranks[index],
            score=scores[index],
            criteria=criterion_scores[index],
            points=points[index],
        )
        records.append(record)

    return [_compare_pair(above, below, weights) for above, below in combinations(records, 2)]


def _compare_pair(above: _ComparedRecord, below: _ComparedRecord, weights: Mapping[str, float]) -> PairComparison:
    """Compare a record with a record below it."""
    reversing_weights = _find_reversing_weights(above, below, weights)

    differences = []
    for column, name in enumerate(CRITERION_NAMES):
        difference = CriterionDifference(
            criterion=name,
            weight=weights.get(name, 0.0),
            above=float(above.criteria[column]),
            below=float(below.criteria[column]),
            points=above.points.get(name, 0.0) - below.points.get(name, 0.0),
            reversing_weight=reversing_weights.get(name),
        )
        differences.append(difference)

    return PairComparison(
        above=above.position,
        below=below.position,
        lead=above.score - below.score,
        differences=tuple(differences),
        reversal=_find_smallest_reversal(differences),
    )


def _find_reversing_weights(
    above: _ComparedRecord, below: _ComparedRecord, weights: Mapping[str, float]
) -> dict[str, float]:
    """Return the weight of each criterion at which the two records have the same score, if no other weight changes.

    Beyond this weight, their order is reversed. A higher weight reverses it if the lower record is better in the
    criterion, and a lower weight if the upper record is. Criteria are omitted if the records do not differ in them, or
    if the weight would be negative or too large for a float.
    """
    differences = dict(zip(CRITERION_NAMES, (above.criteria - below.criteria).tolist(), strict=True))

    # Huge weights are divided by a power of two, which is exact, so that their sum does not overflow.
    scale = power_of_two_scale(weights)
    scaled_weights = {name: weight / scale for name, weight in weights.items()}
    weighted_lead = math.fsum(weight * differences[name] for name, weight in scaled_weights.items())
    weighted_lead = max(0.0, weighted_lead)  # because rounding may make a lead of zero negative

    reversing_weights = {}
    for name, difference in differences.items():
        if abs(difference) < _SMALLEST_DIFFERENCE:
            continue

        # If the upper record is better in the criterion, its weight must fall, which it can only do down to zero.
        if difference > 0.0 and not _is_reversed_without_criterion(name, above, below, weights):
            continue

        reversing_weight = _solve_for_weight(scaled_weights.get(name, 0.0), difference, weighted_lead) * scale
        if math.isfinite(reversing_weight):
            reversing_weights[name] = reversing_weight
    return reversing_weights


def _solve_for_weight(present_weight: float, difference: float, weighted_lead: float) -> float:
    """Return the reversing weight of one criterion, by the formula in the docstring of this module.

    Args:
        present_weight: the present weight of the criterion.
        difference: the criterion of the upper record minus the criterion of the lower one.
        weighted_lead: the weighted lead of the upper record.
    """
    reversing_weight = present_weight - weighted_lead / difference

    # A reversing weight of zero may become slightly positive or negative by rounding.
    if difference > 0.0 and reversing_weight < _SMALLEST_SHARE * present_weight:
        return 0.0
    return max(0.0, reversing_weight)


def _is_reversed_without_criterion(
    criterion: str, above: _ComparedRecord, below: _ComparedRecord, weights: Mapping[str, float]
) -> bool:
    """Return whether the order of two records would be reversed if a criterion had no weight."""
    remaining_weights = {**weights, criterion: 0.0}
    if not any(remaining_weights.values()):
        return False

    criterion_scores = np.stack([above.criteria, below.criteria], axis=1)
    above_score, below_score = score_matrix(criterion_scores, remaining_weights).tolist()
    return below._replace(score=below_score).is_above(above._replace(score=above_score))


def _find_smallest_reversal(differences: Sequence[CriterionDifference]) -> Reversal | None:
    """Return the smallest change of a single weight that reverses the order, or None if there is none.

    Among equal changes, criteria that already have a weight are preferred, then the largest difference.
    """
    ranked_reversals = []
    for difference in differences:
        if difference.reversing_weight is None:
            continue

        reversal = Reversal(difference.criterion, difference.reversing_weight, difference.weight)
        is_unweighted = difference.weight == 0.0
        size_of_difference = abs(difference.above - difference.below)
        preference = (abs(reversal.change), is_unweighted, -size_of_difference)
        ranked_reversals.append((preference, reversal))

    if not ranked_reversals:
        return None
    _, smallest_reversal = min(ranked_reversals, key=itemgetter(0))
    return smallest_reversal
