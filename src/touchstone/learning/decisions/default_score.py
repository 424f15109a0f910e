"""The score of a classifier with default decisions, for comparison with models without learned decisions.

The chosen model may be calibrated, and may have a requested threshold or thresholds by group. Models that are only
fitted for a comparison, such as the models of the learning curve, predict the most probable class without calibration.
For a fair comparison, the chosen model must be measured in the same way.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from touchstone.learning.evaluation import compute_metric
from touchstone.learning.experiment import Experiment, FoldResult
from touchstone.learning.localized_text import LocalizedText, localize
from touchstone.learning.request_choices import METRIC_BY_NAME, Mitigation
from touchstone.messages.decisions import QUALIFIED_METRIC_LABELS

SHOWN_DECIMALS: Final = 3


def default_score(metric: str, folds: Sequence[FoldResult]) -> float:
    """Return the mean score over the folds without calibration, predicting the most probable class."""
    return float(np.mean([compute_metric(metric, fold.uncalibrated_predictions) for fold in folds]))


def default_metric_label(experiment: Experiment, folds: Sequence[FoldResult]) -> LocalizedText:
    """Return the displayed name of the metric, qualified if the reported score differs."""
    metric = METRIC_BY_NAME[experiment.data.metric]
    label = localize(metric.label)
    reported_score = float(np.mean([compute_metric(metric.name, fold.predictions) for fold in folds]))
    shown_difference = round(default_score(metric.name, folds), SHOWN_DECIMALS) - round(reported_score, SHOWN_DECIMALS)
    if shown_difference == 0 or np.isnan(shown_difference):
        return label

    request = experiment.request
    has_chosen_threshold = request.threshold is not None or request.mitigation is Mitigation.THRESHOLDS
    key = "default_threshold" if has_chosen_threshold and not metric.probabilistic else "before_calibration"
    return localize(QUALIFIED_METRIC_LABELS[key], metric=label)
