"""Linear discriminant analysis, which is tried if classes are predicted from few rows."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from tests.learning.small_tables import explain, model_of, train
from touchstone.learning.algorithms import DISCRIMINANT_ANALYSIS, METHOD
from touchstone.learning.artifacts import model_artifact
from touchstone.learning.discriminant_analysis import (
    MAX_ENCODED_COLUMNS,
    build_discriminant_analysis,
    fit_discriminant_analysis,
)
from touchstone.learning.prediction import predict
from touchstone.learning.task_interface import Json


def flowers() -> pd.DataFrame:
    """Return the table of irises, whose classes a discriminant analysis tells apart better than other models."""
    data = load_iris()
    return pd.DataFrame(data.data, columns=["a", "b", "c", "d"]).assign(species=data.target_names[data.target])


def weighted_flowers() -> pd.DataFrame:
    """Return the table of irises with a column of weights."""
    table = flowers()
    return table.assign(weight=np.linspace(0.5, 1.5, len(table)))


def wide_flowers() -> pd.DataFrame:
    """Return the table of irises with many columns of noise."""
    noise = np.random.default_rng(0).normal(size=(150, MAX_ENCODED_COLUMNS))
    return flowers().join(pd.DataFrame(noise).add_prefix("noise_"))


def tries_discriminant_analysis(result: Json) -> bool:
    """Return whether a discriminant analysis is among the trials of a training."""
    return any(trial["settings"].get(METHOD) == DISCRIMINANT_ANALYSIS for trial in result["leaderboard"])


def test_irises_are_told_apart_by_a_discriminant_analysis(tmp_path: Path) -> None:
    """The stored model, its ONNX file and its explanation agree with scikit-learn."""
    table = flowers()
    options = {"algorithms": ["linear"], "budget": {"max_trials": 8}, "calibration": "none", "refit": True}
    outcome = train(table, "species", tmp_path, **options)
    result = outcome.result
    assert result["model"]["settings"] == {METHOD: DISCRIMINANT_ANALYSIS, "class_weight": "balanced"}
    assert result["onnx"]["written"]

    rows = table.drop(columns="species")
    instances = [dict(zip("abcd", row, strict=True)) for row in rows.iloc[:100].to_numpy().tolist()]
    predictions = predict(model_artifact.load(model_of(outcome)), instances)
    expected_model = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto", priors=[1 / 3] * 3)
    standardized_rows = (rows - rows.mean()) / rows.std(ddof=0)
    expected_model.fit(standardized_rows, table["species"])
    expected = expected_model.predict_proba(standardized_rows.iloc[:100])
    probabilities = [entry["probabilities"] for entry in predictions["predictions"]]
    np.testing.assert_allclose(probabilities, expected, atol=1e-6)

    explanation = explain(table, model_of(outcome), tmp_path, instances={"rows": [0, 70]})
    assert len(explanation["local"]) == 2
    petals_matter = [column["importance"]["matters"] for column in explanation["global"] if column["column"] in "cd"]
    assert petals_matter == [True, True]


@pytest.mark.parametrize(
    ("table", "target", "options", "is_tried"),
    [
        (flowers(), "species", {}, True),
        (flowers(), "d", {"task": "regression"}, False),
        (pd.concat([flowers()] * 2), "species", {}, False),
        (wide_flowers(), "species", {}, False),
        (weighted_flowers(), "species", {"sample_weight": "weight"}, False),
        (weighted_flowers(), "species", {"mitigation": "reweighing", "sensitive_features": ["weight"]}, False),
    ],
    ids=["classes", "numbers", "many rows", "many columns", "weighted rows", "reweighed groups"],
)
def test_it_is_tried_for_classes_of_few_unweighted_rows_and_columns(
    table: pd.DataFrame, target: str, options: Json, is_tried: bool, tmp_path: Path
) -> None:
    """It cannot weight rows, has no counterpart for numbers, and takes long for many columns."""
    result = train(table, target, tmp_path, algorithms=["linear"], budget={"max_trials": 8}, **options).result
    assert tries_discriminant_analysis(result) == is_tried


def test_balanced_classes_have_equal_prior_probabilities() -> None:
    """Classes that are missing among the rows are not counted."""
    rng = np.random.default_rng(0)
    matrix, values = rng.normal(size=(40, 2)), np.repeat([0, 2], [30, 10])
    balanced = fit_discriminant_analysis(build_discriminant_analysis(), matrix, values, is_balanced=True)
    assert balanced.priors_.tolist() == [0.5, 0.5]
    unbalanced = fit_discriminant_analysis(build_discriminant_analysis(), matrix, values, is_balanced=False)
    assert unbalanced.priors_.tolist() == [0.75, 0.25]
