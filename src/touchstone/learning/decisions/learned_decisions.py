"""How a classifier decides, learned from predictions for rows that it did not learn from."""

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
    """What a training asks of the decisions of its model; `metric` is the one by which models are compared."""

    metric: str
    threshold: Threshold | None = None
    calibration: Calibration = Calibration.AUTO
    seed: int = 0

    @classmethod
    def of(cls, options: TrainingOptions, metric: str) -> "DecisionOptions":
        """Return what the options of a training say about decisions."""
        return cls(metric, options.threshold, options.calibration, options.seed)

    @property
    def objective(self) -> Objective | None:
        """What the threshold is chosen by; None if the model decides by itself."""
        return None if self.threshold is None else Objective.of(self.threshold)


@dataclass(frozen=True, slots=True)
class LearnedDecisions:
    """The calibration and the decision rule of a model.

    Attributes:
        calibrator: the correction of the probabilities.
        rule: the rule by which classes are predicted from the corrected probabilities.
        default_rule: the rule that would apply if the request asked for no threshold.
        validation: the predictions from which all of this was learned, with the probabilities of the model as it is.
    """

    calibrator: Calibrator
    rule: DecisionRule
    default_rule: DecisionRule
    validation: Predictions = field(repr=False)

    def apply(self, predictions: Predictions) -> Predictions:
        """Return the predictions with corrected probabilities, and the classes that are predicted from these."""
        return self._apply_rule(predictions, self.rule)

    def apply_default(self, predictions: Predictions) -> Predictions:
        """Return the predictions as `apply` does, but with the threshold that applies without a request."""
        return self._apply_rule(predictions, self.default_rule)

    def calibrate_model(self, model: Any) -> Any:
        """Return the model with corrected probabilities."""
        return self.calibrator.calibrate_model(model)

    def _apply_rule(self, predictions: Predictions, rule: DecisionRule) -> Predictions:
        """Return the predictions with corrected probabilities and the classes that a rule predicts."""
        if predictions.class_count == 0:
            return predictions
        calibrated = predictions.with_probabilities(self.calibrator.calibrate(predictions.probabilities))
        return calibrated.with_predicted(rule.decide(calibrated.probabilities))


def learn_decisions(
    options: DecisionOptions, validation: Predictions, weights: Floats | None = None
) -> LearnedDecisions:
    """Learn the calibration and the decision rule of a model from predictions for rows that it did not learn from.

    `validation` holds the probabilities of the model as it is, and `weights` the weights of the rows, if they have any.
    A regression has nothing to decide; its predictions stay as they are.
    """
    if validation.class_count == 0:
        return LearnedDecisions(NO_CALIBRATOR, DEFAULT_RULE, DEFAULT_RULE, validation)

    calibrator = learn_calibration(options.calibration, validation, weights=weights, seed=options.seed)
    calibrated = validation.with_probabilities(calibrator.calibrate(validation.probabilities))
    default_rule = _default_rule(options, calibrator, calibrated)
    rule = default_rule

    objective = options.objective
    if objective is not None:
        rule = DecisionRule(choose_threshold(calibrated, objective, default=default_rule.threshold))
    return LearnedDecisions(calibrator, rule, default_rule, validation)


def _default_rule(options: DecisionOptions, calibrator: Calibrator, calibrated: Predictions) -> DecisionRule:
    """Return the rule by which a calibrated model decides as it did before.

    Calibration is to correct probabilities, not decisions. A model whose classes were balanced in training predicts
    the rarer class more often than the most probable class after calibration would suggest. Of more than two classes,
    it predicts the one that is most probable in proportion to its share of the rows, which gives the best mean recall.
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
