"""A check of the final score: hardly any honest task allows nearly perfect predictions."""

from typing import Final

import numpy as np

from touchstone.learning.evaluation import Predictions, compute_metric
from touchstone.learning.target import Target

MIN_BALANCED_ACCURACY: Final = 0.98
MIN_R2: Final = 0.99
MAX_ERROR_RATE: Final = 0.03  # The upper end of its confidence interval, so that few test rows prove nothing.
Z: Final = 1.96  # The quantile of the normal distribution for 95 %.


def is_too_good(target: Target, predictions: Predictions) -> bool:
    """Return whether predictions on test rows are nearly perfect, and the test rows are enough to say so."""
    if not target.is_classification:
        return compute_metric("r2", predictions) >= MIN_R2

    errors = int((predictions.truth != predictions.predicted).sum())
    has_few_errors = _upper_error_rate(errors, len(predictions.truth)) <= MAX_ERROR_RATE
    return has_few_errors and compute_metric("balanced_accuracy", predictions) >= MIN_BALANCED_ACCURACY


def _upper_error_rate(errors: int, rows: int) -> float:
    """Return the upper end of the 95 % interval of an error rate (Wilson 1927)."""
    rate = errors / rows
    center = rate + Z**2 / (2 * rows)
    half_width = Z * float(np.sqrt(rate * (1 - rate) / rows + Z**2 / (4 * rows**2)))
    return (center + half_width) / (1 + Z**2 / rows)
