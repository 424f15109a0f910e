"""Reasons for the ranks of datasets, and what would change them. These functions run in a thread."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from touchstone.ranking.reasons.comparison import CriterionDifference, compare_records
from touchstone.ranking.reasons.lifts import find_lifts
from touchstone.ranking.reasons.stability import RecordStability, StabilityOptions, measure_stability
from touchstone.services.selection.datasets.ranking_response import ExplainedItem
from touchstone.services.selection.report.fact_types import (
    ReportedChoice,
    ReportedComparison,
    ReportedDifference,
    ReportedLift,
    ReportedPlace,
    ReportedProspects,
    ReportedReversal,
    ReportedRobustness,
)
from touchstone.services.selection.report.ranking_facts import MAX_ITEMS, ProjectRanking

STABILITY: Final = StabilityOptions(k=MAX_ITEMS)
"""How the robustness of the first places is measured: as `POST /datasets/stability` does by default."""


def compare_with_rival(ranking: ProjectRanking, choice: ReportedChoice | None) -> ReportedComparison | None:
    """Compare the chosen dataset with its rival: the runner-up if it is the first, and otherwise the first.

    If nothing is chosen, the first two datasets are compared. The result is None if one of the two does not exist.
    """
    pair = _find_pair(ranking.reported.items, choice)
    if len(pair) < 2:
        return None

    above, below = pair
    view, weights = ranking.view, ranking.scoring.weights
    positions = np.array([view.find_position(item.id) for item in pair], np.int64)
    [comparison] = compare_records(view, positions, weights)

    reversal = comparison.reversal
    reported_reversal: ReportedReversal | None = None
    if reversal is not None:
        reported_reversal = ReportedReversal(reversal.criterion, reversal.weight_before, reversal.weight)

    return ReportedComparison(
        above=above,
        below=below,
        differences=[_reported_difference(difference, above, below) for difference in comparison.differences],
        reversal=reported_reversal,
    )


def _find_pair(items: Sequence[ExplainedItem], choice: ReportedChoice | None) -> Sequence[ExplainedItem]:
    """Return the two datasets to compare in the order of the ranking, or fewer if there are not two."""
    if choice is None:
        return items[:2]
    if choice.standing is None:
        return ()
    if choice.standing.rank == 1:
        return items[:2]
    return (items[0], choice.standing)


def _reported_difference(
    difference: CriterionDifference, above: ExplainedItem, below: ExplainedItem
) -> ReportedDifference:
    """Return the difference between two datasets in one criterion. Criteria without a weight add no points."""
    name = difference.criterion
    return ReportedDifference(
        criterion_name=name,
        weight=difference.weight,
        above_value=None if name in above.unknown else difference.above,
        below_value=None if name in below.unknown else difference.below,
        above_points=above.points.get(name, 0.0),
        below_points=below.points.get(name, 0.0),
        difference=difference.points,
        reversing_weight=difference.reversing_weight,
    )


def measure_robustness(ranking: ProjectRanking) -> ReportedRobustness | None:
    """Return the stability of the first places when the weights vary, or None if nothing is ranked."""
    stabilities = measure_stability(ranking.view, ranking.query, ranking.scoring.weights, STABILITY)
    if not stabilities:
        return None

    return ReportedRobustness(
        k=STABILITY.k,
        samples=STABILITY.samples,
        spread=STABILITY.spread,
        seed=STABILITY.seed,
        places=[_reported_place(stability, ranking) for stability in stabilities],
    )


def _reported_place(stability: RecordStability, ranking: ProjectRanking) -> ReportedPlace:
    """Return the stability of one dataset's place when the weights vary, and the dataset that may overtake it."""
    positions = [stability.position]
    if stability.overtaken_by is not None:
        positions.append(stability.overtaken_by.position)

    # The first position is that of the dataset, and the second one, if any, that of its overtaker.
    [dataset_id, *_] = ranking.view.ids(np.array(positions)).tolist()
    [name, *overtakers] = ranking.view.names(np.array(positions))

    return ReportedPlace(
        dataset_id=dataset_id,
        name=name,
        rank=stability.rank,
        place=stability.place,
        tied_with=stability.tied_with,
        share=stability.share,
        same_rank_share=stability.same_rank_share,
        best_rank=stability.best_rank,
        worst_rank=stability.worst_rank,
        best_place=stability.best_place,
        worst_place=stability.worst_place,
        overtaken_by=overtakers[0] if overtakers else None,
        verdict=stability.verdict,
    )


def find_prospects(
    ranking: ProjectRanking, comparison: ReportedComparison | None, choice: ReportedChoice | None
) -> list[ReportedProspects]:
    """Return the possible changes of rank of the two datasets that a report compares.

    For the lower one, the result includes the smallest set of attributes that would put it in the place of the upper
    one. If there is no comparison, the result is about the chosen or the first dataset alone.
    """
    if comparison is not None:
        above, below = comparison.above, comparison.below
        return [_find_prospects(above, ranking), _find_prospects(below, ranking, target_rank=above.rank)]

    standing = choice.standing if choice is not None else next(iter(ranking.reported.items), None)
    return [] if standing is None else [_find_prospects(standing, ranking)]


def _find_prospects(item: ExplainedItem, ranking: ProjectRanking, target_rank: int | None = None) -> ReportedProspects:
    """Return the possible changes of rank of one dataset: the attributes that would raise its score if verified."""
    position = ranking.view.find_position(item.id)
    assert position is not None, "the dataset has been read from this view"
    report = find_lifts(ranking.view, ranking.query, ranking.scoring.weights, position, target_rank)

    lifts = [
        ReportedLift(lift.attribute, lift.value, lift.gain, lift.score, lift.rank)
        for lift in report.lifts
        if lift.gain > 0
    ]
    smallest_set = report.smallest_set

    return ReportedProspects(
        dataset_id=item.id,
        name=item.dataset_name,
        rank=item.rank,
        place=item.place,
        tied_with=item.tied_with,
        best_rank=report.unknown_ranks.best,
        worst_rank=report.unknown_ranks.worst,
        lifts=lifts,
        target_rank=target_rank,
        smallest_set=None if smallest_set is None else smallest_set.attributes,
        reached_rank=None if smallest_set is None else smallest_set.rank,
    )
