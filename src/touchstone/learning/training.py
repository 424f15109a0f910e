"""Training: from a request and a table to a measured model.

On each outer fold, the same trials are compared on inner folds of the training rows. The winner, which may be an
average of several trials, is fitted on all training rows and measured once on the test rows, which were not used for
any choice.

After a single split, the measured model is stored unless the request asks for a refit. After a cross-validation, the
trials chosen by the folds are fitted again on all rows. The same request on the same file produces identical bytes
unless the time runs out.
"""

import platform
from dataclasses import replace
from importlib import metadata
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
    """Search for the best model for a table, measure it on unseen rows, and write its files.

    Args:
        request: the training request.
        file: the data file.
        scratch: the folder for the files of the training.
        report: the callback for progress.

    Returns:
        the result as documented in the API, and the files: the model, its model card, and the files for using and
        verifying it.

    Raises:
        LearningError: the request does not fit the table.
    """
    budget = TimeBudget(request.budget.max_runtime_seconds)
    # Use one thread per fit, because the order in which several threads add numbers would change the model.
    with threadpool_limits(limits=1), suppress_numeric_warnings():
        report(0.0, Phase.READING, step=0, total_steps=1, message="reading_data")
        table = read_table(file)
        experiment = prepare_experiment(request, table)
        budget = replace(budget, finishing_seconds=_finishing_seconds(experiment))
        load_libraries(experiment.trials)

        with open_fitting_pool() as pool:
            search = mitigate(experiment, search_models(experiment, pool, budget, report), pool, budget)

            report(PERCENT_AFTER_SEARCH, Phase.EVALUATING, step=0, total_steps=1, message="measuring_model")
            result = to_builtins(build_training_result(experiment, search, pool, file.declared, budget))
            pipeline = fit_stored_model(experiment, search, pool)

        report(PERCENT_BEFORE_WRITING, Phase.WRITING, step=0, total_steps=1, message="writing_artifacts")
        record = _model_record(experiment, search, result)
        sources = CardSources(file.dataset, file.project, stated_use=request.intended_use)
        finished = FinishedTraining(experiment, search, result, record, pipeline, budget, sources)
        return finished.write_files(scratch)


def preflight(request: TrainingRequest, file: DataFile) -> Json:
    """Check a training without fitting models, so that it can be rejected before it is queued.

    An HTTP request waits for this check, so the slow detection of groups is left to the training itself.

    Returns:
        `{rows, columns, sha256}` of the table.

    Raises:
        LearningError: the training would fail.
    """
    with suppress_numeric_warnings():
        table = read_table(file)
        check_experiment(request, table)
        return table.summary


def preview(request: TrainingRequest, file: DataFile) -> Json:
    """Check a training like `preflight`, and also determine how it would divide the rows.

    Returns:
        `{rows, columns, sha256, split}`.

    Raises:
        LearningError: the training would fail.
    """
    with suppress_numeric_warnings():
        table = read_table(file)
        experiment = prepare_experiment(request, table)
        return table.summary | {"split": report_split(request.split, experiment.split)}


def _finishing_seconds(experiment: Experiment) -> float:
    """Estimate the time for measuring, describing and writing the model on an idle core."""
    return expected_finishing_seconds(
        columns=len(experiment.data.columns),
        test_rows=sum(len(fold.test) for fold in experiment.folds),
        classes=len(experiment.target.classes),
    )


def _learned_rows(experiment: Experiment) -> Indices:
    """Return the rows that the stored model has learned from. Rows of weight 0 have no influence on a model."""
    all_rows = np.arange(len(experiment.target.values))
    fitted_rows = all_rows if experiment.learns_from_all_rows else experiment.folds[0].train
    weights = experiment.data.weights
    return fitted_rows if weights is None else fitted_rows[weights[fitted_rows] > 0]


def _library_versions(model: Json) -> dict[str, str]:
    """Return the versions of the software that a model was trained with, by name."""
    versions = {
        "touchstone": metadata.version("touchstone"),
        "python": platform.python_version(),
        "scikit-learn": sklearn.__version__,
        "skrub": skrub.__version__,
        "numpy": np.__version__,
    }
    members = model.get("members") or []
    if "lightgbm" in {model["algorithm"], *(member["algorithm"] for member in members)}:
        versions["lightgbm"] = metadata.version("lightgbm")
    return versions


def _model_record(experiment: Experiment, search: SearchResult, result: Json) -> Json:
    """Return the record of a training that is stored inside the model file.

    Code that loads the file needs it to encode rows like the training, to name the predicted classes, and to
    distinguish training rows from test rows.
    """
    request = experiment.request
    data = experiment.data
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
        "versions": _library_versions(result["model"]),
    }
