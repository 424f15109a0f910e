"""The quality of trainings: the product and its alternatives on the same folds of the same tables."""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np
import pandas as pd
from scipy import stats
from sklearn.model_selection import KFold, StratifiedKFold

from benchmarks.learning.alternatives import ALTERNATIVES, Values, score
from benchmarks.learning.product import as_file, predict_table, train
from benchmarks.learning.tasks import BenchmarkTask

TOLERANCE: Final = {"balanced_accuracy": 0.015, "r2": 0.03}
PRODUCT: Final = "product"
MISSED: Final = "**missed**"


@dataclass(frozen=True)
class FoldScores:
    """The scores of all models on one fold, and the seconds that the product took."""

    scores: dict[str, float]
    seconds: float


class MeasuredFolds:
    """The folds that have been measured so far, kept in a file of JSON lines so that a run can be continued."""

    def __init__(self, path: Path | None) -> None:
        """Read the file if it exists. Without a path, nothing is kept."""
        self._path = path
        self._folds: dict[tuple[str, ...], FoldScores] = {}
        if path is None or not path.exists():
            return

        for line in path.read_text().splitlines():
            entry = json.loads(line)
            self._folds[tuple(entry["key"])] = FoldScores(entry["scores"], entry["seconds"])

    def get(self, key: tuple[str, ...]) -> FoldScores | None:
        """Return the scores of a fold, or None if it has not been measured."""
        return self._folds.get(key)

    def add(self, key: tuple[str, ...], fold: FoldScores) -> None:
        """Keep the scores of a fold."""
        self._folds[key] = fold
        if self._path is not None:
            with self._path.open("a") as file:
                print(json.dumps({"key": key, "scores": fold.scores, "seconds": fold.seconds}), file=file)


@dataclass
class TaskScores:
    """The scores of all models on the folds of one task, and the seconds that the product took for each fold."""

    task: BenchmarkTask
    folds: int
    scores: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in (PRODUCT, *ALTERNATIVES)})
    seconds: list[float] = field(default_factory=list)

    def add(self, fold: FoldScores) -> None:
        """Add the scores of one fold."""
        self.seconds.append(fold.seconds)
        for model, value in fold.scores.items():
            self.scores[model].append(value)

    def mean(self, model: str) -> float:
        """Return the mean score of a model."""
        return float(np.mean(self.scores[model]))

    @property
    def best_alternative(self) -> str:
        """The alternative with the best mean score on this task."""
        return max(ALTERNATIVES, key=self.mean)

    def paired_bounds(self, alternative: str) -> tuple[float, float]:
        """Return the paired 95 % bounds of the mean difference between the product and an alternative.

        They treat the folds as independent of each other.
        """
        return self._bounds(alternative, 1 / len(self.seconds))

    def corrected_bounds(self, alternative: str) -> tuple[float, float]:
        """Return bounds like `paired_bounds` that allow for the overlap of training rows between folds.

        The variance of the mean is enlarged by the ratio of test rows to training rows (Nadeau and Bengio 2003).
        """
        return self._bounds(alternative, 1 / len(self.seconds) + 1 / (self.folds - 1))

    def _bounds(self, alternative: str, variance_factor: float) -> tuple[float, float]:
        """Return 95 % bounds of the mean difference between the product and an alternative.

        Args:
            alternative: the name of the alternative.
            variance_factor: the ratio between the variances of the mean and of a single fold.
        """
        differences = np.array(self.scores[PRODUCT]) - np.array(self.scores[alternative])
        deviation = float(np.std(differences, ddof=1) * np.sqrt(variance_factor))
        margin = float(stats.t.ppf(0.975, len(differences) - 1)) * deviation
        return float(differences.mean()) - margin, float(differences.mean()) + margin


def compare_quality(tasks: Sequence[BenchmarkTask], measured_folds: MeasuredFolds, *, repeats: int, folds: int) -> bool:
    """Compare the product with its alternatives on every task, print a row for each, and return whether it passes.

    It passes if no alternative has a better mean over all tasks, and if on each task, the best alternative is better by
    no more than the tolerance. The row of a task also says whether a difference beyond the tolerance can be ruled out.
    """
    names = (PRODUCT, *ALTERNATIVES)
    print(f"| task | metric | {' | '.join(names)} | minus the best | paired bounds | corrected bounds | s | |")
    print(f"|---|---|{'---:|' * (len(names) + 4)}---|")

    all_scores = []
    for task in tasks:
        scores = _compare_task(task, measured_folds, repeats=repeats, folds=folds)
        all_scores.append(scores)
        _print_row(scores)

    means = {name: float(np.mean([scores.mean(name) for scores in all_scores])) for name in names}
    print(f"| mean | | {' | '.join(f'{mean:.4f}' for mean in means.values())} | | | | | |")
    is_best = all(means[PRODUCT] >= mean for mean in means.values())
    return is_best and all(_verdict(scores) != MISSED for scores in all_scores)


def _compare_task(task: BenchmarkTask, measured_folds: MeasuredFolds, *, repeats: int, folds: int) -> TaskScores:
    """Return the scores of every model on every fold of every repetition, and measure the missing ones."""
    table = task.read_table()
    task_scores = TaskScores(task, folds)
    values = table[task.target].to_numpy()
    splitter_class = StratifiedKFold if task.is_classification else KFold

    for repeat in range(repeats):
        splitter = splitter_class(folds, shuffle=True, random_state=repeat)
        splits = splitter.split(table, values.astype(str) if task.is_classification else values)
        for number, (train_rows, test_rows) in enumerate(splits):
            key = (task.path.parent.name, task.path.stem, task.target, f"repeat {repeat}", f"fold {number} of {folds}")
            fold = measured_folds.get(key)
            if fold is None:
                fold = _compare_fold(task, table.iloc[train_rows], table.iloc[test_rows])
                measured_folds.add(key, fold)
            task_scores.add(fold)
    return task_scores


def _compare_fold(task: BenchmarkTask, train_table: pd.DataFrame, test_table: pd.DataFrame) -> FoldScores:
    """Train every model on one table, and score it on another. FLAML has as much time as the product took."""
    truth: Values = test_table[task.target].to_numpy()

    started_at = time.perf_counter()
    _result, model = train(
        as_file(train_table),
        task.target,
        task="classification" if task.is_classification else "regression",
        refit=True,
    )
    seconds = time.perf_counter() - started_at
    predictions = predict_table(model, test_table.drop(columns=task.target))
    scores = {PRODUCT: score(truth, predictions, classification=task.is_classification)}

    features, test_features = train_table.drop(columns=task.target), test_table.drop(columns=task.target)
    values: Values = train_table[task.target].to_numpy()
    for name, fit_and_predict in ALTERNATIVES.items():
        predictions = fit_and_predict(features, values, test_features, task.is_classification, seconds)
        scores[name] = score(truth, predictions, classification=task.is_classification)
    return FoldScores(scores, seconds)


def _verdict(scores: TaskScores) -> str:
    """Return whether the product is worse than the best alternative by more than the tolerance, and how surely."""
    tolerance = TOLERANCE[scores.task.metric]
    best_alternative = scores.best_alternative
    if scores.mean(PRODUCT) - scores.mean(best_alternative) < -tolerance:
        return MISSED
    if scores.corrected_bounds(best_alternative)[0] >= -tolerance:
        return "pass"
    if scores.paired_bounds(best_alternative)[0] >= -tolerance:
        return "pass at the paired bound"
    return "pass on average, but at neither bound"


def _print_row(scores: TaskScores) -> None:
    """Print the mean scores of one task as a row of a Markdown table."""
    best_alternative = scores.best_alternative
    means = " | ".join(f"{scores.mean(name):.4f}" for name in scores.scores)
    difference = scores.mean(PRODUCT) - scores.mean(best_alternative)
    bounds = (scores.paired_bounds(best_alternative), scores.corrected_bounds(best_alternative))
    bounds_cells = " | ".join(f"{lower:+.4f} to {upper:+.4f}" for lower, upper in bounds)
    print(
        f"| {scores.task.path.stem} | {scores.task.metric} | {means} | {difference:+.4f} "
        f"| {bounds_cells} | {np.mean(scores.seconds):.1f} | {_verdict(scores)} |",
        flush=True,
    )
