"""The setup of one training, and what the search for the best model returns."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from sklearn.pipeline import Pipeline

from touchstone.learning.algorithms import ModelOptions, Trial, plan_trials
from touchstone.learning.choices import DEFAULT_METRIC, METRIC_BY_NAME, Strategy
from touchstone.learning.evaluation import Predictions
from touchstone.learning.learning_errors import LearningError
from touchstone.learning.model_search import TrainingData, best_position, select_features
from touchstone.learning.preparation import exclusion_reason
from touchstone.learning.request_checks import check_training_request
from touchstone.learning.requests import TrainingRequest, chosen_features
from touchstone.learning.splits.folds import Fold
from touchstone.learning.splits.split_decision import SplitDecision, decide_split, names_to_learn_from
from touchstone.learning.splits.split_rule import SplitRule
from touchstone.learning.table_reader import Table
from touchstone.learning.target import Target, read_target


@dataclass(frozen=True, slots=True)
class Experiment:
    """A training request together with its table, the data to learn from, the split of the rows, and the trials."""

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
        """The rule by which rows are divided, also within the training rows."""
        return self.split.rule

    @property
    def folds(self) -> tuple[Fold, ...]:
        """The training and test rows: several folds of a cross-validation, or a single one."""
        return self.split.folds

    @property
    def is_cross_validated(self) -> bool:
        """Whether quality is measured over several folds, after which the model is refitted on every row."""
        return self.split.plan.strategy is Strategy.KFOLD


@dataclass(frozen=True, slots=True)
class FoldResult:
    """What one outer fold yields: the trials' validation scores, and the winner's and the baseline's predictions."""

    validation_scores: tuple[float, ...]
    predictions: Predictions
    baseline_predictions: Predictions
    pipeline: Pipeline = field(repr=False)


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The results of all outer folds, and the trial with the best mean validation score."""

    folds: tuple[FoldResult, ...]
    scores: npt.NDArray[np.float64]  # Shape (folds, trials), for the trials that every fold had time to score.
    best_trial: Trial

    @classmethod
    def from_folds(cls, experiment: Experiment, folds: Sequence[FoldResult]) -> "SearchResult":
        """Choose the trial with the best mean score among those that every fold had time to score."""
        trial_count = min(len(fold.validation_scores) for fold in folds)
        scores = np.array([fold.validation_scores[:trial_count] for fold in folds])

        mean_scores = scores.mean(axis=0).tolist()
        best_trial = experiment.trials[best_position(experiment.data.metric, mean_scores)]
        return cls(tuple(folds), scores, best_trial)


def prepare_experiment(request: TrainingRequest, table: Table) -> Experiment:
    """Check a training request against its table, and plan the training without learning anything yet.

    The plan says which column is predicted from which others, on which rows models are trained and tested, and which
    models are tried. Raises `LearningError` for whatever would make the training impossible.
    """
    check_training_request(request, list(table.columns), rows=len(table.frame))
    target = read_target(table, request.target, request.task, request.metric)
    feature_names = _learnable_features(request, table)
    if not feature_names:
        raise LearningError("no_features", field="features")

    split = decide_split(request, table, target, feature_names)
    names_to_learn = names_to_learn_from(request, split.plan, feature_names)
    data = _select_training_data(request, table, target, names_to_learn)

    trials = plan_trials(
        request.chosen_algorithms,
        classification=target.is_classification,
        max_trials=request.budget.max_trials,
        seed=request.seed,
    )
    return Experiment(request, table, data, split, tuple(trials))


def _learnable_features(request: TrainingRequest, table: Table) -> list[str]:
    """Return the columns that the request chooses, without those from which nothing can be learned."""
    rows = len(table.frame)
    chosen_names = chosen_features(request, list(table.columns))
    return [name for name in chosen_names if exclusion_reason(table.columns[name], rows) is None]


def _select_training_data(request: TrainingRequest, table: Table, target: Target, names: Sequence[str]) -> TrainingData:
    """Select the named columns to learn from, and say how models are fitted on them.

    Raises `LearningError` if there are none, because the only one forms the groups of the split.
    """
    if not names:
        raise LearningError("no_features", field="features")

    # A metric to which every class counts the same calls for a model to which it does, too.
    metric = request.metric or DEFAULT_METRIC[target.task]
    is_balanced = METRIC_BY_NAME[metric].prevalence_free
    return TrainingData(
        frame=select_features(table.frame, target, names),
        columns=tuple(table.columns[name] for name in names),
        options=ModelOptions(target, balanced=is_balanced, seed=request.seed),
        metric=metric,
    )
