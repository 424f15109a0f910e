"""The sentences in answers about a ranking, which state the same figures as the answers."""

from collections.abc import Sequence

import numpy as np

from touchstone.messages.reasons import (
    ComparisonFacts,
    StabilityFacts,
    TargetRankFacts,
    VerifiedValue,
    WeightChange,
    comparison_sentence,
    stability_sentence,
    target_rank_sentence,
)
from touchstone.ranking.catalog.view import View
from touchstone.ranking.criteria import CRITERION_LABELS
from touchstone.ranking.reasons.comparison import PairComparison, Reversal
from touchstone.ranking.reasons.lifts import LiftReport
from touchstone.ranking.reasons.stability import RecordStability, StabilityOptions
from touchstone.services.selection.reason_labels import ATTRIBUTE_LABELS, labeled_points
from touchstone.services.selection.reasons.schemas import ComparedDatasetView


def describe_pair(pair: PairComparison, above: ComparedDatasetView, below: ComparedDatasetView, locale: str) -> str:
    """Return a sentence that explains why one dataset is above another."""
    points = {difference.criterion: difference.points for difference in pair.differences}
    facts = ComparisonFacts(
        above=above.dataset_name,
        below=below.dataset_name,
        above_score=above.score,
        below_score=below.score,
        differences=labeled_points(points),
        reversal=_weight_change(pair.reversal),
    )
    return comparison_sentence(facts, locale)


def _weight_change(reversal: Reversal | None) -> WeightChange | None:
    """Convert the change of a weight that reverses the order of a pair for a sentence. None is returned unchanged."""
    if reversal is None:
        return None
    return WeightChange(CRITERION_LABELS[reversal.criterion], reversal.weight_before, reversal.weight)


def describe_lifts(name: str, lift_report: LiftReport, target_rank: int | None, locale: str) -> str | None:
    """Return a sentence about the attributes that would raise a dataset to a rank, or None without a target rank."""
    if target_rank is None:
        return None

    facts = TargetRankFacts(
        name=name,
        rank=lift_report.rank,
        target_rank=target_rank,
        attributes=_list_verified_values(lift_report),
        reached_rank=None if lift_report.smallest_set is None else lift_report.smallest_set.rank,
        place=lift_report.place,
        is_ranked=lift_report.matches,
    )
    return target_rank_sentence(facts, locale)


def _list_verified_values(lift_report: LiftReport) -> list[VerifiedValue] | None:
    """Return the smallest set of attributes that reach the target rank with their best values, or None if none do."""
    if lift_report.smallest_set is None:
        return None

    best_values = {lift.attribute: lift.value for lift in lift_report.lifts}
    return [
        VerifiedValue(ATTRIBUTE_LABELS[attribute], best_values[attribute])
        for attribute in lift_report.smallest_set.attributes
    ]


def describe_stabilities(
    view: View, stabilities: Sequence[RecordStability], options: StabilityOptions, total_count: int, locale: str
) -> list[str]:
    """Return a sentence about the stability of each dataset's place among all `total_count` datasets."""
    sentences = []
    for stability in stabilities:
        overtaker = stability.overtaken_by
        facts = StabilityFacts(
            name=_name_at(view, stability.position),
            k=options.k,
            total_count=total_count,
            samples=options.samples,
            spread=options.spread,
            share=stability.share,
            best_place=stability.best_place,
            worst_place=stability.worst_place,
            overtaken_by=None if overtaker is None else _name_at(view, overtaker.position),
            has_tie_at_limit=stability.place + stability.tied_with > options.k,
        )
        sentences.append(stability_sentence(facts, locale))
    return sentences


def _name_at(view: View, position: int) -> str:
    """Return the name of the dataset at a position of a view."""
    [name] = view.names(np.array([position]))
    return name
