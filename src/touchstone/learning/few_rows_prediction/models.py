"""Predictions of fitted models for a few rows.

For a few rows, scikit-learn checks its input longer than it predicts, most of all for the hundred trees of a forest.
Here the trees are asked themselves, and so are the members of an average. The predictions are exactly the same; a model
of any other kind is asked as usual.
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
    """A fitted model that answers without checks; it has the methods that predictions need of a model."""

    model: Any

    @property
    def classes_(self) -> npt.NDArray[Any]:
        """The codes of the classes that the model knows."""
        codes: npt.NDArray[Any] = self.model.classes_
        return codes

    def predict(self, matrix: Floats) -> Floats:
        """Return the numbers that a regression predicts for encoded rows."""
        return _answer(self.model, matrix)

    def predict_proba(self, matrix: Floats) -> Floats:
        """Return the probabilities that a classifier gives the classes, for encoded rows."""
        return _answer(self.model, matrix)


def _answer(model: Any, matrix: Floats) -> Floats:
    """Return the numbers that a model predicts or, if it is a classifier, the probabilities of the classes."""
    if isinstance(model, FrozenEstimator):
        return _answer(model.estimator, matrix)
    if isinstance(model, CalibratedClassifierCV):
        (calibrated_classifier,) = model.calibrated_classifiers_
        return correct_probabilities(model, _answer(calibrated_classifier.estimator, matrix))
    if isinstance(model, _AVERAGES):
        answers = np.asarray([_answer(member, matrix) for member in model.estimators_])
        average: Floats = np.average(answers, axis=0, weights=model.weights)
        return average
    return _answer_of_single_model(model, matrix)


def _answer_of_single_model(model: Any, matrix: Floats) -> Floats:
    """Return what a model answers that does not contain other models, except for the trees of a forest."""
    if isinstance(model, _FORESTS):
        return _answer_of_trees(model.estimators_, matrix)
    if isinstance(model, _TREES):
        return _answer_of_trees([model], matrix)
    if hasattr(model, "booster_"):
        return _answer_of_lightgbm(model, matrix)
    if isinstance(model, Pipeline) and isinstance(model.steps[0][1], FeatureUnion):
        return _answer_of_kernel_model(model, matrix)

    answer: Floats = model.predict_proba(matrix) if hasattr(model, "predict_proba") else model.predict(matrix)
    return answer


def _answer_of_trees(trees: Sequence[Any], matrix: Floats) -> Floats:
    """Return the mean of what trees predict: numbers, or probabilities of classes."""
    single_precision = matrix.astype(np.float32)  # Trees compare numbers in this precision.
    total: Floats = sum(tree.tree_.predict(single_precision) for tree in trees)
    mean = total / len(trees)
    return mean if hasattr(trees[0], "classes_") else mean[:, 0]


def _answer_of_kernel_model(model: Pipeline, matrix: Floats) -> Floats:
    """Return what a linear model of the columns and of similarities predicts, see `algorithms.py`."""
    features, linear = (step for _name, step in model.steps)
    (_columns, _unchanged), (name, similarities) = features.transformer_list
    weighted_similarities = similarities.transform(matrix) * features.transformer_weights[name]
    return _answer_of_single_model(linear, np.hstack((matrix, weighted_similarities)))


def _answer_of_lightgbm(model: Any, matrix: Floats) -> Floats:
    """Return what a LightGBM model predicts: numbers, or probabilities of classes."""
    answer: Floats = model.booster_.predict(matrix, num_threads=1)
    if not hasattr(model, "classes_") or answer.ndim == 2:
        return answer

    # Of two classes, it predicts the probability of the second one.
    return np.column_stack((1.0 - answer, answer))
