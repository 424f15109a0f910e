"""The reasons for the ranks of datasets in a report, and the changes that would change these ranks.

The functions score many records, so callers run them in a thread.
"""

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
"""The options for measuring the stability of the first places, the defaults of `POST /datasets/stability`."""


def compare_with_rival(ranking: ProjectRanking, choice: ReportedChoice | None) -> ReportedComparison | None:
    """Compare the chosen dataset with its rival, or return None if one of them does not exist.

    The rival is the first dataset of the ranking, or the second one if the chosen dataset is the first. If nothing is
    chosen, the first two datasets are compared.
    """
    pair = _find_pair(ranking.reported.items, choice)
    if len(pair) < 2:
        return None

    above, below = pair
    view = ranking.view
    weights = ranking.scoring.weights
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
    """Return the two datasets to compare in the order of the ranking, or fewer items if there are no two."""
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
    """Convert the difference between two datasets in one criterion. Criteria without a weight have no points."""
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
    """Convert the stability of one dataset's place, adding the names of the dataset and of its possible overtaker."""
    positions = [stability.position]
    if stability.overtaken_by is not None:
        positions.append(stability.overtaken_by.position)
    dataset_id, *_overtaker_ids = ranking.view.ids(np.array(positions)).tolist()
    name, *overtaker_names = ranking.view.names(np.array(positions))

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
        overtaken_by=overtaker_names[0] if overtaker_names else None,
        verdict=stability.verdict,
    )


def find_prospects(
    ranking: ProjectRanking, comparison: ReportedComparison | None, choice: ReportedChoice | None
) -> list[ReportedProspects]:
    """Return the possible changes in the ranks of the two datasets that a report compares.

    For the lower dataset, the result includes the smallest set of attributes that would raise it to the rank of the
    upper one. If there is no comparison, only the chosen or the first dataset is examined.
    """
    if comparison is not None:
        above, below = comparison.above, comparison.below
        return [_find_prospects(above, ranking), _find_prospects(below, ranking, target_rank=above.rank)]

    standing = choice.standing if choice is not None else next(iter(ranking.reported.items), None)
    return [] if standing is None else [_find_prospects(standing, ranking)]


def _find_prospects(item: ExplainedItem, ranking: ProjectRanking, target_rank: int | None = None) -> ReportedProspects:
    """Return the possible changes in the rank of one dataset if its unknown attributes were verified.

    Args:
        item: the dataset.
        ranking: the ranking of the project.
        target_rank: the rank to reach with the smallest set of attributes, or None if there is no target.
    """
    position = ranking.view.find_position(item.id)
    assert position is not None, "the dataset has been read from this view"
    lift_report = find_lifts(ranking.view, ranking.query, ranking.scoring.weights, position, target_rank)

    lifts = [
        ReportedLift(lift.attribute, lift.value, lift.gain, lift.score, lift.rank)
        for lift in lift_report.lifts
        if lift.gain > 0
    ]
    smallest_set = lift_report.smallest_set

    return ReportedProspects(
        dataset_id=item.id,
        name=item.dataset_name,
        rank=item.rank,
        place=item.place,
        tied_with=item.tied_with,
        best_rank=lift_report.unknown_ranks.best,
        worst_rank=lift_report.unknown_ranks.worst,
        lifts=lifts,
        target_rank=target_rank,
        smallest_set=None if smallest_set is None else smallest_set.attributes,
        reached_rank=None if smallest_set is None else smallest_set.rank,
    )
