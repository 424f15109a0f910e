"""Measuring predictions: one function a metric, and intervals that say how far to trust a figure.

On one held-out part the interval is the percentile bootstrap over its rows (Efron 1979). Over folds it is Student's t
on the fold values with the variance enlarged for overlapping training sets (Nadeau and Bengio 2003), cut
to what the metric can be.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata, t

from touchstone.learning.interfaces import Json
from touchstone.learning.requests import METRIC_BY_NAME, METRICS
from touchstone.learning.target import Floats, Target

BOOTSTRAPS: Final = 200
CONFIDENCE: Final = 0.95
SMALLEST_PROBABILITY: Final = 1e-15
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Measured:
    """True values beside predicted ones; classes as codes, `probabilities` of shape (rows, classes) if any."""

    truth: npt.NDArray[Any] = field(repr=False)
    predicted: npt.NDArray[Any] = field(repr=False)
    classes: int = 0
    probabilities: Floats = field(repr=False, default_factory=lambda: np.empty((0, 0)))

    def take(self, rows: npt.NDArray[Any]) -> "Measured":
        """The same for some of the rows only (positions or a mask)."""
        some = self.probabilities[rows] if len(self.probabilities) else self.probabilities
        return Measured(self.truth[rows], self.predicted[rows], self.classes, some)


def joined(parts: Sequence[Measured]) -> Measured:
    """Several measured parts as one."""
    return Measured(
        np.concatenate([part.truth for part in parts]),
        np.concatenate([part.predicted for part in parts]),
        parts[0].classes,
        np.concatenate([part.probabilities for part in parts]),
    )


def confusion(measured: Measured) -> Counts:
    """Counts of shape (classes, classes): true class by predicted class."""
    flat = measured.truth * measured.classes + measured.predicted
    counts = np.bincount(flat, minlength=measured.classes**2)
    return counts.reshape(measured.classes, measured.classes).astype(np.int64)


def _ratio(above: npt.NDArray[Any], below: npt.NDArray[Any], wanted: npt.NDArray[np.bool_]) -> Floats:
    """`above / below`, 0 where nothing is below, for the wanted places only."""
    answer: Floats = np.divide(above, below, out=np.zeros(len(above)), where=below > 0)
    return answer[wanted]


def _recalls(counts: Counts) -> Floats:
    """Share found of every class that occurs."""
    return _ratio(np.diag(counts), counts.sum(axis=1), counts.sum(axis=1) > 0)


def _precisions(counts: Counts) -> Floats:
    return _ratio(np.diag(counts), counts.sum(axis=0), counts.sum(axis=1) > 0)


def _balanced_accuracy(measured: Measured) -> float:
    return float(_recalls(confusion(measured)).mean())


def _precision_macro(measured: Measured) -> float:
    return float(_precisions(confusion(measured)).mean())


def _f1_macro(measured: Measured) -> float:
    counts = confusion(measured)
    precision, recall = _precisions(counts), _recalls(counts)
    everywhere = np.ones(len(recall), dtype=np.bool_)
    return float(_ratio(2 * precision * recall, precision + recall, everywhere).mean())


def _accuracy(measured: Measured) -> float:
    return float((measured.truth == measured.predicted).mean())


def area_under_roc(positive: npt.NDArray[np.bool_], scores: Floats) -> float:
    """The chance that a positive row scores above a negative one, ties counting half (Mann-Whitney)."""
    positives = int(positive.sum())
    negatives = len(positive) - positives
    if not positives or not negatives:
        return float("nan")
    ranks = float(rankdata(scores)[positive].sum())
    return (ranks - positives * (positives + 1) / 2) / (positives * negatives)


def average_precision(positive: npt.NDArray[np.bool_], scores: Floats) -> float:
    """The mean of the precision at each positive row, going down the scores; tied scores share one cut."""
    if not positive.any():
        return float("nan")
    order = np.argsort(-scores, kind="stable")
    hits = np.cumsum(positive[order])
    last_of_tie = np.append(np.flatnonzero(np.diff(scores[order])), len(scores) - 1)
    found = np.diff(hits[last_of_tie], prepend=0)
    return float((found * hits[last_of_tie] / (last_of_tie + 1)).sum() / hits[-1])


def _over_classes(one: Callable[[npt.NDArray[np.bool_], Floats], float]) -> Callable[[Measured], float]:
    """The second class of two; else the mean of one class against the rest, over the classes that can be measured."""

    def measure(measured: Measured) -> float:
        codes = (1,) if measured.classes == 2 else range(measured.classes)
        values = [one(measured.truth == code, measured.probabilities[:, code]) for code in codes]
        known = [value for value in values if not np.isnan(value)]
        return float(np.mean(known)) if known else float("nan")

    return measure


def _log_loss(measured: Measured) -> float:
    own = measured.probabilities[np.arange(len(measured.truth)), measured.truth]
    return float(-np.log(np.clip(own, SMALLEST_PROBABILITY, 1.0)).mean())


def _brier(measured: Measured) -> float:
    """Mean squared distance to the true class; of two classes only one is counted (Brier 1950, halved)."""
    wanted = np.eye(measured.classes)[measured.truth]
    squared = float(((measured.probabilities - wanted) ** 2).sum(axis=1).mean())
    return squared / 2 if measured.classes == 2 else squared


def _r2(measured: Measured) -> float:
    spread = float(((measured.truth - measured.truth.mean()) ** 2).sum())
    missed = float(((measured.truth - measured.predicted) ** 2).sum())
    return 1 - missed / spread if spread else float("nan")


def _rmse(measured: Measured) -> float:
    return float(np.sqrt(((measured.truth - measured.predicted) ** 2).mean()))


def _mae(measured: Measured) -> float:
    return float(np.abs(measured.truth - measured.predicted).mean())


def _median_ae(measured: Measured) -> float:
    return float(np.median(np.abs(measured.truth - measured.predicted)))


MEASURES: Final[dict[str, Callable[[Measured], float]]] = {
    "balanced_accuracy": _balanced_accuracy,
    "accuracy": _accuracy,
    "f1_macro": _f1_macro,
    "precision_macro": _precision_macro,
    "recall_macro": _balanced_accuracy,
    "roc_auc": _over_classes(area_under_roc),
    "average_precision": _over_classes(average_precision),
    "log_loss": _log_loss,
    "brier": _brier,
    "r2": _r2,
    "rmse": _rmse,
    "mae": _mae,
    "median_ae": _median_ae,
}


def measure(metric: str, measured: Measured) -> float:
    """One metric of some predictions; NaN where it is not defined."""
    return MEASURES[metric](measured)


def better(metric: str) -> int:
    """+1 when more is better, -1 when less is."""
    return 1 if METRIC_BY_NAME[metric].greater_is_better else -1


def metrics_of(target: Target) -> tuple[str, ...]:
    """The metrics that are reported for a target."""
    return tuple(row.name for row in METRICS if row.task is target.task)


def on_one_part(target: Target, measured: Measured, seed: int) -> Json:
    """Every metric on a held-out part: `{metric: {value, low, high}}`."""
    return {
        name: {"value": known(measure(name, measured))} | bootstrap(name, measured, seed) for name in metrics_of(target)
    }


def bootstrap(metric: str, measured: Measured, seed: int) -> Json:
    """The percentile interval of a metric over resampled rows: `{low, high}`, null where it is not defined."""
    rng = np.random.default_rng(seed)
    rows = len(measured.truth)
    draws = [measure(metric, measured.take(rng.integers(0, rows, rows))) for _ in range(BOOTSTRAPS)]
    defined = [value for value in draws if not np.isnan(value)]
    if not defined:
        return {"low": None, "high": None}
    low, high = np.quantile(defined, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return {"low": float(low), "high": float(high)}


def over_folds(target: Target, parts: Sequence[Measured]) -> Json:
    """Every metric over folds: `{metric: {mean, std, low, high, values}}`."""
    return {name: _fold_summary(name, [measure(name, part) for part in parts]) for name in metrics_of(target)}


def _fold_summary(metric: str, values: Sequence[float]) -> Json:
    if np.isnan(values).any():
        return {"mean": None, "std": None, "low": None, "high": None, "values": [known(value) for value in values]}
    folds, mean, deviation = len(values), float(np.mean(values)), float(np.std(values, ddof=1))
    half = float(t.ppf((1 + CONFIDENCE) / 2, folds - 1)) * deviation * math.sqrt(1 / folds + 1 / (folds - 1))
    bounds = METRIC_BY_NAME[metric]
    low, high = max(bounds.least, mean - half), min(bounds.most, mean + half)
    return {"mean": mean, "std": deviation, "low": low, "high": high, "values": list(values)}


def known(value: float) -> float | None:
    """A figure as JSON: what is not defined is null."""
    return float(value) if np.isfinite(value) else None
