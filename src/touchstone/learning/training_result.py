"""The result of a training: the chosen model, its metrics, the leaderboard, charts and warnings."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from touchstone.learning import training_warnings
from touchstone.learning.algorithms import Trial, search_space
from touchstone.learning.charts import classification_charts, evaluation_charts
from touchstone.learning.charts.evaluation_charts import LearningCurvePoint
from touchstone.learning.choices import ALGORITHM_BY_NAME, METRIC_BY_NAME
from touchstone.learning.column_types import MISSING, ColumnKind, ColumnSchema
from touchstone.learning.evaluation import (
    Predictions,
    compute_metric,
    concatenate,
    finite_or_none,
    metric_sign,
    summarize_folds,
    summarize_holdout,
)
from touchstone.learning.experiment import Experiment, SearchResult
from touchstone.learning.group_metrics import group_metrics
from touchstone.learning.interfaces import Json
from touchstone.learning.localized_text import LocalizedText, localize
from touchstone.learning.model_search import EncodedFold, encode_fold, fit_trial, has_single_class, predict_fold
from touchstone.learning.preparation import exclusion_reason
from touchstone.learning.requests import chosen_features
from touchstone.learning.splits import Fold, held_out_positions
from touchstone.learning.table_profile import profile_table

MAX_LISTED_VALUES: Final = 200  # A form can only recognise a misspelt value if all values are listed.
LEARNING_CURVE_SHARES: Final = (0.15, 0.3, 0.6, 1.0)
LEARNING_CURVE_ROWS: Final = 20_000
MIN_LEARNING_CURVE_ROWS: Final = 10


def build_training_result(experiment: Experiment, search: SearchResult, declared: Mapping[str, Any]) -> Json:
    """Return the result of a training as the API documents it.

    `declared` holds the attributes that the dataset's record declares; the profile compares them with the measured
    ones.
    """
    predictions = concatenate([fold.predictions for fold in search.folds])
    metrics = _metrics(experiment, search)
    groups = _group_metrics(experiment, predictions)
    leaderboard = _leaderboard(experiment, search)
    roles = _column_roles(experiment)
    stopped_by = _stopped_by(experiment, search)

    charts = {
        **_quality_charts(experiment, search.best_trial, predictions),
        **_comparison_charts(experiment, leaderboard, groups),
    }
    warnings = [
        *training_warnings.data_warnings(experiment.table, experiment.target, experiment.request),
        *training_warnings.unseen_class_warnings(experiment.target, experiment.folds),
        *training_warnings.feature_warnings(experiment.data, roles),
        *training_warnings.result_warnings(metrics, groups, METRIC_BY_NAME[experiment.data.metric]),
        *training_warnings.budget_warnings(stopped_by),
    ]
    return {
        "model": _model(experiment, search.best_trial),
        "metrics": metrics,
        "leaderboard": leaderboard,
        "group_metrics": groups,
        "profile": profile_table(experiment.table, roles, declared, experiment.target.name),
        "charts": charts,
        "warnings": warnings,
        "stopped_by": stopped_by,
    }


def _metrics(experiment: Experiment, search: SearchResult) -> Json:
    """Return the metrics of the chosen model and of the baseline, both measured on the same test rows.

    They are summarised under `folds` after a cross-validation, and under `holdout` after a single split.
    """
    target = experiment.target
    metric = experiment.data.metric
    if experiment.is_cross_validated:
        return {
            "metric": metric,
            "folds": summarize_folds(target, [fold.predictions for fold in search.folds]),
            "baseline": summarize_folds(target, [fold.baseline_predictions for fold in search.folds]),
        }

    (fold,) = search.folds
    seed = experiment.request.seed
    return {
        "metric": metric,
        "holdout": summarize_holdout(target, fold.predictions, seed),
        "baseline": summarize_holdout(target, fold.baseline_predictions, seed),
    }


def _model(experiment: Experiment, trial: Trial) -> Json:
    """Describe the chosen model: its algorithm and settings, what it predicts, and from which columns."""
    target = experiment.target
    data = experiment.data
    return {
        "algorithm": trial.algorithm,
        "label": _algorithm_label(trial.algorithm),
        "settings": dict(trial.settings),
        "task": str(target.task),
        "target": target.name,
        "classes": list(target.classes),
        "positive_class": target.classes[1] if len(target.classes) == 2 else None,
        "balanced_classes": target.is_classification and data.options.balanced,
        "metric": data.metric,
        "features": [_feature(column, data.frame) for column in data.columns],
        "fitted_on": "all_rows" if experiment.is_cross_validated else "training_rows",
    }


def _feature(column: ColumnSchema, frame: pd.DataFrame) -> Json:
    """Describe a feature; a category of few different values also lists them, for forms to offer."""
    feature: Json = {"name": column.name, "kind": str(column.kind)}
    is_category = column.kind in (ColumnKind.CATEGORY, ColumnKind.BOOLEAN)
    if not is_category or column.distinct > MAX_LISTED_VALUES:
        return feature

    values = {str(cell) for cell in frame[column.name].unique() if cell != MISSING}
    return feature | {"values": sorted(values)}


def _algorithm_label(algorithm: str) -> LocalizedText:
    """Return the displayed name of an algorithm."""
    return localize(ALGORITHM_BY_NAME[algorithm].label)


def _metric_label(experiment: Experiment) -> LocalizedText:
    """Return the displayed name of the metric by which trials are compared."""
    return localize(METRIC_BY_NAME[experiment.data.metric].label)


def _leaderboard(experiment: Experiment, search: SearchResult) -> list[Json]:
    """Return every scored trial with its validation score, the best first.

    The trials did not learn from the validation rows, but these rows decided which trial won, so the scores are a
    little too good. The metrics of the result are measured on other rows.
    """
    mean_scores = search.scores.mean(axis=0)
    best_first = np.argsort(-metric_sign(experiment.data.metric) * mean_scores, kind="stable")

    entries = []
    for rank, position in enumerate(best_first.tolist(), start=1):
        trial = experiment.trials[position]
        entries.append(
            {
                "rank": rank,
                "algorithm": trial.algorithm,
                "label": _algorithm_label(trial.algorithm),
                "settings": dict(trial.settings),
                "score": _score_range(search.scores[:, position]),
            }
        )
    return entries


def _score_range(scores: npt.NDArray[np.float64]) -> Json:
    """Return the mean, the lowest and the highest of a trial's scores over the folds."""
    return {
        "mean": finite_or_none(float(scores.mean())),
        "low": finite_or_none(float(scores.min())),
        "high": finite_or_none(float(scores.max())),
    }


def _group_metrics(experiment: Experiment, predictions: Predictions) -> list[Json]:
    """Return the metrics of every group of the sensitive columns, measured on the test rows of all folds."""
    names = list(experiment.request.sensitive_features)
    columns = [experiment.table.columns[name] for name in names]

    test_rows = experiment.target.rows[held_out_positions(experiment.folds)]
    return group_metrics(columns, experiment.table.frame[names].iloc[test_rows], predictions)


def _column_roles(experiment: Experiment) -> dict[str, Json]:
    """Return the role of every column of the table as `{name: {role, reason}}`.

    A column is the `target`, a `feature`, `excluded` by the request, or `left_out` because nothing can be learned from
    it; only then there is a reason.
    """
    table = experiment.table
    feature_names = {column.name for column in experiment.data.columns}
    chosen_names = set(chosen_features(experiment.request, list(table.columns)))

    def role_of(name: str) -> Json:
        if name == experiment.target.name:
            return {"role": "target", "reason": None}
        if name in feature_names:
            return {"role": "feature", "reason": None}
        if name in chosen_names:
            return {"role": "left_out", "reason": exclusion_reason(table.columns[name], len(table.frame))}
        return {"role": "excluded", "reason": None}

    return {name: role_of(name) for name in table.columns}


def _quality_charts(experiment: Experiment, trial: Trial, predictions: Predictions) -> Json:
    """Return the charts that show how good the predictions on the test rows are; they depend on the task.

    The learning curve is included, for which models of the trial are fitted on fewer rows.
    """
    points = _learning_curve(experiment, trial)
    learning_curve = evaluation_charts.learning_curve_chart(points, _metric_label(experiment))

    if not experiment.target.is_classification:
        return {
            "predicted_actual": evaluation_charts.predicted_actual_chart(predictions),
            "residuals": evaluation_charts.residuals_chart(predictions),
            "learning_curve": learning_curve,
        }

    class_names = [str(label) for label in experiment.target.classes]
    return {
        "confusion": classification_charts.confusion_chart(predictions, class_names),
        "roc": classification_charts.roc_chart(predictions, class_names),
        "precision_recall": classification_charts.precision_recall_chart(predictions, class_names),
        "calibration": classification_charts.calibration_chart(predictions),
        "learning_curve": learning_curve,
    }


def _comparison_charts(experiment: Experiment, leaderboard: Sequence[Json], groups: Sequence[Json]) -> Json:
    """Return the charts that compare algorithms, and the groups of each sensitive column."""
    group_charts = {
        f"group_metrics_{number}": evaluation_charts.group_chart(column)
        for number, column in enumerate(groups, start=1)
    }
    return {
        "leaderboard": evaluation_charts.leaderboard_chart(leaderboard, _metric_label(experiment)),
        **group_charts,
    }


def _learning_curve(experiment: Experiment, trial: Trial) -> list[LearningCurvePoint]:
    """Refit a trial on growing shares of the first fold's training rows, and score each model on the test rows.

    A share whose rows all belong to one class is skipped, because nothing can be learned from it.
    """
    fold = experiment.folds[0]
    rng = np.random.default_rng(experiment.request.seed)
    shuffled_rows = rng.permutation(fold.train)[:LEARNING_CURVE_ROWS]

    points = []
    for share in LEARNING_CURVE_SHARES:
        row_count = max(MIN_LEARNING_CURVE_ROWS, int(share * len(shuffled_rows)))
        smaller_fold = Fold(train=np.sort(shuffled_rows[:row_count]), test=fold.test)
        if not has_single_class(experiment.target, smaller_fold):
            points.append(_learning_curve_point(experiment, trial, smaller_fold))
    return points


def _learning_curve_point(experiment: Experiment, trial: Trial, fold: Fold) -> LearningCurvePoint:
    """Fit a trial on the training rows of a fold, and score it on both its training and its test rows."""
    data = experiment.data
    encoded = encode_fold(data, fold)
    model = fit_trial(data, trial, encoded)

    training_rows_as_test = EncodedFold(
        preparation=encoded.preparation,
        train=encoded.train,
        test=encoded.train,
        fold=Fold(train=fold.train, test=fold.train),
    )
    return LearningCurvePoint(
        rows=len(fold.train),
        training_score=compute_metric(data.metric, predict_fold(data, model, training_rows_as_test)),
        test_score=compute_metric(data.metric, predict_fold(data, model, encoded)),
    )


def _stopped_by(experiment: Experiment, search: SearchResult) -> str:
    """Return why the search ended.

    It ran out of `time`, had tried the whole `space` of settings, or had reached the requested number of `trials`.
    """
    planned_trials = len(experiment.trials)
    if any(len(fold.validation_scores) < planned_trials for fold in search.folds):
        return "time"

    possible_trials = 0
    for algorithm in experiment.request.chosen_algorithms:
        space = search_space(
            algorithm,
            classification=experiment.target.is_classification,
            seed=experiment.request.seed,
        )
        possible_trials += len(space)
    return "space" if planned_trials == possible_trials else "trials"
