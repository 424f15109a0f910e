"""The preference for a linear model on few rows if no other model is clearly better.

On few rows, chance decides between models of similar quality, and it favours complex models because more of them are
tried. Therefore the best linear model is chosen unless another model is better beyond chance.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from touchstone.learning.ensembles import ChosenModel, choose_best_trial
from touchstone.learning.request_choices import COUNTING_METRICS
from touchstone.learning.successive_halving import ScoredTrial
from touchstone.learning.trial_score import is_clearly_better, row_losses

LINEAR: Final = "linear"
MAX_ROWS: Final = 150  # On more training rows, preferring a linear model hurts as often as it helps.


def prefer_linear_model(
    metric: str, best: ChosenModel, trials: Sequence[ScoredTrial], *, training_rows: int
) -> ChosenModel:
    """Return the best linear trial unless `best` is clearly better.

    Both are compared on the validation rows of all trials. The rule only applies to few rows, and to metrics
    that count correct decisions. The errors of a regression, for example, are unbounded, so a few large ones would hide
    every difference.

    Args:
        metric: the name of the metric.
        best: the model with the best score.
        trials: the trials to choose a linear model from.
        training_rows: the number of rows from which the model will learn. In a split by time, far fewer rows validate.
    """
    linear_trials = [trial for trial in trials if trial.tuned_trial.algorithm == LINEAR]
    is_applicable = metric in COUNTING_METRICS and training_rows <= MAX_ROWS
    if not is_applicable or not linear_trials or best.ensemble.algorithm == LINEAR:
        return best

    linear = choose_best_trial(metric, linear_trials)
    if is_clearly_better(row_losses(metric, best.predictions), row_losses(metric, linear.predictions)):
        return best
    return replace(linear, is_simpler_choice=True)
