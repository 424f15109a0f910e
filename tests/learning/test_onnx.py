"""A model in ONNX predicts the same as the model itself, or the result says why there is none."""

import importlib.util
import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.tree import DecisionTreeClassifier

from tests.learning.small_tables import csv_file, messy_table, train
from touchstone.learning.artifacts.model_artifact import LoadedModel
from touchstone.learning.artifacts.onnx_delivery import OnnxDelivery, deliver_onnx
from touchstone.learning.artifacts.onnx_export import trees
from touchstone.learning.artifacts.onnx_export.model_file import convert_model, verify_file
from touchstone.learning.artifacts.onnx_export.unsupported import NotInOnnx
from touchstone.learning.boosting import build_lightgbm
from touchstone.learning.column_types import schema_to_dict
from touchstone.learning.preparation import build_preparation
from touchstone.learning.request_choices import Task
from touchstone.learning.table_reader import read_table
from touchstone.learning.target import Target, read_target
from touchstone.learning.time_budget import TimeBudget


def kernel_model(linear_model: Any) -> Pipeline:
    """Return a linear model of the columns and of similarities, as the algorithm `kernel` builds it."""
    similarities = Nystroem(n_components=20, random_state=0)
    features = FeatureUnion(
        [("columns", "passthrough"), ("similarities", similarities)], transformer_weights={"similarities": 3.0}
    )
    return Pipeline([("features", features), ("linear", linear_model)])


CLASSIFIERS = [
    LogisticRegression(),
    kernel_model(LogisticRegression()),
    DecisionTreeClassifier(max_depth=4),
    RandomForestClassifier(n_estimators=5),
    ExtraTreesClassifier(n_estimators=5),
    HistGradientBoostingClassifier(max_iter=5),
    build_lightgbm({"n_estimators": 5}, is_classification=True, seed=0),
    CalibratedClassifierCV(RandomForestClassifier(n_estimators=5), method="sigmoid", cv=2, ensemble=False),
    CalibratedClassifierCV(DecisionTreeClassifier(max_depth=3), method="isotonic", cv=2, ensemble=False),
    VotingClassifier(
        [("a", LogisticRegression()), ("b", DecisionTreeClassifier(max_depth=2))], voting="soft", weights=[0.3, 0.7]
    ),
]
REGRESSORS = [
    Ridge(),
    kernel_model(Ridge()),
    RandomForestRegressor(n_estimators=5),
    HistGradientBoostingRegressor(max_iter=5),
    build_lightgbm({"n_estimators": 5, "objective": "tweedie"}, is_classification=False, seed=0),
    VotingRegressor([("a", Ridge()), ("b", HistGradientBoostingRegressor(max_iter=5))]),
]


def table_with(target: str, rows: int = 200) -> tuple[pd.DataFrame, list[Any], Target]:
    """Return a table with missing numbers, dates of three centuries and categories, its features, and a target."""
    rng = np.random.default_rng(1)
    moments = pd.Timestamp("1890-02-27 22:00") + pd.to_timedelta(rng.integers(0, 2_000_000, rows), unit="h")
    frame = messy_table(rows).assign(
        score=rng.gamma(2.0, 10.0, rows), when=moments.to_series().where(rng.random(rows) > 0.1).to_numpy()
    )
    table = read_table(csv_file(frame.drop(columns=["id", "notes", "constant", "empty"])))
    columns = [column for name, column in table.columns.items() if name != target]
    task = Task.REGRESSION if target == "score" else Task.CLASSIFICATION
    return table.frame, columns, read_target(table, target, task, None, None)


def fit(estimator: Any, target: str, training_row_count: int = 150, **record: Any) -> tuple[LoadedModel, pd.DataFrame]:
    """Return a model that has learned from the first rows of a table, and all rows."""
    frame, columns, target_column = table_with(target)
    frame = frame.iloc[target_column.rows]
    features = frame[[column.name for column in columns]]
    pipeline = Pipeline([("prepare", build_preparation(columns, target_column, seed=0)), ("model", estimator)])
    pipeline.fit(features.iloc[:training_row_count], target_column.values[:training_row_count])
    model_record = {
        "target": target,
        "classes": list(target_column.classes),
        "features": [schema_to_dict(column) for column in columns],
        "decision": {"threshold": 0.4, "class_weights": []},
        "sha256": "",
    }
    return LoadedModel(pipeline, model_record | record), features


def deliver(model: LoadedModel, rows: pd.DataFrame, seconds: float = 60.0) -> OnnxDelivery:
    return deliver_onnx(model, rows, TimeBudget(seconds))


@pytest.mark.parametrize("target", ["outcome", "colour"])
@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=lambda estimator: type(estimator).__name__)
def test_classifiers_predict_the_same(estimator: Any, target: str) -> None:
    """Classes and probabilities agree, also for categories that were not among the rows that the model learned from."""
    model, rows = fit(estimator, target)
    content = convert_model(model)
    onnx.checker.check_model(content, full_check=True)
    verify_file(content, model, rows)
    assert convert_model(model) == content


@pytest.mark.parametrize("estimator", REGRESSORS, ids=lambda estimator: type(estimator).__name__)
def test_regressions_predict_the_same(estimator: Any) -> None:
    model, rows = fit(estimator, "score")
    content = convert_model(model)
    onnx.checker.check_model(content, full_check=True)
    verify_file(content, model, rows)


def test_a_class_that_was_not_learned_is_impossible_and_weights_decide() -> None:
    """The columns of the probabilities are those of all classes of the target, also of one that was never learned."""
    decision = {"threshold": 0.5, "class_weights": [1.0, 2.0, 3.0, 1.5]}
    model, rows = fit(DecisionTreeClassifier(max_depth=2), "colour", classes=["black", *"bgr"], decision=decision)
    model.estimator.classes_ = np.array([1, 2, 3])
    verify_file(convert_model(model), model, rows)


def test_training_delivers_a_verified_file(tmp_path: Path) -> None:
    """The file, the result and the card agree that the model exists in ONNX, and the file names the classes."""
    outcome = train(
        messy_table(120),
        "outcome",
        tmp_path,
        algorithms=["linear"],
        budget={"max_trials": 1},
        features={"include": ["amount", "colour"]},
    )
    assert outcome.result["onnx"]["written"]
    assert "model.onnx predicts the same" in (tmp_path / "model_card.md").read_text()

    file = onnx.load(tmp_path / "model.onnx")
    assert [port.name for port in file.graph.input] == ["amount", "colour"]
    assert [port.name for port in file.graph.output] == ["prediction", "probabilities"]
    properties = {entry.key: json.loads(entry.value) for entry in file.metadata_props}
    assert properties["classes"] == outcome.result["model"]["classes"]
    assert properties["target"] == "outcome"
    assert properties["kinds"] == {feature["name"]: feature["kind"] for feature in outcome.result["model"]["features"]}


def test_training_on_texts_says_why_there_is_no_file(tmp_path: Path) -> None:
    outcome = train(messy_table(120), "outcome", tmp_path, algorithms=["linear"], budget={"max_trials": 1})
    assert outcome.result["onnx"]["written"] is False
    assert outcome.result["onnx"]["reason"] == "text_column"
    assert "“notes”" in outcome.result["onnx"]["text"]["en"]
    assert "model.onnx" not in {file.name for file in outcome.artifacts}


def test_reasons_why_there_is_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that cannot be converted, a lack of time, of packages or of agreement each have a reason of their own."""
    model, rows = fit(RandomForestClassifier(n_estimators=5), "outcome")
    thresholds = {"columns": [], "by_group": {}, "default": 0.5}
    assert deliver(fit(KNeighborsClassifier(), "outcome")[0], rows).statement["reason"] == "model"
    assert deliver(LoadedModel(model.pipeline, model.record | {"group_thresholds": thresholds}), rows).statement[
        "reason"
    ] == ("group_thresholds")
    assert deliver(model, rows, seconds=1).statement["reason"] == "no_time"

    with monkeypatch.context() as patch:
        patch.setattr(trees, "MAX_NODES", 10)
        assert deliver(model, rows).statement["reason"] == "too_many_nodes"
    with monkeypatch.context() as patch:
        patch.setattr(importlib.util, "find_spec", lambda name: None)
        assert deliver(model, rows).statement["reason"] == "not_installed"


def test_a_file_that_predicts_otherwise_is_not_delivered() -> None:
    """The file is compared with the model row by row."""
    model, rows = fit(DecisionTreeClassifier(max_depth=4), "outcome")
    other_model, _rows = fit(DecisionTreeClassifier(max_depth=1), "outcome")
    with pytest.raises(NotInOnnx) as error_info:
        verify_file(convert_model(other_model), model, rows)
    assert error_info.value.reason == "differs"
