"""The calibration and decision rule of a classifier, learned from its validation predictions."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.utils.class_weight import compute_class_weight

from touchstone.learning.decisions.calibration import NO_CALIBRATOR, Calibrator, learn_calibration
from touchstone.learning.decisions.decision_rule import DEFAULT_RULE, EVEN_THRESHOLD, DecisionRule
from touchstone.learning.decisions.threshold import Objective, choose_threshold
from touchstone.learning.evaluation import Predictions
from touchstone.learning.request_choices import METRIC_BY_NAME, Calibration
from touchstone.learning.request_definitions import Threshold, TrainingOptions
from touchstone.learning.target import Floats


@dataclass(frozen=True, slots=True)
class DecisionOptions:
    """The options of a training about decisions. `metric` is the metric used to compare models."""

    metric: str
    threshold: Threshold | None = None
    calibration: Calibration = Calibration.AUTO
    seed: int = 0

    @classmethod
    def from_training(cls, options: TrainingOptions, metric: str) -> "DecisionOptions":
        """Select the options about decisions from the options of a training."""
        return cls(metric, options.threshold, options.calibration, options.seed)

    @property
    def objective(self) -> Objective | None:
        """The objective used to choose the threshold, or None if no threshold was requested."""
        return None if self.threshold is None else Objective.from_request(self.threshold)


@dataclass(frozen=True, slots=True)
class LearnedDecisions:
    """The calibration and the decision rule of a model.

    Attributes:
        calibrator: the correction of the probabilities.
        rule: the rule for choosing a class, given the corrected probabilities.
        default_rule: the rule without a requested threshold.
        validation: the predictions used for learning, with uncorrected probabilities.
    """

    calibrator: Calibrator
    rule: DecisionRule
    default_rule: DecisionRule
    validation: Predictions = field(repr=False)

    def apply(self, predictions: Predictions) -> Predictions:
        """Return the predictions with corrected probabilities, and with the classes chosen by the rule."""
        return self._apply_rule(predictions, self.rule)

    def apply_default(self, predictions: Predictions) -> Predictions:
        """Return the same predictions as `apply`, but with the default rule."""
        return self._apply_rule(predictions, self.default_rule)

    def calibrate_model(self, model: Any) -> Any:
        """Return the model with corrected probabilities."""
        return self.calibrator.calibrate_model(model)

    def _apply_rule(self, predictions: Predictions, rule: DecisionRule) -> Predictions:
        """Return the predictions with corrected probabilities, and with the classes chosen by the given rule."""
        if predictions.class_count == 0:
            return predictions
        calibrated = predictions.with_probabilities(self.calibrator.calibrate(predictions.probabilities))
        return calibrated.with_predicted(rule.decide(calibrated.probabilities))


def learn_decisions(
    options: DecisionOptions, validation: Predictions, weights: Floats | None = None
) -> LearnedDecisions:
    """Learn the calibration and the decision rule of a model.

    Args:
        options: the requested threshold and calibration.
        validation: uncalibrated predictions for rows that the model has not learned from.
        weights: the weights of these rows, or None.

    Returns:
        the decisions. The predictions of a regression stay unchanged.
    """
    if validation.class_count == 0:
        return LearnedDecisions(NO_CALIBRATOR, DEFAULT_RULE, DEFAULT_RULE, validation)

    calibrator = learn_calibration(options.calibration, validation, weights=weights, seed=options.seed)
    calibrated = validation.with_probabilities(calibrator.calibrate(validation.probabilities))
    default_rule = _build_default_rule(options, calibrator, calibrated)
    rule = default_rule

    objective = options.objective
    if objective is not None:
        rule = DecisionRule(choose_threshold(calibrated, objective, default=default_rule.threshold))
    return LearnedDecisions(calibrator, rule, default_rule, validation)


def _build_default_rule(options: DecisionOptions, calibrator: Calibrator, calibrated: Predictions) -> DecisionRule:
    """Return the rule that preserves the decisions of a model after calibration.

    Calibration should correct probabilities, not decisions. A model trained with balanced classes predicts the rarer
    class even if its calibrated probability is below one half. With two classes, the threshold is therefore the
    calibrated value of one half. With more classes, and if the metric weights all classes equally, probabilities are
    divided by the class shares, which maximizes the mean recall.
    """
    if calibrator.method is Calibration.NONE:
        return DEFAULT_RULE

    if calibrated.class_count == 2:
        even_probabilities = np.array([[1 - EVEN_THRESHOLD, EVEN_THRESHOLD]])
        return DecisionRule(threshold=float(calibrator.calibrate(even_probabilities)[0, 1]))
    if METRIC_BY_NAME[options.metric].prevalence_free:
        inverse_shares = compute_class_weight("balanced", classes=np.arange(calibrated.class_count), y=calibrated.truth)
        return DecisionRule(class_weights=tuple(inverse_shares.tolist()))
    return DEFAULT_RULE
