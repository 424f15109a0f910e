"""Encoding the rows of a fold, fitting trials on the training rows, and predicting the test rows."""

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
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.pipeline import Pipeline
from sklearn.utils.class_weight import compute_sample_weight

from touchstone.learning.algorithms import MODEL_FAMILIES, ModelOptions, Trial, build_model
from touchstone.learning.boosting import RoundLimit, WeightedRows
from touchstone.learning.column_types import ColumnSchema
from touchstone.learning.decisions.decision_rule import DEFAULT_RULE, DecisionRule
from touchstone.learning.discriminant_analysis import fit_discriminant_analysis
from touchstone.learning.evaluation import Predictions, compute_metric
from touchstone.learning.preparation import build_preparation, encode_rows, fit_preparation
from touchstone.learning.splits.folds import Fold
from touchstone.learning.target import Floats, Indices, Target

MAX_TRAINING_SCORE_ROWS: Final = 20_000


@dataclass(frozen=True, slots=True)
class TrainingData:
    """The features and the target, and the options for fitting models on them.

    Attributes:
        frame: the features of the rows that have a target, in the order of the target's values.
        columns: the schemas of the features.
        options: the target and the options shared by all models.
        metric: the name of the metric for comparing models.
        weights: the weight of each row in training and in metrics, or None for equal weights.
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
    """The encoded rows of a fold.

    Attributes:
        preparation: the transformer, which was fitted on the training rows only.
        train: the encoded training rows, of shape (rows, encoded columns).
        test: the encoded test rows, of shape (rows, encoded columns).
        fold: the positions of these rows in the training data.
    """

    preparation: ColumnTransformer
    train: Floats = field(repr=False)
    test: Floats = field(repr=False)
    fold: Fold = field(repr=False)


@contextmanager
def suppress_numeric_warnings() -> Iterator[None]:
    """Suppress the warnings of the numeric libraries, such as missing convergence.

    Their consequences are visible in the metrics.
    """
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def select_features(frame: pd.DataFrame, target: Target, names: Sequence[str]) -> pd.DataFrame:
    """Return the named columns of the rows that have a target, with a new index from 0."""
    return frame[list(names)].iloc[target.rows].reset_index(drop=True)


def encode_fold(data: TrainingData, fold: Fold) -> EncodedFold:
    """Encode the rows of a fold as numbers, with a preparation fitted on the training rows only.

    If the test rows influenced the encoding, their scores would be too optimistic.
    """
    seed = data.options.seed
    preparation = build_preparation(data.columns, data.target, seed)
    return EncodedFold(
        preparation=preparation,
        train=fit_preparation(preparation, data.frame, fold.train, data.target.values[fold.train], seed),
        test=encode_rows(preparation, data.frame, fold.test),
        fold=fold,
    )


def fit_trial(data: TrainingData, trial: Trial, encoded: EncodedFold, *, weights: Floats | None = None) -> Any:
    """Fit the model of a trial on the training rows of a fold.

    `weights` are the weights of the training rows, which override the weights of the training data.
    """
    training = weighted_rows(data, trial, encoded.train, encoded.fold.train, weights)
    return fit_model(build_model(trial, data.options), training)


def fit_model(model: Any, rows: WeightedRows) -> Any:
    """Fit a single model, which is not an ensemble, on weighted rows, and return it."""
    if isinstance(model, LinearDiscriminantAnalysis):
        # It is not tried for rows with weights of their own, so weights can only balance the classes. The copy of a
        # balanced model already has equal prior probabilities.
        is_balanced = rows.weights is not None or model.priors is not None
        return fit_discriminant_analysis(model, rows.matrix, rows.values, is_balanced=is_balanced)

    weight_argument = "sample_weight"
    if isinstance(model, Pipeline):  # Only the last step of a pipeline is a model and accepts weights.
        last_step, _final_model = model.steps[-1]
        weight_argument = f"{last_step}__sample_weight"
    return model.fit(rows.matrix, rows.values, **{weight_argument: rows.weights})


def fit_with_early_stopping(
    data: TrainingData, trial: Trial, encoded: EncodedFold, deadline: float = math.inf
) -> tuple[Any, Trial]:
    """Fit the model of a trial, with early stopping if the model is built in rounds.

    Args:
        data: the target, and the options that all models share.
        trial: the algorithm and its settings.
        encoded: the encoded fold, whose test rows are used for early stopping.
        deadline: the time on the clock of `time.monotonic` at which boosting stops.

    Returns:
        the model, and the trial with the number of rounds in its settings, so that an equivalent model can be fitted
        without test rows.
    """
    fit_early = MODEL_FAMILIES[trial.algorithm].fit_early
    if fit_early is None or not _has_all_classes(data.target, encoded.fold):
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
    """Combine encoded rows with their true values and their weights in a trial.

    A balanced trial scales the weights so that every class has the same total weight.

    Args:
        data: the training data, with the true values of all rows.
        trial: the algorithm and its settings, with `is_balanced`.
        matrix: the encoded rows, of shape (rows, encoded columns).
        rows: the positions of the rows in the training data.
        weights: the weights of the rows, which override the weights of the training data.
    """
    values = data.target.values[rows]
    if weights is None and data.weights is not None:
        weights = data.weights[rows]

    if trial.is_balanced:
        class_weights = compute_sample_weight("balanced", values)
        weights = class_weights if weights is None else class_weights * weights
    return WeightedRows(matrix, values, weights)


def _has_all_classes(target: Target, fold: Fold) -> bool:
    """Return whether the training rows contain every class, so that the loss of any test row is defined."""
    return not target.is_classification or len(np.unique(target.values[fold.train])) == len(target.classes)


def predict_fold(data: TrainingData, model: Any, encoded: EncodedFold) -> Predictions:
    """Predict the test rows of a fold, and return the predictions with the true values."""
    return predict_rows(data, model, encoded.test, encoded.fold.test)


def predict_rows(data: TrainingData, model: Any, matrix: Floats, rows: Indices) -> Predictions:
    """Predict encoded rows of the training data, and return the predictions with the true values.

    Args:
        data: the training data.
        model: the fitted model.
        matrix: the encoded rows, of shape (rows, encoded columns).
        rows: the positions of the rows in the training data.
    """
    class_count = len(data.target.classes)
    values, probabilities = predict_matrix(model, matrix, class_count)
    weights = None if data.weights is None else data.weights[rows]
    return Predictions(data.target.values[rows], values, class_count, probabilities, weights)


def score_training_rows(data: TrainingData, model: Any, encoded: EncodedFold) -> float:
    """Return the metric of a model on up to `MAX_TRAINING_SCORE_ROWS` training rows of a fold."""
    rows = encoded.fold.train[:MAX_TRAINING_SCORE_ROWS]
    return compute_metric(data.metric, predict_rows(data, model, encoded.train[:MAX_TRAINING_SCORE_ROWS], rows))


def predict_matrix(
    model: Any, matrix: Floats, class_count: int, rule: DecisionRule = DEFAULT_RULE
) -> tuple[npt.NDArray[Any], Floats]:
    """Predict encoded rows with a fitted model.

    Args:
        model: the fitted model.
        matrix: the encoded rows, of shape (rows, encoded columns).
        class_count: the number of classes, or 0 for a regression.
        rule: the rule for choosing a class by its probability.

    Returns:
        the predicted class codes or numbers, and the probabilities of shape (rows, classes), which are empty for a
        regression.
    """
    if class_count == 0:
        return np.asarray(model.predict(matrix), dtype=np.float64), np.empty((0, 0))

    # The model only knows the classes of its training rows. All other classes keep the probability 0.
    probabilities = np.zeros((len(matrix), class_count))
    probabilities[:, model.classes_] = model.predict_proba(matrix)
    return rule.decide(probabilities), probabilities


def has_single_class(target: Target, fold: Fold) -> bool:
    """Return whether the training rows of a fold have a single class, which leaves nothing to learn."""
    return target.is_classification and len(np.unique(target.values[fold.train])) < 2
