"""The points that add up to a score, and the criteria of which nothing is known."""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from touchstone.core.attributes import FLAGS, NUMBERS
from touchstone.ranking.column_types import Facts, Floats
from touchstone.ranking.criteria import CRITERIA, CRITERION_NAMES
from touchstone.ranking.weighted_mean import active_weights, score_matrix


class CriterionPoints(NamedTuple):
    """What a criterion adds to a score: its share of the weights, its value, and its points."""

    criterion: str
    share: float
    value: float
    points: float


def score_points(criterion_scores: Floats, weights: Mapping[str, float]) -> tuple[CriterionPoints, ...]:
    """Return the points of one record, given its twelve criteria, for the criteria that have a weight."""
    terms, total = active_weights(weights)
    values = dict(zip(CRITERION_NAMES, criterion_scores.tolist(), strict=True))
    points = points_by_criterion(criterion_scores[None, :], weights)[0]

    return tuple(CriterionPoints(name, weight / total, values[name], points[name]) for name, weight in terms)


def points_by_criterion(criterion_scores: Floats, weights: Mapping[str, float]) -> list[dict[str, float]]:
    """Return for each record the points of the criteria that have a weight.

    The matrix has one row for each record and one column for each criterion. The largest points of a record take up
    what rounding leaves between their sum and its score, so that they add up to the score to the last bit or the one
    before.
    """
    terms, total = active_weights(weights)
    names = [name for name, _ in terms]
    weight_values = np.array([weight for _, weight in terms])
    columns = [CRITERION_NAMES.index(name) for name in names]

    points = criterion_scores[:, columns] * weight_values / total
    scores = score_matrix(criterion_scores.T, weights)

    points_by_record = []
    for record_points, score in zip(points.tolist(), scores.tolist(), strict=True):
        largest = record_points.index(max(record_points))
        record_points[largest] += score - math.fsum(record_points)
        points_by_record.append(dict(zip(names, record_points, strict=True)))
    return points_by_record


def unknown_criteria(facts: Facts) -> list[list[str]]:
    """Return for each record the criteria of which no fact is known: their 0 says nothing about the record."""
    is_known = {name: facts[name] >= 0 for name in (*NUMBERS, *FLAGS)}
    is_unknown = [~np.logical_or.reduce([is_known[fact] for fact in criterion.facts]) for criterion in CRITERIA]

    # Many records lack the same facts, so the names are listed once for each combination, which is kept as a bit mask.
    bits = 1 << np.arange(len(CRITERIA))
    masks = bits @ np.stack(is_unknown)
    names_by_mask = {mask: _names_of(mask) for mask in np.unique(masks).tolist()}
    return [names_by_mask[mask] for mask in masks.tolist()]


def _names_of(mask: int) -> list[str]:
    """Return the criteria whose bits are set in a mask."""
    return [name for position, name in enumerate(CRITERION_NAMES) if mask >> position & 1]
