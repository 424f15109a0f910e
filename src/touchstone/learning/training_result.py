"""The result of a training: the chosen model, its metrics, the leaderboard, charts and warnings."""

from collections.abc import Mapping, Sequence
from operator import itemgetter
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
    summarize_folds,
    summarize_holdout,
)
from touchstone.learning.experiment import Experiment, SearchResult
from touchstone.learning.group_metrics import group_metrics
from touchstone.learning.interfaces import Json
from touchstone.learning.leakage.leakage_warnings import leakage_warnings
from touchstone.learning.localized_text import LocalizedText, localize
from touchstone.learning.model_search import encode_fold, fit_trial, has_single_class, predict_rows
from touchstone.learning.preparation import exclusion_reason
from touchstone.learning.requests import chosen_features
from touchstone.learning.splits.folds import Fold, held_out_positions
from touchstone.learning.splits.split_decision import GROUP_COLUMN_REASON
from touchstone.learning.splits.split_effect import measure_split_effect
from touchstone.learning.splits.split_report import report_split
from touchstone.learning.splits.split_warnings import split_warnings
from touchstone.learning.table_profile import profile_table

MAX_LISTED_VALUES: Final = 200  # A form can only recognise a misspelt value if all values are listed.
LEARNING_CURVE_SHARES: Final = (0.15, 0.3, 0.6, 1.0)
LEARNING_CURVE_ROWS: Final = 20_000
MIN_LEARNING_CURVE_ROWS: Final = 10


def build_training_result(experiment: Experiment, search: SearchResult, declared: Mapping[str, Any]) -> Json:
    """Return the result of a training as the API documents it.

    `declared` holds the attributes that the author of the dataset states, such as its number of rows; the profile
    compares them with the measured ones.
    """
    # Measure the model on the test rows of all folds.
    predictions = concatenate([fold.predictions for fold in search.folds])
    metrics = _metrics(experiment, search)
    groups = _group_metrics(experiment, predictions)

    # Describe how the model was chosen, and from which columns.
    leaderboard = _leaderboard(experiment, search)
    stopped_by = _stopped_by(experiment, search)
    roles = _column_roles(experiment)
    profile = profile_table(experiment.table, roles, declared, experiment.target.name)

    # Say how the rows were divided, and what another split would have promised.
    effect = measure_split_effect(experiment, search.best_trial, _main_score(metrics))
    split = report_split(experiment.request.split, experiment.split, effect)

    # Illustrate these numbers, and warn of what makes them doubtful.
    quality_charts = _quality_charts(experiment, search.best_trial, predictions)
    comparison_charts = _comparison_charts(experiment, leaderboard, groups)
    warnings = [
        *training_warnings.data_warnings(experiment.table, experiment.target),
        *training_warnings.unseen_class_warnings(experiment.target, experiment.folds),
        *training_warnings.feature_warnings(roles),
        *split_warnings(experiment.split, effect),
        *leakage_warnings(experiment.data, experiment.rule, predictions),
        *training_warnings.result_warnings(metrics, groups, METRIC_BY_NAME[experiment.data.metric]),
        *training_warnings.budget_warnings(stopped_by),
    ]

    return {
        "model": _model(experiment, search.best_trial),
        "split": split,
        "metrics": metrics,
        "leaderboard": leaderboard,
        "group_metrics": groups,
        "profile": profile,
        "charts": quality_charts | comparison_charts,
        "warnings": warnings,
        "stopped_by": stopped_by,
    }


def _metrics(experiment: Experiment, search: SearchResult) -> Json:
    """Return the metrics of the chosen model and of the baseline, both measured on the same test rows.

    The model's metrics are summarised under `folds` after a cross-validation, and under `holdout` after a single split.
    """
    target = experiment.target
    metric = experiment.data.metric
    model_predictions = [fold.predictions for fold in search.folds]
    baseline_predictions = [fold.baseline_predictions for fold in search.folds]

    if experiment.is_cross_validated:
        return {
            "metric": metric,
            "folds": summarize_folds(target, model_predictions),
            "baseline": summarize_folds(target, baseline_predictions),
        }

    seed = experiment.request.seed
    return {
        "metric": metric,
        "holdout": summarize_holdout(target, model_predictions[0], seed),
        "baseline": summarize_holdout(target, baseline_predictions[0], seed),
    }


def _main_score(metrics: Json) -> float | None:
    """Return the score by which trials are compared, as it was measured on test rows; None if it is not defined."""
    estimates = metrics.get("holdout") or metrics["folds"]
    estimate = estimates[metrics["metric"]]
    score: float | None = estimate.get("value", estimate.get("mean"))
    return score


def _model(experiment: Experiment, trial: Trial) -> Json:
    """Describe the chosen model: its algorithm and settings, what it predicts, and from which columns."""
    target = experiment.target
    data = experiment.data
    positive_class = target.classes[1] if len(target.classes) == 2 else None
    has_balanced_classes = target.is_classification and data.options.balanced

    return {
        "algorithm": trial.algorithm,
        "label": _algorithm_label(trial.algorithm),
        "settings": dict(trial.settings),
        "task": str(target.task),
        "target": target.name,
        "classes": list(target.classes),
        "positive_class": positive_class,
        "balanced_classes": has_balanced_classes,
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
    """Return every trial that was scored with its validation score, the best first.

    A trial is an algorithm with one choice of settings. Its score is the mean over the folds.
    """
    mean_scores = search.scores.mean(axis=0).tolist()
    fold_scores = search.scores.transpose()  # One row of scores per trial.
    # If the time ran out, the last trials have no scores; `zip` leaves them out.
    scored_trials = list(zip(mean_scores, fold_scores, experiment.trials, strict=False))

    metric = METRIC_BY_NAME[experiment.data.metric]
    best_first = sorted(scored_trials, key=itemgetter(0), reverse=metric.greater_is_better)

    entries = []
    for rank, (_mean_score, scores, trial) in enumerate(best_first, start=1):
        entries.append(
            {
                "rank": rank,
                "algorithm": trial.algorithm,
                "label": _algorithm_label(trial.algorithm),
                "settings": dict(trial.settings),
                "score": _score_range(scores),
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
    """Return the role of every column of the table in the training, as `{name: {role, reason}}`.

    A column is the `target`, a `feature`, `excluded` by the request, or `left_out` because nothing can be learned from
    it or because it forms the groups of the split. Only a column that is left out has a reason.
    """
    table = experiment.table
    feature_names = {column.name for column in experiment.data.columns}
    chosen_names = set(chosen_features(experiment.request, list(table.columns)))

    roles: dict[str, Json] = {}
    for name, column in table.columns.items():
        if name == experiment.target.name:
            roles[name] = {"role": "target", "reason": None}
        elif name in feature_names:
            roles[name] = {"role": "feature", "reason": None}
        elif name in chosen_names:
            reason = exclusion_reason(column, len(table.frame)) or GROUP_COLUMN_REASON
            roles[name] = {"role": "left_out", "reason": reason}
        else:
            roles[name] = {"role": "excluded", "reason": None}
    return roles


def _quality_charts(experiment: Experiment, trial: Trial, predictions: Predictions) -> Json:
    """Return the charts that show how good the predictions on the test rows are, as a dictionary by name.

    A learning curve is always included; it refits `trial`, the chosen one, on fewer rows. The other charts depend on
    whether classes or numbers are predicted.
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
    """Refit a trial on a growing number of training rows, and score each model, to show whether more data would help.

    The training and test rows are those of the first fold.
    """
    fold = experiment.folds[0]
    rng = np.random.default_rng(experiment.request.seed)
    shuffled_rows = rng.permutation(fold.train)[:LEARNING_CURVE_ROWS]

    points = []
    for share in LEARNING_CURVE_SHARES:
        row_count = max(MIN_LEARNING_CURVE_ROWS, int(share * len(shuffled_rows)))
        smaller_fold = Fold(train=np.sort(shuffled_rows[:row_count]), test=fold.test)
        # Few rows may all belong to one class; then there is nothing to learn, and the curve starts later.
        if not has_single_class(experiment.target, smaller_fold):
            points.append(_learning_curve_point(experiment, trial, smaller_fold))
    return points


def _learning_curve_point(experiment: Experiment, trial: Trial, fold: Fold) -> LearningCurvePoint:
    """Fit a trial on the training rows of a fold, and score it on these rows and on the test rows."""
    data = experiment.data
    encoded = encode_fold(data, fold)
    model = fit_trial(data, trial, encoded)

    training_predictions = predict_rows(data, model, encoded.train, fold.train)
    test_predictions = predict_rows(data, model, encoded.test, fold.test)
    return LearningCurvePoint(
        rows=len(fold.train),
        training_score=compute_metric(data.metric, training_predictions),
        test_score=compute_metric(data.metric, test_predictions),
    )


def _stopped_by(experiment: Experiment, search: SearchResult) -> str:
    """Return why the search for the best model ended.

    - "time": the time budget was used up before all planned trials were scored.
    - "space": every combination of settings was tried.
    - "trials": the number of trials that the request allows was reached.
    """
    planned_trials = len(experiment.trials)
    if any(len(fold.validation_scores) < planned_trials for fold in search.folds):
        return "time"

    possible_trials = 0
    for algorithm in experiment.request.chosen_algorithms:
        trials_of_algorithm = search_space(
            algorithm,
            classification=experiment.target.is_classification,
            seed=experiment.request.seed,
        )
        possible_trials += len(trials_of_algorithm)
    return "space" if planned_trials == possible_trials else "trials"
