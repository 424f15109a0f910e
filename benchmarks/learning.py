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
from typing import Any

import msgspec
import numpy as np
import pandas as pd
import shap
from threadpoolctl import threadpool_limits

from touchstone.demo import tables_folder
from touchstone.learning.explaining.explanation_context import prepare_explanation
from touchstone.learning.explaining.shapley_values import explain_row
from touchstone.learning.interfaces import DataFile, ModelFile
from touchstone.learning.model_artifact import load
from touchstone.learning.requests import ExplanationRequest, TrainingRequest
from touchstone.learning.table_reader import read_table
from touchstone.learning.training import run_training

ROWS = 6_000
FEWEST = 5
HARDLY_PREDICTABLE = "fair.csv"  # reported only


@dataclass(frozen=True)
class Line:
    """One task: what was reached beside what had to be."""

    name: str
    metric: str
    score: float
    needed: float
    best: float
    baseline: float
    algorithm: str
    seconds: float

    @property
    def passed(self) -> bool:
        """Whether the need is met and the baseline beaten."""
        return self.score >= self.needed and self.score > self.baseline


def table_of(task: dict[str, Any], folder: Path) -> tuple[io.BytesIO, str]:
    """The rows of a task as a file of the same type as its source."""
    path = folder / task["file"]
    frame = pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path)
    frame = frame[frame[task["target"]].notna()]
    frame = frame.sample(ROWS, random_state=0) if len(frame) > ROWS else frame
    if task["task"] == "classification":
        counts = frame[task["target"]].value_counts()
        frame = frame[frame[task["target"]].isin(counts[counts >= FEWEST].index)]
    buffer = io.BytesIO()
    frame.to_parquet(buffer, index=False) if path.suffix == ".parquet" else frame.to_csv(buffer, index=False)
    return buffer, path.suffix.lstrip(".")


def unheard(_percent: float, _phase: str, *, step: int, total_steps: int, message: str) -> None:
    """Nobody watches the progress here."""


def reached(task: dict[str, Any], folder: Path) -> Line:
    """Train one task with default settings, and compare."""
    buffer, kind = table_of(task, folder)
    body = {
        "dataset_id": 1,
        "target": task["target"],
        "split": {"strategy": "kfold", "folds": 5},
        "features": {"exclude": task["drop"]},
    }
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as scratch:
        order = msgspec.convert(body, TrainingRequest)
        result = run_training(order, DataFile(buffer, kind), scratch=Path(scratch), report=unheard).result
    metric = "balanced_accuracy" if task["task"] == "classification" else "r2"
    references = [figures[metric] for figures in task["cv5"].values()]
    best, spread = max(references)
    return Line(
        name=Path(task["file"]).name,
        metric=metric,
        score=result["metrics"]["folds"][metric]["mean"],
        needed=best - 2 * spread,
        best=best,
        baseline=result["metrics"]["baseline"][metric]["mean"],
        algorithm=result["model"]["algorithm"],
        seconds=time.perf_counter() - start,
    )


def print_tasks(tasks: Path, folder: Path, only: str) -> bool:
    """Print a line a task, its file in `folder`; whether all that count have passed."""
    good = True
    print(f"{'table':28} {'metric':18} {'reached':>8} {'needed':>8} {'best':>8} {'naive':>8} {'s':>6}  model")
    for task in json.loads(tasks.read_text()):
        if only not in task["file"]:
            continue
        line = reached(task, folder)
        counts = line.name != HARDLY_PREDICTABLE
        verdict = "pass" if line.passed else "MISSED" if counts else "(reported)"
        good &= line.passed or not counts
        figures = f"{line.score:8.4f} {line.needed:8.4f} {line.best:8.4f} {line.baseline:8.4f} {line.seconds:6.1f}"
        print(f"{line.name:28} {line.metric:18} {figures}  {line.algorithm} {verdict}", flush=True)
    return good


def print_explanations(rows: int, columns: int, pairs: int = 2) -> None:
    """Explain rows of a boosted model, ours beside shap's permutation explainer with the same settings."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(rows, columns))
    frame = pd.DataFrame(values, columns=[f"x{place}" for place in range(columns)])
    frame["y"] = values[:, 0] * values[:, 1] + values[:, 2] + rng.normal(scale=0.1, size=rows)
    buffer = io.BytesIO()
    frame.to_csv(buffer, index=False)
    body = {"dataset_id": 1, "target": "y", "algorithms": ["hist_gradient_boosting"], "budget": {"max_trials": 1}}
    with tempfile.TemporaryDirectory() as scratch:
        order = msgspec.convert(body, TrainingRequest)
        kept = run_training(order, DataFile(buffer, "csv"), scratch=Path(scratch), report=unheard).artifacts[0]
        data = kept.path.read_bytes()
    case = prepare_explanation(
        msgspec.convert({"job_id": "bench", "background": {"size": 50}}, ExplanationRequest),
        read_table(DataFile(buffer, "csv")),
        load(ModelFile(io.BytesIO(data), kept.sha256)),
    )
    matrix = case.explained.encode(frame.drop(columns="y"))
    threadpool_limits(limits=1)  # as a job works; and threads that wait for each other measure their neighbours
    start = time.perf_counter()
    own = np.array([explain_row(case.explained, row, rng, 2 * pairs * columns * 50).contributions for row in matrix])
    middle = time.perf_counter()
    masker = shap.maskers.Independent(case.explained.background, max_samples=50)
    explainer = shap.explainers.Permutation(case.explained.estimator.predict, masker, seed=0)
    evaluations = pairs * (2 * columns + 1)
    theirs = explainer(matrix, max_evals=evaluations, silent=True).values
    end = time.perf_counter()
    agreement = float(np.corrcoef(own.ravel(), theirs.ravel())[0, 1])
    print(f"{rows} rows, {columns} columns, 50 reference rows, {2 * pairs} permutations a row")
    print(f"ours {middle - start:.1f} s, shap {end - middle:.1f} s, correlation of the contributions {agreement:.4f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=Path, help="folder with TASKS.json")
    parser.add_argument("--only", default="", help="only tasks whose file name contains this")
    parser.add_argument("--explain", action="store_true", help="compare explanations with the shap package")
    asked = parser.parse_args()
    if asked.explain:
        print_explanations(rows=1_000, columns=12)
    carried = Path(__file__).with_name("tasks.json"), tables_folder()
    tasks, folder = (asked.tables / "TASKS.json", asked.tables.parent) if asked.tables else carried
    sys.exit(0 if print_tasks(tasks, folder, asked.only) else 1)


if __name__ == "__main__":
    main()
