"""Metrics of predictions, with intervals that say how far each figure can be trusted.

On a held-out fold the interval is the percentile bootstrap over its rows (Efron 1979). Over several folds it is
Student's t on the fold values, with the variance enlarged because the training sets overlap (Nadeau and Bengio 2003),
and clipped to the range of the metric.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata, t

from touchstone.learning.choices import METRIC_BY_NAME, METRICS
from touchstone.learning.interfaces import Json
from touchstone.learning.target import Floats, Target

BOOTSTRAPS: Final = 200
CONFIDENCE: Final = 0.95
TAILS: Final = ((1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2)
MIN_PROBABILITY: Final = 1e-15
Counts = npt.NDArray[np.int64]
BinaryMetric = Callable[[npt.NDArray[np.bool_], Floats], float]


@dataclass(frozen=True, slots=True)
class Predictions:
    """True values beside predicted ones.

    Classes are integer codes and come with `probabilities` of shape (rows, classes); for a regression `class_count`
    is 0 and `probabilities` is empty.
    """

    truth: npt.NDArray[Any] = field(repr=False)
    predicted: npt.NDArray[Any] = field(repr=False)
    class_count: int = 0
    probabilities: Floats = field(repr=False, default_factory=lambda: np.empty((0, 0)))

    def take(self, rows: npt.NDArray[Any]) -> "Predictions":
        """Return the predictions of some rows only, selected by positions or by a mask."""
        probabilities = self.probabilities[rows] if len(self.probabilities) else self.probabilities
        return Predictions(self.truth[rows], self.predicted[rows], self.class_count, probabilities)


def concatenate(folds: Sequence[Predictions]) -> Predictions:
    """Return the predictions of several folds, one fold after the other."""
    return Predictions(
        np.concatenate([fold.truth for fold in folds]),
        np.concatenate([fold.predicted for fold in folds]),
        folds[0].class_count,
        np.concatenate([fold.probabilities for fold in folds]),
    )


def confusion_matrix(predictions: Predictions) -> Counts:
    """Count rows by true class (first axis) and predicted class (second axis)."""
    classes = predictions.class_count
    cells = predictions.truth * classes + predictions.predicted
    counts = np.bincount(cells, minlength=classes**2)
    return counts.reshape(classes, classes).astype(np.int64)


def _safe_ratio(numerator: npt.NDArray[Any], denominator: npt.NDArray[Any]) -> Floats:
    """Divide element by element; 0 where the denominator is 0."""
    ratio: Floats = np.divide(numerator, denominator, out=np.zeros(len(numerator)), where=denominator > 0)
    return ratio


def _recalls(counts: Counts) -> Floats:
    """Return the recall of every class that has rows."""
    rows_per_class = counts.sum(axis=1)
    recalls: Floats = _safe_ratio(np.diag(counts), rows_per_class)[rows_per_class > 0]
    return recalls


def _precisions(counts: Counts) -> Floats:
    """Return the precision of every class that has rows."""
    rows_per_class = counts.sum(axis=1)
    precisions: Floats = _safe_ratio(np.diag(counts), counts.sum(axis=0))[rows_per_class > 0]
    return precisions


def _balanced_accuracy(predictions: Predictions) -> float:
    return float(_recalls(confusion_matrix(predictions)).mean())


def _precision_macro(predictions: Predictions) -> float:
    return float(_precisions(confusion_matrix(predictions)).mean())


def _f1_macro(predictions: Predictions) -> float:
    counts = confusion_matrix(predictions)
    precision = _precisions(counts)
    recall = _recalls(counts)
    return float(_safe_ratio(2 * precision * recall, precision + recall).mean())


def _accuracy(predictions: Predictions) -> float:
    return float((predictions.truth == predictions.predicted).mean())


def area_under_roc(positive: npt.NDArray[np.bool_], scores: Floats) -> float:
    """Return the chance that a positive row scores above a negative one, ties counting half (Mann-Whitney)."""
    positives = int(positive.sum())
    negatives = len(positive) - positives
    if not positives or not negatives:
        return float("nan")
    rank_sum = float(rankdata(scores)[positive].sum())
    return (rank_sum - positives * (positives + 1) / 2) / (positives * negatives)


def average_precision(positive: npt.NDArray[np.bool_], scores: Floats) -> float:
    """Return the mean of the precision at each positive row, from the highest score down; ties share one cut."""
    if not positive.any():
        return float("nan")
    order = np.argsort(-scores, kind="stable")
    hits = np.cumsum(positive[order])
    last_of_tie = np.append(np.flatnonzero(np.diff(scores[order])), len(scores) - 1)
    hits_per_cut = np.diff(hits[last_of_tie], prepend=0)
    precisions = hits_per_cut * hits[last_of_tie] / (last_of_tie + 1)
    return float(precisions.sum() / hits[-1])


def _averaged_over_classes(binary_metric: BinaryMetric) -> Callable[[Predictions], float]:
    """Extend a binary metric to several classes.

    Of two classes only the second is measured; of more, each is measured against the rest and the defined values are
    averaged.
    """

    def metric(predictions: Predictions) -> float:
        codes = (1,) if predictions.class_count == 2 else range(predictions.class_count)
        values = [binary_metric(predictions.truth == code, predictions.probabilities[:, code]) for code in codes]
        defined = [value for value in values if not np.isnan(value)]
        return float(np.mean(defined)) if defined else float("nan")

    return metric


def _log_loss(predictions: Predictions) -> float:
    rows = np.arange(len(predictions.truth))
    of_true_class = predictions.probabilities[rows, predictions.truth]
    return float(-np.log(np.clip(of_true_class, MIN_PROBABILITY, 1.0)).mean())


def _brier(predictions: Predictions) -> float:
    """Return the mean squared distance to the true class, halved for two classes (Brier 1950)."""
    one_hot = np.eye(predictions.class_count)[predictions.truth]
    squared = float(((predictions.probabilities - one_hot) ** 2).sum(axis=1).mean())
    return squared / 2 if predictions.class_count == 2 else squared


def _r2(predictions: Predictions) -> float:
    total = float(((predictions.truth - predictions.truth.mean()) ** 2).sum())
    residual = float(((predictions.truth - predictions.predicted) ** 2).sum())
    return 1 - residual / total if total else float("nan")


def _rmse(predictions: Predictions) -> float:
    return float(np.sqrt(((predictions.truth - predictions.predicted) ** 2).mean()))


def _mae(predictions: Predictions) -> float:
    return float(np.abs(predictions.truth - predictions.predicted).mean())


def _median_ae(predictions: Predictions) -> float:
    return float(np.median(np.abs(predictions.truth - predictions.predicted)))


METRIC_FUNCTIONS: Final[dict[str, Callable[[Predictions], float]]] = {
    "balanced_accuracy": _balanced_accuracy,
    "accuracy": _accuracy,
    "f1_macro": _f1_macro,
    "precision_macro": _precision_macro,
    "recall_macro": _balanced_accuracy,
    "roc_auc": _averaged_over_classes(area_under_roc),
    "average_precision": _averaged_over_classes(average_precision),
    "log_loss": _log_loss,
    "brier": _brier,
    "r2": _r2,
    "rmse": _rmse,
    "mae": _mae,
    "median_ae": _median_ae,
}


def compute_metric(metric: str, predictions: Predictions) -> float:
    """Return one metric of the predictions; NaN where it is not defined."""
    return METRIC_FUNCTIONS[metric](predictions)


def metric_sign(metric: str) -> int:
    """Return +1 when a higher value of the metric is better, -1 when a lower one is."""
    return 1 if METRIC_BY_NAME[metric].greater_is_better else -1


def reported_metrics(target: Target) -> tuple[str, ...]:
    """Return the names of the metrics that are reported for a target."""
    return tuple(metric.name for metric in METRICS if metric.task is target.task)


def summarize_holdout(target: Target, predictions: Predictions, seed: int) -> Json:
    """Return every metric on a held-out fold as `{metric: {value, low, high}}`."""
    return {
        name: {
            "value": finite_or_none(compute_metric(name, predictions)),
            **bootstrap_interval(name, predictions, seed),
        }
        for name in reported_metrics(target)
    }


def bootstrap_interval(metric: str, predictions: Predictions, seed: int) -> Json:
    """Return the percentile interval `{low, high}` of a metric over resampled rows; null where it is not defined."""
    rng = np.random.default_rng(seed)
    rows = len(predictions.truth)
    draws = [compute_metric(metric, predictions.take(rng.integers(0, rows, rows))) for _ in range(BOOTSTRAPS)]

    defined = [value for value in draws if not np.isnan(value)]
    if not defined:
        return {"low": None, "high": None}
    low, high = np.quantile(defined, TAILS)
    return {"low": float(low), "high": float(high)}


def summarize_folds(target: Target, folds: Sequence[Predictions]) -> Json:
    """Return every metric over the folds as `{metric: {mean, std, low, high, values}}`."""
    return {
        name: _fold_summary(name, [compute_metric(name, fold) for fold in folds]) for name in reported_metrics(target)
    }


def _fold_summary(metric: str, values: Sequence[float]) -> Json:
    if np.isnan(values).any():
        defined_or_none = [finite_or_none(value) for value in values]
        return {"mean": None, "std": None, "low": None, "high": None, "values": defined_or_none}

    folds = len(values)
    mean = float(np.mean(values))
    deviation = float(np.std(values, ddof=1))
    margin = float(t.ppf(TAILS[1], folds - 1)) * deviation * math.sqrt(1 / folds + 1 / (folds - 1))
    bounds = METRIC_BY_NAME[metric]
    return {
        "mean": mean,
        "std": deviation,
        "low": max(bounds.least, mean - margin),
        "high": min(bounds.most, mean + margin),
        "values": list(values),
    }


def finite_or_none(value: float) -> float | None:
    """Return a figure as JSON can hold it: None for NaN and infinities."""
    return float(value) if np.isfinite(value) else None
