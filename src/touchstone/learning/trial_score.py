"""The score for choosing between trials and between averages of trials."""

from typing import Final

import numpy as np

from touchstone.learning.evaluation import Predictions, brier_losses, compute_metric, metric_sign
from touchstone.learning.request_choices import COUNTING_METRICS, METRIC_BY_NAME
from touchstone.learning.target import Floats

STANDARD_ERRORS: Final = 2.0  # A model is clearly better if its advantage exceeds this many standard errors.


def selection_score(metric: str, predictions: Predictions) -> float:
    """Return a score for choosing between models, where higher is better for every metric.

    Metrics that count correct decisions hardly distinguish models on a few hundred rows, because they only change when
    a probability crosses the threshold. They are replaced by the Brier score, which is optimal for the same model and
    has far less noise. If the metric gives every class the same weight, so does the Brier score.
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

    The mean of these losses is the negative of `selection_score`.
    """
    weights = _row_weights(metric, predictions)
    losses: Floats = brier_losses(predictions) * weights / weights.mean()
    return losses


def is_clearly_better(losses: Floats, other_losses: Floats) -> bool:
    """Return whether the losses of one model are lower than another model's losses for the same rows, beyond chance.

    This is the one standard error rule (Breiman et al. 1984) with two standard errors, which corresponds to a test at
    the 5 % level.
    """
    gains = other_losses - losses
    standard_error = gains.std(ddof=1) / np.sqrt(len(gains))
    return bool(gains.mean() > STANDARD_ERRORS * standard_error)


def _row_weights(metric: str, predictions: Predictions) -> Floats:
    """Return the weight of each row, balanced by class if the metric gives every class the same weight."""
    weights = np.ones(len(predictions.truth)) if predictions.weights is None else predictions.weights
    if not METRIC_BY_NAME[metric].prevalence_free:
        return weights

    weight_of_class = np.bincount(predictions.truth, weights=weights, minlength=predictions.class_count)
    balanced_weights: Floats = np.zeros(len(weights))
    np.divide(weights, weight_of_class[predictions.truth], out=balanced_weights, where=weights > 0)
    return balanced_weights
