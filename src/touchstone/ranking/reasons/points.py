"""The points that add up to a score, and the criteria without any known facts."""

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
        criterion: The name of the criterion.
        share: Its weight divided by the sum of all weights.
        value: Its value for the record, in 0-1.
        points: Its contribution to the score, `share * value`.
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

    matrix_of_one_record = criterion_scores.reshape(1, -1)
    points_of_record = points_by_criterion(matrix_of_one_record, weights)[0]

    explanation = []
    for name, weight in weighted_criteria:
        share = weight / total_weight
        explanation.append(CriterionPoints(name, share, value_by_criterion[name], points_of_record[name]))
    return tuple(explanation)


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
    """Return points whose sum, as `math.fsum` rounds it, is a score.

    The difference, which is a rounding error, is added to the largest points. If no value of them gives the score,
    because the sum would be halfway between two floats, one of the smaller points moves by its last digit.
    """
    exact_points = list(points)
    largest_first = sorted(range(len(points)), key=points.__getitem__, reverse=True)
    exact_points[largest_first[0]] += math.fsum([score, *(-value for value in points)])

    for index in largest_first[1:]:
        excess = math.fsum(exact_points) - score
        if excess == 0:
            break
        # A criterion that adds nothing has to keep its zero.
        if exact_points[index] > 0:
            exact_points[index] = math.nextafter(exact_points[index], -math.copysign(math.inf, excess))
    return exact_points


def unknown_criteria(facts: Facts) -> list[list[str]]:
    """Return the names of the criteria without any known fact, for each record.

    Such a criterion counts 0, but pages show a question mark because the 0 says nothing about the record.
    """
    is_known = {name: facts[name] >= 0 for name in (*NUMBERS, *FLAGS)}

    unknown_by_criterion = []
    for criterion in CRITERIA:
        known_facts = [is_known[fact] for fact in criterion.facts]
        is_unknown = ~np.logical_or.reduce(known_facts)
        unknown_by_criterion.append(is_unknown.tolist())

    unknown_by_record = zip(*unknown_by_criterion, strict=True)
    return [list(compress(CRITERION_NAMES, is_unknown)) for is_unknown in unknown_by_record]
