"""The threshold of a binary classifier, chosen by a metric or by the costs of its errors."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from touchstone.learning.decisions.decision_rule import DecisionRule
from touchstone.learning.evaluation import Predictions, compute_metric, confusion_matrix, metric_sign
from touchstone.learning.even_spacing import evenly_spaced_positions
from touchstone.learning.request_definitions import ErrorCosts, Threshold
from touchstone.learning.target import Floats

MAX_CANDIDATES: Final = 400


@dataclass(frozen=True, slots=True)
class Objective:
    """The objective used to choose a threshold: a metric, or the mean cost of errors."""

    metric: str | None = None
    cost: ErrorCosts | None = None

    @classmethod
    def from_request(cls, threshold: Threshold) -> "Objective":
        """Return the requested objective."""
        return cls(threshold.metric, threshold.cost)

    def measure(self, predictions: Predictions) -> float:
        """Return the value of the metric, or the mean cost per row."""
        if self.metric is not None:
            return compute_metric(self.metric, predictions)

        assert self.cost is not None
        confusion = confusion_matrix(predictions)
        false_positives, false_negatives = float(confusion[0, 1]), float(confusion[1, 0])
        total_cost = self.cost.fp * false_positives + self.cost.fn * false_negatives
        return total_cost / max(1.0, float(confusion.sum()))

    @property
    def sign(self) -> int:
        """+1 if a higher value is better, -1 if a lower one is."""
        return -1 if self.metric is None else metric_sign(self.metric)


def choose_threshold(validation: Predictions, objective: Objective, *, default: float) -> float:
    """Return the threshold of the positive class with the best value of the objective.

    `validation` holds predictions for rows that the model has not learned from. Ties go to the threshold nearest to the
    default.
    """
    best_threshold = default
    best_value = _signed_value(validation, objective, default)

    candidates = _candidate_thresholds(validation.probabilities[:, 1])
    nearest_first = sorted(candidates.tolist(), key=lambda candidate: abs(candidate - default))
    for candidate in nearest_first:
        value = _signed_value(validation, objective, candidate)
        if value > best_value:
            best_threshold = candidate
            best_value = value
    return best_threshold


def _signed_value(validation: Predictions, objective: Objective, threshold: float) -> float:
    """Return the value of the objective at a threshold, with its sign adjusted so that higher is better."""
    decided = validation.with_predicted(DecisionRule(threshold).decide(validation.probabilities))
    return objective.sign * objective.measure(decided)


def _candidate_thresholds(scores: Floats) -> Floats:
    """Return midpoints between adjacent scores, including 0 and 1, thinned out if there are many."""
    distinct_scores = np.unique(np.concatenate([[0.0], scores, [1.0]]))
    midpoints: Floats = (distinct_scores[:-1] + distinct_scores[1:]) / 2
    thinned_midpoints: Floats = midpoints[evenly_spaced_positions(len(midpoints), MAX_CANDIDATES)]
    return thinned_midpoints
