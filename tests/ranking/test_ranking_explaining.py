"""The points of a score."""

import math
from random import Random

import pytest

from tests.ranking.catalogs import row
from tests.ranking.catalogs import weights as random_weights
from touchstone.ranking.catalog.catalog import Catalog
from touchstone.ranking.reasons.points import score_points


def test_points_add_up_to_the_score() -> None:
    """The sum of the points is the score, up to the last bit."""
    random = Random(3)
    catalog = Catalog.build(row(random, id_) for id_ in range(1, 301))
    for _ in range(20):
        weights = random_weights(random)
        window = catalog.view.rank((), weights, skip=0, limit=15)
        criterion_scores = catalog.view.criterion_scores(window.positions)
        for scores, score in zip(criterion_scores, window.scores.tolist(), strict=True):
            points = score_points(scores, weights)
            assert math.fsum(entry.points for entry in points) == pytest.approx(score, rel=3e-16, abs=1e-300)
            assert sum(entry.share for entry in points) == pytest.approx(1)
            assert all(entry.points >= 0 for entry in points)
