"""The mitigation of unequal treatment that a training may ask for.

`thresholds` decides with a threshold for each group, and `reweighing` learns from weighted rows. Both aim at
predictions that do not depend on the group. The model is chosen before, as if nothing were to be mitigated.
"""

from dataclasses import replace
from typing import Final

from sklearn.pipeline import Pipeline

from touchstone.learning.choices import METRIC_BY_NAME, Mitigation
from touchstone.learning.decisions.learned_decisions import LearnedDecisions, learn_decisions
from touchstone.learning.decisions.threshold import Objective
from touchstone.learning.ensembles import fit_ensemble
from touchstone.learning.evaluation import Predictions, concatenate
from touchstone.learning.experiment import Experiment, FoldResult, SearchResult
from touchstone.learning.fairness.group_thresholds import GroupThresholds, choose_group_thresholds
from touchstone.learning.fairness.reweighing import training_data
from touchstone.learning.fairness.sensitive_columns import sensitive_columns, sensitive_frame
from touchstone.learning.fitting_pool import FittingPool
from touchstone.learning.model_search import encode_fold, has_single_class, predict_fold
from touchstone.learning.splits.folds import Fold, held_out_positions, inner_folds, limit_training_rows
from touchstone.learning.target import Indices

VALIDATION_ROWS: Final = 20_000
DEFAULT_OBJECTIVE: Final = Objective(metric="balanced_accuracy")


def mitigate(experiment: Experiment, search: SearchResult, pool: FittingPool) -> SearchResult:
    """Return the result of a search with the mitigation that the request asks for; without one, the same result.

    The predictions before the mitigation are kept beside those after it.
    """
    if experiment.request.mitigation is Mitigation.THRESHOLDS:
        return _decide_by_group(experiment, search)
    if experiment.request.mitigation is Mitigation.REWEIGHING:
        return _reweigh(experiment, search, pool)
    return search


def _decide_by_group(experiment: Experiment, search: SearchResult) -> SearchResult:
    """Return the search with thresholds by group.

    The thresholds of a fold are chosen on its validation rows. Those of the delivered model are the thresholds of its
    fold or, after a cross-validation, chosen on the test rows of all folds, each predicted by the model of its fold.
    """
    thresholds_of_folds = [
        _choose_thresholds(experiment, fold.validation_rows, fold.decisions.apply(fold.decisions.validation))
        for fold in search.folds
    ]
    folds = [
        _decide_fold(experiment, result, thresholds, fold.test)
        for result, thresholds, fold in zip(search.folds, thresholds_of_folds, experiment.folds, strict=True)
    ]

    delivered_thresholds = thresholds_of_folds[0]
    if experiment.is_cross_validated:
        uncalibrated = concatenate([fold.uncalibrated_predictions for fold in search.folds])
        rows = held_out_positions(experiment.folds)
        delivered_thresholds = _choose_thresholds(experiment, rows, search.decisions.apply(uncalibrated))
    return replace(search, folds=tuple(folds), group_thresholds=delivered_thresholds)


def _choose_thresholds(experiment: Experiment, positions: Indices, predictions: Predictions) -> GroupThresholds:
    """Choose thresholds by group on some rows, by what the request asks of a threshold or else by the metric."""
    frame = sensitive_frame(experiment, positions)
    return choose_group_thresholds(sensitive_columns(experiment), frame, predictions, _objective(experiment))


def _objective(experiment: Experiment) -> Objective:
    """Return what thresholds are chosen by; a metric that does not depend on them would be of no use."""
    requested = experiment.decision_options.objective
    if requested is not None:
        return requested

    metric = METRIC_BY_NAME[experiment.data.metric]
    return DEFAULT_OBJECTIVE if metric.probabilistic else Objective(metric=metric.name)


def _decide_fold(
    experiment: Experiment, result: FoldResult, thresholds: GroupThresholds, test_rows: Indices
) -> FoldResult:
    """Return the result of a fold with its test rows decided by group."""
    frame = sensitive_frame(experiment, test_rows)
    decided = result.predictions.decided_by(thresholds.decide(frame, result.predictions.probabilities))
    return replace(result, predictions=decided, unmitigated_predictions=result.predictions)


def _reweigh(experiment: Experiment, search: SearchResult, pool: FittingPool) -> SearchResult:
    """Return the search with the chosen models fitted again, on weighted rows."""
    folds = [
        _reweigh_fold(experiment, result, fold, pool)
        for result, fold in zip(search.folds, experiment.folds, strict=True)
    ]
    return SearchResult.from_folds(experiment, folds)


def _reweigh_fold(experiment: Experiment, result: FoldResult, fold: Fold, pool: FittingPool) -> FoldResult:
    """Return the result of a fold whose model learned from weighted rows, and how this model decides."""
    learned_fold = limit_training_rows(fold, result.training_rows, seed=experiment.request.seed)
    data = training_data(experiment, learned_fold.train)
    encoded = encode_fold(data, learned_fold)
    model = fit_ensemble(data, result.ensemble, encoded, pool)

    decisions = _learn_reweighed_decisions(experiment, result, fold, pool)
    # The weights of the mitigation are for learning only: metrics use those of the request.
    uncalibrated_predictions = predict_fold(experiment.data, model, encoded)
    return replace(
        result,
        decisions=decisions,
        uncalibrated_predictions=uncalibrated_predictions,
        predictions=decisions.apply(uncalibrated_predictions),
        pipeline=Pipeline([("prepare", encoded.preparation), ("model", decisions.calibrate_model(model))]),
        unmitigated_predictions=result.predictions,
    )


def _learn_reweighed_decisions(
    experiment: Experiment, result: FoldResult, fold: Fold, pool: FittingPool
) -> LearnedDecisions:
    """Learn how a model decides that learned from weighted rows, on rows that it did not learn from."""
    validation_folds = [
        validation_fold
        for validation_fold in inner_folds(experiment.rule, fold.train, limit=VALIDATION_ROWS)
        if not has_single_class(experiment.target, validation_fold)
    ]
    if not validation_folds:
        return result.decisions

    predictions = []
    for validation_fold in validation_folds:
        data = training_data(experiment, validation_fold.train)
        encoded = encode_fold(data, validation_fold)
        model = fit_ensemble(data, result.ensemble, encoded, pool)
        predictions.append(predict_fold(experiment.data, model, encoded))

    rows = held_out_positions(validation_folds)
    return learn_decisions(experiment.decision_options, concatenate(predictions), experiment.weights_at(rows))
