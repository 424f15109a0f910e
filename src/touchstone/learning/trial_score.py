"""The score by which trials and averages of trials are chosen."""

import numpy as np

from touchstone.learning.evaluation import Predictions, brier_losses, compute_metric, metric_sign
from touchstone.learning.request_choices import COUNTING_METRICS, METRIC_BY_NAME
from touchstone.learning.target import Floats


def selection_score(metric: str, predictions: Predictions) -> float:
    """Score predictions in order to choose between models; higher is better for every metric.

    Most metrics are used as they are. Those that count correct decisions hardly distinguish models on a few hundred
    rows, since they only change when a probability crosses the threshold. The Brier score takes their place, which has
    its best value for the same model, and far less noise; all classes count the same in it if they do in the metric.
    """
    if metric in COUNTING_METRICS:
        weights = _row_weights(metric, predictions)
        if not weights.any():
            return -np.inf
        return -float(np.average(brier_losses(predictions), weights=weights))

    score = metric_sign(metric) * compute_metric(metric, predictions)
    return score if np.isfinite(score) else -np.inf


def row_losses(metric: str, predictions: Predictions) -> Floats:
    """Return the loss of every row for a metric that counts correct decisions.

    The mean of these losses is the score by which predictions are chosen, with the opposite sign.
    """
    weights = _row_weights(metric, predictions)
    losses: Floats = brier_losses(predictions) * weights / weights.mean()
    return losses


def _row_weights(metric: str, predictions: Predictions) -> Floats:
    """Return how much each row counts; all classes have the same total weight if the metric counts classes alike."""
    weights = np.ones(len(predictions.truth)) if predictions.weights is None else predictions.weights
    if not METRIC_BY_NAME[metric].prevalence_free:
        return weights

    weight_of_class = np.bincount(predictions.truth, weights=weights, minlength=predictions.class_count)
    balanced_weights: Floats = np.zeros(len(weights))
    np.divide(weights, weight_of_class[predictions.truth], out=balanced_weights, where=weights > 0)
    return balanced_weights
