"""The mitigation of unequal treatment, which a training may request.

The method `thresholds` uses a separate decision threshold for each group, and `reweighing` learns from weighted rows.
Both aim at predictions that do not depend on the group. The model is chosen beforehand, without mitigation.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from sklearn.pipeline import Pipeline

from touchstone.learning.decisions.learned_decisions import LearnedDecisions, learn_decisions
from touchstone.learning.decisions.threshold import Objective
from touchstone.learning.ensembles import fit_ensemble
from touchstone.learning.evaluation import Predictions, concatenate
from touchstone.learning.experiment import Experiment, FoldResult, SearchResult
from touchstone.learning.fairness.group_thresholds import GroupThresholds, choose_group_thresholds
from touchstone.learning.fairness.reweighing import training_data
from touchstone.learning.fairness.sensitive_columns import sensitive_columns, sensitive_frame
from touchstone.learning.fitting_pool import FittingPool
from touchstone.learning.request_choices import METRIC_BY_NAME, Mitigation
from touchstone.learning.splits.folds import Fold, held_out_positions, inner_folds, limit_training_rows
from touchstone.learning.target import Indices
from touchstone.learning.time_budget import TimeBudget
from touchstone.learning.trial_fitting import encode_fold, has_single_class, predict_fold, score_training_rows

VALIDATION_ROWS: Final = 20_000
MIN_LEARNED_ROWS: Final = 1_000
REWEIGHING_SHARE: Final = 0.5  # the share of the time remaining after the choice of the models
DEFAULT_OBJECTIVE: Final = Objective(metric="balanced_accuracy")


def mitigate(experiment: Experiment, search: SearchResult, pool: FittingPool, budget: TimeBudget) -> SearchResult:
    """Apply the requested mitigation to the result of a search, or return it unchanged if none is requested.

    The predictions before the mitigation are kept for comparison. Reweighing fits the models again, in a part of the
    remaining time.
    """
    if experiment.request.mitigation is Mitigation.THRESHOLDS:
        return _decide_by_group(experiment, search)
    if experiment.request.mitigation is Mitigation.REWEIGHING:
        return _reweigh(experiment, search, pool, budget)
    return search


def _decide_by_group(experiment: Experiment, search: SearchResult) -> SearchResult:
    """Return the search result with decisions by group thresholds.

    The thresholds of a fold are chosen on its validation rows. The delivered model uses the thresholds of the single
    fold. After a cross-validation, its thresholds are chosen on the predictions for the test rows of all folds.
    """
    thresholds_by_fold = [
        _choose_thresholds(experiment, fold.validation_rows, fold.decisions.apply(fold.decisions.validation))
        for fold in search.folds
    ]
    folds = [
        _decide_fold(experiment, result, thresholds, fold.test)
        for result, thresholds, fold in zip(search.folds, thresholds_by_fold, experiment.folds, strict=True)
    ]

    delivered_thresholds = thresholds_by_fold[0]
    if experiment.is_cross_validated:
        uncalibrated_predictions = concatenate([fold.uncalibrated_predictions for fold in search.folds])
        rows = held_out_positions(experiment.folds)
        predictions = search.decisions.apply(uncalibrated_predictions)
        delivered_thresholds = _choose_thresholds(experiment, rows, predictions)
    return replace(search, folds=tuple(folds), group_thresholds=delivered_thresholds)


def _choose_thresholds(experiment: Experiment, positions: Indices, predictions: Predictions) -> GroupThresholds:
    """Choose group thresholds on the rows at `positions`."""
    frame = sensitive_frame(experiment, positions)
    return choose_group_thresholds(sensitive_columns(experiment), frame, predictions, _choose_objective(experiment))


def _choose_objective(experiment: Experiment) -> Objective:
    """Return the requested objective, or the metric of the training if it depends on thresholds."""
    requested_objective = experiment.decision_options.objective
    if requested_objective is not None:
        return requested_objective

    metric = METRIC_BY_NAME[experiment.data.metric]
    return DEFAULT_OBJECTIVE if metric.probabilistic else Objective(metric=metric.name)


def _decide_fold(
    experiment: Experiment, result: FoldResult, thresholds: GroupThresholds, test_rows: Indices
) -> FoldResult:
    """Return the result of a fold with its test rows decided by group thresholds."""
    frame = sensitive_frame(experiment, test_rows)
    decisions = thresholds.decide(frame, result.predictions.probabilities)
    mitigated_predictions = result.predictions.with_predicted(decisions)
    return replace(result, predictions=mitigated_predictions, unmitigated_predictions=result.predictions)


def _reweigh(experiment: Experiment, search: SearchResult, pool: FittingPool, budget: TimeBudget) -> SearchResult:
    """Return the search result with the chosen models fitted again on weighted rows.

    The time for this is divided equally among the folds. What a fold does not use is left to the following ones.
    """
    folds = []
    for number, (result, fold) in enumerate(zip(search.folds, experiment.folds, strict=True)):
        remaining_folds = len(search.folds) - number
        seconds = REWEIGHING_SHARE / remaining_folds * budget.seconds_before_finishing(result.comparison.slowdown)
        affordable_rows = int(seconds * pool.thread_count / result.seconds_per_row)
        folds.append(_reweigh_fold(experiment, result, fold, pool, affordable_rows))
    return SearchResult.from_folds(experiment, folds)


def _reweigh_fold(
    experiment: Experiment, result: FoldResult, fold: Fold, pool: FittingPool, affordable_rows: int
) -> FoldResult:
    """Return the result of a fold with its model fitted again on weighted rows.

    `affordable_rows` is the total number of rows for all fits in the available time. If it is too small for validation
    models, the decisions of the original model are used. If it is too small for the model itself, the model learns
    from a random sample of the rows.
    """
    learned_rows = min(result.training_rows, max(MIN_LEARNED_ROWS, affordable_rows))
    learned_fold = limit_training_rows(fold, learned_rows, seed=experiment.request.seed)
    data = training_data(experiment, learned_fold.train)
    encoded_fold = encode_fold(data, learned_fold)
    model = fit_ensemble(data, result.ensemble, encoded_fold, pool)

    validation_folds = _validation_folds(experiment, fold)
    rows_to_validate = sum(len(validation_fold.train) for validation_fold in validation_folds)
    can_validate = learned_rows + rows_to_validate <= affordable_rows
    decisions = result.decisions
    if can_validate and validation_folds:
        decisions = _learn_reweighed_decisions(experiment, result, validation_folds, pool)

    # The weights of the mitigation are only used for learning. Metrics use the requested weights.
    uncalibrated_predictions = predict_fold(experiment.data, model, encoded_fold)
    return replace(
        result,
        decisions=decisions,
        is_complete=result.is_complete and can_validate,
        training_score=score_training_rows(experiment.data, model, encoded_fold),
        training_rows=learned_rows,
        uncalibrated_predictions=uncalibrated_predictions,
        predictions=decisions.apply(uncalibrated_predictions),
        pipeline=Pipeline([("prepare", encoded_fold.preparation), ("model", decisions.calibrate_model(model))]),
        unmitigated_predictions=result.predictions,
    )


def _validation_folds(experiment: Experiment, fold: Fold) -> list[Fold]:
    """Return the inner folds with several classes, so that decisions can be learned."""
    folds = inner_folds(experiment.rule, fold.train, limit=VALIDATION_ROWS)
    return [inner_fold for inner_fold in folds if not has_single_class(experiment.target, inner_fold)]


def _learn_reweighed_decisions(
    experiment: Experiment, result: FoldResult, validation_folds: Sequence[Fold], pool: FittingPool
) -> LearnedDecisions:
    """Learn the decisions of a reweighed model from predictions for rows that it has not learned from."""
    predictions = []
    for validation_fold in validation_folds:
        data = training_data(experiment, validation_fold.train)
        encoded_fold = encode_fold(data, validation_fold)
        model = fit_ensemble(data, result.ensemble, encoded_fold, pool)
        predictions.append(predict_fold(experiment.data, model, encoded_fold))

    rows = held_out_positions(validation_folds)
    return learn_decisions(experiment.decision_options, concatenate(predictions), experiment.weights_at(rows))
