"""The points that add up to a score, and the criteria of which nothing is known."""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from touchstone.core.attributes import FLAGS, NUMBERS
from touchstone.ranking.criteria import CRITERIA, CRITERION_NAMES, Facts, Floats
from touchstone.ranking.weighted_score import active_weights, score_matrix


class CriterionPoints(NamedTuple):
    """What a criterion adds to a score: its share of the weights, its value, and its points."""

    criterion: str
    share: float
    value: float
    points: float


def score_points(criterion_scores: Floats, weights: Mapping[str, float]) -> tuple[CriterionPoints, ...]:
    """Return the points of one record, given its twelve criteria, for the criteria that have a weight.

    The largest of them takes up what rounding leaves between their sum and the score, so that they add up to the score
    to the last bit or the one before.
    """
    terms, total = active_weights(weights)
    values = dict(zip(CRITERION_NAMES, criterion_scores.tolist(), strict=True))
    points = [weight * values[name] / total for name, weight in terms]

    score = float(score_matrix(criterion_scores[:, None], weights)[0])
    points[points.index(max(points))] += score - math.fsum(points)

    return tuple(
        CriterionPoints(name, weight / total, values[name], criterion_points)
        for (name, weight), criterion_points in zip(terms, points, strict=True)
    )


def unknown_criteria(facts: Facts) -> list[list[str]]:
    """Return for each record the criteria of which no fact is known: their 0 says nothing about the record."""
    is_known = {name: facts[name] >= 0 for name in (*NUMBERS, *FLAGS)}
    is_unknown = [~np.logical_or.reduce([is_known[fact] for fact in criterion.facts]) for criterion in CRITERIA]

    unknown_by_record = np.stack(is_unknown, axis=1)
    return [[CRITERION_NAMES[column] for column in np.flatnonzero(row).tolist()] for row in unknown_by_record]
