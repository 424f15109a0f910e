"""Answers to questions about a ranking, computed from a view of the catalog.

Views are immutable, so the functions may run in any thread.
"""

from collections.abc import Mapping, Sequence
from uuid import UUID

import numpy as np

from touchstone.core.errors import DatasetNotFound
from touchstone.ranking.array_types import Facts, Ints
from touchstone.ranking.catalog.view import View
from touchstone.ranking.criteria import CRITERION_NAMES
from touchstone.ranking.reasons.comparison import PairComparison, Reversal, compare_records, order_records
from touchstone.ranking.reasons.lifts import Lift, LiftedRecord, find_lifts
from touchstone.ranking.reasons.points import points_by_criterion, unknown_criteria
from touchstone.ranking.reasons.points_by_level import SupportedFacts, points_by_level
from touchstone.ranking.reasons.rank_lookup import RankLookup, RankRange, find_possible_ranks
from touchstone.ranking.reasons.stability import Overtaker, RecordStability, StabilityOptions, measure_stability
from touchstone.ranking.weighted_mean import score_matrix
from touchstone.services.selection.datasets.ranking_response import ETHICAL_INTERVALS, best_cases
from touchstone.services.selection.datasets.schemas import BestCaseView, WeightView
from touchstone.services.selection.datasets.scoring_request import ScoringRequest
from touchstone.services.selection.reasons.ranking_in_question import RankingInQuestion
from touchstone.services.selection.reasons.schemas import (
    ComparedDatasetView,
    ComparisonView,
    DatasetStabilityView,
    DifferenceView,
    LiftedRankView,
    LiftedSetView,
    LiftsView,
    LiftView,
    OvertakerView,
    PairView,
    RankRangeView,
    ReversalView,
    StabilityView,
)
from touchstone.services.selection.reasons.sentences import describe_lifts, describe_pair, describe_stabilities


def answer_comparison(view: View, ranking: RankingInQuestion, ids: Sequence[int]) -> ComparisonView:
    """Compare the given datasets pairwise, and explain why one is ranked above the other.

    The result lists the datasets and the pairs in the order of the ranking.

    Raises:
        DatasetNotFound: the view does not contain one of the datasets.
    """
    positions = order_records(view, _find_positions(view, ids), ranking.weights)
    lookup = RankLookup.for_query(view, ranking.query, ranking.weights)
    datasets = _compared_dataset_views(view, positions, lookup, ranking.weights)

    dataset_by_position = dict(zip(positions.tolist(), datasets, strict=True))
    pairs = []
    for pair in compare_records(view, positions, ranking.weights):
        above, below = dataset_by_position[pair.above], dataset_by_position[pair.below]
        pairs.append(_pair_view(pair, above, below, ranking.locale))

    return ComparisonView(
        total_count=len(lookup),
        effective_weights=_weight_views(ranking.scoring),
        profile=ranking.scoring.profile,
        assurance=ranking.assurance,
        datasets=datasets,
        pairs=pairs,
    )


def _compared_dataset_views(
    view: View, positions: Ints, lookup: RankLookup, weights: Mapping[str, float]
) -> list[ComparedDatasetView]:
    """Return the JSON views of compared datasets, with their ranks and the composition of their scores.

    Args:
        view: the state of the catalog.
        positions: the positions of the datasets in the view.
        lookup: the lookup of ranks in the ranking.
        weights: the weights by criterion.
    """
    items = view.items(positions)
    facts = view.facts(positions)
    criterion_scores = view.criterion_scores(positions)
    scores = score_matrix(criterion_scores.T, weights).tolist()
    points = points_by_criterion(criterion_scores, weights)
    unknown_names = unknown_criteria(facts)
    supported_facts = SupportedFacts.from_packed_levels(facts, view.evidence_levels(positions))
    level_points = points_by_level(supported_facts, criterion_scores, weights)
    best_case_views = _best_case_views(facts, weights)

    datasets = []
    for index, position in enumerate(positions.tolist()):
        is_match = lookup.contains(position)  # datasets that do not match the filters have no rank
        dataset = ComparedDatasetView(
            id=items.id[index],
            dataset_id=UUID(items.dataset_id[index]),
            dataset_name=items.dataset_name[index],
            score=scores[index],
            rank=lookup.rank_of(position, scores[index]) if is_match else None,
            place=lookup.place_of(scores[index]) if is_match else None,
            tied_with=lookup.count_tied_with(position, scores[index]) if is_match else 0,
            known=items.known[index],
            ethical_interval=ETHICAL_INTERVALS[items.ethical_score[index], items.known[index]],
            criterion_scores=dict(zip(CRITERION_NAMES, criterion_scores[index].tolist(), strict=True)),
            points=points[index],
            unknown=unknown_names[index],
            points_by_level=level_points[index],
            best_case=best_case_views[index],
        )
        datasets.append(dataset)
    return datasets


def _best_case_views(facts: Facts, weights: Mapping[str, float]) -> list[BestCaseView]:
    """Return, for each record, the scores that it would have if its unknown attributes had their best values."""
    return [
        BestCaseView(score=best_case.score, criterion_scores=best_case.criterion_scores)
        for best_case in best_cases(facts, weights)
    ]


def _pair_view(pair: PairComparison, above: ComparedDatasetView, below: ComparedDatasetView, locale: str) -> PairView:
    """Convert the comparison of two datasets to its JSON view, with a sentence that summarizes it."""
    differences = [
        DifferenceView(
            criterion_name=difference.criterion,
            weight=difference.weight,
            above=difference.above,
            below=difference.below,
            points=difference.points,
            reversing_weight=difference.reversing_weight,
        )
        for difference in pair.differences
    ]
    return PairView(
        above=above.id,
        below=below.id,
        lead=pair.lead,
        differences=differences,
        reversal=_reversal_view(pair.reversal),
        sentence=describe_pair(pair, above, below, locale),
    )


def _reversal_view(reversal: Reversal | None) -> ReversalView | None:
    """Convert the change of a weight that reverses the order of a pair to its JSON view. None is returned unchanged."""
    if reversal is None:
        return None
    return ReversalView(
        criterion_name=reversal.criterion,
        weight=reversal.weight,
        weight_before=reversal.weight_before,
        change=reversal.change,
    )


def answer_lifts(view: View, ranking: RankingInQuestion, dataset_id: int, target_rank: int | None) -> LiftsView:
    """Find the possible rise of a dataset in a ranking if more of its attributes were verified.

    Args:
        view: the state of the catalog.
        ranking: the ranking.
        dataset_id: the integer id of the dataset.
        target_rank: the rank to reach with the smallest set of attributes, or None if there is no target.

    Raises:
        DatasetNotFound: the view does not contain the dataset.
    """
    positions = _find_positions(view, [dataset_id])
    lift_report = find_lifts(view, ranking.query, ranking.weights, int(positions[0]), target_rank)

    items = view.items(positions)
    facts = view.facts(positions)
    [best_case] = _best_case_views(facts, ranking.weights)
    return LiftsView(
        total_count=lift_report.total_count,
        effective_weights=_weight_views(ranking.scoring),
        profile=ranking.scoring.profile,
        assurance=ranking.assurance,
        id=items.id[0],
        dataset_id=UUID(items.dataset_id[0]),
        dataset_name=items.dataset_name[0],
        score=lift_report.score,
        rank=lift_report.rank,
        place=lift_report.place,
        tied_with=lift_report.tied_with,
        matches_filters=lift_report.matches,
        known=items.known[0],
        ethical_interval=ETHICAL_INTERVALS[items.ethical_score[0], items.known[0]],
        unknown=unknown_criteria(facts)[0],
        best_case=best_case,
        unknown_ranks=_rank_range_view(lift_report.unknown_ranks),
        lifts=[_lift_view(lift) for lift in lift_report.lifts],
        all_established=LiftedRankView(score=lift_report.all_established.score, rank=lift_report.all_established.rank),
        target_rank=target_rank,
        smallest_set=_lifted_set_view(lift_report.smallest_set),
        sentence=describe_lifts(items.dataset_name[0], lift_report, target_rank, ranking.locale),
    )


def _lift_view(lift: Lift) -> LiftView:
    """Return the JSON view of how much a dataset would rise if one of its attributes were established."""
    return LiftView(
        attribute=lift.attribute,
        value=lift.value,
        current=lift.current,
        declared=lift.declared,
        criteria=list(lift.criteria),
        gain=lift.gain,
        score=lift.score,
        rank=lift.rank,
    )


def _lifted_set_view(lifted: LiftedRecord | None) -> LiftedSetView | None:
    """Convert the set of attributes that reach a target rank to its JSON view. None is returned unchanged."""
    if lifted is None:
        return None
    return LiftedSetView(attributes=list(lifted.attributes), score=lifted.score, rank=lifted.rank)


def answer_stability(
    view: View, ranking: RankingInQuestion, options: StabilityOptions, *, includes_unknown_ranks: bool
) -> StabilityView:
    """Measure the stability of the first places of a ranking under random changes of the weights.

    Args:
        view: the state of the catalog.
        ranking: the ranking.
        options: the number of places, and the parameters of the random weights.
        includes_unknown_ranks: whether to add the best and the worst rank that each dataset could have, given the
            unknown ethical attributes.
    """
    stabilities = measure_stability(view, ranking.query, ranking.weights, options)
    positions = np.array([stability.position for stability in stabilities], np.int64)

    rank_ranges: Sequence[RankRange | None] = [None] * len(stabilities)
    if includes_unknown_ranks:
        rank_ranges = find_possible_ranks(view, ranking.query, ranking.weights, positions)

    total_count = view.count(ranking.query)
    sentences = describe_stabilities(view, stabilities, options, total_count, ranking.locale)
    return StabilityView(
        total_count=total_count,
        effective_weights=_weight_views(ranking.scoring),
        profile=ranking.scoring.profile,
        assurance=ranking.assurance,
        k=options.k,
        samples=options.samples,
        spread=options.spread,
        seed=options.seed,
        datasets=_stability_views(view, stabilities, rank_ranges, sentences),
    )


def _stability_views(
    view: View,
    stabilities: Sequence[RecordStability],
    rank_ranges: Sequence[RankRange | None],
    sentences: Sequence[str],
) -> list[DatasetStabilityView]:
    """Return the JSON views of datasets with their stability, their possible ranks and a sentence that sums them up.

    The arguments have one item for each dataset, in the same order.
    """
    items = view.items(np.array([stability.position for stability in stabilities], np.int64))

    datasets = []
    facts_of_datasets = zip(stabilities, rank_ranges, sentences, strict=True)
    for index, (stability, rank_range, sentence) in enumerate(facts_of_datasets):
        dataset = DatasetStabilityView(
            id=items.id[index],
            dataset_id=UUID(items.dataset_id[index]),
            dataset_name=items.dataset_name[index],
            score=stability.score,
            rank=stability.rank,
            place=stability.place,
            tied_with=stability.tied_with,
            share=stability.share,
            best_rank=stability.best_rank,
            worst_rank=stability.worst_rank,
            best_place=stability.best_place,
            worst_place=stability.worst_place,
            overtaken_by=_overtaker_view(view, stability.overtaken_by),
            verdict=stability.verdict,
            unknown_ranks=None if rank_range is None else _rank_range_view(rank_range),
            sentence=sentence,
        )
        datasets.append(dataset)
    return datasets


def _overtaker_view(view: View, overtaker: Overtaker | None) -> OvertakerView | None:
    """Convert the dataset that overtakes another one to its JSON view. None is returned unchanged."""
    if overtaker is None:
        return None

    items = view.items(np.array([overtaker.position]))
    return OvertakerView(
        id=items.id[0],
        dataset_id=UUID(items.dataset_id[0]),
        dataset_name=items.dataset_name[0],
        rank=overtaker.rank,
        share=overtaker.share,
    )


def _find_positions(view: View, ids: Sequence[int]) -> Ints:
    """Return the positions of the datasets with the given ids in a view.

    Raises:
        DatasetNotFound: the view does not contain one of them.
    """
    positions = []
    for dataset_id in ids:
        position = view.find_position(dataset_id)
        if position is None:
            raise DatasetNotFound
        positions.append(position)
    return np.array(positions, np.int64)


def _weight_views(scoring: ScoringRequest) -> list[WeightView]:
    """Return the weights of a ranking as shares that add up to 1."""
    return [
        WeightView(criterion_name=entry.criterion_name, weight=entry.weight) for entry in scoring.effective_weights()
    ]


def _rank_range_view(ranks: RankRange) -> RankRangeView:
    """Convert the best and the worst possible rank of a dataset to their JSON view."""
    return RankRangeView(best=ranks.best, worst=ranks.worst)
