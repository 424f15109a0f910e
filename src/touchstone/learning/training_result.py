"""The result of a training: the chosen model, its metrics, the leaderboard, charts and warnings."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from touchstone.core.prefetch import map_ahead
from touchstone.learning import training_warnings
from touchstone.learning.algorithms import search_space
from touchstone.learning.bootstrap import summarize_holdout
from touchstone.learning.charts import classification_charts, evaluation_charts
from touchstone.learning.charts.calibration_chart import calibration_chart
from touchstone.learning.charts.evaluation_charts import LearningCurvePoint
from touchstone.learning.column_types import MISSING, ColumnKind, ColumnSchema
from touchstone.learning.decisions.decision_report import decision_results
from touchstone.learning.decisions.decision_warnings import decision_warnings
from touchstone.learning.decisions.default_score import default_metric_label
from touchstone.learning.evaluation import (
    Predictions,
    compute_metric,
    concatenate,
    finite_or_none,
    metric_sign,
    summarize_folds,
)
from touchstone.learning.experiment import Experiment, SearchResult
from touchstone.learning.fairness.mitigation_report import measure_groups, report_mitigation
from touchstone.learning.fitting_pool import usable_core_count
from touchstone.learning.leakage.leakage_warnings import leakage_warnings
from touchstone.learning.localized_text import LocalizedText, localize
from touchstone.learning.preparation import exclusion_reason
from touchstone.learning.request_choices import ALGORITHM_BY_NAME, ENSEMBLE, METRIC_BY_NAME
from touchstone.learning.request_definitions import chosen_features
from touchstone.learning.sample_weights import counted_values, describe_weighting
from touchstone.learning.splits.folds import held_out_positions
from touchstone.learning.splits.split_decision import GROUP_COLUMN_REASON
from touchstone.learning.splits.split_effect import expected_effect_seconds, measure_split_effect
from touchstone.learning.splits.split_report import report_split
from touchstone.learning.splits.split_warnings import split_warnings
from touchstone.learning.successive_halving import ScoredTrial
from touchstone.learning.table_profile import profile_table
from touchstone.learning.table_warnings import table_warnings
from touchstone.learning.target import Indices
from touchstone.learning.task_interface import Json
from touchstone.learning.time_budget import TimeBudget
from touchstone.messages.decisions import QUALIFIED_METRIC_LABELS

MAX_LISTED_VALUES: Final = 200  # A form can only recognise a misspelt value if all values are listed.


def build_training_result(
    experiment: Experiment,
    search: SearchResult,
    curve: Sequence[LearningCurvePoint] | None,
    declared: Mapping[str, Any],
    budget: TimeBudget,
) -> Json:
    """Return the result of a training as the API documents it.

    `curve` is the learning curve, or None if there was no time for it. `declared` holds the attributes that the author
    of the dataset states, such as its number of rows; the profile compares them with the measured ones. The
    effect of the split is left out if the budget has no time for it.
    """
    # Measure the model on the test rows of all folds.
    predictions = concatenate([fold.predictions for fold in search.folds])
    metrics = _metrics(experiment, search)
    groups = measure_groups(experiment, search)

    # Describe how the model was chosen, and from which columns.
    leaderboard = _leaderboard(experiment, search)
    stopped_by = "time" if curve is None else _stopped_by(experiment, search)
    roles = _column_roles(experiment)
    profile = profile_table(experiment.table, roles, declared, experiment.target.name, _possible_duplicates(experiment))

    # Say how the rows were divided, and what another split would have promised.
    effect = None
    if stopped_by != "time" and expected_effect_seconds(experiment, search) <= budget.seconds_before_finishing():
        effect = measure_split_effect(experiment, search)
    else:
        stopped_by = "time"
    split = report_split(experiment.request.split, experiment.split, effect)

    # Say how the model decides, and what a mitigation has changed.
    decisions = decision_results(experiment, search)
    mitigation = report_mitigation(
        experiment, search, {"metrics": metrics, "group_metrics": groups}, partial(_metrics, experiment)
    )

    # Illustrate these numbers, and warn of what makes them doubtful.
    quality_charts = _quality_charts(experiment, search, curve, predictions.without_weights())
    comparison_charts = _comparison_charts(experiment, leaderboard, groups)
    warnings = [
        *table_warnings(experiment.table),
        *training_warnings.data_warnings(experiment.table, experiment.target),
        *training_warnings.class_warnings(experiment.target, experiment.folds, experiment.data.weights),
        *training_warnings.feature_warnings(roles),
        *split_warnings(experiment.split, effect, metrics),
        *leakage_warnings(experiment.data, experiment.rule, predictions, _validation_predictions(experiment, search)),
        *training_warnings.result_warnings(metrics, groups, _reported_metric_label(experiment)),
        *training_warnings.choice_warnings(search.folds),
        *training_warnings.budget_warnings(stopped_by),
        *decision_warnings(
            decisions, experiment.target.name, experiment.table.columns[experiment.target.name].distinct
        ),
    ]

    return {
        "model": _model(experiment, search),
        "split": split,
        "metrics": metrics,
        "weighting": describe_weighting(experiment.request.sample_weight),
        "leaderboard": leaderboard,
        "group_metrics": groups,
        "mitigation": mitigation,
        "profile": profile,
        "charts": quality_charts | comparison_charts,
        "warnings": warnings,
        "stopped_by": stopped_by,
        **decisions,
    }


def _metrics(experiment: Experiment, search: SearchResult) -> Json:
    """Return the metrics of the chosen model and of the baseline, both measured on the same test rows.

    The model's metrics are summarised under `folds` after a cross-validation, and under `holdout` after a single split.
    `evaluated_classes` says how many classes the test rows of each fold have that count; it is None for a regression.
    """
    target = experiment.target
    metric = experiment.data.metric
    model_predictions = [fold.predictions for fold in search.folds]
    baseline_predictions = [fold.baseline_predictions for fold in search.folds]

    evaluated_classes = None
    if target.is_classification:
        weights = experiment.data.weights
        evaluated_classes = [len(counted_values(target, fold.test, weights)) for fold in experiment.folds]
    common = {"metric": metric, "evaluated_classes": evaluated_classes}

    if experiment.is_cross_validated:
        return common | {
            "folds": summarize_folds(target, model_predictions),
            "baseline": summarize_folds(target, baseline_predictions),
        }

    seed = experiment.request.seed
    units = experiment.rule.units
    test_units = None if units is None else units[held_out_positions(experiment.folds)]
    holdout, baseline = map_ahead(
        lambda predictions: summarize_holdout(target, predictions, seed, test_units),
        [model_predictions[0], baseline_predictions[0]],
        thread_count=usable_core_count(),
    )
    return common | {"holdout": holdout, "baseline": baseline}


def _validation_predictions(experiment: Experiment, search: SearchResult) -> Predictions | None:
    """Return the predictions for training rows by models that did not learn from them.

    After a cross-validation there are none that count, because every row is a test row.
    """
    return None if experiment.is_cross_validated else search.folds[0].validation_predictions


def _model(experiment: Experiment, search: SearchResult) -> Json:
    """Describe the chosen model: its algorithms and settings, what it predicts, and from which columns."""
    target = experiment.target
    data = experiment.data
    ensemble = search.ensemble
    members = [
        _algorithm_and_settings(member.trial.algorithm, member.trial.settings) | {"weight": member.weight}
        for member in ensemble.members
    ]

    return {
        **_algorithm_and_settings(ensemble.algorithm, ensemble.settings),
        "members": members,
        "task": str(target.task),
        "target": target.name,
        "classes": list(target.classes),
        "positive_class": target.positive_class,
        "balanced_classes": target.is_classification and ensemble.is_balanced,
        "metric": data.metric,
        "features": [_feature(column, data.frame) for column in data.columns],
        "fitted_on": "all_rows" if experiment.learns_from_all_rows else "training_rows",
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


def _reported_metric_label(experiment: Experiment) -> LocalizedText:
    """Return the displayed name of the metric, which names a requested threshold if the metric depends on it."""
    label = _metric_label(experiment)
    if experiment.request.threshold is None or METRIC_BY_NAME[experiment.data.metric].probabilistic:
        return label
    return localize(QUALIFIED_METRIC_LABELS["chosen_threshold"], metric=label)


def _leaderboard(experiment: Experiment, search: SearchResult) -> list[Json]:
    """Return every trial that all folds have scored with its validation score, the best first.

    A trial is an algorithm with one choice of settings. Its score is the mean over the folds. The chosen model comes
    first, and trials that were compared on more rows come before those that were given up earlier.
    """
    trials_by_position: dict[int, list[ScoredTrial]] = {}
    for fold in search.folds:
        for trial in fold.comparison.scored_trials:
            trials_by_position.setdefault(trial.position, []).append(trial)

    fully_scored = [trials for trials in trials_by_position.values() if len(trials) == len(search.folds)]
    best_first = sorted(fully_scored, key=lambda trials: _place_in_leaderboard(experiment, search, trials))

    entries = [_ensemble_entry(experiment, search)] if len(search.ensemble.members) > 1 else []
    for trials in best_first:
        planned_trial = experiment.trials[trials[0].position]
        score = _score_range(np.array([trial.score for trial in trials]))
        entry = _algorithm_and_settings(planned_trial.algorithm, planned_trial.settings)
        entries.append(entry | {"score": score, "rows": max(len(trial.rows) for trial in trials)})
    return [{"rank": rank} | entry for rank, entry in enumerate(entries, start=1)]


def _place_in_leaderboard(
    experiment: Experiment, search: SearchResult, trials: Sequence[ScoredTrial]
) -> tuple[bool, float, float]:
    """Return the sorting key of the trials that all folds have scored with the same settings, smallest first."""
    members = search.ensemble.members
    is_chosen = len(members) == 1 and members[0].position == trials[0].position
    mean_stage = float(np.mean([trial.stage for trial in trials]))
    mean_score = float(np.mean([trial.score for trial in trials]))
    return not is_chosen, -mean_stage, -metric_sign(experiment.data.metric) * mean_score


def _ensemble_entry(experiment: Experiment, search: SearchResult) -> Json:
    """Return the entry of the ensemble in the leaderboard."""
    metric = experiment.data.metric
    scores = [compute_metric(metric, fold.validation_predictions) for fold in search.folds]
    rows = max(len(fold.validation_rows) for fold in search.folds)
    return _algorithm_and_settings(ENSEMBLE, {}) | {"score": _score_range(np.array(scores)), "rows": rows}


def _algorithm_and_settings(algorithm: str, settings: Mapping[str, Any]) -> Json:
    """Return an algorithm with its displayed name and its settings."""
    return {"algorithm": algorithm, "label": _algorithm_label(algorithm), "settings": dict(settings)}


def _score_range(scores: npt.NDArray[np.float64]) -> Json:
    """Return the mean, the lowest and the highest of a trial's scores over the folds."""
    return {
        "mean": finite_or_none(float(scores.mean())),
        "low": finite_or_none(float(scores.min())),
        "high": finite_or_none(float(scores.max())),
    }


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


def _possible_duplicates(experiment: Experiment) -> Indices | None:
    """Return the rows of the table among which there may be equal ones; None if all of them have to be compared.

    Rows that differ in the columns to learn from differ in the whole table. That is only known of rows with a target,
    because only these were compared.
    """
    if len(experiment.target.rows) < len(experiment.table.frame):
        return None
    return experiment.split.equal_rows.repeated_rows


def _quality_charts(
    experiment: Experiment,
    search: SearchResult,
    curve: Sequence[LearningCurvePoint] | None,
    predictions: Predictions,
) -> Json:
    """Return the charts that show how good the predictions on the test rows are, as a dictionary by name.

    They depend on whether classes or numbers are predicted, and include the learning curve if there is one.
    """
    learning_curve: Json = {}
    if curve is not None:
        chart = evaluation_charts.learning_curve_chart(curve, default_metric_label(experiment, search.folds[:1]))
        learning_curve = {"learning_curve": chart}

    if not experiment.target.is_classification:
        return {
            "predicted_actual": evaluation_charts.predicted_actual_chart(predictions),
            "residuals": evaluation_charts.residuals_chart(predictions),
            **learning_curve,
        }

    class_names = [str(label) for label in experiment.target.classes]
    uncalibrated_predictions = concatenate([fold.uncalibrated_predictions for fold in search.folds])
    return {
        "confusion": classification_charts.confusion_chart(predictions, class_names),
        "roc": classification_charts.roc_chart(predictions, class_names),
        "precision_recall": classification_charts.precision_recall_chart(predictions, class_names),
        "calibration": calibration_chart(predictions, uncalibrated_predictions, class_names),
        **learning_curve,
    }


def _comparison_charts(experiment: Experiment, leaderboard: Sequence[Json], groups: Sequence[Json]) -> Json:
    """Return the charts that compare algorithms, and the groups of each sensitive column."""
    group_charts = {
        f"group_metrics_{number}": evaluation_charts.group_chart(column)
        for number, column in enumerate(groups, start=1)
    }
    if len(leaderboard) == 1:
        return group_charts
    return {"leaderboard": evaluation_charts.leaderboard_chart(leaderboard, _metric_label(experiment)), **group_charts}


def _stopped_by(experiment: Experiment, search: SearchResult) -> str:
    """Return why the search for the best model ended.

    - "time": the time budget was used up before all planned trials were scored.
    - "space": every combination of settings was tried.
    - "trials": the number of trials that the request allows was reached.
    """
    if not search.is_complete:
        return "time"

    algorithms = {trial.algorithm for trial in experiment.trials}
    possible_trials = sum(len(search_space(name, experiment.data.options)) for name in algorithms)
    return "space" if len(experiment.trials) == possible_trials else "trials"
