"""Columns that give the target away are named, and others are not."""

from typing import Any

import msgspec
import numpy as np
import pandas as pd
import pytest

from tests.learning.small_tables import csv_file
from touchstone.learning.evaluation import Predictions
from touchstone.learning.experiment import prepare_experiment
from touchstone.learning.leakage.leakage_warnings import leakage_warnings
from touchstone.learning.request_definitions import TrainingRequest
from touchstone.learning.table_reader import read_table

RNG = np.random.default_rng(11)
ROWS = 1_000
FEATURES = pd.DataFrame(RNG.normal(size=(ROWS, 4)), columns=list("abcd"))
CLASS = np.where(FEATURES["a"] + RNG.normal(size=ROWS) > 0, "yes", "no")
LOG_NORMAL = np.exp(2 * FEATURES["a"] + RNG.normal(size=ROWS))


def flipped_class(share: float) -> Any:
    """Return the class, wrong in a share of the rows."""
    is_wrong = RNG.random(ROWS) < share
    return np.where(is_wrong, np.where(CLASS == "yes", "no", "yes"), CLASS)


def suspicions(
    frame: pd.DataFrame, target: str, *, errors: float = 0.5, test_share: float = 1.0
) -> list[tuple[str, ...]]:
    """Return the suspicions about a table whose model predicts a share of the rows wrongly.

    The first rows are test rows, and trials are compared on the others.
    """
    request = msgspec.convert({"dataset_id": 1, "target": target}, TrainingRequest)
    experiment = prepare_experiment(request, read_table(csv_file(frame)))
    truth = experiment.target.values
    is_wrong = np.arange(len(truth)) < errors * len(truth)
    predicted = np.where(is_wrong, truth[::-1], truth)
    predictions = Predictions(truth, predicted, len(experiment.target.classes))
    test_rows, validation_rows = np.split(np.arange(len(truth)), [int(test_share * len(truth))])
    validation = predictions.take(validation_rows) if len(validation_rows) else None
    warnings = leakage_warnings(experiment.data, experiment.rule, predictions.take(test_rows), validation)
    return [
        (warning["code"], *(value for value in warning["facts"].values() if isinstance(value, str)))
        for warning in warnings
    ]


@pytest.mark.parametrize(
    ("columns", "target", "expected"),
    [
        ({"copy": 2.2 * LOG_NORMAL, "y": LOG_NORMAL}, "y", [("leakage_suspect", "copy")]),
        ({"proxy": flipped_class(0.04), "y": CLASS}, "y", [("leakage_suspect", "proxy")]),
        (
            {"net": np.abs(FEATURES["b"]), "tax": LOG_NORMAL, "y": np.abs(FEATURES["b"]) + LOG_NORMAL},
            "y",
            [("leakage_pair", "net", "tax")],
        ),
        (
            {
                "price": np.exp(FEATURES["b"]),
                "amount": np.exp(FEATURES["c"]),
                "y": np.exp(FEATURES["b"] + FEATURES["c"]),
            },
            "y",
            [("leakage_pair", "price", "amount")],
        ),
        (
            {"net": FEATURES["b"], "tax": FEATURES["c"], "y": np.where(FEATURES["b"] + FEATURES["c"] > 0, "yes", "no")},
            "y",
            [("leakage_pair", "net", "tax")],
        ),
        ({"y": CLASS}, "y", []),
        ({"y": LOG_NORMAL}, "y", []),
    ],
)
def test_what_gives_the_target_away_is_named(
    columns: dict[str, Any], target: str, expected: list[tuple[str, ...]]
) -> None:
    """A scaled copy, a proxy that is right for 96 %, and the parts of a sum, product or threshold are named."""
    other_features = FEATURES[["a", "d"]]
    assert suspicions(pd.DataFrame({**other_features, **columns}), target) == expected


@pytest.mark.parametrize(("share", "expected"), [(1.0, [("leakage_suspect", "note")]), (0.8, [])])
def test_a_text_that_states_the_outcome_is_named(share: float, expected: list[tuple[str, ...]]) -> None:
    """Two words at the end of a report reveal the class, unless they are only usual for it."""
    words = np.array([f"symptom{number}" for number in range(20)])
    says_outcome = RNG.random(ROWS) < share
    outcomes = np.where((CLASS == "yes") == says_outcome, "sent home", "kept here")
    notes = [f"{' '.join(RNG.permutation(words)[:12])} {outcome}" for outcome in outcomes]
    assert suspicions(FEATURES.assign(note=notes, y=CLASS), "y") == expected


def test_easy_classes_are_not_suspected() -> None:
    """Classes that several columns separate well have no proxy."""
    kind = RNG.integers(0, 3, ROWS)
    frame = pd.DataFrame(kind[:, None] + RNG.normal(scale=0.35, size=(ROWS, 3)), columns=["length", "width", "depth"])
    assert suspicions(frame.assign(y=[f"kind {number}" for number in kind]), "y") == []


@pytest.mark.parametrize(("errors", "expected"), [(0.0, [("too_good_to_be_true",)]), (0.2, [])])
def test_a_perfect_score_is_doubted(errors: float, expected: list[tuple[str, ...]]) -> None:
    """Predictions without errors on many rows are reported."""
    assert suspicions(FEATURES.assign(y=CLASS), "y", errors=errors) == expected


@pytest.mark.parametrize(
    ("rows", "errors", "expected"),
    [(40, 0.0, []), (120, 0.0, [("too_good_to_be_true",)]), (120, 0.02, [])],
)
def test_few_perfect_predictions_prove_nothing(rows: int, errors: float, expected: list[tuple[str, ...]]) -> None:
    """A good model may predict all of 40 rows correctly, or most of 120; all of 120, tested or not, are suspicious."""
    table = FEATURES.assign(y=CLASS).head(rows)
    assert suspicions(table, "y", errors=errors, test_share=0.2) == expected
