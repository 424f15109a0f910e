"""Why one record ranks above another: their differences criterion by criterion, and what would reverse them.

A score is linear in the weights: the lead of a record over another is the sum of weight times difference of criterion.
Moving one weight by d moves the lead by d times the difference of that criterion, so the weight at which the lead is
zero is found in one step.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Final, NamedTuple

import numpy as np

from touchstone.ranking.catalog.view import View
from touchstone.ranking.column_types import Floats, Ints
from touchstone.ranking.criteria import CRITERION_NAMES
from touchstone.ranking.reasons.points import points_by_criterion
from touchstone.ranking.weighted_mean import power_of_two_of, score_matrix

_SMALLEST_DIFFERENCE: Final = 1e-12
"""Criteria that differ by less are equal except for rounding; no difference in what is known is as small."""


class CriterionDifference(NamedTuple):
    """How the upper record of a pair differs from the lower one in one criterion.

    Attributes:
        criterion: The name of the criterion.
        weight: Its weight, as given.
        above, below: The values of the criterion for the upper and for the lower record.
        points: By how many points of the score the upper record is ahead; negative if it is behind.
        reversing_weight: The weight beyond which the lower record would be first, the other weights unchanged; None if
            no weight of this criterion reverses the pair.
    """

    criterion: str
    weight: float
    above: float
    below: float
    points: float
    reversing_weight: float | None


class Reversal(NamedTuple):
    """The smallest change of a single weight that reverses a pair.

    Attributes:
        criterion: The name of the criterion whose weight changes.
        weight: The weight beyond which the lower record of the pair is first.
        weight_before: The weight as given.
    """

    criterion: str
    weight: float
    weight_before: float

    @property
    def change(self) -> float:
        """By how much the weight rises, or falls if this is negative; 0 if the two records have equal scores."""
        return self.weight - self.weight_before


class PairComparison(NamedTuple):
    """Two records of a ranking, and why one of them is above the other.

    Attributes:
        above, below: The positions of the two records in the view.
        lead: The score of the upper record minus that of the lower one.
        differences: Their differences, in the order of CRITERIA.
        reversal: The smallest change of one weight that reverses them; None if there is none.
    """

    above: int
    below: int
    lead: float
    differences: tuple[CriterionDifference, ...]
    reversal: Reversal | None


class _ComparedRecord(NamedTuple):
    """A record to be compared: its place in the alphabet decides between equal scores."""

    position: int
    alphabetical_place: int
    score: float
    criteria: Floats
    points: Mapping[str, float]

    def is_above(self, other: "_ComparedRecord") -> bool:
        """Return whether this record ranks above another."""
        if self.score != other.score:
            return self.score > other.score
        return self.alphabetical_place < other.alphabetical_place


def order_records(view: View, positions: Ints, weights: Mapping[str, float]) -> Ints:
    """Return the positions of some records in the order in which a ranking has them."""
    scores = score_matrix(view.criterion_scores(positions).T, weights)
    return positions[np.lexsort((view.alphabetical_places(positions), -scores))]


def compare_records(view: View, positions: Ints, weights: Mapping[str, float]) -> list[PairComparison]:
    """Compare every two of some records, given in the order in which a ranking has them."""
    criterion_scores = view.criterion_scores(positions)
    fields = (
        positions.tolist(),
        view.alphabetical_places(positions).tolist(),
        score_matrix(criterion_scores.T, weights).tolist(),
        criterion_scores,
        points_by_criterion(criterion_scores, weights),
    )
    records = map(_ComparedRecord, *fields)
    return [_compare_pair(above, below, weights) for above, below in combinations(records, 2)]


def _compare_pair(above: _ComparedRecord, below: _ComparedRecord, weights: Mapping[str, float]) -> PairComparison:
    """Return why a record is above another, and what would reverse them."""
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
        reversal=_smallest_reversal(differences),
    )


def _find_reversing_weights(
    above: _ComparedRecord, below: _ComparedRecord, weights: Mapping[str, float]
) -> dict[str, float]:
    """Return by criterion the weight beyond which the lower of two records is first; the other weights are unchanged.

    Where the lower record is better, a larger weight gives it the lead. Where it is worse, a smaller weight does, if it
    does not have to be negative. Criteria that cannot reverse the pair are missing from the result.
    """
    differences = dict(zip(CRITERION_NAMES, (above.criteria - below.criteria).tolist(), strict=True))
    scale = power_of_two_of(weights)
    lead = max(0.0, math.fsum(weights[name] / scale * differences[name] for name in weights))

    reversing_weights = {}
    for name, difference in differences.items():
        if abs(difference) < _SMALLEST_DIFFERENCE:
            continue
        if difference > 0.0 and not _is_reversed_without(name, above, below, weights):
            continue

        weight = weights.get(name, 0.0)
        reversing_weight = max(0.0, weight / scale - lead / difference) * scale
        if math.isfinite(reversing_weight):
            reversing_weights[name] = reversing_weight
    return reversing_weights


def _is_reversed_without(
    criterion: str, above: _ComparedRecord, below: _ComparedRecord, weights: Mapping[str, float]
) -> bool:
    """Return whether the lower of two records would be first if a criterion had no weight."""
    other_weights = {**weights, criterion: 0.0}
    if not any(other_weights.values()):
        return False

    criterion_scores = np.stack([above.criteria, below.criteria], axis=1)
    above_score, below_score = score_matrix(criterion_scores, other_weights).tolist()
    return below._replace(score=below_score).is_above(above._replace(score=above_score))


def _smallest_reversal(differences: Sequence[CriterionDifference]) -> Reversal | None:
    """Return the smallest change of a single weight that reverses a pair; None if no weight does.

    Of equal changes, that of a criterion which has a weight is preferred, then that of the largest difference.
    """
    reversals = {}
    for difference in differences:
        if difference.reversing_weight is None:
            continue
        reversal = Reversal(difference.criterion, difference.reversing_weight, difference.weight)
        is_unweighted = difference.weight == 0.0
        reversals[reversal] = (abs(reversal.change), is_unweighted, -abs(difference.above - difference.below))

    return min(reversals, key=lambda reversal: reversals[reversal], default=None)
