"""The threshold of a classifier of two classes, chosen by a metric or by the costs of its errors."""

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
    """What a threshold is chosen by: a metric of the predictions, or the mean cost of their errors."""

    metric: str | None = None
    cost: ErrorCosts | None = None

    @classmethod
    def of(cls, threshold: Threshold) -> "Objective":
        """Return the objective that a request states."""
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
    """Return the threshold on the probability of the positive class that serves an objective best.

    `validation` holds predictions for rows that the model did not learn from. Of several equally good thresholds the
    one nearest to the default is chosen.
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
    """Return the value of the objective at a threshold, so that higher is always better."""
    decided = validation.with_predicted(DecisionRule(threshold).decide(validation.probabilities))
    return objective.sign * objective.measure(decided)


def _candidate_thresholds(scores: Floats) -> Floats:
    """Return the midpoints between neighbouring scores, the highest and the lowest included; evenly thinned if many."""
    distinct_scores = np.unique(np.concatenate([[0.0], scores, [1.0]]))
    midpoints: Floats = (distinct_scores[:-1] + distinct_scores[1:]) / 2
    thinned_midpoints: Floats = midpoints[evenly_spaced_positions(len(midpoints), MAX_CANDIDATES)]
    return thinned_midpoints
