"""Calibration of probabilities, so that about 30 % of the rows with a probability of 30 % are positive.

scikit-learn's `CalibratedClassifierCV` fits an increasing curve to the probabilities of rows that the model has not
learned from. The curve is logistic (Platt 1999) or isotonic (Zadrozny and Elkan 2002). With more than two classes, each
class has its own curve, and the results are divided by their sum.
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

MIN_ROWS_PER_CLASS: Final = 2  # To compare methods, each class needs a row for learning and one for testing.
MIN_ROWS_FOR_ISOTONIC: Final = 1_000  # With fewer rows, an isotonic curve overfits.
COMPARISON_FOLDS: Final = 5
MAX_COMPARISON_ROWS: Final = 5_000  # Methods are compared on at most this many rows.
MAX_COMPARED_CLASSES: Final = 20  # With more classes, the automatic choice is not to calibrate, to save time.
MIN_GAIN: Final = 0.01  # the least relative reduction of the log loss by an automatically chosen calibration
# Calibrated models are wrapped in these classes, both of which hold the inner model as `estimator`.
CALIBRATION_WRAPPERS: Final = (CalibratedClassifierCV, FrozenEstimator)


@dataclass(frozen=True, slots=True)
class Calibrator:
    """A calibration learned from predictions. The classifier is None if probabilities stay unchanged."""

    method: Calibration
    classifier: CalibratedClassifierCV | None = field(default=None, repr=False)

    def calibrate(self, probabilities: Floats) -> Floats:
        """Return the corrected probabilities, of shape (rows, classes)."""
        if self.classifier is None or len(probabilities) == 0:
            return probabilities
        calibrated: Floats = self.classifier.predict_proba(probabilities)
        return calibrated

    def calibrate_model(self, model: Any) -> Any:
        """Return a classifier that calibrates the probabilities of a fitted model.

        It has the same effect as `calibrate`, but only consists of scikit-learn classes, so that it can be stored.
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
    """A placeholder for a model while a calibration is fitted. It returns its input as probabilities."""

    def fit(self, probabilities: Floats, classes: Indices) -> "_GivenProbabilities":
        """Store the classes, without learning anything."""
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
    """Apply the curves of a calibrated model to the probabilities of its underlying model."""
    (calibrated_classifier,) = model.calibrated_classifiers_
    curves = copy.copy(calibrated_classifier)
    curves.estimator = _GivenProbabilities()
    curves.estimator.classes_ = model.classes_

    corrected: Floats = curves.predict_proba(probabilities)
    return corrected


def learn_calibration(
    requested: Calibration, validation: Predictions, *, weights: Floats | None = None, seed: int = 0
) -> Calibrator:
    """Learn the requested calibration.

    Args:
        requested: the method, or `AUTO` for the one with the smallest log loss. If a class has fewer than
            `MIN_ROWS_PER_CLASS` rows, or if all curves would decrease, nothing is calibrated.
        validation: predictions for rows that the model has not learned from.
        weights: the weights of these rows, or None for equal weights.
        seed: the seed for dividing the rows when methods are compared.
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
    """Return the method with the smallest cross-validated log loss, or `NONE` if it is not clearly better than none.

    Methods are not compared if there are too many classes, or if no class has a row for each fold.
    """
    rows_of_largest_class = int(np.bincount(validation.truth).max())
    if validation.class_count > MAX_COMPARED_CLASSES or rows_of_largest_class < COMPARISON_FOLDS:
        return Calibration.NONE

    methods = [Calibration.SIGMOID]
    if len(validation.truth) >= MIN_ROWS_FOR_ISOTONIC:
        methods.append(Calibration.ISOTONIC)

    sampled_rows = np.random.default_rng(seed).permutation(len(validation.truth))[:MAX_COMPARISON_ROWS]
    sample = validation.take(sampled_rows)
    if not _has_enough_rows(sample):
        sample = validation

    losses = {method: _cross_validated_log_loss(method, sample, seed) for method in methods}
    best_method = min(methods, key=lambda method: losses[method])

    original_loss = compute_metric("log_loss", sample)
    is_clearly_better = losses[best_method] < (1 - MIN_GAIN) * original_loss
    return best_method if is_clearly_better else Calibration.NONE


def _cross_validated_log_loss(method: Calibration, validation: Predictions, seed: int) -> float:
    """Return the cross-validated log loss of a calibration method."""
    calibrated_probabilities = np.empty_like(validation.probabilities)
    folds = StratifiedKFold(COMPARISON_FOLDS, shuffle=True, random_state=seed)
    for learned_rows, other_rows in folds.split(validation.probabilities, validation.truth):
        calibrator = _fit_calibrator(method, validation.take(learned_rows))
        calibrated_probabilities[other_rows] = calibrator.calibrate(validation.probabilities[other_rows])

    return compute_metric("log_loss", validation.with_probabilities(calibrated_probabilities))


def _fit_calibrator(method: Calibration, validation: Predictions, weights: Floats | None = None) -> Calibrator:
    """Fit the curves of one method to predictions, with optional weights of the rows."""
    if method is Calibration.NONE:
        return NO_CALIBRATOR

    # The placeholder model learns nothing, so a single fold can contain all rows. With several folds, scikit-learn
    # would require as many rows of each class.
    all_rows = np.arange(len(validation.truth))
    folds = [(all_rows, all_rows)]
    classifier = CalibratedClassifierCV(_GivenProbabilities(), method=str(method), cv=folds, ensemble=False)
    classifier.fit(validation.probabilities, validation.truth, sample_weight=weights)
    classifier.set_params(cv=None)  # Do not store the positions of all rows with the model.

    decreasing_curves = _decreasing_curves(classifier)
    if all(decreasing_curves):  # This includes the only curve for two classes.
        return NO_CALIBRATOR
    for code, is_decreasing in enumerate(decreasing_curves):
        if is_decreasing:
            _flatten_curve(classifier, code, validation, weights)
    return Calibrator(method, classifier)


def _decreasing_curves(classifier: CalibratedClassifierCV) -> list[bool]:
    """Return for each curve whether it decreases.

    Isotonic curves never decrease. A logistic one does if, on few rows, the probability of a class happens to be higher
    where the class is less frequent.

    Returns:
        a value for each class in the order of the codes, or only for the positive one of two classes.
    """
    (calibrated_classifier,) = classifier.calibrated_classifiers_
    # A logistic curve 1 / (1 + exp(a * x + b)) decreases if a is positive. Isotonic curves have no such parameter.
    return [getattr(curve, "a_", 0.0) > 0 for curve in calibrated_classifier.calibrators]


def _flatten_curve(
    classifier: CalibratedClassifierCV, code: int, validation: Predictions, weights: Floats | None
) -> None:
    """Replace the decreasing curve of a class by the best one that does not decrease, which is the class's frequency.

    The decreasing curve would predict the opposite of what the model says.
    """
    (calibrated_classifier,) = classifier.calibrated_classifiers_
    row_weights = np.ones(len(validation.truth)) if weights is None else weights
    class_weight = row_weights[validation.truth == code].sum()
    # Like the curves of scikit-learn, avoid the probabilities 0 and 1.
    frequency = (class_weight + 1) / (row_weights.sum() + 2)

    curve = calibrated_classifier.calibrators[code]
    curve.a_, curve.b_ = 0.0, float(np.log(1 / frequency - 1))


def _without_decision_function(model: Any) -> Any:
    """Wrap a fitted model so that it only has probabilities.

    `CalibratedClassifierCV` would use a decision function if there is one, but the curves apply to probabilities.
    """
    if not hasattr(model, "decision_function"):
        return model

    single_model_vote = VotingClassifier([("model", FrozenEstimator(model))], voting="soft")
    rows_without_features = np.empty((len(model.classes_), 0))
    return single_model_vote.fit(rows_without_features, model.classes_)
