"""Encoding the rows of a fold, fitting trials on them, and predicting rows that took no part in this."""

import math
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.utils.class_weight import compute_sample_weight

from touchstone.learning.algorithms import MODEL_FAMILIES, ModelOptions, Trial, build_model
from touchstone.learning.boosting import RoundLimit, WeightedRows
from touchstone.learning.column_types import ColumnSchema
from touchstone.learning.decisions.decision_rule import DEFAULT_RULE, DecisionRule
from touchstone.learning.evaluation import Predictions, compute_metric
from touchstone.learning.preparation import build_preparation, encode_frame, fit_preparation
from touchstone.learning.splits.folds import Fold
from touchstone.learning.target import Floats, Indices, Target

TRAINING_SCORE_ROWS: Final = 20_000


@dataclass(frozen=True, slots=True)
class TrainingData:
    """The feature columns of the rows that have a target, in the target's order, and how models are fitted on them.

    `weights` say how much each row counts when a model learns and is measured; None if all rows count the same.
    """

    frame: pd.DataFrame = field(repr=False)
    columns: tuple[ColumnSchema, ...]
    options: ModelOptions
    metric: str
    weights: Floats | None = field(repr=False, default=None)

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
    return EncodedFold(
        preparation=preparation,
        train=fit_preparation(preparation, training_frame, data.target.values[fold.train]),
        test=encode_frame(preparation, test_frame),
        fold=fold,
    )


def fit_trial(data: TrainingData, trial: Trial, encoded: EncodedFold, *, weights: Floats | None = None) -> Any:
    """Return the model of a trial, fitted on the training rows of a fold.

    `weights` are those of the training rows; without them the rows have the weights of the training data.
    """
    training = weighted_rows(data, trial, encoded.train, encoded.fold.train, weights)
    model = build_model(trial, data.options)
    weight_argument = MODEL_FAMILIES[trial.algorithm].weight_argument
    return model.fit(training.matrix, training.values, **{weight_argument: training.weights})


def fit_with_early_stopping(
    data: TrainingData, trial: Trial, encoded: EncodedFold, deadline: float = math.inf
) -> tuple[Any, Trial]:
    """Fit the model of a trial; a model that is built in rounds stops when it predicts the test rows no better.

    It also stops at the deadline, a moment of `time.monotonic`. Returns the model, and the trial with the number of
    rounds among its settings, so that the same model can be fitted again without test rows. Any other model is fitted
    as usual.
    """
    fit_early = MODEL_FAMILIES[trial.algorithm].fit_early
    if fit_early is None or not _test_classes_are_learned(data.target, encoded.fold):
        return fit_trial(data, trial, encoded), trial

    model = build_model(trial, data.options)
    training_rows = weighted_rows(data, trial, encoded.train, encoded.fold.train)
    validation_rows = weighted_rows(data, trial, encoded.test, encoded.fold.test)
    limit = RoundLimit(data.options.max_rounds, deadline)

    round_settings = fit_early(model, training_rows, validation_rows, limit)
    return model, Trial(trial.algorithm, {**trial.settings, **round_settings})


def weighted_rows(
    data: TrainingData, trial: Trial, matrix: Floats, rows: Indices, weights: Floats | None = None
) -> WeightedRows:
    """Return encoded rows with their true values and the weights that a trial gives them.

    A balanced trial multiplies the weights so that every class has the same total weight.
    """
    values = data.target.values[rows]
    if weights is None and data.weights is not None:
        weights = data.weights[rows]

    if trial.is_balanced:
        class_weights = compute_sample_weight("balanced", values)
        weights = class_weights if weights is None else class_weights * weights
    return WeightedRows(matrix, values, weights)


def _test_classes_are_learned(target: Target, fold: Fold) -> bool:
    """Return whether the training rows show every class, so that a loss can be computed for any test row."""
    return not target.is_classification or len(np.unique(target.values[fold.train])) == len(target.classes)


def predict_fold(data: TrainingData, model: Any, encoded: EncodedFold) -> Predictions:
    """Predict the test rows of a fold, and return the predictions beside the true values."""
    return predict_rows(data, model, encoded.test, encoded.fold.test)


def predict_rows(data: TrainingData, model: Any, matrix: Floats, rows: Indices) -> Predictions:
    """Predict some rows of the training data, and return the predictions beside the true values.

    `matrix` holds these rows as they were encoded, and `rows` their positions in the training data.
    """
    class_count = len(data.target.classes)
    values, probabilities = predict_matrix(model, matrix, class_count)
    weights = None if data.weights is None else data.weights[rows]
    return Predictions(data.target.values[rows], values, class_count, probabilities, weights)


def score_training_rows(data: TrainingData, model: Any, encoded: EncodedFold) -> float:
    """Return the metric of a model on the training rows of a fold, or on the first of them if there are many."""
    rows = encoded.fold.train[:TRAINING_SCORE_ROWS]
    return compute_metric(data.metric, predict_rows(data, model, encoded.train[:TRAINING_SCORE_ROWS], rows))


def predict_matrix(
    model: Any, matrix: Floats, class_count: int, rule: DecisionRule = DEFAULT_RULE
) -> tuple[npt.NDArray[Any], Floats]:
    """Return what a fitted model predicts for encoded rows, and the probabilities of the classes.

    The predictions are class codes, chosen by the decision rule, with one column of probabilities per class. For a
    regression, whose `class_count` is 0, they are numbers without probabilities.
    """
    if class_count == 0:
        return np.asarray(model.predict(matrix), dtype=np.float64), np.empty((0, 0))

    # The model only knows the classes of its training rows; all others keep the probability 0.
    probabilities = np.zeros((len(matrix), class_count))
    probabilities[:, model.classes_] = model.predict_proba(matrix)
    return rule.decide(probabilities), probabilities


def has_single_class(target: Target, fold: Fold) -> bool:
    """Return whether the training rows of a fold show a single class, so that nothing can be learned from them."""
    return target.is_classification and len(np.unique(target.values[fold.train])) < 2
