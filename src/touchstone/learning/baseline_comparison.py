"""The rule for whether a model is clearly better than a baseline that ignores every column.

Training warnings and the web pages share this rule. Model and baseline are measured on the same rows, so both values
are uncertain. The model is clearly better only if neither value lies within the confidence interval of the other.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from touchstone.learning.request_choices import METRIC_BY_NAME

MEAN_RECALL_METRICS: Final = ("balanced_accuracy", "recall_macro")


def is_better_than_baseline(metrics: Mapping[str, Any]) -> bool | None:
    """Return whether a model is clearly better than the baseline, or None if that is unknown.

    It is unknown if the metric is unknown, or if the model or the baseline was not measured. If the test rows of a fold
    belong to a single class, the answer is False: a baseline that predicts this class is always right and any other is
    always wrong, so the comparison proves nothing.

    Args:
        metrics: the `metrics` in the result of a training.
    """
    metric = METRIC_BY_NAME.get(metrics.get("metric") or "")
    if metric is None:
        return None

    if 1 in _evaluated_class_counts(metrics):
        return False

    model = measured_estimates(metrics).get(metric.name) or {}
    baseline = (metrics.get("baseline") or {}).get(metric.name) or {}
    model_value = point_estimate(model)
    baseline_value = point_estimate(baseline)
    worst_model_value = model.get("low" if metric.greater_is_better else "high")
    if model_value is None or worst_model_value is None or baseline_value is None:
        return None

    best_baseline_value = baseline.get("high" if metric.greater_is_better else "low")
    if best_baseline_value is None:
        best_baseline_value = baseline_value
    baseline_value = max(baseline_value, _best_constant_score(metric.name, metrics))

    if metric.greater_is_better:
        return bool(worst_model_value > baseline_value and model_value > best_baseline_value)
    return bool(worst_model_value < baseline_value and model_value < best_baseline_value)


def _evaluated_class_counts(metrics: Mapping[str, Any]) -> Sequence[int]:
    """Return the number of classes in the test rows of each fold, or nothing for a regression."""
    return metrics.get("evaluated_classes") or ()


def _best_constant_score(metric: str, metrics: Mapping[str, Any]) -> float:
    """Return the score of the best possible constant prediction, or minus infinity if it is unknown.

    The measured baseline predicts a constant learned from the training rows. On a few test rows it may do worse than
    the best constant by chance: its R² may be negative, or the test rows may lack the class that it predicts. Beating
    such a baseline would prove nothing.
    """
    if metric == "r2":
        return 0.0
    class_counts = _evaluated_class_counts(metrics)
    if metric in MEAN_RECALL_METRICS and class_counts:
        return sum(1 / count for count in class_counts) / len(class_counts)
    return -math.inf


def measured_estimates(metrics: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the estimates of a model by metric, over the folds of a cross-validation or on the test rows."""
    return metrics.get("folds") or metrics.get("holdout") or {}


def point_estimate(estimate: Mapping[str, Any]) -> float | None:
    """Return the value of a metric, which is its mean over the folds or its value on the test rows."""
    value: float | None = estimate.get("mean", estimate.get("value"))
    return value
