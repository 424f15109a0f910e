"""The choice of an average of trials for regressions on few rows.

The errors of a regression are unbounded. On few rows, a handful of large ones decide which trials and which weights
seem best, and other rows are then predicted worse. Therefore errors are limited while trials are compared, which is
winsorizing. On very few rows, the best trials get equal weights, which have no error of estimation (Smith and Wallis
2009), unless selected weights are better beyond chance.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from touchstone.learning.ensembles import MAX_MEMBERS, ChosenModel, average_equally, select_greedily
from touchstone.learning.evaluation import Predictions
from touchstone.learning.successive_halving import FEW_ROWS, ScoredTrial
from touchstone.learning.target import Floats
from touchstone.learning.trial_score import is_clearly_better

SQUARED_ERROR_METRICS: Final = ("r2", "rmse")
LIMIT_QUANTILE: Final = 0.95  # the quantile of the squared errors above which they are limited
VERY_FEW_ROWS: Final = 150  # On more rows, equal weights hurt as often as they help.


def is_regression_on_few_rows(metric: str, trials: Sequence[ScoredTrial]) -> bool:
    """Return whether the trials are regressions compared by squared errors on few rows."""
    return metric in SQUARED_ERROR_METRICS and len(trials[0].rows) <= FEW_ROWS


def average_on_few_rows(trials: Sequence[ScoredTrial]) -> ChosenModel:
    """Return the best average of trials by limited errors.

    On very few rows, the weights are equal unless others are clearly better.
    """
    limit = _error_limit(trials)
    best_first = sorted(trials, key=lambda trial: _limited_errors(trial.predictions, limit).mean())
    selected_average = select_greedily(best_first, lambda average: -float(_limited_errors(average, limit).mean()))
    if len(trials[0].rows) > VERY_FEW_ROWS:
        return selected_average

    equal_average = average_equally(_without_repetitions(best_first)[:MAX_MEMBERS])
    selected_errors = _limited_errors(selected_average.predictions, limit)
    equal_errors = _limited_errors(equal_average.predictions, limit)
    return selected_average if is_clearly_better(selected_errors, equal_errors) else equal_average


def _error_limit(trials: Sequence[ScoredTrial]) -> float:
    """Return the limit of the squared errors, judging by the mean error of each row over all trials."""
    errors = [_limited_errors(trial.predictions, np.inf) for trial in trials]
    return float(np.quantile(np.mean(errors, axis=0), LIMIT_QUANTILE))


def _limited_errors(predictions: Predictions, limit: float) -> Floats:
    """Return the squared error of each row, at most `limit`, in proportion to the weight of the row."""
    errors: Floats = np.minimum((predictions.predicted - predictions.truth) ** 2, limit)
    if predictions.weights is not None and predictions.weights.any():
        errors *= predictions.weights / predictions.weights.mean()
    return errors


def _without_repetitions(trials: Sequence[ScoredTrial]) -> list[ScoredTrial]:
    """Return the trials without those that predict the same as an earlier one.

    On few rows, different limits of the size of a tree may allow the same trees.
    """
    distinct_trials: list[ScoredTrial] = []
    for trial in trials:
        predicted = trial.predictions.predicted
        if not any(np.array_equal(predicted, other.predictions.predicted) for other in distinct_trials):
            distinct_trials.append(trial)
    return distinct_trials
