"""Whether a model is clearly better than a baseline that ignores every column: one rule for warnings and pages.

Both are measured on the same rows, so the value of the baseline is as uncertain as that of the model where it depends
on these rows. Neither value may therefore lie within the confidence interval of the other.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from touchstone.learning.request_choices import METRIC_BY_NAME

MEAN_RECALLS: Final = ("balanced_accuracy", "recall_macro")


def is_better_than_baseline(metrics: Mapping[str, Any]) -> bool | None:
    """Return whether a model is clearly better than the baseline, given the `metrics` in the result of its training.

    Returns None if that is unknown, because one of the two was not measured or the metric is unknown. Test rows of a
    single class are no evidence: a baseline that predicts this class is perfect, and any other is always wrong.
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
    baseline_value = max(baseline_value, _score_of_best_constant(metric.name, metrics))

    if metric.greater_is_better:
        return bool(worst_model_value > baseline_value and model_value > best_baseline_value)
    return bool(worst_model_value < baseline_value and model_value < best_baseline_value)


def _evaluated_class_counts(metrics: Mapping[str, Any]) -> Sequence[int]:
    """Return how many classes the test rows have, for each fold; nothing for a regression."""
    return metrics.get("evaluated_classes") or ()


def _score_of_best_constant(metric: str, metrics: Mapping[str, Any]) -> float:
    """Return the score of the best model that ignores every column, as far as it is known; minus infinity otherwise.

    The baseline has learned its constant from the training rows. On a few test rows its R² is below 0 by chance, and if
    they lack the class that it predicts, it is always wrong. This says nothing about the model.
    """
    if metric == "r2":
        return 0.0
    class_counts = _evaluated_class_counts(metrics)
    if metric in MEAN_RECALLS and class_counts:
        return sum(1 / count for count in class_counts) / len(class_counts)
    return -math.inf


def measured_estimates(metrics: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the estimates of a model by metric: over the folds of a cross-validation, or on the test rows."""
    return metrics.get("folds") or metrics.get("holdout") or {}


def point_estimate(estimate: Mapping[str, Any]) -> float | None:
    """Return the value of a metric: its mean over the folds, or its value on the test rows."""
    value: float | None = estimate.get("mean", estimate.get("value"))
    return value
