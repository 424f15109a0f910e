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
from touchstone.learning.interfaces import DataFile, Json, Outcome, Phase, Report, StepwiseProgress, to_builtins
from touchstone.learning.model_card import model_card
from touchstone.learning.model_search import (
    best_position,
    encode_fold,
    fit_trial,
    predict_fold,
    score_trials,
    suppress_numeric_warnings,
)
from touchstone.learning.observed_values import observed_values
from touchstone.learning.requests import TrainingRequest
from touchstone.learning.splits.folds import Fold, inner_folds
from touchstone.learning.splits.split_report import report_split
from touchstone.learning.table_reader import read_table
from touchstone.learning.target import Indices
from touchstone.learning.training_result import build_training_result

SEARCH_ROWS: Final = 20_000  # Trials are compared on at most this many rows; the winner learns from all of them.
PERCENT_BEFORE_SEARCH: Final = 5.0
PERCENT_AFTER_SEARCH: Final = 85.0
PERCENT_BEFORE_WRITING: Final = 95.0


def run_training(request: TrainingRequest, file: DataFile, *, scratch: Path, report: Report) -> Outcome:
    """Search for the best model for a table, measure it on rows it has not seen, and write it into `scratch`.

    Returns the result as the API documents it, and two files: the model (`model.skops`) and its description
    (`model_card.md`). Raises `LearningError` if the request does not fit the table.
    """
    # One thread, because the order in which several threads add numbers up would change the model.
    with threadpool_limits(limits=1), suppress_numeric_warnings():
        report(0.0, Phase.READING, step=0, total_steps=1, message="reading_data")
        table = read_table(file)
        experiment = prepare_experiment(request, table)

        search = _search(experiment, report)

        report(PERCENT_AFTER_SEARCH, Phase.EVALUATING, step=0, total_steps=1, message="measuring_model")
        result = to_builtins(build_training_result(experiment, search, file.declared))
        pipeline = _final_pipeline(experiment, search)

        report(PERCENT_BEFORE_WRITING, Phase.WRITING, step=0, total_steps=1, message="writing_artifacts")
        return _write_artifacts(experiment, result, pipeline, scratch)


def preflight(request: TrainingRequest, file: DataFile) -> Json:
    """Check a training as far as possible without learning, so that it can be refused before it is queued.

    Returns `{rows, columns, sha256}` of the table, and how its rows would be divided (`split`). Raises `LearningError`
    if the training would fail.
    """
    with suppress_numeric_warnings():
        table = read_table(file)
        experiment = prepare_experiment(request, table)
        return table.summary | {"split": report_split(request.split, experiment.split)}


class _TrialCounter:
    """A count of the trials that all folds together have scored, which reports each one as progress."""

    def __init__(self, progress: StepwiseProgress) -> None:
        self._progress = progress
        self._trials = 0

    def count_trial(self) -> None:
        """Count and report one more trial."""
        self._trials += 1
        self._progress.report_step(self._trials)

    def skip_to(self, trials: int) -> None:
        """Count the trials that a fold had no time for as done."""
        self._trials = trials


def _search(experiment: Experiment, report: Report) -> SearchResult:
    """Compare the trials on every outer fold, and report progress after each trial.

    Each fold may use an equal part of the time budget. A fold that runs out of time skips its remaining trials.
    """
    request = experiment.request
    fold_count = len(experiment.folds)
    trial_count = len(experiment.trials)
    progress = StepwiseProgress(
        report,
        Phase.SEARCHING,
        message="searching_models",
        start_percent=PERCENT_BEFORE_SEARCH,
        end_percent=PERCENT_AFTER_SEARCH,
        total_steps=trial_count * fold_count,
    )
    counter = _TrialCounter(progress)

    started = time.monotonic()
    seconds_per_fold = request.budget.max_runtime_seconds / fold_count
    results = []
    for folds_to_finish, fold in enumerate(experiment.folds, start=1):
        deadline = started + folds_to_finish * seconds_per_fold
        results.append(_search_fold(experiment, fold, deadline, counter))
        counter.skip_to(folds_to_finish * trial_count)
    return SearchResult.from_folds(experiment, results)


def _search_fold(experiment: Experiment, fold: Fold, deadline: float, counter: _TrialCounter) -> FoldResult:
    """Choose the best trial for the training rows of an outer fold, and measure it on the test rows.

    The trials are compared on a further division of the training rows. The test rows take no part in the choice, so
    they show how well the chosen model does on rows that it has never met.
    """
    data = experiment.data

    # Choose the best trial.
    validation_folds = inner_folds(experiment.rule, fold.train, limit=SEARCH_ROWS)
    scores = score_trials(
        data, experiment.trials, validation_folds, deadline=deadline, on_trial_scored=counter.count_trial
    )
    best_trial = experiment.trials[best_position(data.metric, scores)]

    # Measure it beside the baseline, which ignores all features.
    encoded = encode_fold(data, fold)
    model = fit_trial(data, best_trial, encoded)
    baseline = fit_trial(data, BASELINE, encoded)
    return FoldResult(
        validation_scores=tuple(scores),
        predictions=predict_fold(data, model, encoded),
        baseline_predictions=predict_fold(data, baseline, encoded),
        pipeline=Pipeline([("prepare", encoded.preparation), ("model", model)]),
    )


def _final_pipeline(experiment: Experiment, search: SearchResult) -> Pipeline:
    """Return the model to store, as a pipeline that takes the columns of the table.

    After a single split this is the very model that was measured. After a cross-validation, in which each fold has its
    own model, the best trial is fitted once more on all rows.
    """
    if not experiment.is_cross_validated:
        return search.folds[0].pipeline

    every_row = np.arange(len(experiment.target.values))
    first_row = every_row[:1]  # Nothing is tested here, but the encoder does not accept an empty fold.
    encoded = encode_fold(experiment.data, Fold(train=every_row, test=first_row))
    model = fit_trial(experiment.data, search.best_trial, encoded)
    return Pipeline([("prepare", encoded.preparation), ("model", model)])


def _learned_rows(experiment: Experiment) -> Indices:
    """Return the rows from which the stored model has learned."""
    if experiment.is_cross_validated:
        return np.arange(len(experiment.target.values))
    return experiment.folds[0].train


def _write_artifacts(experiment: Experiment, result: Json, pipeline: Pipeline, scratch: Path) -> Outcome:
    """Write the model and its card into `scratch`, and add the digest of the model to the result."""
    record = _model_record(experiment, result)
    model = model_artifact.write_artifact(scratch, "model.skops", model_artifact.dump(pipeline, record))
    card = model_artifact.write_artifact(scratch, "model_card.md", model_card(result, record).encode())

    stored_model = result["model"] | {"artifact": model.name, "sha256": model.sha256}
    return Outcome(result | {"model": stored_model}, (model, card))


def _model_record(experiment: Experiment, result: Json) -> Json:
    """Describe a training in JSON values, to be stored inside the model file.

    Whoever loads the file later needs this record to encode rows as the training did, to name the predicted classes,
    and to tell training rows from test rows.
    """
    request = experiment.request
    data = experiment.data
    versions = {
        "python": platform.python_version(),
        "scikit-learn": sklearn.__version__,
        "skrub": skrub.__version__,
        "numpy": np.__version__,
    }
    return {
        "target": request.target,
        "task": str(data.target.task),
        "classes": list(data.target.classes),
        "metric": data.metric,
        "algorithm": result["model"]["algorithm"],
        "settings": result["model"]["settings"],
        "balanced": data.options.balanced,
        "features": [schema_to_dict(column) for column in data.columns],
        "observed": observed_values(data.columns, data.frame.iloc[_learned_rows(experiment)]),
        "other_columns": [name for name in experiment.table.columns if name not in data.frame],
        "sensitive_features": list(request.sensitive_features),
        "split": msgspec.to_builtins(experiment.split.plan),
        "seed": request.seed,
        "sha256": experiment.table.sha256,
        "versions": versions,
    }
