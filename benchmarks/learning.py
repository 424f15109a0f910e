"""Training and explaining beside published references.

`python -m benchmarks.learning` trains the tasks of `tasks.json`, whose tables the demo catalog carries, with default
settings over five folds, and prints the mean score beside the best reference there less two of its standard
deviations, and the naive baseline; `--tables FOLDER` trains the tasks of `FOLDER/TASKS.json` instead. `--explain`
compares the explanation of 1 000 rows with the shap package on the same model, the same reference rows and the same
number of permutations.

A task names its file (with a folder: relative to that folder's parent); its rows are taken by the rule of the
references: those with a target, at most 6 000 of them (`sample(6000, random_state=0)`), classes under five dropped.
"""

import argparse
import io
import json
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np
import pandas as pd
import shap
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from benchmarks.bare_training import ignore_progress
from touchstone.demo.packaged_records import tables_folder
from touchstone.learning.explaining.explanation_context import prepare_explanation
from touchstone.learning.explaining.shapley_values import explain_row
from touchstone.learning.interfaces import DataFile, ModelFile
from touchstone.learning.model_artifact import load
from touchstone.learning.requests import ExplanationRequest, TrainingRequest
from touchstone.learning.table_reader import read_table
from touchstone.learning.training import run_training

MAX_ROWS: Final = 6_000
MIN_CLASS_ROWS: Final = 5
HARDLY_PREDICTABLE: Final = "fair.csv"  # its result is printed, but decides nothing
EXPLAINED_ROWS: Final = 1_000
EXPLAINED_COLUMNS: Final = 12
REFERENCE_ROWS: Final = 50
PERMUTATION_PAIRS: Final = 2  # shap takes each permutation together with its reverse


@dataclass(frozen=True)
class TaskResult:
    """The score that training reached on one task, and what it is compared with."""

    table_name: str
    metric: str
    score: float
    required_score: float
    best_reference: float
    baseline: float
    algorithm: str
    seconds: float

    @property
    def is_passed(self) -> bool:
        """Whether the score is high enough and better than the baseline."""
        return self.score >= self.required_score and self.score > self.baseline

    @property
    def is_required(self) -> bool:
        """Whether the result of the whole benchmark depends on this task."""
        return self.table_name != HARDLY_PREDICTABLE

    def print_row(self) -> None:
        """Print this result as a row of the table."""
        if self.is_passed:
            verdict = "pass"
        elif self.is_required:
            verdict = "MISSED"
        else:
            verdict = "(reported)"

        scores = f"{self.score:8.4f} {self.required_score:8.4f} {self.best_reference:8.4f} {self.baseline:8.4f}"
        print(
            f"{self.table_name:28} {self.metric:18} {scores} {self.seconds:6.1f}  {self.algorithm} {verdict}",
            flush=True,
        )


def read_task_table(task: dict[str, Any], folder: Path) -> DataFile:
    """Return the rows of a task that the references use, as a file of the same type as the task's own."""
    path = folder / task["file"]
    is_parquet = path.suffix == ".parquet"
    table = pd.read_parquet(path) if is_parquet else pd.read_csv(path)

    target = task["target"]
    table = table[table[target].notna()]
    if len(table) > MAX_ROWS:
        table = table.sample(MAX_ROWS, random_state=0)
    if task["task"] == "classification":
        class_counts = table[target].value_counts()
        frequent_classes = class_counts[class_counts >= MIN_CLASS_ROWS].index
        table = table[table[target].isin(frequent_classes)]

    buffer = io.BytesIO()
    if is_parquet:
        table.to_parquet(buffer, index=False)
    else:
        table.to_csv(buffer, index=False)
    return DataFile(buffer, path.suffix.lstrip("."))


def run_task(task: dict[str, Any], folder: Path) -> TaskResult:
    """Train a model for one task with default settings, and compare its score with the references."""
    file = read_task_table(task, folder)
    request_body = {
        "dataset_id": 1,
        "target": task["target"],
        "split": {"strategy": "kfold", "folds": 5},
        "features": {"exclude": task["drop"]},
    }
    request = msgspec.convert(request_body, TrainingRequest)

    started_at = time.perf_counter()
    with tempfile.TemporaryDirectory() as scratch:
        result = run_training(request, file, scratch=Path(scratch), report=ignore_progress).result
    seconds = time.perf_counter() - started_at

    metric = "balanced_accuracy" if task["task"] == "classification" else "r2"
    # Each reference is a mean over five folds and its standard deviation.
    best_mean, best_deviation = max(scores[metric] for scores in task["cv5"].values())
    return TaskResult(
        table_name=Path(task["file"]).name,
        metric=metric,
        score=result["metrics"]["folds"][metric]["mean"],
        required_score=best_mean - 2 * best_deviation,
        best_reference=best_mean,
        baseline=result["metrics"]["baseline"][metric]["mean"],
        algorithm=result["model"]["algorithm"],
        seconds=seconds,
    )


def run_tasks(tasks_file: Path, folder: Path, name_part: str) -> bool:
    """Run the tasks whose file names contain `name_part`, print a row for each, and return whether they pass."""
    print(f"{'table':28} {'metric':18} {'reached':>8} {'needed':>8} {'best':>8} {'naive':>8} {'s':>6}  model")

    all_passed = True
    for task in json.loads(tasks_file.read_text()):
        if name_part in task["file"]:
            result = run_task(task, folder)
            result.print_row()
            if result.is_required and not result.is_passed:
                all_passed = False
    return all_passed


def random_table(row_count: int, column_count: int, generator: np.random.Generator) -> pd.DataFrame:
    """Return a table of random features and a target `y`, which depends on three of them and on some noise."""
    features = generator.normal(size=(row_count, column_count))
    table = pd.DataFrame(features, columns=[f"x{index}" for index in range(column_count)])

    noise = generator.normal(scale=0.1, size=row_count)
    table["y"] = features[:, 0] * features[:, 1] + features[:, 2] + noise
    return table


def train_boosted_model(file: DataFile) -> ModelFile:
    """Return a gradient boosting model of the target `y`, trained once with default parameters."""
    request_body = {
        "dataset_id": 1,
        "target": "y",
        "algorithms": ["hist_gradient_boosting"],
        "budget": {"max_trials": 1},
    }
    request = msgspec.convert(request_body, TrainingRequest)

    with tempfile.TemporaryDirectory() as scratch:
        artifact = run_training(request, file, scratch=Path(scratch), report=ignore_progress).artifacts[0]
        content = artifact.path.read_bytes()
    return ModelFile(io.BytesIO(content), artifact.sha256)


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

    # Jobs work with a single thread; and threads that wait for one another would distort the times.
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


def main() -> None:
    """Compare explanations if asked to, run the tasks, and exit with 1 if one of them is not passed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=Path, help="folder with TASKS.json")
    parser.add_argument("--only", default="", help="only tasks whose file name contains this")
    parser.add_argument("--explain", action="store_true", help="compare explanations with the shap package")
    options = parser.parse_args()

    if options.explain:
        compare_explanations(EXPLAINED_ROWS, EXPLAINED_COLUMNS)

    if options.tables:
        tasks_file, folder = options.tables / "TASKS.json", options.tables.parent
    else:
        tasks_file, folder = Path(__file__).with_name("tasks.json"), tables_folder()
    all_passed = run_tasks(tasks_file, folder, name_part=options.only)
    sys.exit(0 if all_passed else 1)


if __name__ == "__main__":
    main()
