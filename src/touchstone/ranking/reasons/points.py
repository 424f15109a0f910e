"""The points that add up to a score, and the criteria of which nothing is known."""

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
    """What a criterion adds to the score of a record.

    Attributes:
        criterion: The name of the criterion.
        share: Its weight divided by the sum of all weights.
        value: Its value for the record, in 0-1.
        points: Its share of the score: `share * value`.
    """

    criterion: str
    share: float
    value: float
    points: float


def score_points(criterion_scores: Floats, weights: Mapping[str, float]) -> tuple[CriterionPoints, ...]:
    """Explain the score of one record by the points of each criterion that has a weight.

    The points of a criterion are its value times its share of the weights, and all points add up to the score.
    `criterion_scores` holds the values of the twelve criteria for the record, in the order of CRITERIA.
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
    """Return for each record the points of the criteria that have a weight, by name.

    The points of a record add up to its score. `criterion_scores` has one row for each record, with its criteria in the
    order of CRITERIA.
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
    """Return for each record the names of the criteria of which no fact is known.

    Such a criterion counts 0, but the 0 says nothing about the record, so pages show a question mark instead.
    """
    is_known = {name: facts[name] >= 0 for name in (*NUMBERS, *FLAGS)}

    unknown_by_criterion = []
    for criterion in CRITERIA:
        known_facts = [is_known[fact] for fact in criterion.facts]
        is_unknown = ~np.logical_or.reduce(known_facts)
        unknown_by_criterion.append(is_unknown.tolist())

    unknown_by_record = zip(*unknown_by_criterion, strict=True)
    return [list(compress(CRITERION_NAMES, is_unknown)) for is_unknown in unknown_by_record]
