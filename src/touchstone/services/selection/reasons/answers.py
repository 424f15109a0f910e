"""Answers to questions about a ranking, computed over one view of the catalog; they may run in a thread."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from touchstone.core.attributes import ETHICAL
from touchstone.core.errors import DatasetNotFound
from touchstone.ranking.catalog.results import ScoredItems
from touchstone.ranking.catalog.view import View
from touchstone.ranking.column_types import Ints
from touchstone.ranking.criteria import CRITERION_NAMES
from touchstone.ranking.query.predicates import Query
from touchstone.ranking.reasons.comparison import PairComparison, compare_records, order_records
from touchstone.ranking.reasons.lifts import LiftedRecord, find_lifts
from touchstone.ranking.reasons.points import points_by_criterion, unknown_criteria
from touchstone.ranking.reasons.points_by_level import SupportedFacts, points_by_level
from touchstone.ranking.reasons.rank_lookup import RankLookup, RankRange, find_unknown_ranks
from touchstone.ranking.reasons.stability import RecordStability, measure_stability
from touchstone.ranking.weighted_mean import score_matrix
from touchstone.services.selection.datasets.scoring_request import ScoringRequest
from touchstone.services.selection.reasons.requests import LiftsRequest, StabilityRequest
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


def answer_comparison(
    view: View, query: Query, scoring: ScoringRequest, ids: Sequence[int], locale: str
) -> ComparisonView:
    """Return the comparison of some datasets in the ranking of those that match a query, with sentences in a language.

    Raises:
        DatasetNotFound: the view does not have one of the datasets.
    """
    positions = order_records(view, _find_positions(view, ids), scoring.weights)
    lookup = RankLookup.of_query(view, query, scoring.weights)
    datasets = _describe_compared_datasets(view, positions, lookup, scoring.weights)

    dataset_by_position = dict(zip(positions.tolist(), datasets, strict=True))
    pairs = compare_records(view, positions, scoring.weights)
    return ComparisonView(
        **_ranking_context(view, scoring, len(lookup)),
        datasets=datasets,
        pairs=[_pair_view(pair, dataset_by_position, locale) for pair in pairs],
    )


def _describe_compared_datasets(
    view: View, positions: Ints, lookup: RankLookup, weights: Mapping[str, float]
) -> list[ComparedDatasetView]:
    """Return what a comparison shows of each dataset on its own."""
    items = view.items(positions)
    facts = view.facts(positions)
    criterion_scores = view.criterion_scores(positions)
    scores = score_matrix(criterion_scores.T, weights).tolist()
    points = points_by_criterion(criterion_scores, weights)
    unknown_names = unknown_criteria(facts)
    supported_facts = SupportedFacts.of_packed(facts, view.evidence_levels(positions))
    level_points = points_by_level(supported_facts, criterion_scores, weights)

    datasets = []
    for index, position in enumerate(positions.tolist()):
        rank = lookup.rank_of(position, scores[index]) if lookup.contains(position) else None
        dataset = ComparedDatasetView(
            **_dataset_name(items, index),
            score=scores[index],
            rank=rank,
            known=items.known[index],
            ethical_interval=_ethical_interval(items, index),
            criterion_scores=dict(zip(CRITERION_NAMES, criterion_scores[index].tolist(), strict=True)),
            points=points[index],
            unknown=unknown_names[index],
            points_by_level=level_points[index],
        )
        datasets.append(dataset)
    return datasets


def _pair_view(pair: PairComparison, dataset_by_position: Mapping[int, ComparedDatasetView], locale: str) -> PairView:
    """Return the comparison of two datasets as it is answered."""
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

    reversal = None
    if pair.reversal is not None:
        reversal = ReversalView(
            criterion_name=pair.reversal.criterion,
            weight=pair.reversal.weight,
            weight_before=pair.reversal.weight_before,
            change=pair.reversal.change,
        )

    above, below = dataset_by_position[pair.above], dataset_by_position[pair.below]
    return PairView(
        above=above.id,
        below=below.id,
        lead=pair.lead,
        differences=differences,
        reversal=reversal,
        sentence=describe_pair(pair, above, below, locale),
    )


def answer_lifts(view: View, query: Query, request: LiftsRequest, dataset_id: int, locale: str) -> LiftsView:
    """Return what would raise a dataset in the ranking of those that match a query, with a sentence in a language.

    Raises:
        DatasetNotFound: the view does not have the dataset.
    """
    weights = request.scoring.weights
    positions = _find_positions(view, [dataset_id])
    report = find_lifts(view, query, weights, int(positions[0]), request.target_rank)

    items = view.items(positions)
    return LiftsView(
        **_ranking_context(view, request.scoring, report.total_count),
        **_dataset_name(items, 0),
        score=report.score,
        rank=report.rank,
        matches_filters=report.matches,
        known=items.known[0],
        ethical_interval=_ethical_interval(items, 0),
        unknown_ranks=_rank_range_view(report.unknown_ranks),
        lifts=[LiftView(**lift._asdict()) for lift in report.lifts],
        all_established=LiftedRankView(score=report.all_established.score, rank=report.all_established.rank),
        target_rank=request.target_rank,
        smallest_set=_lifted_set_view(report.smallest_set),
        sentence=describe_lifts(items.dataset_name[0], report, request.target_rank, locale),
    )


def _lifted_set_view(lifted: LiftedRecord | None) -> LiftedSetView | None:
    """Return the attributes that would give a dataset a rank as they are answered."""
    if lifted is None:
        return None
    return LiftedSetView(attributes=list(lifted.attributes), score=lifted.score, rank=lifted.rank)


def answer_stability(view: View, query: Query, request: StabilityRequest, locale: str) -> StabilityView:
    """Return how stable the first places in the ranking of the datasets that match a query are, with sentences."""
    weights = request.scoring.weights
    stabilities = measure_stability(view, query, weights, request.options)
    positions = np.array([stability.position for stability in stabilities], np.int64)

    unknown_ranks: Sequence[RankRange | None] = [None] * len(stabilities)
    if request.includes_unknown_ranks:
        unknown_ranks = find_unknown_ranks(view, query, weights, positions)

    sentences = describe_stabilities(view, stabilities, request.options, locale)
    return StabilityView(
        **_ranking_context(view, request.scoring, view.count(query)),
        **request.options._asdict(),
        datasets=_describe_stable_datasets(view, stabilities, unknown_ranks, sentences),
    )


def _describe_stable_datasets(
    view: View,
    stabilities: Sequence[RecordStability],
    unknown_ranks: Sequence[RankRange | None],
    sentences: Sequence[str],
) -> list[DatasetStabilityView]:
    """Return what is answered about the place of each dataset."""
    items = view.items(np.array([stability.position for stability in stabilities], np.int64))

    datasets = []
    rows = zip(stabilities, unknown_ranks, sentences, strict=True)
    for index, (stability, rank_range, sentence) in enumerate(rows):
        dataset = DatasetStabilityView(
            **_dataset_name(items, index),
            score=stability.score,
            rank=stability.rank,
            share=stability.share,
            best_rank=stability.best_rank,
            worst_rank=stability.worst_rank,
            overtaken_by=_overtaker_view(view, stability),
            verdict=stability.verdict,
            unknown_ranks=rank_range and _rank_range_view(rank_range),
            sentence=sentence,
        )
        datasets.append(dataset)
    return datasets


def _overtaker_view(view: View, stability: RecordStability) -> OvertakerView | None:
    """Return the dataset that overtakes another one as it is answered."""
    overtaker = stability.overtaken_by
    if overtaker is None:
        return None

    items = view.items(np.array([overtaker.position]))
    return OvertakerView(**_dataset_name(items, 0), rank=overtaker.rank, share=overtaker.share)


def _find_positions(view: View, ids: Sequence[int]) -> Ints:
    """Return where a view holds the datasets with some ids.

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


def _ranking_context(view: View, scoring: ScoringRequest, total_count: int) -> dict[str, Any]:
    """Return the fields of `RankingContext`."""
    weights = [
        {"criterion_name": entry.criterion_name, "weight": entry.weight} for entry in scoring.effective_weights()
    ]
    return {
        "total_count": total_count,
        "effective_weights": weights,
        "profile": scoring.profile,
        "assurance": view.assurance,
    }


def _dataset_name(items: ScoredItems, index: int) -> dict[str, Any]:
    """Return the fields of `DatasetName` for one of some datasets."""
    return {
        "id": items.id[index],
        "dataset_id": items.dataset_id[index],
        "dataset_name": items.dataset_name[index],
    }


def _ethical_interval(items: ScoredItems, index: int) -> tuple[float, float]:
    """Return the ethical score of a dataset if all its unknown attributes were false, and if all were true."""
    score = items.ethical_score[index]
    unknown_count = len(ETHICAL) - items.known[index]
    true_count = round(score * len(ETHICAL))
    return score, (true_count + unknown_count) / len(ETHICAL)


def _rank_range_view(ranks: RankRange) -> RankRangeView:
    """Return the ranks that unknown attributes allow as they are answered."""
    return RankRangeView(best=ranks.best, worst=ranks.worst)
