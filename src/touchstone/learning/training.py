"""Training: from a request and a table to a measured model.

Each outer fold compares the same trials on inner folds of its training rows, fits the winner on all of its training
rows, and measures it once on test rows that took no part in any choice. The model that is stored belongs to the trial
with the best mean validation score: after a holdout split it is the very model that was measured, after k folds it is
refitted on every row. One thread and one seed make the same request on the same file produce the same bytes.
"""

import platform
import time
from pathlib import Path
from typing import Final

import msgspec
import numpy as np
import sklearn
import skrub
from sklearn.pipeline import Pipeline
from threadpoolctl import threadpool_limits

from touchstone.learning import model_artifact
from touchstone.learning.algorithms import BASELINE
from touchstone.learning.column_types import schema_to_dict
from touchstone.learning.experiment import Experiment, FoldResult, SearchResult, prepare_experiment
from touchstone.learning.interfaces import DataFile, Json, Outcome, Phase, Report, to_builtins
from touchstone.learning.model_card import model_card
from touchstone.learning.model_search import (
    best_position,
    encode_fold,
    fit_trial,
    predict_fold,
    score_trials,
    suppress_numeric_warnings,
)
from touchstone.learning.requests import TrainingRequest
from touchstone.learning.splits import Fold, inner_folds
from touchstone.learning.table_reader import read_table
from touchstone.learning.training_result import build_training_result

SEARCH_ROWS: Final = 20_000  # Trials are compared on at most so many rows; the winner learns from all of them.
SEARCH_START: Final = 5.0  # Percentages of the progress between which the search runs.
SEARCH_END: Final = 85.0


def run_training(request: TrainingRequest, file: DataFile, *, scratch: Path, report: Report) -> Outcome:
    """Search for the best model, measure it, and write it into `scratch`.

    The result holds `model, metrics {holdout|folds, baseline}, leaderboard, group_metrics, profile, charts, warnings,
    stopped_by`; the artifacts are `model.skops` and `model_card.md`. Raises `LearningError`.
    """
    with threadpool_limits(limits=1), suppress_numeric_warnings():
        report(0.0, Phase.READING, step=0, total_steps=1, message="reading_data")
        experiment = prepare_experiment(request, read_table(file))

        search = _search(experiment, report)

        report(SEARCH_END, Phase.EVALUATING, step=0, total_steps=1, message="measuring_model")
        result = to_builtins(build_training_result(experiment, search, file.declared))
        pipeline = _final_pipeline(experiment, search)

        report(95.0, Phase.WRITING, step=0, total_steps=1, message="writing_artifacts")
        return _write_artifacts(experiment, result, pipeline, scratch)


def preflight(request: TrainingRequest, file: DataFile) -> Json:
    """Check a training as far as possible without learning, and return `{rows, columns, sha256}` of its table.

    Raises `LearningError`.
    """
    with suppress_numeric_warnings():
        table = read_table(file)
        prepare_experiment(request, table)
        return table.summary


class _SearchProgress:
    """Reports each scored trial as a step of the whole search."""

    def __init__(self, report: Report, total_steps: int) -> None:
        self._report = report
        self._total_steps = total_steps
        self._step = 0

    def advance(self) -> None:
        """Report one more step."""
        self._step += 1
        percent = SEARCH_START + (SEARCH_END - SEARCH_START) * self._step / self._total_steps
        self._report(
            percent, Phase.SEARCHING, step=self._step, total_steps=self._total_steps, message="searching_models"
        )

    def skip_to(self, step: int) -> None:
        """Count the trials that a fold had no time for as done."""
        self._step = step


def _search(experiment: Experiment, report: Report) -> SearchResult:
    """Compare the trials on every outer fold; each fold gets an equal share of the time."""
    started = time.monotonic()
    fold_count = len(experiment.folds)
    trial_count = len(experiment.trials)
    progress = _SearchProgress(report, total_steps=trial_count * fold_count)

    results = []
    for number, fold in enumerate(experiment.folds, start=1):
        deadline = started + experiment.request.budget.max_runtime_seconds * number / fold_count
        results.append(_search_fold(experiment, fold, deadline, progress))
        progress.skip_to(number * trial_count)
    return SearchResult.from_folds(experiment, results)


def _search_fold(experiment: Experiment, fold: Fold, deadline: float, progress: _SearchProgress) -> FoldResult:
    """Choose the best trial on inner folds, and measure it beside the baseline on the test rows."""
    data = experiment.data
    scores = score_trials(
        data,
        experiment.trials,
        inner_folds(data.target, fold.train, experiment.times, seed=experiment.request.seed, limit=SEARCH_ROWS),
        deadline=deadline,
        on_trial_scored=progress.advance,
    )
    winner = experiment.trials[best_position(data.metric, scores)]

    encoded = encode_fold(data, fold)
    model = fit_trial(data, winner, encoded)
    baseline = fit_trial(data, BASELINE, encoded)
    return FoldResult(
        validation_scores=tuple(scores),
        predictions=predict_fold(data, model, encoded),
        baseline_predictions=predict_fold(data, baseline, encoded),
        pipeline=Pipeline([("prepare", encoded.preparation), ("model", model)]),
    )


def _final_pipeline(experiment: Experiment, search: SearchResult) -> Pipeline:
    """Return the model to store, as a pipeline that takes source columns."""
    if not experiment.is_cross_validated:
        return search.folds[0].pipeline
    every_row = np.arange(len(experiment.target.values))
    encoded = encode_fold(experiment.data, Fold(train=every_row, test=every_row[:1]))
    model = fit_trial(experiment.data, search.best_trial, encoded)
    return Pipeline([("prepare", encoded.preparation), ("model", model)])


def _write_artifacts(experiment: Experiment, result: Json, pipeline: Pipeline, scratch: Path) -> Outcome:
    record = _model_record(experiment, result)
    model = model_artifact.write_artifact(scratch, "model.skops", model_artifact.dump(pipeline, record))
    card = model_artifact.write_artifact(scratch, "model_card.md", model_card(result, record).encode())

    stored_model = result["model"] | {"artifact": model.name, "sha256": model.sha256}
    return Outcome(result | {"model": stored_model}, (model, card))


def _model_record(experiment: Experiment, result: Json) -> Json:
    """Return what is stored inside the model file, so that it can predict and be explained later."""
    request = experiment.request
    data = experiment.data
    return {
        "target": request.target,
        "task": str(data.target.task),
        "classes": list(data.target.classes),
        "metric": data.metric,
        "algorithm": result["model"]["algorithm"],
        "settings": result["model"]["settings"],
        "balanced": data.options.balanced,
        "features": [schema_to_dict(column) for column in data.columns],
        "other_columns": [name for name in experiment.table.columns if name not in data.frame],
        "sensitive_features": list(request.sensitive_features),
        "split": msgspec.to_builtins(request.split),
        "seed": request.seed,
        "sha256": experiment.table.sha256,
        "versions": {
            "python": platform.python_version(),
            "scikit-learn": sklearn.__version__,
            "skrub": skrub.__version__,
            "numpy": np.__version__,
        },
    }
