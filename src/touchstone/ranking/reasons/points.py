"""Why a dataset is where it is: points that add up to its score, what would lift it, how firm its place is.

All of it follows from one fact: a score is linear in the weights and in the criteria.
"""

import math
from collections.abc import Mapping
from typing import Final, NamedTuple

import numpy as np

from touchstone.core.attributes import ETHICAL, FLAGS, NUMBERS
from touchstone.ranking.catalog.view import View
from touchstone.ranking.criteria import CRITERIA, CRITERION_NAMES, Facts, Floats, Ints
from touchstone.ranking.query.predicates import Query
from touchstone.ranking.weighted_score import active_weights, weighted

_BEST: Final = {"has_missing_values": False}  # the value that scores best; true for every other flag


# What each criterion is computed from, in the order of CRITERIA.
FACTS: Final[Mapping[str, tuple[str, ...]]] = {
    "ethical_score": ETHICAL,
    "technical_score": (
        "metadata_provided_with_dataset",
        "external_documentation_available",
        "missing_values_percentage",
        "has_missing_values",
        "is_split",
        "instances_number",
        "features_number",
    ),
    "popularity_score": ("citations",),
    "anonymization": ("anonymization_applied",),
    "transparency": ("transparency",),
    "informed_consent": ("informed_consent",),
    "documentation": ("metadata_provided_with_dataset", "external_documentation_available"),
    "data_quality": ("missing_values_percentage", "has_missing_values"),
    "instances_count": ("instances_number",),
    "features_count": ("features_number",),
    "citations": ("citations",),
    "year": ("year",),
}


class Point(NamedTuple):
    """One criterion's part in a score: its share of the weights, its value, and the points that it brings."""

    criterion: str
    share: float
    value: float
    points: float


class Lift(NamedTuple):
    """What one fact would change if it were `value`: the gain in score, and the rank before and after (from 1).

    `known`: false when the fact is not known today, true when it is known to be otherwise.
    """

    fact: str
    value: bool
    known: bool
    gain: float
    rank_before: int
    rank_after: int


class Leeway(NamedTuple):
    """How far one weight may fall and rise, all others kept, before two neighbours change places; inf: they never do.

    `swaps_down` and `swaps_up`: the index of the upper one of the first pair to change, None where none does.
    """

    criterion: str
    down: float
    up: float
    swaps_down: int | None
    swaps_up: int | None


def score_points(criterion_scores: Floats, weights: Mapping[str, float]) -> tuple[Point, ...]:
    """The parts of one record's score, for the criteria that weigh anything, in the order of CRITERIA.

    `criterion_scores`: its twelve criteria. What rounding leaves between the parts and the score goes to the largest
    part, so that they add up to the score (to the last bit or the one before).
    """
    kept, total = active_weights(weights)
    values = dict(zip(CRITERION_NAMES, criterion_scores.tolist(), strict=True))
    parts = [weight * values[name] / total for name, weight in kept]
    score = float(weighted(criterion_scores[:, None], weights)[0])
    parts[parts.index(max(parts))] += score - math.fsum(parts)
    return tuple(
        Point(name, weight / total, values[name], part) for (name, weight), part in zip(kept, parts, strict=True)
    )


def unknown_criteria(facts: Facts) -> list[list[str]]:
    """For each record the criteria of which nothing is known: their 0 says nothing about the record."""
    known = {name: facts[name] >= 0 for name in (*NUMBERS, *FLAGS)}
    blank = np.stack([~np.logical_or.reduce([known[fact] for fact in FACTS[name]]) for name in CRITERION_NAMES], axis=1)
    return [[CRITERION_NAMES[column] for column in np.flatnonzero(row).tolist()] for row in blank]


def lifts(view: View, query: Query, weights: Mapping[str, float], position: int) -> tuple[Lift, ...]:
    """The flags that would raise the score of the record at a position if they had their best value, best first."""
    facts = view.facts(np.array([position]))
    wanted = [name for name in FLAGS if facts[name][0] != _best(name)]
    criteria = _criteria(_variants(facts, wanted))
    found = weighted(criteria, weights).tolist()
    before = view.place(query, weights, position, found[0])
    made = (
        Lift(
            fact=name,
            value=bool(_best(name)),
            known=bool(facts[name][0] >= 0),
            gain=score - found[0],
            rank_before=before,
            rank_after=view.place(query, weights, position, score),
        )
        for name, score in zip(wanted, found[1:], strict=True)
        if score > found[0]
    )
    return tuple(sorted(made, key=lambda lift: (-lift.gain, lift.fact)))


def _best(flag: str) -> int:
    return int(_BEST.get(flag, True))


def _variants(facts: Facts, wanted: list[str]) -> Facts:
    """The record as it is, then once for each wanted flag with that flag at its best."""
    columns = {name: np.repeat(facts[name], len(wanted) + 1) for name in (*NUMBERS, *FLAGS)}
    for variant, name in enumerate(wanted, start=1):
        columns[name][variant] = _best(name)
    return columns


def _criteria(facts: Facts) -> Floats:
    return np.stack([criterion.of(facts) for criterion in CRITERIA])


def stability(criterion_scores: Floats, weights: Mapping[str, float]) -> tuple[Leeway, ...]:
    """For each criterion the leeway of its weight within which the given records keep their order.

    `criterion_scores`: the records in their order, one row each, as `View.criterion_scores` gives them. Exact for these
    records; one that is not among them is not looked at. A pair's lead is the sum of weight times difference, and
    moving one weight by d moves the lead by d times that criterion's difference.
    """
    weight_of = np.array([weights.get(name, 0.0) for name in CRITERION_NAMES])
    differences = criterion_scores[:-1] - criterion_scores[1:]
    leads = np.maximum(0.0, differences @ weight_of)
    return tuple(
        _leeway(name, differences[:, column], leads, float(weight_of[column]))
        for column, name in enumerate(CRITERION_NAMES)
    )


def _leeway(name: str, differences: Floats, leads: Floats, weight: float) -> Leeway:
    down, swaps_down = _first(leads, differences)
    up, swaps_up = _first(leads, -differences)
    if down > weight:
        down, swaps_down = math.inf, None
    return Leeway(name, down, up, swaps_down, swaps_up)


def _first(leads: Floats, helps: Floats) -> tuple[float, int | None]:
    """The smallest move that uses up a lead, among the pairs whose lead this criterion helps."""
    pairs: Ints = np.flatnonzero(helps > 0)
    if not len(pairs):
        return math.inf, None
    moves = leads[pairs] / helps[pairs]
    return float(moves.min()), int(pairs[moves.argmin()])
