"""Training: from a request and a table to a measured model.

Each outer fold compares the same trials on inner folds of its training rows, fits the winner, which may be an average
of several trials, on all of its training rows, and measures it once on test rows that took no part in any choice. After
a holdout split the very model that was measured is stored, unless the request asks for a refit; after k folds the
trials that the folds have chosen are fitted on every row. The same request on the same file produces the same bytes,
unless the time ran out.
"""

import platform
from dataclasses import replace
from pathlib import Path
from typing import Final

import msgspec
import numpy as np
import sklearn
import skrub
from threadpoolctl import threadpool_limits

from touchstone.learning.algorithms import load_libraries
from touchstone.learning.artifacts.artifact_writer import FinishedTraining
from touchstone.learning.artifacts.intended_use import CardSources
from touchstone.learning.column_types import schema_to_dict
from touchstone.learning.experiment import Experiment, SearchResult, check_experiment, prepare_experiment
from touchstone.learning.fairness.mitigation import mitigate
from touchstone.learning.fitting_pool import open_fitting_pool
from touchstone.learning.learning_curve import learning_curve
from touchstone.learning.model_selection import PERCENT_AFTER_SEARCH, fit_stored_model, search_models
from touchstone.learning.observed_values import observed_values
from touchstone.learning.request_definitions import TrainingRequest
from touchstone.learning.splits.split_report import report_split
from touchstone.learning.table_reader import read_table
from touchstone.learning.target import Indices
from touchstone.learning.task_interface import DataFile, Json, Outcome, Phase, Report, to_builtins
from touchstone.learning.time_budget import TimeBudget, expected_finishing_seconds
from touchstone.learning.training_result import build_training_result
from touchstone.learning.trial_fitting import suppress_numeric_warnings

PERCENT_BEFORE_WRITING: Final = 95.0


def run_training(request: TrainingRequest, file: DataFile, *, scratch: Path, report: Report) -> Outcome:
    """Search for the best model for a table, measure it on rows it has not seen, and write it into `scratch`.

    Returns the result as the API documents it, and the files of the training: the model, its card, and what else is
    needed to use and to check it. Raises `LearningError` if the request does not fit the table.
    """
    budget = TimeBudget(request.budget.max_runtime_seconds)
    # One thread for each fit, because the order in which several threads add numbers up would change the model.
    with threadpool_limits(limits=1), suppress_numeric_warnings():
        report(0.0, Phase.READING, step=0, total_steps=1, message="reading_data")
        table = read_table(file)
        experiment = prepare_experiment(request, table)
        budget = replace(budget, finishing_seconds=_finishing_seconds(experiment))
        load_libraries(experiment.trials)

        with open_fitting_pool() as pool:
            search = mitigate(experiment, search_models(experiment, pool, budget, report), pool, budget)

            report(PERCENT_AFTER_SEARCH, Phase.EVALUATING, step=0, total_steps=1, message="measuring_model")
            curve = learning_curve(experiment, search, pool, budget)
            result = to_builtins(build_training_result(experiment, search, curve, file.declared, budget))
            pipeline = fit_stored_model(experiment, search, pool)

        report(PERCENT_BEFORE_WRITING, Phase.WRITING, step=0, total_steps=1, message="writing_artifacts")
        record = _model_record(experiment, search, result)
        sources = CardSources(file.dataset, file.project, stated_use=request.intended_use)
        finished = FinishedTraining(experiment, search, result, record, pipeline, budget, sources)
        return finished.write_files(scratch)


def preflight(request: TrainingRequest, file: DataFile) -> Json:
    """Check a training without learning, so that it can be refused before it is queued.

    Returns `{rows, columns, sha256}` of the table. Raises `LearningError` if the training would fail. A request waits
    for this, so groups are left to the training itself.
    """
    with suppress_numeric_warnings():
        table = read_table(file)
        check_experiment(request, table)
        return table.summary


def preview(request: TrainingRequest, file: DataFile) -> Json:
    """Check a training like `preflight`, and also decide how its rows would be divided, as the training itself would.

    Returns `{rows, columns, sha256, split}`. Raises `LearningError` if the training would fail.
    """
    with suppress_numeric_warnings():
        table = read_table(file)
        experiment = prepare_experiment(request, table)
        return table.summary | {"split": report_split(request.split, experiment.split)}


def _finishing_seconds(experiment: Experiment) -> float:
    """Return how long measuring, describing and writing the model takes on an idle core."""
    return expected_finishing_seconds(
        columns=len(experiment.data.columns),
        test_rows=sum(len(fold.test) for fold in experiment.folds),
        classes=len(experiment.target.classes),
    )


def _learned_rows(experiment: Experiment) -> Indices:
    """Return the rows from which the stored model has learned."""
    if experiment.learns_from_all_rows:
        return np.arange(len(experiment.target.values))
    return experiment.folds[0].train


def _model_record(experiment: Experiment, search: SearchResult, result: Json) -> Json:
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
        "positive_class": data.target.positive_class,
        "decision": search.decisions.rule.to_record(),
        "group_thresholds": search.group_thresholds.to_record() if search.group_thresholds else None,
        "calibration": str(search.decisions.calibrator.method),
        "sample_weight": request.sample_weight,
        "metric": data.metric,
        "algorithm": result["model"]["algorithm"],
        "settings": result["model"]["settings"],
        "members": result["model"]["members"],
        "balanced": data.target.is_classification and search.ensemble.is_balanced,
        "features": [schema_to_dict(column) for column in data.columns],
        "observed": observed_values(data.columns, data.frame.iloc[_learned_rows(experiment)]),
        "other_columns": [name for name in experiment.table.columns if name not in data.frame],
        "sensitive_features": list(request.sensitive_features),
        "split": msgspec.to_builtins(experiment.split.plan),
        "fitted_on": result["model"]["fitted_on"],
        "seed": request.seed,
        "sha256": experiment.table.sha256,
        "versions": versions,
    }
