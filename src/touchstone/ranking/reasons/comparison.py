"""Why one record ranks above another: their differences criterion by criterion, and what would reverse their order.

The score of a record is the sum of weight times criterion, divided by the sum of all weights. Two records share this
divisor, so which of them is first depends only on the *weighted lead* of the upper one: the sum over all criteria of
weight times difference. If one weight rises by `d`, the weighted lead rises by `d` times the difference in this
criterion. The *reversing weight* of a criterion is the one at which the weighted lead is zero:

    reversing weight = weight - weighted lead / difference

Beyond it the two records change places.
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
from touchstone.ranking.weighted_mean import power_of_two_of, score_matrix

_SMALLEST_DIFFERENCE: Final = 1e-12
"""Values of a criterion that differ by less are equal but for rounding; those of different facts differ by more."""
_SMALLEST_SHARE: Final = 1e-12
"""A reversing weight below this share of the present weight is zero but for rounding."""


class CriterionDifference(NamedTuple):
    """How the upper record of a pair differs from the lower one in one criterion.

    Attributes:
        criterion: The name of the criterion.
        weight: Its weight, as given.
        above, below: The values of the criterion for the upper and for the lower record.
        points: How much of the lead of the upper record comes from this criterion; negative if it is behind there.
        reversing_weight: The weight beyond which the lower record would be first, the other weights unchanged; None if
            no weight of this criterion reverses the order of the two.
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
    """Why one of two records of a ranking is above the other.

    Attributes:
        above, below: The positions of the two records in the view.
        lead: The score of the upper record minus that of the lower one.
        differences: Their differences in all criteria, in the order of CRITERIA.
        reversal: The smallest change of one weight that reverses their order; None if no weight does.
    """

    above: int
    below: int
    lead: float
    differences: tuple[CriterionDifference, ...]
    reversal: Reversal | None


class _ComparedRecord(NamedTuple):
    """A record to be compared.

    Attributes:
        position: Its position in the view.
        alphabetical_place: Its place among the compared records by name, which decides between equal scores.
        score: Its score.
        criteria: Its values of all criteria, in the order of CRITERIA.
        points: What each weighted criterion adds to its score.
    """

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
    """Return the positions of some records in the order that they have in a ranking by these weights."""
    scores = score_matrix(view.criterion_scores(positions).T, weights)
    return positions[np.lexsort((view.alphabetical_places(positions), -scores))]


def compare_records(view: View, positions: Ints, weights: Mapping[str, float]) -> list[PairComparison]:
    """Return a comparison of each pair of records; `positions` must be in ranking order, the best record first."""
    alphabetical_places = view.alphabetical_places(positions).tolist()
    criterion_scores = view.criterion_scores(positions)
    scores = score_matrix(criterion_scores.T, weights).tolist()
    points = points_by_criterion(criterion_scores, weights)

    records = []
    for index, position in enumerate(positions.tolist()):
        record = _ComparedRecord(
            position=position,
            alphabetical_place=alphabetical_places[index],
            score=scores[index],
            criteria=criterion_scores[index],
            points=points[index],
        )
        records.append(record)

    return [_compare_pair(above, below, weights) for above, below in combinations(records, 2)]


def _compare_pair(above: _ComparedRecord, below: _ComparedRecord, weights: Mapping[str, float]) -> PairComparison:
    """Return how a record differs from the one below it, and what would reverse their order."""
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
    """Return by criterion the weight beyond which the lower of two records is first, the other weights unchanged.

    The weight of a criterion has to rise beyond it where the lower record is better, and to fall below it where it is
    worse. Criteria without such a weight are left out: the records do not differ in them, or the weight would have to
    be negative or larger than any float.
    """
    differences = dict(zip(CRITERION_NAMES, (above.criteria - below.criteria).tolist(), strict=True))

    # Huge weights would overflow when they are added, so all are divided by a power of two, which rounds no digit.
    scale = power_of_two_of(weights)
    scaled_weights = {name: weight / scale for name, weight in weights.items()}
    weighted_lead = math.fsum(weight * differences[name] for name, weight in scaled_weights.items())
    weighted_lead = max(0.0, weighted_lead)  # rounding may put a lead of zero below it

    reversing_weights = {}
    for name, difference in differences.items():
        if abs(difference) < _SMALLEST_DIFFERENCE:
            continue

        # Where the upper record is better, the weight has to fall, and cannot fall below zero.
        upper_is_better = difference > 0.0
        if upper_is_better and not _is_reversed_without(name, above, below, weights):
            continue

        # Rounding may put a weight of zero slightly above or below it.
        present_weight = scaled_weights.get(name, 0.0)
        scaled_weight = present_weight - weighted_lead / difference
        if upper_is_better and scaled_weight < _SMALLEST_SHARE * present_weight:
            scaled_weight = 0.0
        reversing_weight = max(0.0, scaled_weight) * scale
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


def _find_smallest_reversal(differences: Sequence[CriterionDifference]) -> Reversal | None:
    """Return the smallest change of a single weight that reverses the order of two records; None if no weight does.

    Of equal changes, that of a criterion which already has a weight is preferred, then that of the criterion in which
    the records differ most.
    """
    reversals_by_preference = []
    for difference in differences:
        if difference.reversing_weight is None:
            continue

        reversal = Reversal(difference.criterion, difference.reversing_weight, difference.weight)
        is_unweighted = difference.weight == 0.0
        size_of_difference = abs(difference.above - difference.below)
        preference = (abs(reversal.change), is_unweighted, -size_of_difference)
        reversals_by_preference.append((preference, reversal))

    if not reversals_by_preference:
        return None
    _, smallest_reversal = min(reversals_by_preference, key=itemgetter(0))
    return smallest_reversal
