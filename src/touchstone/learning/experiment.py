"""The setup of one training, and what the search for the best model returns."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.pipeline import Pipeline

from touchstone.learning.algorithms import ModelOptions, Trial, plan_trials
from touchstone.learning.choices import DEFAULT_METRIC, METRIC_BY_NAME, Strategy
from touchstone.learning.evaluation import Predictions
from touchstone.learning.learning_errors import LearningError
from touchstone.learning.model_search import TrainingData, best_position, has_single_class, select_features
from touchstone.learning.preparation import exclusion_reason
from touchstone.learning.request_checks import check_training_request
from touchstone.learning.requests import TrainingRequest, chosen_features
from touchstone.learning.splits import MIN_TRAINING_ROWS, Fold, outer_folds, read_times
from touchstone.learning.table_reader import Table
from touchstone.learning.target import Target, read_target


@dataclass(frozen=True, slots=True)
class Experiment:
    """A training request together with its table, the data to learn from, the outer folds and the trials."""

    request: TrainingRequest
    table: Table
    data: TrainingData
    times: npt.NDArray[Any] | None
    folds: tuple[Fold, ...]
    trials: tuple[Trial, ...]

    @property
    def target(self) -> Target:
        """The column to predict."""
        return self.data.target

    @property
    def is_cross_validated(self) -> bool:
        """Whether quality is measured over several folds, after which the model is refitted on every row."""
        return self.request.split.strategy is Strategy.KFOLD


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
    data = _select_training_data(request, table, target)

    times = read_times(table, target, request.split.time_column)
    folds = outer_folds(request.split, target, times, request.seed)
    _check_training_rows(target, folds)

    trials = plan_trials(
        request.chosen_algorithms,
        classification=target.is_classification,
        max_trials=request.budget.max_trials,
        seed=request.seed,
    )
    return Experiment(request, table, data, times, folds, tuple(trials))


def _select_training_data(request: TrainingRequest, table: Table, target: Target) -> TrainingData:
    """Select the columns to learn from, and say how models are fitted on them.

    These are the columns that the request chooses, without those from which nothing can be learned, such as a column
    with a single value. Raises `LearningError` if there are none.
    """
    rows = len(table.frame)
    chosen_names = chosen_features(request, list(table.columns))
    names = [name for name in chosen_names if exclusion_reason(table.columns[name], rows) is None]
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


def _check_training_rows(target: Target, folds: Sequence[Fold]) -> None:
    """Raise `LearningError` if a fold has too few training rows, or only one class, as a split by time can cause."""
    fewest_rows = min(len(fold.train) for fold in folds)
    if fewest_rows < MIN_TRAINING_ROWS:
        raise LearningError("too_few_rows", field="split", rows=fewest_rows, minimum=MIN_TRAINING_ROWS)

    if any(has_single_class(target, fold) for fold in folds):
        raise LearningError("past_one_class", field="split", name=target.name)
