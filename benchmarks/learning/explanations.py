"""Explanations compared with the shap package, for the same model, reference rows and number of permutations."""

import io
import time
from typing import Any, Final

import msgspec
import numpy as np
import pandas as pd
import shap
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from benchmarks.learning.product import train
from touchstone.learning.artifacts.model_artifact import load
from touchstone.learning.explaining.explanation_context import prepare_explanation
from touchstone.learning.explaining.shapley_values import explain_row
from touchstone.learning.request_definitions import ExplanationRequest
from touchstone.learning.table_reader import read_table
from touchstone.learning.task_interface import DataFile, ModelFile

EXPLAINED_ROWS: Final = 1_000
EXPLAINED_COLUMNS: Final = 12
REFERENCE_ROWS: Final = 50
PERMUTATION_PAIRS: Final = 2  # shap takes each permutation together with its reverse


def random_table(row_count: int, column_count: int, generator: np.random.Generator) -> pd.DataFrame:
    """Return a table of random features and a target `y`, which depends on three of them and on some noise."""
    features = generator.normal(size=(row_count, column_count))
    table = pd.DataFrame(features, columns=[f"x{index}" for index in range(column_count)])

    noise = generator.normal(scale=0.1, size=row_count)
    table["y"] = features[:, 0] * features[:, 1] + features[:, 2] + noise
    return table


def train_boosted_model(file: DataFile) -> ModelFile:
    """Return a gradient boosting model of the target `y`, trained once with default parameters."""
    _result, model = train(file, "y", algorithms=["hist_gradient_boosting"], budget={"max_trials": 1})
    return model


def compare_explanations(row_count: int, column_count: int) -> None:
    """Explain every row of a table with our code and with shap, and print the times and how well they agree.

    Both explain the same model with the same reference rows and the same number of permutations.
    """
    generator = np.random.default_rng(0)
    table = random_table(row_count, column_count, generator)
    buffer = io.BytesIO()
    table.to_csv(buffer, index=False)
    file = DataFile(buffer, "csv")

    explanation_request = {"job_id": "bench", "background": {"size": REFERENCE_ROWS}}
    context = prepare_explanation(
        msgspec.convert(explanation_request, ExplanationRequest), read_table(file), load(train_boosted_model(file))
    )
    rows = context.explained.encode(table.drop(columns="y"))

    # Jobs use a single thread, and threads that wait for one another would distort the times.
    threadpool_limits(limits=1)
    evaluations = 2 * PERMUTATION_PAIRS * column_count * REFERENCE_ROWS
    started_at = time.perf_counter()
    our_values = np.array([explain_row(context.explained, row, generator, evaluations).contributions for row in rows])
    our_seconds = time.perf_counter() - started_at

    started_at = time.perf_counter()
    shap_values = explain_with_shap(context.explained, rows)
    shap_seconds = time.perf_counter() - started_at

    correlation = float(np.corrcoef(our_values.ravel(), shap_values.ravel())[0, 1])
    permutations = 2 * PERMUTATION_PAIRS
    print(
        f"{row_count} rows, {column_count} columns, {REFERENCE_ROWS} reference rows, {permutations} permutations a row"
    )
    print(f"ours {our_seconds:.1f} s, shap {shap_seconds:.1f} s, correlation of the contributions {correlation:.4f}")


def explain_with_shap(explained: Any, rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the contributions of every column to the prediction of every row, as the shap package computes them."""
    masker = shap.maskers.Independent(explained.background, max_samples=REFERENCE_ROWS)
    explainer = shap.explainers.Permutation(explained.estimator.predict, masker, seed=0)

    evaluations = PERMUTATION_PAIRS * (2 * rows.shape[1] + 1)
    values: NDArray[np.float64] = explainer(rows, max_evals=evaluations, silent=True).values
    return values
