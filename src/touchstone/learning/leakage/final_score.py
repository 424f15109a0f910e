"""A check for a suspiciously good final score.

Nearly perfect predictions usually indicate a mistake in the data. A few test rows are not enough evidence, because a
model with an error rate of 5 % often predicts thirty rows without an error. If there is no error at all, the validation
rows of the search are therefore counted as well.
"""

from typing import Final

import numpy as np

from touchstone.learning.evaluation import Predictions, compute_metric
from touchstone.learning.target import Target

MIN_BALANCED_ACCURACY: Final = 0.98
MIN_R2: Final = 0.99
MAX_ERROR_RATE: Final = 0.03  # compared with the upper end of the confidence interval
MAX_ERROR_RATE_OF_PERFECT: Final = 0.04  # the same without any error, for which 93 rows are enough
NORMAL_QUANTILE: Final = 1.96  # for a 95 % interval


def is_too_good(target: Target, predictions: Predictions, validation: Predictions | None = None) -> bool:
    """Return whether the score of a model is so good that it suggests a mistake in the data.

    The predictions must be nearly perfect for enough rows to exclude luck. The result is False if all test rows have
    the same class, which is easy to predict.

    Args:
        target: the target.
        predictions: the predictions for the test rows.
        validation: out-of-fold predictions for training rows, which are counted as well if there is no error, or None.
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
    """Return the number of wrong predictions."""
    return int((predictions.truth != predictions.predicted).sum())


def _upper_error_rate(errors: int, rows: int) -> float:
    """Return the upper end of Wilson's 95 % interval of an error rate."""
    rate = errors / rows
    squared_quantile = NORMAL_QUANTILE**2
    centre = rate + squared_quantile / (2 * rows)
    half_width = NORMAL_QUANTILE * float(np.sqrt(rate * (1 - rate) / rows + squared_quantile / (4 * rows**2)))
    return (centre + half_width) / (1 + squared_quantile / rows)
