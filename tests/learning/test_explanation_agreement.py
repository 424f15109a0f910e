"""Explanations agree with shap and scikit-learn where these compute the same thing."""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.inspection import partial_dependence, permutation_importance

from tests.learning.small_tables import explain, model_of, train
from tests.learning.test_explaining import context_of, step_table
from touchstone.learning.artifacts import model_artifact
from touchstone.learning.explaining.shapley_values import explain_row

with warnings.catch_warnings(action="ignore"):  # of the packages that shap imports
    import shap

COLUMNS = ["a", "b", "c"]


@pytest.mark.parametrize("algorithm", ["linear", "decision_tree", "hist_gradient_boosting"])
def test_contributions_are_those_of_shap(tmp_path: Path, algorithm: str) -> None:
    """Contributions and base value equal those of shap's exact explainer with the same background rows."""
    frame = step_table()
    outcome = train(frame, "y", tmp_path, algorithms=[algorithm], budget={"max_trials": 1})
    context = context_of(frame, model_of(outcome), background={"size": 20})
    rows = context.explained.encode(frame[COLUMNS].head(3))

    # Every column of this table is encoded as one number, so encoded columns are source columns.
    masker = shap.maskers.Independent(context.explained.background, max_samples=len(context.background))
    reference = shap.explainers.Exact(context.explained.value, masker)(rows)
    for row, values, base in zip(rows, reference.values, reference.base_values, strict=True):
        attribution = explain_row(context.explained, row, np.random.default_rng(0))
        assert attribution.contributions == pytest.approx(values, abs=1e-9)
        assert attribution.base == pytest.approx(base, abs=1e-9)


def test_partial_dependence_is_that_of_scikit_learn(tmp_path: Path) -> None:
    """The mean prediction at each value of a column equals scikit-learn's, computed by brute force."""
    frame = step_table()
    outcome = train(frame, "y", tmp_path, algorithms=["hist_gradient_boosting"], budget={"max_trials": 1})
    explanation = explain(frame, model_of(outcome), tmp_path, method="partial_dependence", scope="global")
    model = model_artifact.load(model_of(outcome))
    background = context_of(frame, model_of(outcome)).background

    for entry in explanation["global"]:
        name, dependence = entry["column"], entry["dependence"]
        grid = {name: np.array(dependence["values"])}
        reference = partial_dependence(model.pipeline, background, [name], custom_values=grid, method="brute")
        assert dependence["mean"] == pytest.approx(reference["average"][0], abs=1e-9)


def test_importance_is_that_of_scikit_learn(tmp_path: Path) -> None:
    """The loss of each permuted column is that of scikit-learn, as nearly as random permutations allow."""
    frame = step_table(400)
    outcome = train(frame, "y", tmp_path, algorithms=["hist_gradient_boosting"], budget={"max_trials": 1})
    explanation = explain(frame, model_of(outcome), tmp_path, method="permutation_importance")
    context = context_of(frame, model_of(outcome))

    pipeline = model_artifact.load(model_of(outcome)).pipeline
    test_rows: pd.DataFrame = context.test_frame
    reference = permutation_importance(
        pipeline, test_rows, context.test_truth.values, scoring="r2", n_repeats=30, random_state=0
    )
    for entry in explanation["global"]:
        position = context.names.index(entry["column"])
        spread = 3 * reference.importances_std[position] + 1e-9
        assert entry["importance"]["mean"] == pytest.approx(reference.importances_mean[position], abs=spread)
