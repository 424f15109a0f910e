"""Answers to questions about a ranking, computed from one state of the catalog.

The functions may run in any thread, because a view of the catalog never changes.
"""

from collections.abc import Mapping, Sequence
from uuid import UUID

import numpy as np

from touchstone.core.attributes import ETHICAL
from touchstone.core.errors import DatasetNotFound
from touchstone.ranking.array_types import Facts, Ints
from touchstone.ranking.catalog.results import ScoredItems
from touchstone.ranking.catalog.view import View
from touchstone.ranking.criteria import CRITERION_NAMES
from touchstone.ranking.reasons.comparison import PairComparison, Reversal, compare_records, order_records
from touchstone.ranking.reasons.lifts import Lift, LiftedRecord, find_lifts
from touchstone.ranking.reasons.points import points_by_criterion, unknown_criteria
from touchstone.ranking.reasons.points_by_level import SupportedFacts, points_by_level
from touchstone.ranking.reasons.rank_lookup import RankLookup, RankRange, find_unknown_ranks
from touchstone.ranking.reasons.stability import Overtaker, RecordStability, StabilityOptions, measure_stability
from touchstone.ranking.weighted_mean import score_matrix
from touchstone.services.selection.datasets.ranking_response import best_cases
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
    """Compare every two of the datasets with these ids, and explain why one is ranked above the other.

    The datasets and the pairs are in the order of the ranking.

    Raises:
        DatasetNotFound: the view does not have one of the datasets.
    """
    positions = order_records(view, _find_positions(view, ids), ranking.weights)
    lookup = RankLookup.for_query(view, ranking.query, ranking.weights)
    datasets = _describe_compared_datasets(view, positions, lookup, ranking.weights)

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


def _describe_compared_datasets(
    view: View, positions: Ints, lookup: RankLookup, weights: Mapping[str, float]
) -> list[ComparedDatasetView]:
    """Return what a comparison shows of each dataset by itself: its score, its rank, and how the score is composed."""
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
        is_match = lookup.contains(position)  # a dataset that the filters exclude has no rank
        dataset = ComparedDatasetView(
            id=items.id[index],
            dataset_id=UUID(items.dataset_id[index]),
            dataset_name=items.dataset_name[index],
            score=scores[index],
            rank=lookup.rank_of(position, scores[index]) if is_match else None,
            place=lookup.place_of(scores[index]) if is_match else None,
            tied_with=lookup.count_tied_with(position, scores[index]) if is_match else 0,
            known=items.known[index],
            ethical_interval=_ethical_interval(items, index),
            criterion_scores=dict(zip(CRITERION_NAMES, criterion_scores[index].tolist(), strict=True)),
            points=points[index],
            unknown=unknown_names[index],
            points_by_level=level_points[index],
            best_case=best_case_views[index],
        )
        datasets.append(dataset)
    return datasets


def _best_case_views(facts: Facts, weights: Mapping[str, float]) -> list[BestCaseView]:
    """Return what each of some records is worth if everything unknown about it is as favourable as possible."""
    return [
        BestCaseView(score=best_case.score, criterion_scores=best_case.criterion_scores)
        for best_case in best_cases(facts, weights)
    ]


def _pair_view(pair: PairComparison, above: ComparedDatasetView, below: ComparedDatasetView, locale: str) -> PairView:
    """Return the comparison of two datasets as it is answered, with a sentence that sums it up."""
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
    """Return the change of a weight that reverses a pair as it is answered; None if there is none."""
    if reversal is None:
        return None
    return ReversalView(
        criterion_name=reversal.criterion,
        weight=reversal.weight,
        weight_before=reversal.weight_before,
        change=reversal.change,
    )


def answer_lifts(view: View, ranking: RankingInQuestion, dataset_id: int, target_rank: int | None) -> LiftsView:
    """Return how far the dataset with an id would rise in a ranking if its attributes were established.

    With a target rank, the answer names the smallest set of attributes that would bring the dataset there.

    Raises:
        DatasetNotFound: the view does not have the dataset.
    """
    positions = _find_positions(view, [dataset_id])
    report = find_lifts(view, ranking.query, ranking.weights, int(positions[0]), target_rank)

    items = view.items(positions)
    facts = view.facts(positions)
    [best_case] = _best_case_views(facts, ranking.weights)
    return LiftsView(
        total_count=report.total_count,
        effective_weights=_weight_views(ranking.scoring),
        profile=ranking.scoring.profile,
        assurance=ranking.assurance,
        id=items.id[0],
        dataset_id=UUID(items.dataset_id[0]),
        dataset_name=items.dataset_name[0],
        score=report.score,
        rank=report.rank,
        place=report.place,
        tied_with=report.tied_with,
        matches_filters=report.matches,
        known=items.known[0],
        ethical_interval=_ethical_interval(items, 0),
        unknown=unknown_criteria(facts)[0],
        best_case=best_case,
        unknown_ranks=_rank_range_view(report.unknown_ranks),
        lifts=[_lift_view(lift) for lift in report.lifts],
        all_established=LiftedRankView(score=report.all_established.score, rank=report.all_established.rank),
        target_rank=target_rank,
        smallest_set=_lifted_set_view(report.smallest_set),
        sentence=describe_lifts(items.dataset_name[0], report, target_rank, ranking.locale),
    )


def _lift_view(lift: Lift) -> LiftView:
    """Convert a lift, that is, how far a dataset would rise through one attribute, to its JSON view."""
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
    """Return the attributes that would bring a dataset to a rank as they are answered; None if there are none."""
    if lifted is None:
        return None
    return LiftedSetView(attributes=list(lifted.attributes), score=lifted.score, rank=lifted.rank)


def answer_stability(
    view: View, ranking: RankingInQuestion, options: StabilityOptions, *, includes_unknown_ranks: bool
) -> StabilityView:
    """Return how stable the first places of a ranking are when the weights vary.

    With `includes_unknown_ranks`, the answer also has the best and the worst rank that each dataset can have, whatever
    is found out about unknown ethical attributes.
    """
    stabilities = measure_stability(view, ranking.query, ranking.weights, options)
    positions = np.array([stability.position for stability in stabilities], np.int64)

    rank_ranges: Sequence[RankRange | None] = [None] * len(stabilities)
    if includes_unknown_ranks:
        rank_ranges = find_unknown_ranks(view, ranking.query, ranking.weights, positions)

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
        datasets=_describe_stable_datasets(view, stabilities, rank_ranges, sentences),
    )


def _describe_stable_datasets(
    view: View,
    stabilities: Sequence[RecordStability],
    rank_ranges: Sequence[RankRange | None],
    sentences: Sequence[str],
) -> list[DatasetStabilityView]:
    """Return what is answered about each dataset: how stable its place is, its possible ranks, and a sentence."""
    items = view.items(np.array([stability.position for stability in stabilities], np.int64))

    datasets = []
    for index, stability in enumerate(stabilities):
        rank_range = rank_ranges[index]
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
            sentence=sentences[index],
        )
        datasets.append(dataset)
    return datasets


def _overtaker_view(view: View, overtaker: Overtaker | None) -> OvertakerView | None:
    """Return the JSON view of the dataset that overtakes another one, or None if no dataset does."""
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
    """Return the positions at which a view holds the datasets with some ids.

    Raises:
        DatasetNotFound: it does not hold one of them.
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


def _ethical_interval(items: ScoredItems, index: int) -> tuple[float, float]:
    """Return the lowest and the highest ethical score that one of some datasets can have.

    It has the lowest if all its unknown attributes are false, and the highest if all of them are true.
    """
    score = items.ethical_score[index]
    true_count = round(score * len(ETHICAL))
    unknown_count = len(ETHICAL) - items.known[index]
    return score, (true_count + unknown_count) / len(ETHICAL)


def _rank_range_view(ranks: RankRange) -> RankRangeView:
    """Return the best and the worst rank that a dataset can have as they are answered."""
    return RankRangeView(best=ranks.best, worst=ranks.worst)
