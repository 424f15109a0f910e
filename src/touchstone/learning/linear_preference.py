"""The preference for a linear model on few rows if no other model is clearly better.

On few rows, chance decides between models of similar quality, and it favours complex models because more of them are
tried. Therefore the best linear model is chosen unless another model is better beyond chance. This is the one standard
error rule (Breiman et al. 1984) with two standard errors, which corresponds to a test at the 5 % level.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from touchstone.learning.ensembles import ChosenModel, choose_best_trial
from touchstone.learning.evaluation import Predictions
from touchstone.learning.request_choices import COUNTING_METRICS
from touchstone.learning.successive_halving import ScoredTrial
from touchstone.learning.trial_score import row_losses

LINEAR: Final = "linear"
MAX_ROWS: Final = 150  # On more rows, preferring a linear model hurts as often as it helps.
STANDARD_ERRORS: Final = 2.0


def prefer_linear_model(metric: str, best: ChosenModel, trials: Sequence[ScoredTrial]) -> ChosenModel:
    """Return the best linear trial unless `best` is clearly better.

    Both are compared on the validation rows of all trials. The rule only applies to few rows, and to metrics
    that count correct decisions. The errors of a regression, for example, are unbounded, so a few large ones would hide
    every difference.

    Args:
        metric: the name of the metric.
        best: the model with the best score.
        trials: the trials to choose a linear model from.
    """
    linear_trials = [trial for trial in trials if trial.tuned_trial.algorithm == LINEAR]
    is_applicable = metric in COUNTING_METRICS and len(best.predictions.truth) <= MAX_ROWS
    if not is_applicable or not linear_trials or best.ensemble.algorithm == LINEAR:
        return best

    linear = choose_best_trial(metric, linear_trials)
    if _is_clearly_better(metric, best.predictions, linear.predictions):
        return best
    return replace(linear, is_simpler_choice=True)


def _is_clearly_better(metric: str, predictions: Predictions, others: Predictions) -> bool:
    """Return whether the predictions are better beyond chance than `others` for the same rows."""
    gains = row_losses(metric, others) - row_losses(metric, predictions)
    standard_error = gains.std(ddof=1) / np.sqrt(len(gains))
    return bool(gains.mean() > STANDARD_ERRORS * standard_error)
