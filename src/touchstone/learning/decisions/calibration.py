"""Calibration: correcting probabilities, so that of 100 rows with a probability of 30 % about 30 are positive.

scikit-learn's `CalibratedClassifierCV` learns a rising curve from the probabilities of rows that the model did not
learn from: a logistic one (Platt 1999) or any other (isotonic regression; Zadrozny and Elkan 2002). With more than two
classes each class has its own curve, and the results are divided by their sum.
"""

import copy
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import StratifiedKFold

from touchstone.learning.evaluation import Predictions, compute_metric
from touchstone.learning.request_choices import Calibration
from touchstone.learning.target import Floats, Indices

MIN_ROWS_PER_CLASS: Final = 2  # The cross-validation that compares methods needs one to learn from and one to test.
MIN_ROWS_FOR_ISOTONIC: Final = 1_000  # With fewer rows, an isotonic curve follows their noise.
COMPARISON_FOLDS: Final = 5
COMPARISON_ROWS: Final = 5_000  # Methods are compared on at most this many rows.
MAX_COMPARED_CLASSES: Final = 20  # With more classes, each of which has its own curve, nothing is tried by itself.
MIN_GAIN: Final = 0.01  # The share of the log loss that an automatically chosen calibration must save.


@dataclass(frozen=True, slots=True)
class Calibrator:
    """A calibration learned from predictions; `classifier` is None if the probabilities stay as they are."""

    method: Calibration
    classifier: CalibratedClassifierCV | None = field(default=None, repr=False)

    def calibrate(self, probabilities: Floats) -> Floats:
        """Return the corrected probabilities of rows, one column per class."""
        if self.classifier is None or len(probabilities) == 0:
            return probabilities
        calibrated: Floats = self.classifier.predict_proba(probabilities)
        return calibrated

    def calibrate_model(self, model: Any) -> Any:
        """Return a classifier that corrects the probabilities of a fitted model; it consists of scikit-learn's classes.

        Its probabilities are those that `calibrate` makes of the model's own.
        """
        if self.classifier is None:
            return model

        probability_model = _without_decision_function(model)
        calibrated_model = copy.deepcopy(self.classifier)
        calibrated_model.estimator = FrozenEstimator(probability_model)
        (calibrated_classifier,) = calibrated_model.calibrated_classifiers_
        calibrated_classifier.estimator = probability_model
        return calibrated_model


NO_CALIBRATOR: Final = Calibrator(Calibration.NONE)


class _GivenProbabilities(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types.
    """A stand-in for a model while a calibration is fitted: the rows that it receives are its probabilities."""

    def fit(self, probabilities: Floats, classes: Indices) -> "_GivenProbabilities":
        """Note which classes there are; nothing is learned."""
        self.classes_ = np.unique(classes)
        return self

    def predict_proba(self, probabilities: Floats) -> Floats:
        """Return the given probabilities."""
        return probabilities

    def predict(self, probabilities: Floats) -> Indices:
        """Return the most probable classes."""
        classes: Indices = self.classes_[probabilities.argmax(axis=1)]
        return classes


def correct_probabilities(model: CalibratedClassifierCV, probabilities: Floats) -> Floats:
    """Return what the curves of a calibrated model make of the probabilities of the model that they belong to."""
    (calibrated_classifier,) = model.calibrated_classifiers_
    curves = copy.copy(calibrated_classifier)
    curves.estimator = _GivenProbabilities()
    curves.estimator.classes_ = model.classes_

    corrected: Floats = curves.predict_proba(probabilities)
    return corrected


def learn_calibration(
    requested: Calibration, validation: Predictions, *, weights: Floats | None = None, seed: int = 0
) -> Calibrator:
    """Learn the requested calibration from predictions for rows that the model did not learn from.

    `auto` chooses the method with the smallest log loss. If some class has too few rows, nothing is calibrated.
    """
    if requested is Calibration.NONE or not _has_enough_rows(validation):
        return NO_CALIBRATOR

    method = _choose_method(validation, seed) if requested is Calibration.AUTO else requested
    return _fit_calibrator(method, validation, weights)


def _has_enough_rows(predictions: Predictions) -> bool:
    """Return whether every class has enough rows for a curve."""
    rows_per_class = np.bincount(predictions.truth, minlength=predictions.class_count)
    return bool(rows_per_class.min() >= MIN_ROWS_PER_CLASS)


def _choose_method(validation: Predictions, seed: int) -> Calibration:
    """Return the method with the smallest cross-validated log loss; none, unless another one is clearly better."""
    if validation.class_count > MAX_COMPARED_CLASSES:
        return Calibration.NONE

    methods = [Calibration.SIGMOID]
    if len(validation.truth) >= MIN_ROWS_FOR_ISOTONIC:
        methods.append(Calibration.ISOTONIC)

    sampled_rows = np.random.default_rng(seed).permutation(len(validation.truth))[:COMPARISON_ROWS]
    sample = validation.take(sampled_rows)
    if not _has_enough_rows(sample):
        sample = validation

    losses = {method: _cross_validated_log_loss(method, sample, seed) for method in methods}
    best_method = min(methods, key=lambda method: losses[method])

    original_loss = compute_metric("log_loss", sample)
    is_clearly_better = losses[best_method] < (1 - MIN_GAIN) * original_loss
    return best_method if is_clearly_better else Calibration.NONE


def _cross_validated_log_loss(method: Calibration, validation: Predictions, seed: int) -> float:
    """Return the log loss of probabilities that a calibration corrects which was learned from other rows."""
    calibrated_probabilities = np.empty_like(validation.probabilities)
    folds = StratifiedKFold(COMPARISON_FOLDS, shuffle=True, random_state=seed)
    for learned_rows, other_rows in folds.split(validation.probabilities, validation.truth):
        calibrator = _fit_calibrator(method, validation.take(learned_rows))
        calibrated_probabilities[other_rows] = calibrator.calibrate(validation.probabilities[other_rows])

    return compute_metric("log_loss", validation.with_probabilities(calibrated_probabilities))


def _fit_calibrator(method: Calibration, validation: Predictions, weights: Floats | None = None) -> Calibrator:
    """Fit the curves of one method to predictions, whose rows may have weights."""
    if method is Calibration.NONE:
        return NO_CALIBRATOR

    # scikit-learn asks for as many rows of each class as there are folds. Nothing is learned from the rows of a fold,
    # since the probabilities are given, so a single fold with all rows is enough.
    every_row = np.arange(len(validation.truth))
    folds = [(every_row, every_row)]
    classifier = CalibratedClassifierCV(_GivenProbabilities(), method=str(method), cv=folds, ensemble=False)
    classifier.fit(validation.probabilities, validation.truth, sample_weight=weights)
    classifier.set_params(cv=None)  # Otherwise, the positions of all rows would be stored with the model.
    return Calibrator(method, classifier)


def _without_decision_function(model: Any) -> Any:
    """Return a fitted model that has no other output than the model's probabilities.

    `CalibratedClassifierCV` prefers the decision function of a model to its probabilities, but the curves belong to
    the probabilities.
    """
    if not hasattr(model, "decision_function"):
        return model

    vote_of_one_model = VotingClassifier([("model", FrozenEstimator(model))], voting="soft")
    rows_without_features = np.empty((len(model.classes_), 0))
    return vote_of_one_model.fit(rows_without_features, model.classes_)
