"""Fast predictions of fitted models for a few rows.

For a few rows, the input checks of scikit-learn take longer than the prediction, especially for the hundred trees of a
forest. Here, the trees and the members of ensembles are called directly. The predictions are exactly the same. Models
of any other kind are called as usual.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from touchstone.learning.decisions.calibration import correct_probabilities
from touchstone.learning.target import Floats

_FORESTS = (ExtraTreesClassifier, ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor)
_TREES = (DecisionTreeClassifier, DecisionTreeRegressor)
_AVERAGES = (VotingClassifier, VotingRegressor)


@dataclass(frozen=True, slots=True)
class FewRowsModel:
    """A wrapper of a fitted model with the usual methods for predictions, but without input checks."""

    model: Any

    @property
    def classes_(self) -> npt.NDArray[Any]:
        """The codes of the classes known to the model."""
        codes: npt.NDArray[Any] = self.model.classes_
        return codes

    def predict(self, matrix: Floats) -> Floats:
        """Return the numbers predicted by a regression for encoded rows."""
        return _predict(self.model, matrix)

    def predict_proba(self, matrix: Floats) -> Floats:
        """Return the class probabilities predicted by a classifier for encoded rows."""
        return _predict(self.model, matrix)


def _predict(model: Any, matrix: Floats) -> Floats:
    """Return the predicted numbers of a regression, or the class probabilities of a classifier."""
    if isinstance(model, FrozenEstimator):
        return _predict(model.estimator, matrix)
    if isinstance(model, CalibratedClassifierCV):
        (calibrated_classifier,) = model.calibrated_classifiers_
        return correct_probabilities(model, _predict(calibrated_classifier.estimator, matrix))
    if isinstance(model, _AVERAGES):
        member_predictions = np.asarray([_predict(member, matrix) for member in model.estimators_])
        average: Floats = np.average(member_predictions, axis=0, weights=model.weights)
        return average
    return _predict_single_model(model, matrix)


def _predict_single_model(model: Any, matrix: Floats) -> Floats:
    """Return the predictions of a model that is not a wrapper or an ensemble of different models."""
    if isinstance(model, _FORESTS):
        return _predict_trees(model.estimators_, matrix)
    if isinstance(model, _TREES):
        return _predict_trees([model], matrix)
    if hasattr(model, "booster_"):
        return _predict_lightgbm(model, matrix)
    if isinstance(model, Pipeline) and isinstance(model.steps[0][1], FeatureUnion):
        return _predict_kernel_model(model, matrix)

    predicted: Floats = model.predict_proba(matrix) if hasattr(model, "predict_proba") else model.predict(matrix)
    return predicted


def _predict_trees(trees: Sequence[Any], matrix: Floats) -> Floats:
    """Return the mean prediction of several trees: numbers or class probabilities."""
    single_precision = matrix.astype(np.float32)  # scikit-learn trees compare 32-bit numbers.
    total: Floats = sum(tree.tree_.predict(single_precision) for tree in trees)
    mean = total / len(trees)
    return mean if hasattr(trees[0], "classes_") else mean[:, 0]


def _predict_kernel_model(model: Pipeline, matrix: Floats) -> Floats:
    """Return the predictions of a linear model of columns and kernel similarities (see `algorithms.py`)."""
    features, linear = (step for _name, step in model.steps)
    (_columns, _unchanged), (name, similarities) = features.transformer_list
    weighted_similarities = similarities.transform(matrix) * features.transformer_weights[name]
    return _predict_single_model(linear, np.hstack((matrix, weighted_similarities)))


def _predict_lightgbm(model: Any, matrix: Floats) -> Floats:
    """Return the predictions of a LightGBM model: numbers or class probabilities."""
    predicted: Floats = model.booster_.predict(matrix, num_threads=1)
    if not hasattr(model, "classes_") or predicted.ndim == 2:
        return predicted

    # With two classes, LightGBM only returns the probability of the second one.
    return np.column_stack((1.0 - predicted, predicted))
