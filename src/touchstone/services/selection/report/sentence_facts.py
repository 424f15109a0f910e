"""The arguments of the sentences in `messages.reasons`, derived from the facts of a report."""

from touchstone.messages.reasons import (
    ComparisonFacts,
    RankRangeFacts,
    StabilityFacts,
    TargetRankFacts,
    VerifiedValue,
    WeightChange,
)
from touchstone.ranking.criteria import CRITERION_LABELS
from touchstone.ranking.reasons.best_case import best_value
from touchstone.services.selection.reason_labels import ATTRIBUTE_LABELS, labeled_points
from touchstone.services.selection.report.fact_types import (
    ReportedComparison,
    ReportedPlace,
    ReportedProspects,
    ReportedRobustness,
)


def comparison_facts(comparison: ReportedComparison) -> ComparisonFacts:
    """Return the arguments of the sentence that compares two datasets."""
    differences = {item.criterion_name: item.difference for item in comparison.differences}

    reversal = comparison.reversal
    weight_change = None
    if reversal is not None:
        weight_change = WeightChange(CRITERION_LABELS[reversal.criterion_name], reversal.weight_before, reversal.weight)

    return ComparisonFacts(
        above=comparison.above.dataset_name,
        below=comparison.below.dataset_name,
        above_score=comparison.above.score,
        below_score=comparison.below.score,
        differences=labeled_points(differences),
        reversal=weight_change,
    )


def stability_facts(place: ReportedPlace, robustness: ReportedRobustness, total_count: int) -> StabilityFacts:
    """Return the arguments of the sentence about the stability of a place."""
    return StabilityFacts(
        name=place.name,
        k=robustness.k,
        total_count=total_count,
        samples=robustness.samples,
        spread=robustness.spread,
        share=place.share,
        best_place=place.best_place,
        worst_place=place.worst_place,
        overtaken_by=place.overtaken_by,
        has_tie_at_limit=place.place + place.tied_with > robustness.k,
    )


def lifts_facts(prospects: ReportedProspects) -> TargetRankFacts:
    """Return the arguments of the sentence about the attributes that would raise a dataset to its target rank."""
    attributes = None
    if prospects.smallest_set is not None:
        # `prospects.lifts` may lack attributes of the set, since it contains only those that raise the score alone.
        attributes = [VerifiedValue(ATTRIBUTE_LABELS[name], bool(best_value(name))) for name in prospects.smallest_set]

    return TargetRankFacts(
        name=prospects.name,
        rank=prospects.rank,
        target_rank=prospects.target_rank or prospects.rank,
        attributes=attributes,
        reached_rank=prospects.reached_rank,
        place=prospects.place,
    )


def known_ranks_facts(prospects: ReportedProspects) -> RankRangeFacts:
    """Return the arguments of the sentence about the ranks that are possible given unknown attributes."""
    return RankRangeFacts(
        name=prospects.name,
        rank=prospects.place,
        best_rank=prospects.best_rank,
        worst_rank=prospects.worst_rank,
    )
