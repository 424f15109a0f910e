"""Points, lifts, and the ranges in which a weight can change without changing the order."""

import math
from random import Random

import numpy as np
import pytest

from tests.ranking.by_hand import rank
from tests.ranking.catalogs import position_of, row, weights
from tests.ranking.test_ranking_view import made
from touchstone.ranking.catalog.catalog import Catalog
from touchstone.ranking.reasons.lifts import lifts
from touchstone.ranking.reasons.points import score_points
from touchstone.ranking.reasons.stability import stability


def test_points_add_up_to_the_score() -> None:
    """The sum of the points is the score, up to the last bit."""
    random = Random(3)
    catalog = Catalog.build(row(random, id_) for id_ in range(1, 301))
    for _ in range(20):
        weighting = weights(random)
        ranked = catalog.view.rank((), weighting, skip=0, limit=15)
        for scores, score in zip(catalog.view.criterion_scores(ranked.positions), ranked.scores.tolist(), strict=True):
            parts = score_points(scores, weighting)
            assert math.fsum(part.points for part in parts) == pytest.approx(score, rel=3e-16, abs=1e-300)
            assert sum(part.share for part in parts) == pytest.approx(1)
            assert all(part.points >= 0 for part in parts)


def test_a_lift_says_the_score_and_rank_that_the_fact_would_bring() -> None:
    """If the fact is added and the catalog is ranked again, the rank is exactly the predicted one."""
    random = Random(5)
    rows = [row(random, id_) for id_ in range(1, 60)]
    weighting = {"ethical_score": 0.5, "informed_consent": 0.2, "technical_score": 0.3}
    catalog = Catalog.build(rows)
    position = position_of(catalog.view, 30)
    assert position is not None
    [subject] = [record for record in rows if record.id == 30]
    raised = lifts(catalog.view, (), weighting, position)
    assert raised
    assert [lift.gain for lift in raised] == sorted((lift.gain for lift in raised), reverse=True)
    for lift in raised:
        assert lift.known == (getattr(subject, lift.fact) is not None)
        changed = {name: getattr(subject, name) for name in subject.__struct_fields__} | {lift.fact: lift.value}
        after = rank([record for record in rows if record.id != 30] + [type(subject)(**changed)], (), weighting)
        assert [id_ for id_, _ in after].index(30) + 1 == lift.rank_after
        assert [id_ for id_, _ in rank(rows, (), weighting)].index(30) + 1 == lift.rank_before


def test_the_leeway_of_a_weight_is_where_two_neighbours_swap() -> None:
    """Just inside the range the order is the same, and just outside it is different."""
    catalog = Catalog.build(
        [
            made(1, transparency=True, citations=10),
            made(2, citations=1000),
            made(3, transparency=True),
        ]
    )
    weighting = {"transparency": 0.8, "citations": 0.3}
    ranked = catalog.view.rank((), weighting, skip=0, limit=3)
    assert catalog.view.ids(ranked.positions).tolist() == [1, 3, 2]
    leeways = {
        leeway.criterion: leeway for leeway in stability(catalog.view.criterion_scores(ranked.positions), weighting)
    }
    assert leeways["transparency"].down == pytest.approx(0.5)
    assert leeways["transparency"].swaps_down == 1
    assert leeways["transparency"].up == math.inf
    for factor, order in ((0.999, [1, 3, 2]), (1.001, [1, 2, 3])):
        moved = weighting | {"transparency": 0.8 - factor * leeways["transparency"].down}
        again = catalog.view.rank((), moved, skip=0, limit=3)
        assert catalog.view.ids(again.positions).tolist() == order
    assert leeways["year"].up == math.inf
    assert leeways["citations"].swaps_up == 1


def test_a_weight_that_would_have_to_fall_below_zero_never_swaps() -> None:
    """A weight cannot become negative."""
    scores = np.zeros((2, 12))
    scores[0, 0], scores[0, 4] = 1.0, 0.1
    leeways = stability(scores, {"ethical_score": 0.5, "transparency": 0.5})
    [leeway] = [leeway for leeway in leeways if leeway.criterion == "transparency"]
    assert (leeway.down, leeway.swaps_down) == (math.inf, None)
