"""Fitting trials and scoring them on rows that they did not learn from.

The score by which a trial is chosen is never the score that is reported: trials are compared on inner folds of the
training rows only, so the outer test rows meet the winner for the first time.
"""

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.compose import ColumnTransformer

from touchstone.learning.algorithms import ModelOptions, Trial, build_model
from touchstone.learning.column_types import ColumnSchema
from touchstone.learning.evaluation import Predictions, compute_metric, metric_sign
from touchstone.learning.preparation import build_preparation, encode_frame
from touchstone.learning.splits.folds import Fold
from touchstone.learning.target import Floats, Indices, Target


@dataclass(frozen=True, slots=True)
class TrainingData:
    """The feature columns of the rows that have a target, in the target's order, and how models are fitted on them."""

    frame: pd.DataFrame = field(repr=False)
    columns: tuple[ColumnSchema, ...]
    options: ModelOptions
    metric: str

    @property
    def target(self) -> Target:
        """The column to predict."""
        return self.options.target


@dataclass(frozen=True, slots=True)
class EncodedFold:
    """The matrices of one fold, encoded by a preparation that was fitted on its training rows only."""

    preparation: ColumnTransformer
    train: Floats = field(repr=False)
    test: Floats = field(repr=False)
    fold: Fold = field(repr=False)


@contextmanager
def suppress_numeric_warnings() -> Iterator[None]:
    """Keep the warnings of the numeric libraries, such as missing convergence, out of the log.

    What they mean for the caller is visible in the metrics.
    """
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def select_features(frame: pd.DataFrame, target: Target, names: Sequence[str]) -> pd.DataFrame:
    """Return the named columns of the rows that have a target, numbered from 0."""
    return frame[list(names)].iloc[target.rows].reset_index(drop=True)


def encode_fold(data: TrainingData, fold: Fold) -> EncodedFold:
    """Encode the training and the test rows of a fold as numbers, in a way that is learned from the training rows only.

    Test rows must not influence how columns are encoded, or the scores on them would be too good.
    """
    training_frame = data.frame.iloc[fold.train]
    test_frame = data.frame.iloc[fold.test]

    preparation = build_preparation(data.columns, data.target, data.options.seed)
    # The preparation must encode training rows while it is fitted, or the target encoder would leak their targets.
    training_matrix = preparation.fit_transform(training_frame, data.target.values[fold.train])
    return EncodedFold(
        preparation=preparation,
        train=np.asarray(training_matrix, dtype=np.float64),
        test=encode_frame(preparation, test_frame),
        fold=fold,
    )


def fit_trial(data: TrainingData, trial: Trial, encoded: EncodedFold) -> Any:
    """Return the model of a trial, fitted on the training rows of a fold."""
    model = build_model(trial, data.options)
    return model.fit(encoded.train, data.target.values[encoded.fold.train])


def predict_fold(data: TrainingData, model: Any, encoded: EncodedFold) -> Predictions:
    """Predict the test rows of a fold, and return the predictions beside the true values."""
    return predict_rows(data, model, encoded.test, encoded.fold.test)


def predict_rows(data: TrainingData, model: Any, matrix: Floats, rows: Indices) -> Predictions:
    """Predict some rows of the training data, and return the predictions beside the true values.

    `matrix` holds these rows as they were encoded, and `rows` their positions in the training data.
    """
    class_count = len(data.target.classes)
    values, probabilities = predict_matrix(model, matrix, class_count)
    return Predictions(data.target.values[rows], values, class_count, probabilities)


def predict_matrix(model: Any, matrix: Floats, class_count: int) -> tuple[npt.NDArray[Any], Floats]:
    """Return what a fitted model predicts for encoded rows, and the probabilities of the classes.

    The predictions are class codes, with one column of probabilities per class. For a regression, whose `class_count`
    is 0, they are numbers without probabilities.
    """
    if class_count == 0:
        return np.asarray(model.predict(matrix), dtype=np.float64), np.empty((0, 0))

    # The model only knows the classes of its training rows; all others keep the probability 0.
    probabilities = np.zeros((len(matrix), class_count))
    probabilities[:, model.classes_] = model.predict_proba(matrix)
    return probabilities.argmax(axis=1), probabilities


def score_trials(
    data: TrainingData,
    trials: Sequence[Trial],
    folds: Sequence[Fold],
    *,
    deadline: float,
    on_trial_scored: Callable[[], None],
) -> list[float]:
    """Return the mean score of each trial on the test rows of the folds, in the order of the trials.

    No trial is started after the deadline (a moment of `time.monotonic`), so the last trials may have no score; the
    first one always has. `on_trial_scored` is called after each trial.
    """
    encoded_folds = [encode_fold(data, fold) for fold in folds]

    mean_scores: list[float] = []
    for trial in trials:
        fold_scores = [_validation_score(data, trial, encoded) for encoded in encoded_folds]
        mean_scores.append(float(np.mean(fold_scores)))
        on_trial_scored()

        if time.monotonic() > deadline:
            break
    return mean_scores


def _validation_score(data: TrainingData, trial: Trial, encoded: EncodedFold) -> float:
    """Return the score of a trial on the test rows of one fold; an undefined score counts as the worst possible one."""
    worst_score = -metric_sign(data.metric) * np.inf
    if has_single_class(data.target, encoded.fold):
        return worst_score

    model = fit_trial(data, trial, encoded)
    score = compute_metric(data.metric, predict_fold(data, model, encoded))
    return score if np.isfinite(score) else worst_score


def has_single_class(target: Target, fold: Fold) -> bool:
    """Return whether the training rows of a fold show a single class, so that nothing can be learned from them."""
    return target.is_classification and len(np.unique(target.values[fold.train])) < 2


def best_position(metric: str, scores: Sequence[float]) -> int:
    """Return the position of the best score; among equal ones the first, which belongs to the simplest settings."""
    return int(np.argmax(metric_sign(metric) * np.asarray(scores)))
