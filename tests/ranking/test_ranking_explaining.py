"""The points of a score."""

import math
from random import Random

import pytest

from tests.ranking.catalogs import row, weights
from touchstone.ranking.catalog.catalog import Catalog
from touchstone.ranking.reasons.points import score_points


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
