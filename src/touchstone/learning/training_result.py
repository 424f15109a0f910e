"""The result of a training: the chosen model, its metrics, the leaderboard, charts and warnings."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
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
from touchstone.learning.fitting_pool import FittingPool, usable_core_count
from touchstone.learning.leakage.leakage_warnings import leakage_warnings
from touchstone.learning.learning_curve import learning_curve
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

# The values of a feature are listed completely or not at all, so that forms can detect misspelled values.
MAX_LISTED_VALUES: Final = 200


def build_training_result(
    experiment: Experiment,
    search: SearchResult,
    pool: FittingPool,
    declared: Mapping[str, Any],
    budget: TimeBudget,
) -> Json:
    """Return the result of a training as documented in the API.

    Args:
        experiment: the training.
        search: the result of the search.
        pool: the threads for the learning curve.
        declared: the attributes declared by the author of the dataset, such as its number of rows. The profile compares
            them with the measured ones.
        budget: the time budget. The learning curve and the effect of the split are omitted if there is no time to
            measure them.
    """
    with ThreadPoolExecutor(1, "learning-curve") as executor:
        pending_curve = executor.submit(learning_curve, experiment, search, pool, budget)

        # Meanwhile, measure the model on the test rows of all folds.
        predictions = concatenate([fold.predictions for fold in search.folds])
        metrics = _measure_metrics(experiment, search)
        groups = measure_groups(experiment, search)

        # Describe the choice of the model and the columns.
        leaderboard = _leaderboard(experiment, search)
        roles = _column_roles(experiment)
        repeated_rows = _possible_duplicates(experiment)
        profile = profile_table(experiment.table, roles, declared, experiment.target.name, repeated_rows)
        curve = pending_curve.result()

    # Describe the split, and measure how another split would have changed the metrics.
    has_time = curve is not None and expected_effect_seconds(experiment, search) <= budget.seconds_before_finishing()
    stopped_by = _stopped_by(experiment, search) if has_time else "time"
    effect = None if stopped_by == "time" else measure_split_effect(experiment, search)
    split = report_split(experiment.request.split, experiment.split, effect)

    # Describe the decisions of the model and the effect of a mitigation.
    decisions = decision_results(experiment, search)
    mitigation = report_mitigation(
        experiment, search, {"metrics": metrics, "group_metrics": groups}, partial(_measure_metrics, experiment)
    )

    # Draw the charts and collect the warnings.
    quality_charts = _quality_charts(experiment, search, curve, predictions.without_weights())
    comparison_charts = _comparison_charts(experiment, leaderboard, groups)
    warnings = [
        *table_warnings(experiment.table),
        *training_warnings.data_warnings(experiment.table, experiment.target),
        *training_warnings.class_warnings(experiment.target, experiment.folds, experiment.data.weights),
        *training_warnings.feature_warnings(roles),
        *split_warnings(experiment.split, experiment.table, effect, metrics),
        *leakage_warnings(experiment.data, experiment.rule, predictions, _validation_predictions(experiment, search)),
        *training_warnings.result_warnings(metrics, groups, _reported_metric_label(experiment)),
        *training_warnings.choice_warnings(search.folds),
        *training_warnings.budget_warnings(stopped_by),
        *decision_warnings(
            decisions, experiment.target.name, experiment.table.columns[experiment.target.name].distinct
        ),
    ]

    return {
        "model": _describe_model(experiment, search),
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


def _measure_metrics(experiment: Experiment, search: SearchResult) -> Json:
    """Return the metrics of the chosen model and of the baseline on the same test rows.

    The model's metrics are under `folds` after a cross-validation, and under `holdout` after a single split.
    `evaluated_classes` contains the number of classes among the test rows of each fold with a positive weight, or is
    None for a regression.
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
    """Return the predictions for the validation rows by models that were not fitted on them.

    The result is None after a cross-validation, because every row is then also a test row.
    """
    return None if experiment.is_cross_validated else search.folds[0].validation_predictions


def _describe_model(experiment: Experiment, search: SearchResult) -> Json:
    """Describe the chosen model by its algorithms, settings, target and features."""
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
        "features": [_describe_feature(column, data.frame) for column in data.columns],
        "fitted_on": "all_rows" if experiment.learns_from_all_rows else "training_rows",
    }


def _describe_feature(column: ColumnSchema, frame: pd.DataFrame) -> Json:
    """Describe a feature so that forms can offer its categories, or read numbers as the file writes them."""
    feature: Json = {"name": column.name, "kind": str(column.kind)}
    if column.kind is ColumnKind.NUMBER:
        return feature | {"notation": asdict(column.notation)}
    is_category = column.kind in (ColumnKind.CATEGORY, ColumnKind.BOOLEAN)
    if not is_category or column.distinct > MAX_LISTED_VALUES:
        return feature

    values = {str(cell) for cell in frame[column.name].unique() if cell != MISSING}
    return feature | {"values": sorted(values)}


def _algorithm_label(algorithm: str) -> LocalizedText:
    """Return the displayed name of an algorithm."""
    return localize(ALGORITHM_BY_NAME[algorithm].label)


def _metric_label(experiment: Experiment) -> LocalizedText:
    """Return the displayed name of the metric for comparing trials."""
    return localize(METRIC_BY_NAME[experiment.data.metric].label)


def _reported_metric_label(experiment: Experiment) -> LocalizedText:
    """Return the displayed name of the metric, with a note if it depends on a requested threshold."""
    label = _metric_label(experiment)
    if experiment.request.threshold is None or METRIC_BY_NAME[experiment.data.metric].probabilistic:
        return label
    return localize(QUALIFIED_METRIC_LABELS["chosen_threshold"], metric=label)


def _leaderboard(experiment: Experiment, search: SearchResult) -> list[Json]:
    """Return the trials that were scored on all folds, with their mean validation scores, best first.

    A trial is an algorithm with one choice of settings. The chosen model comes first, and trials that reached a later
    stage of the comparison come before trials that were eliminated earlier.
    """
    trials_by_position: dict[int, list[ScoredTrial]] = {}
    for fold in search.folds:
        for trial in fold.comparison.scored_trials:
            trials_by_position.setdefault(trial.position, []).append(trial)

    fully_scored = [trials for trials in trials_by_position.values() if len(trials) == len(search.folds)]
    best_first = sorted(fully_scored, key=lambda trials: _leaderboard_sort_key(experiment, search, trials))

    entries = [_ensemble_entry(experiment, search)] if len(search.ensemble.members) > 1 else []
    for trials in best_first:
        planned_trial = experiment.trials[trials[0].position]
        score = _score_range(np.array([trial.score for trial in trials]))
        entry = _algorithm_and_settings(planned_trial.algorithm, planned_trial.settings)
        entries.append(entry | {"score": score, "rows": max(len(trial.rows) for trial in trials)})
    return [{"rank": rank} | entry for rank, entry in enumerate(entries, start=1)]


def _leaderboard_sort_key(
    experiment: Experiment, search: SearchResult, trials: Sequence[ScoredTrial]
) -> tuple[bool, float, float]:
    """Return the ascending sort key for the results of one planned trial on all folds."""
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
    """Return the mean, the minimum and the maximum of a trial's scores over the folds."""
    return {
        "mean": finite_or_none(float(scores.mean())),
        "low": finite_or_none(float(scores.min())),
        "high": finite_or_none(float(scores.max())),
    }


def _column_roles(experiment: Experiment) -> dict[str, Json]:
    """Return the role of every column in the training, as `{name: {role, reason}}`.

    A column is the `target`, a `feature`, `excluded` by the request, or `left_out` because it contains nothing to learn
    or is the group column of the split. Only a column that is left out has a reason.
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
    """Return the rows of the table that may have duplicates, or None if all rows have to be examined.

    Rows that differ in the features also differ in the whole table. The split has only compared rows with a target, so
    this does not help if some rows have none.
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
    """Return the charts about the quality of the predictions for the test rows, by name.

    They depend on the task, and include the learning curve if there is one.
    """
    curve_chart: Json = {}
    if curve is not None:
        chart = evaluation_charts.learning_curve_chart(curve, default_metric_label(experiment, search.folds[:1]))
        curve_chart = {"learning_curve": chart}

    if not experiment.target.is_classification:
        return {
            "predicted_actual": evaluation_charts.predicted_actual_chart(predictions),
            "residuals": evaluation_charts.residuals_chart(predictions),
            **curve_chart,
        }

    class_names = [str(label) for label in experiment.target.classes]
    uncalibrated_predictions = concatenate([fold.uncalibrated_predictions for fold in search.folds])
    return {
        "confusion": classification_charts.confusion_chart(predictions, class_names),
        "roc": classification_charts.roc_chart(predictions, class_names),
        "precision_recall": classification_charts.precision_recall_chart(predictions, class_names),
        "calibration": calibration_chart(predictions, uncalibrated_predictions, class_names),
        **curve_chart,
    }


def _comparison_charts(experiment: Experiment, leaderboard: Sequence[Json], groups: Sequence[Json]) -> Json:
    """Return the charts that compare the trials and the groups of each sensitive column."""
    group_charts = {
        f"group_metrics_{number}": evaluation_charts.group_chart(column)
        for number, column in enumerate(groups, start=1)
    }
    if len(leaderboard) == 1:
        return group_charts
    return {"leaderboard": evaluation_charts.leaderboard_chart(leaderboard, _metric_label(experiment)), **group_charts}


def _stopped_by(experiment: Experiment, search: SearchResult) -> str:
    """Return the reason for the end of the search.

    - "time": the time budget was used up before all planned trials were scored.
    - "space": every combination of settings was tried.
    - "trials": the maximum number of trials of the request was reached.
    """
    if not search.is_complete:
        return "time"

    algorithms = {trial.algorithm for trial in experiment.trials}
    possible_trials = sum(len(search_space(name, experiment.data.options)) for name in algorithms)
    return "space" if len(experiment.trials) == possible_trials else "trials"
