"""The points of each criterion, which add up to the score of a record, and the unknown criteria of records."""

import math
from collections.abc import Mapping, Sequence
from itertools import compress
from typing import NamedTuple

import numpy as np

from touchstone.core.attributes import FLAGS, NUMBERS
from touchstone.ranking.array_types import Facts, Floats
from touchstone.ranking.criteria import CRITERIA, CRITERION_NAMES
from touchstone.ranking.weighted_mean import active_weights, score_matrix


class CriterionPoints(NamedTuple):
    """The contribution of a criterion to the score of a record.

    Attributes:
        criterion: the name of the criterion.
        share: its weight divided by the sum of all weights.
        value: its value for the record, in 0-1.
        points: its contribution to the score, `share * value`.
    """

    criterion: str
    share: float
    value: float
    points: float


def score_points(criterion_scores: Floats, weights: Mapping[str, float]) -> tuple[CriterionPoints, ...]:
    """Return the points of each weighted criterion, which add up to the score of the record.

    Args:
        criterion_scores: the criteria of the record, in the order of CRITERIA.
        weights: the weights by criterion.
    """
    weighted_criteria, total_weight = active_weights(weights)
    value_by_criterion = dict(zip(CRITERION_NAMES, criterion_scores.tolist(), strict=True))

    [points_of_record] = points_by_criterion(criterion_scores.reshape(1, -1), weights)
    return tuple(
        CriterionPoints(name, weight / total_weight, value_by_criterion[name], points_of_record[name])
        for name, weight in weighted_criteria
    )


def points_by_criterion(criterion_scores: Floats, weights: Mapping[str, float]) -> list[dict[str, float]]:
    """Return the points of each weighted criterion by name, for each record.

    The points of a record add up to its score.

    Args:
        criterion_scores: a matrix with one row for each record and one column for each of CRITERIA.
        weights: the weights by criterion.
    """
    weighted_criteria, total_weight = active_weights(weights)
    names = [name for name, _ in weighted_criteria]
    positive_weights = np.array([weight for _, weight in weighted_criteria])
    columns = [CRITERION_NAMES.index(name) for name in names]

    points = criterion_scores[:, columns] * positive_weights / total_weight
    scores = score_matrix(criterion_scores.T, weights)

    points_by_record = []
    for record_points, score in zip(points.tolist(), scores.tolist(), strict=True):
        exact_points = add_rounding_error(record_points, score)
        points_by_record.append(dict(zip(names, exact_points, strict=True)))
    return points_by_record


def add_rounding_error(points: Sequence[float], score: float) -> list[float]:
    """Adjust points by their rounding error, so that `math.fsum` of them is exactly the score.

    The rounding error is added to the largest points. If the sum then is halfway between two floats, it may still be
    rounded to another value than the score. In this case, smaller points are moved to the adjacent float.
    """
    exact_points = list(points)
    largest_first = sorted(range(len(points)), key=points.__getitem__, reverse=True)
    rounding_error = math.fsum([score, *(-value for value in points)])
    exact_points[largest_first[0]] += rounding_error

    for index in largest_first[1:]:
        excess = math.fsum(exact_points) - score
        if excess == 0:
            break
        if exact_points[index] > 0:  # points of zero must remain zero
            direction = -math.inf if excess > 0 else math.inf
            exact_points[index] = math.nextafter(exact_points[index], direction)
    return exact_points


def unknown_criteria(facts: Facts) -> list[list[str]]:
    """Return the names of the unknown criteria for each record.

    A criterion is unknown if all attributes that it is computed from are unknown. It counts as 0, but pages show a
    question mark.
    """
    is_known = {name: facts[name] >= 0 for name in (*NUMBERS, *FLAGS)}

    unknown_by_criterion = []
    for criterion in CRITERIA:
        known_facts = [is_known[fact] for fact in criterion.facts]
        is_unknown = ~np.logical_or.reduce(known_facts)
        unknown_by_criterion.append(is_unknown.tolist())

    unknown_by_record = zip(*unknown_by_criterion, strict=True)
    return [list(compress(CRITERION_NAMES, is_unknown)) for is_unknown in unknown_by_record]
