"""The program on the page about metrics computes what a training reports."""

import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.learning.small_tables import messy_table, train
from tools.make_reference import FOLDER
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
    frame = messy_table(300).assign(weight=np.arange(300) % 4)
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
