"""The setup of one training, and the result of the search for the best model."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from sklearn.pipeline import Pipeline

from touchstone.learning.algorithms import MANY_ROWS, MODEL_FAMILIES, ModelOptions, Trial, plan_trials
from touchstone.learning.decisions.learned_decisions import DecisionOptions, LearnedDecisions, learn_decisions
from touchstone.learning.decisions.request_fit import check_decision_options
from touchstone.learning.discriminant_analysis import suits_discriminant_analysis
from touchstone.learning.ensembles import Ensemble, combine_ensembles
from touchstone.learning.evaluation import Predictions, concatenate
from touchstone.learning.fairness.group_thresholds import GroupThresholds
from touchstone.learning.learning_errors import LearningError
from touchstone.learning.preparation import exclusion_reason
from touchstone.learning.request_checks_against_data import check_training_request
from touchstone.learning.request_choices import DEFAULT_METRIC, METRIC_BY_NAME, Mitigation, Strategy
from touchstone.learning.request_definitions import TrainingRequest, chosen_features
from touchstone.learning.sample_weights import check_weights_of_folds, read_sample_weights
from touchstone.learning.splits.folds import Fold, held_out_positions
from touchstone.learning.splits.split_decision import SplitDecision, check_split, decide_split, select_feature_names
from touchstone.learning.splits.split_rule import SplitRule
from touchstone.learning.successive_halving import ComparisonResult
from touchstone.learning.table_reader import Table
from touchstone.learning.target import Floats, Indices, Target, read_target
from touchstone.learning.trial_fitting import TrainingData, select_features

MAX_DECISION_ROWS: Final = 50_000  # After a cross-validation, decisions are learned from at most this many rows.


@dataclass(frozen=True, slots=True)
class Experiment:
    """A training request with its table, the data to learn from, the split of the rows, and the trials."""

    request: TrainingRequest
    table: Table
    data: TrainingData
    split: SplitDecision
    trials: tuple[Trial, ...]

    @property
    def target(self) -> Target:
        """The column to predict."""
        return self.data.target

    @property
    def rule(self) -> SplitRule:
        """The rule for dividing rows, which also applies within the training rows."""
        return self.split.rule

    @property
    def folds(self) -> tuple[Fold, ...]:
        """The training and test rows: several folds of a cross-validation, or a single one."""
        return self.split.folds

    @property
    def combines_models(self) -> bool:
        """Whether the model may be an average of several trials."""
        return self.request.combines_models and len(self.target.values) <= MANY_ROWS

    @property
    def learns_from_all_rows(self) -> bool:
        """Whether the stored model is fitted again on every row after its quality has been measured."""
        return self.is_cross_validated or self.request.refit

    @property
    def is_cross_validated(self) -> bool:
        """Whether quality is measured over several folds."""
        return self.split.plan.strategy is Strategy.KFOLD

    @property
    def decision_options(self) -> DecisionOptions:
        """The options of the request for the decisions of the model."""
        return DecisionOptions.from_training(self.request, self.data.metric)

    def group_column_data(self) -> TrainingData | None:
        """Return the data with the group column of the split as the only feature, or None if it is unusable."""
        name = self.split.plan.group_column
        if name is None or name not in _learnable_features(self.request, self.table):
            return None
        return _select_training_data(self.request, self.table, self.target, [name])

    def weights_at(self, rows: Indices) -> Floats | None:
        """Return the weights of the given rows, or None for equal weights."""
        return None if self.data.weights is None else self.data.weights[rows]


@dataclass(frozen=True, slots=True)
class FoldResult:
    """The result of one outer fold: the comparison of the trials, and the winner with its predictions.

    Attributes:
        comparison: the scores of all trials.
        ensemble: the winner, which may be a single trial.
        is_simpler_choice: whether the winner is a linear model that was preferred because no other was clearly better.
        validation_rows: the rows of the inner test folds, as positions in the target's values.
        validation_predictions: the winner's predictions for these rows, by models that did not learn from them.
        uncalibrated_predictions: the predictions for the test rows before calibration.
        decisions: the calibration and the decision rule, which were learned from the validation predictions.
        predictions: the predictions for the test rows.
        baseline_predictions: the predictions of the baseline for the test rows.
        training_score: the winner's metric on its training rows.
        training_rows: the number of training rows.
        seconds_per_row: the duration of a fit of the winner per training row during the comparison.
        is_complete: False if the time ran out, so that repeating the training may give another result.
        pipeline: the preparation and the model.
        unmitigated_predictions: the predictions before a mitigation, or None if there was none.
    """

    comparison: ComparisonResult
    ensemble: Ensemble
    is_simpler_choice: bool
    validation_rows: Indices = field(repr=False)
    validation_predictions: Predictions = field(repr=False)
    uncalibrated_predictions: Predictions = field(repr=False)
    decisions: LearnedDecisions = field(repr=False)
    predictions: Predictions
    baseline_predictions: Predictions
    training_score: float
    training_rows: int
    seconds_per_row: float
    is_complete: bool
    pipeline: Pipeline = field(repr=False)
    unmitigated_predictions: Predictions | None = field(repr=False, default=None)


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The results of all outer folds, and the ensemble and the decisions of the stored model."""

    folds: tuple[FoldResult, ...]
    ensemble: Ensemble
    is_complete: bool  # whether no fold ran out of time
    decisions: LearnedDecisions = field(repr=False)
    group_thresholds: GroupThresholds | None = None  # set if the model uses a separate threshold for each group

    @classmethod
    def from_folds(cls, experiment: Experiment, folds: Sequence[FoldResult]) -> "SearchResult":
        """Combine the ensembles chosen on the folds."""
        ensemble = combine_ensembles([fold.ensemble for fold in folds])
        is_complete = all(fold.is_complete for fold in folds)
        return cls(tuple(folds), ensemble, is_complete, _final_decisions(experiment, folds))


def _final_decisions(experiment: Experiment, folds: Sequence[FoldResult]) -> LearnedDecisions:
    """Return the decisions of the stored model.

    After a single split, these are the decisions of the measured model. After a cross-validation, they are learned from
    the predictions for all rows, each made by the model of its fold.
    """
    if not experiment.is_cross_validated:
        return folds[0].decisions

    predictions = concatenate([fold.uncalibrated_predictions for fold in folds])
    rows = held_out_positions(experiment.folds)
    sample = np.random.default_rng(experiment.request.seed).permutation(len(rows))[:MAX_DECISION_ROWS]
    weights = experiment.weights_at(rows[sample])
    return learn_decisions(experiment.decision_options, predictions.take(sample), weights)


def prepare_experiment(request: TrainingRequest, table: Table) -> Experiment:
    """Check a training request against its table, and plan the training without fitting any model.

    The plan contains the target, the features, the split into training and test rows, and the trials.

    Raises:
        LearningError: the training is impossible.
    """
    target, feature_names = _select_columns(request, table)

    split = decide_split(request, table, target, feature_names)
    names_to_learn = select_feature_names(request, split.plan, feature_names)
    data = _select_training_data(request, table, target, names_to_learn)
    check_weights_of_folds(data.weights, request.sample_weight, split.rule, split.folds)

    algorithms = _affordable_algorithms(request, rows=len(target.values))
    trials = plan_trials(algorithms, data.options, max_trials=request.budget.max_trials)
    return Experiment(request, table, data, split, tuple(trials))


def check_experiment(request: TrainingRequest, table: Table) -> None:
    """Raise `LearningError` if a training is impossible.

    This is faster than `prepare_experiment`, because it only checks whether a split is possible.
    """
    target, feature_names = _select_columns(request, table)
    read_sample_weights(table, target, request.sample_weight)
    check_split(request, table, target, feature_names)


def _select_columns(request: TrainingRequest, table: Table) -> tuple[Target, list[str]]:
    """Return the target and the names of the possible features.

    Raises:
        LearningError: the request does not fit the table, or there are no features.
    """
    check_training_request(request, list(table.columns), rows=len(table.frame))
    target = read_target(table, request.target, request.task, request.metric, request.positive_class)
    check_decision_options(request, target)

    feature_names = _learnable_features(request, table)
    if not feature_names:
        raise LearningError("no_features", field="features")
    return target, feature_names


def _affordable_algorithms(request: TrainingRequest, rows: int) -> tuple[str, ...]:
    """Return the algorithms named by the request, or by default those that can handle this many rows."""
    names = request.chosen_algorithms
    if request.names_algorithms:
        return names
    return tuple(name for name in names if _can_handle(name, rows))


def _can_handle(algorithm: str, rows: int) -> bool:
    """Return whether an algorithm can learn from this many rows within minutes."""
    max_rows = MODEL_FAMILIES[algorithm].max_rows
    return max_rows is None or rows <= max_rows


def _learnable_features(request: TrainingRequest, table: Table) -> list[str]:
    """Return the requested features without the columns that contain nothing to learn."""
    rows = len(table.frame)
    chosen_names = chosen_features(request, list(table.columns))
    return [name for name in chosen_names if exclusion_reason(table.columns[name], rows) is None]


def _select_training_data(request: TrainingRequest, table: Table, target: Target, names: Sequence[str]) -> TrainingData:
    """Select the named features, and set the options for fitting models on them."""
    # A metric that gives every class the same weight needs a model that does the same.
    metric = request.metric or DEFAULT_METRIC[target.task]
    is_balanced = METRIC_BY_NAME[metric].prevalence_free
    columns = tuple(table.columns[name] for name in names)
    weights_rows = request.sample_weight is not None or request.mitigation is Mitigation.REWEIGHING
    options = ModelOptions(
        target,
        balances_classes=is_balanced,
        seed=request.seed,
        tries_discriminant_analysis=suits_discriminant_analysis(target, columns, weights_rows=weights_rows),
    )
    return TrainingData(
        frame=select_features(table.frame, target, names),
        columns=columns,
        options=options,
        metric=metric,
        weights=read_sample_weights(table, target, request.sample_weight),
    )
