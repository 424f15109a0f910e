"""The quality of trainings: the product and its alternatives on the same folds of the same tables."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import pandas as pd
from scipy.stats import t
from sklearn.model_selection import KFold, StratifiedKFold

from benchmarks.learning.alternatives import ALTERNATIVES, Values, score
from benchmarks.learning.product import as_file, predict_table, train
from benchmarks.learning.tasks import BenchmarkTask

TOLERANCE: Final = {"balanced_accuracy": 0.015, "r2": 0.03}
PRODUCT: Final = "product"


@dataclass
class TaskScores:
    """The scores of all models on the folds of one task, and the seconds that the product took for each fold."""

    task: BenchmarkTask
    folds: int
    scores: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in (PRODUCT, *ALTERNATIVES)})
    seconds: list[float] = field(default_factory=list)

    def mean(self, model: str) -> float:
        """Return the mean score of a model."""
        return float(np.mean(self.scores[model]))

    @property
    def best_alternative(self) -> str:
        """The alternative with the best mean score on this task."""
        return max(ALTERNATIVES, key=self.mean)

    def lower_bound(self, alternative: str) -> float:
        """Return the lower 95 % bound of the mean difference between the product and an alternative.

        The training rows of the folds overlap, for which the variance is enlarged (Nadeau and Bengio 2003).
        """
        differences = np.array(self.scores[PRODUCT]) - np.array(self.scores[alternative])
        test_share = 1 / (self.folds - 1)
        deviation = float(np.std(differences, ddof=1)) * np.sqrt(1 / len(differences) + test_share)
        return float(differences.mean() - t.ppf(0.975, len(differences) - 1) * deviation)


def compare_quality(tasks: Sequence[BenchmarkTask], *, repeats: int, folds: int) -> bool:
    """Compare the product with its alternatives on every task, print a row for each, and return whether it passes.

    It passes if its mean over all tasks is at least that of each alternative, and if it is nowhere worse than the best
    of them by more than the tolerance: not on average, and not when the bound of the difference is above it.
    """
    names = (PRODUCT, *ALTERNATIVES)
    print(f"| task | metric | {' | '.join(names)} | less the best | lower bound | s | |")
    print(f"|---|---|{'---:|' * (len(names) + 3)}---|")

    all_scores = []
    for task in tasks:
        scores = _compare_task(task, repeats=repeats, folds=folds)
        all_scores.append(scores)
        _print_row(scores)

    means = {name: float(np.mean([scores.mean(name) for scores in all_scores])) for name in names}
    print(f"| mean | | {' | '.join(f'{mean:.4f}' for mean in means.values())} | | | | |")
    is_best = all(means[PRODUCT] >= mean for mean in means.values())
    return is_best and all(_is_close_to_best(scores) for scores in all_scores)


def _compare_task(task: BenchmarkTask, *, repeats: int, folds: int) -> TaskScores:
    """Train and score every model on every fold of every repetition."""
    table = task.read_table()
    result = TaskScores(task, folds)
    values = table[task.target].to_numpy()
    splitter_class = StratifiedKFold if task.is_classification else KFold

    for repeat in range(repeats):
        splitter = splitter_class(folds, shuffle=True, random_state=repeat)
        for train_rows, test_rows in splitter.split(table, values.astype(str) if task.is_classification else values):
            _compare_fold(result, table.iloc[train_rows], table.iloc[test_rows])
    return result


def _compare_fold(result: TaskScores, train_table: pd.DataFrame, test_table: pd.DataFrame) -> None:
    """Train every model on one table, and score it on another; FLAML has as much time as the product took."""
    task = result.task
    truth: Values = test_table[task.target].to_numpy()

    started = time.perf_counter()
    _result, model = train(
        as_file(train_table),
        task.target,
        task="classification" if task.is_classification else "regression",
        refit=True,
    )
    seconds = time.perf_counter() - started
    result.seconds.append(seconds)
    predictions = predict_table(model, test_table.drop(columns=task.target))
    result.scores[PRODUCT].append(score(truth, predictions, classification=task.is_classification))

    features, test_features = train_table.drop(columns=task.target), test_table.drop(columns=task.target)
    values: Values = train_table[task.target].to_numpy()
    for name, fit_and_predict in ALTERNATIVES.items():
        predictions = fit_and_predict(features, values, test_features, task.is_classification, seconds)
        result.scores[name].append(score(truth, predictions, classification=task.is_classification))


def _is_close_to_best(scores: TaskScores) -> bool:
    """Return whether the product is certainly not worse than the best alternative by more than the tolerance."""
    return scores.lower_bound(scores.best_alternative) >= -TOLERANCE[scores.task.metric]


def _print_row(scores: TaskScores) -> None:
    """Print the mean scores of one task as a row of a Markdown table."""
    best = scores.best_alternative
    means = " | ".join(f"{scores.mean(name):.4f}" for name in scores.scores)
    difference = scores.mean(PRODUCT) - scores.mean(best)
    bound = scores.lower_bound(best)
    verdict = "pass" if _is_close_to_best(scores) else "**missed**"
    print(
        f"| {scores.task.path.stem} | {scores.task.metric} | {means} | {difference:+.4f} | {bound:+.4f} "
        f"| {np.mean(scores.seconds):.1f} | {verdict} |",
        flush=True,
    )
