"""Preferring a linear model where no other model is clearly better.

With few rows, chance decides between models that are about equally good, and it favours complicated ones, because more
of them are tried. So the best linear model is taken unless another one predicts better beyond chance. This is the
rule of one standard error (Breiman et al. 1984) with two of them, the usual bound of a test at the level of 5 %.
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
FEW_ROWS: Final = 150  # On more rows, a linear model loses as often as it wins.
STANDARD_ERRORS: Final = 2.0


def prefer_linear_model(metric: str, best: ChosenModel, trials: Sequence[ScoredTrial]) -> ChosenModel:
    """Return the best linear trial if `best` is not clearly better, and `best` otherwise.

    Both are compared on the rows on which all trials were scored. Nothing is preferred if these are many, or if the
    metric does not count correct decisions. The errors of a regression, for example, have no bound, so a few large ones
    would hide every difference.
    """
    linear_trials = [trial for trial in trials if trial.tuned_trial.algorithm == LINEAR]
    is_applicable = metric in COUNTING_METRICS and len(best.predictions.truth) <= FEW_ROWS
    if not is_applicable or not linear_trials or best.ensemble.algorithm == LINEAR:
        return best

    linear = choose_best_trial(metric, linear_trials)
    if _is_clearly_better(metric, best.predictions, linear.predictions):
        return best
    return replace(linear, is_simpler_choice=True)


def _is_clearly_better(metric: str, predictions: Predictions, others: Predictions) -> bool:
    """Return whether predictions for some rows are better than others for the same rows, beyond chance."""
    gains = row_losses(metric, others) - row_losses(metric, predictions)
    standard_error = gains.std(ddof=1) / np.sqrt(len(gains))
    return bool(gains.mean() > STANDARD_ERRORS * standard_error)
