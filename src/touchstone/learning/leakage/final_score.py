"""A check of the final score: hardly any honest task allows nearly perfect predictions.

Few test rows prove little: a model that is wrong in one of twenty cases often predicts thirty rows without an error.
The rows on which trials were compared, which the model has not seen either, are therefore counted too, but only if
there is no error at all.
"""

from typing import Final

import numpy as np

from touchstone.learning.evaluation import Predictions, compute_metric
from touchstone.learning.target import Target

MIN_BALANCED_ACCURACY: Final = 0.98
MIN_R2: Final = 0.99
MAX_ERROR_RATE: Final = 0.03  # The upper end of its confidence interval.
MAX_ERROR_RATE_OF_PERFECT: Final = 0.04  # The same if not a single prediction is wrong: 93 rows are enough.
Z: Final = 1.96  # The quantile of the normal distribution for 95 %.


def is_too_good(target: Target, predictions: Predictions, validation: Predictions | None = None) -> bool:
    """Return whether the score of a model is so good that it suggests a mistake in the data.

    The predictions for the test rows must be nearly perfect, and there must be enough rows to rule out luck. If there
    are too few, but without any error, the training rows in `validation` are counted as well; they are predicted by
    models that did not learn from them. Where all test rows have the same class, a perfect score is nothing special.
    """
    if not target.is_classification:
        return compute_metric("r2", predictions) >= MIN_R2
    has_single_class = len(np.unique(predictions.truth)) < 2
    if has_single_class or compute_metric("balanced_accuracy", predictions) < MIN_BALANCED_ACCURACY:
        return False

    errors = _count_errors(predictions)
    rows = len(predictions.truth)
    if _upper_error_rate(errors, rows) <= MAX_ERROR_RATE:
        return True

    if validation is None or errors > 0 or _count_errors(validation) > 0:
        return False
    return _upper_error_rate(0, rows + len(validation.truth)) <= MAX_ERROR_RATE_OF_PERFECT


def _count_errors(predictions: Predictions) -> int:
    """Return how many predicted classes are wrong."""
    return int((predictions.truth != predictions.predicted).sum())


def _upper_error_rate(errors: int, rows: int) -> float:
    """Return the upper end of the 95 % interval of an error rate (Wilson 1927)."""
    rate = errors / rows
    center = rate + Z**2 / (2 * rows)
    half_width = Z * float(np.sqrt(rate * (1 - rate) / rows + Z**2 / (4 * rows**2)))
    return (center + half_width) / (1 + Z**2 / rows)
