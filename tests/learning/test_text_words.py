"""Models learn from the words of texts."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.learning.small_tables import model_of, train
from touchstone.learning.artifacts.model_artifact import load
from touchstone.learning.prediction import predict

FILLER = [
    "the",
    "room",
    "was",
    "near",
    "a",
    "station",
    "and",
    "we",
    "stayed",
    "for",
    "two",
    "nights",
    "with",
    "friends",
]


def reviews(rows: int = 300) -> pd.DataFrame:
    """Return reviews in which a single word, at any position, says whether the guest liked the stay."""
    rng = np.random.default_rng(0)
    is_liked = rng.random(rows) < 0.5
    texts = []
    for verdict in np.where(is_liked, "splendid", "dreadful"):
        words = rng.choice(FILLER, 9).tolist()
        words.insert(int(rng.integers(0, 10)), verdict)
        texts.append(" ".join(words))
    return pd.DataFrame({"review": texts, "liked": np.where(is_liked, "yes", "no")})


@pytest.mark.parametrize("algorithm", ["linear", "hist_gradient_boosting"])
def test_single_words_decide(tmp_path: Path, algorithm: str) -> None:
    """A word that decides everything is found wherever it stands, in tests and in rows given by value."""
    outcome = train(reviews(), "liked", tmp_path, algorithms=[algorithm], budget={"max_trials": 1})
    assert outcome.result["metrics"]["holdout"]["balanced_accuracy"]["value"] == 1.0

    rows = [{"review": "we stayed two splendid nights with friends"}, {"review": "a dreadful room near the station"}]
    predictions = predict(load(model_of(outcome)), rows)["predictions"]
    assert [prediction["prediction"] for prediction in predictions] == ["yes", "no"]
