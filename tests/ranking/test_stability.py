"""The stability of rankings, against rankings by every sample of weights."""

from collections.abc import Mapping
from random import Random

import numpy as np
import pytest

from tests.ranking import by_hand
from tests.ranking.catalogs import query as random_query
from tests.ranking.catalogs import row
from tests.ranking.catalogs import weights as random_weights
from tests.ranking.test_ranking_view import catalog_row
from tests.ranking.test_reasons import views_of
from touchstone.core.evidence import Assurance
from touchstone.ranking.catalog.catalog import Catalog, Layout
from touchstone.ranking.catalog.indexed_part import PlanThresholds
from touchstone.ranking.catalog.view import View
from touchstone.ranking.columns.segment import CatalogRow
from touchstone.ranking.criteria import CRITERION_NAMES
from touchstone.ranking.query.predicates import Query
from touchstone.ranking.reasons.stability import (
    RecordStability,
    StabilityOptions,
    Verdict,
    measure_stability,
    sample_weights,
)
from touchstone.ranking.weighted_mean import WeightSets

Weights = Mapping[str, float]


def _draw_by_hand(weights: Weights, options: StabilityOptions) -> list[dict[str, float]]:
    """Draw the samples one number after the other."""
    generator = np.random.default_rng(options.seed)
    names = [name for name in CRITERION_NAMES if weights.get(name, 0.0) > 0.0]
    return [
        {name: weights[name] * (1 + generator.uniform(-options.spread, options.spread)) for name in names}
        for _ in range(options.samples)
    ]


def _place_by_hand(ranking: list[tuple[int, float]], id_: int) -> int:
    """Return 1 + the number of records with a higher score than the record with an id."""
    score = dict(ranking)[id_]
    return 1 + sum(other_score > score for _, other_score in ranking)


def _check_by_hand(
    rows: list[CatalogRow], query: Query, weights: Weights, options: StabilityOptions, view: View
) -> list[RecordStability]:
    """Compare the stability of a ranking with rankings by every sample, and return it."""
    stabilities = measure_stability(view, query, weights, options)
    ranking = by_hand.rank(rows, query, weights)
    ranked_ids = [id_ for id_, _ in ranking]
    sample_rankings = [by_hand.rank(rows, query, sample) for sample in _draw_by_hand(weights, options)]
    sample_ids = [[id_ for id_, _ in sample] for sample in sample_rankings]
    assert len(stabilities) == min(options.k, len(ranked_ids))

    for index, stability in enumerate(stabilities):
        [id_] = view.ids(np.array([stability.position])).tolist()
        ranks = [sample.index(id_) + 1 for sample in sample_ids]
        depth = 10 * options.k
        assert id_ == ranked_ids[index]
        assert stability.rank == index + 1
        assert stability.share == np.mean([rank <= options.k for rank in ranks])
        assert stability.best_rank == (min(ranks) if min(ranks) <= depth else None)
        assert stability.worst_rank == (max(ranks) if max(ranks) <= depth else None)
        assert stability.verdict is (Verdict.ROBUST if stability.share >= 0.9 else Verdict.FRAGILE)

        places = [_place_by_hand(sample, id_) for sample in sample_rankings]
        assert stability.place == _place_by_hand(ranking, id_)
        assert stability.tied_with == sum(score == dict(ranking)[id_] for _, score in ranking) - 1
        assert stability.best_place == (min(places) if min(ranks) <= depth else None)
        assert stability.worst_place == (max(places) if max(ranks) <= depth else None)

        overtaker = stability.overtaken_by
        expected_overtaker = None
        for later_id in ranked_ids[index + 1 : depth]:
            share = float(np.mean([sample.index(later_id) < sample.index(id_) for sample in sample_ids]))
            if share:
                expected_overtaker = (later_id, ranked_ids.index(later_id) + 1, share)
                break
        if overtaker is None:
            assert expected_overtaker is None
        else:
            [overtaker_id] = view.ids(np.array([overtaker.position])).tolist()
            assert (overtaker_id, overtaker.rank, overtaker.share) == expected_overtaker
    return stabilities


@pytest.mark.parametrize("seed", range(10))
def test_stability_equals_ranking_by_every_sample(seed: int) -> None:
    """The results agree without an index, in one, and with some records beside one, for any filters and weights."""
    random = Random(seed)
    rows = [row(random, id_) for id_ in range(1, 121)]
    for view in views_of(rows):
        options = StabilityOptions(
            k=random.choice((1, 2, 5, 10)), samples=12, spread=random.choice((0.0, 0.2, 1.0)), seed=random.randrange(99)
        )
        _check_by_hand(rows, random_query(random), random_weights(random), options, view)


@pytest.mark.parametrize("assurance", Assurance)
def test_rankings_by_many_sets_of_weights_equal_single_rankings(assurance: Assurance) -> None:
    """The search through the leaves of an index finds the same records in the same order as a ranking by each set."""
    random = Random(assurance.value)
    rows = [row(random, id_) for id_ in range(1, 1501)]
    catalog = Catalog.build(rows, Layout(index_from=1, leaf_words=1, plans=PlanThresholds(gather_up_to=20)))
    catalog.apply(upserts=[row(random, id_) for id_ in range(1490, 1530)], deleted=[3, 5, 8])
    view = catalog.view.at(assurance)
    for _ in range(25):
        query, weights = random_query(random), random_weights(random)
        sets = sample_weights(weights, StabilityOptions(samples=7, spread=random.choice((0.1, 0.5))))
        limit = random.choice((1, 10, 40))
        for index, positions in enumerate(view.rank_by_sets(query, sets, limit=limit)):
            expected = view.rank(query, sets.at(index), skip=0, limit=limit).positions
            assert positions.tolist() == expected.tolist()


def test_a_place_that_a_small_change_of_weights_takes_away_is_fragile() -> None:
    """Two records whose strengths differ nearly cancel out; a third is far behind."""
    rows = [catalog_row(1, transparency=True), catalog_row(2, citations=1000), catalog_row(3, citations=10)]
    view = Catalog.build(rows).view
    weights = {"transparency": 0.5, "citations": 0.49}
    first, second, third = _check_by_hand(rows, (), weights, StabilityOptions(k=3), view)
    assert third.share == 1.0
    assert first.verdict is second.verdict is Verdict.ROBUST  # all three are always among the first three
    [stability] = _check_by_hand(rows, (), weights, StabilityOptions(k=1), view)
    assert stability.verdict is Verdict.FRAGILE
    assert stability.overtaken_by is not None
    assert stability.overtaken_by.share == pytest.approx(1 - stability.share)


def test_records_with_one_score_share_their_places_in_every_sample() -> None:
    """Three equal records have three ranks, in alphabetical order, and one place."""
    rows = [
        catalog_row(1, year=2020),
        catalog_row(2, year=2010),
        catalog_row(3, year=2010),
        catalog_row(4, year=2010),
        catalog_row(5, year=2001),
    ]
    view = Catalog.build(rows).view
    stabilities = _check_by_hand(rows, (), {"year": 1.0, "citations": 0.5}, StabilityOptions(k=5), view)
    assert [stability.rank for stability in stabilities] == [1, 2, 3, 4, 5]
    assert [stability.place for stability in stabilities] == [1, 2, 2, 2, 5]
    assert [stability.tied_with for stability in stabilities] == [0, 2, 2, 2, 0]
    assert [(stability.best_place, stability.worst_place) for stability in stabilities] == [
        (1, 1),
        (2, 2),
        (2, 2),
        (2, 2),
        (5, 5),
    ]


def test_without_matches_there_is_nothing_to_measure() -> None:
    """A query that nothing matches gives an empty answer."""
    assert measure_stability(Catalog.build([]).view, (), {"year": 1.0}, StabilityOptions()) == []


@pytest.mark.parametrize("scale", [2.0**1023, 2.0**-1000])
def test_huge_and_tiny_weights_are_sampled_without_overflow(scale: float) -> None:
    """Weights at the ends of the range of floats give the same answer as ordinary ones in the same proportions."""
    random = Random(1)
    view = Catalog.build(row(random, id_) for id_ in range(1, 101)).view
    small_weights = {"ethical_score": 1.0, "year": 0.5}
    scaled_weights = {name: weight * scale for name, weight in small_weights.items()}
    options = StabilityOptions(k=5)
    assert measure_stability(view, (), scaled_weights, options) == measure_stability(view, (), small_weights, options)


def test_sets_of_weights_score_like_each_of_them() -> None:
    """The matrix of scores agrees bit for bit with rankings by single sets."""
    random = Random(6)
    view = Catalog.build(row(random, id_) for id_ in range(1, 101)).view
    positions = np.arange(100)
    sets = WeightSets.from_matrix(("ethical_score", "year"), np.array([[0.1, 0.7, 1e308], [0.3, 0.2, 1.7e308]]))
    scores = sets.score({name: view.criterion(name, positions) for name in sets.names})
    for index in range(sets.count):
        window = view.rank((), sets.at(index), skip=0, limit=None)
        assert scores[index][window.positions].tolist() == window.scores.tolist()
