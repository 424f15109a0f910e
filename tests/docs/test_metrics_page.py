"""The program on the page about metrics computes what a training reports."""

import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import mean_absolute_error, median_absolute_error, r2_score, root_mean_squared_error

from tests.learning.small_tables import messy_table, train
from tools.make_reference import FOLDER
from touchstone.learning.evaluation import Predictions, compute_metric
from touchstone.learning.request_choices import METRICS
from touchstone.learning.task_interface import Json, Outcome

PAGE = (FOLDER / "metrics.md").read_text()
HOLDOUT: Json = {"split": {"strategy": "holdout", "test_size": 0.4}}
FOLDS: Json = {"split": {"strategy": "kfold", "folds": 3}}
REQUESTS: dict[str, Json] = {
    "two classes": {"target": "outcome", **HOLDOUT},
    "a threshold": {"target": "outcome", "threshold": {"cost": {"fp": 1, "fn": 9}}, **HOLDOUT},
    "three classes": {"target": "colour", "calibration": "sigmoid", **HOLDOUT},
    "folds of two classes": {"target": "outcome", **FOLDS},
    "folds of three classes": {"target": "colour", **FOLDS},
    "weights": {"target": "colour", "sample_weight": "weight", **HOLDOUT},
    "numbers as classes": {"target": "level", "task": "classification", **HOLDOUT},
    "two numbers as classes": {"target": "share", "task": "classification", **HOLDOUT},
}


def documented_function() -> Callable[..., dict[str, float]]:
    """Return the function that the page defines."""
    (program,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    namespace: dict[str, Any] = {"__name__": "metrics"}
    exec(program, namespace)
    function: Callable[..., dict[str, float]] = namespace["classification_metrics"]
    return function


def predictions_of(outcome: Outcome) -> pd.DataFrame:
    """Return the predictions that a training has written."""
    files = {file.name: file.path.read_bytes() for file in outcome.artifacts}
    return pd.read_parquet(io.BytesIO(files["predictions.parquet"]))


def test_the_page_defines_every_metric() -> None:
    """A reader finds each metric of the product in the table."""
    defined = re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (`.*?) \|", PAGE, re.MULTILINE)))
    assert sorted(defined) == sorted(metric.name for metric in METRICS)


@pytest.mark.parametrize("body", REQUESTS.values(), ids=REQUESTS.keys())
def test_the_program_computes_the_reported_metrics(body: Json, tmp_path: Path) -> None:
    """All metrics of a classification follow from its predictions alone, and these follow from their probabilities."""
    numbers = np.arange(300)
    frame = messy_table(300).assign(weight=numbers % 4, level=numbers % 3 + 0.5, share=numbers % 5 // 3 / 4)
    outcome = train(frame, folder=tmp_path, **body)
    metrics, decision = outcome.result["metrics"], outcome.result["decision"]
    predictions = predictions_of(outcome)
    compute = documented_function()

    computed = [compute(rows, outcome.result["model"]["positive_class"]) for _fold, rows in predictions.groupby("fold")]
    if "folds" in metrics:
        reported = {name: summary["values"] for name, summary in metrics["folds"].items()}
    else:
        reported = {name: [summary["value"]] for name, summary in metrics["holdout"].items()}
    assert {name: [values[name] for values in computed] for name in computed[0]} == {
        name: pytest.approx(values, rel=1e-9) for name, values in reported.items()
    }

    assert ("weight" in predictions) is ("sample_weight" in body)
    if "folds" in metrics:
        return
    classes = np.array(outcome.result["model"]["classes"])
    probabilities = predictions[[f"probability_{name}" for name in classes]].to_numpy()
    if decision["threshold"] is not None:
        codes = (probabilities[:, 1] >= decision["threshold"]).astype(int)
    else:
        codes = (probabilities * (decision["class_weights"] or 1)).argmax(axis=1)
    assert classes[codes].tolist() == predictions["prediction"].tolist()


@pytest.mark.parametrize(
    ("class_count", "codes"), [(2, [0, 0, 0]), (2, [1, 1, 1]), (3, [2, 2, 2]), (3, [0, 2, 2])], ids=str
)
@pytest.mark.parametrize("weights", [None, [1.0, 0.0, 2.0]], ids=["equal weights", "a weight of 0"])
@pytest.mark.filterwarnings("error")
def test_the_program_computes_the_metrics_of_test_rows_without_some_classes(
    class_count: int, codes: list[int], weights: list[float] | None
) -> None:
    """What is undefined for the product is undefined for the program, too, and nothing else is."""
    classes = np.array(["a", "b", "c"][:class_count])
    probabilities = np.array([[0.5, 0.3, 0.2], [0.1, 0.2, 0.7], [0.0, 0.4, 0.6]])[:, :class_count]
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    truth, predicted = np.array(codes), np.array([0, 1, 1])
    row_weights = None if weights is None else np.array(weights)
    predictions = Predictions(truth, predicted, class_count, probabilities, row_weights)

    rows = pd.DataFrame({"truth": classes[truth], "prediction": classes[predicted]})
    rows = rows.assign(**{f"probability_{name}": probabilities[:, code] for code, name in enumerate(classes)})
    if weights is not None:
        rows = rows.assign(weight=weights)
    computed = documented_function()(rows, "b")

    assert computed == pytest.approx({name: compute_metric(name, predictions) for name in computed}, nan_ok=True)


def test_the_metrics_of_a_regression_have_their_usual_definitions(tmp_path: Path) -> None:
    outcome = train(messy_table(300), "amount", tmp_path, **HOLDOUT)
    rows = predictions_of(outcome)
    reported = {name: summary["value"] for name, summary in outcome.result["metrics"]["holdout"].items()}
    functions = {
        "r2": r2_score,
        "rmse": root_mean_squared_error,
        "mae": mean_absolute_error,
        "median_ae": median_absolute_error,
    }
    assert reported == pytest.approx(
        {name: function(rows["truth"], rows["prediction"]) for name, function in functions.items()}
    )
