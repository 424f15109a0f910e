"""Confidence intervals of metrics on one held-out fold, by the percentile bootstrap over its rows (Efron 1979).

Every metric is computed on the same resamples, all of which are evaluated at once: a resample is not a copy of the rows
but the number of times that each row was drawn, multiplied by the weight of the row if it has one. Of a long fold only
some rows are resampled, and the intervals are narrowed by the square root of the ratio, as the theory of the m out of n
bootstrap has it (Bickel, Götze and van Zwet 1997), so that a million rows take no longer than twenty thousand.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from touchstone.learning.evaluation import (
    BOOTSTRAPS,
    TAILS,
    Counts,
    Mask,
    Predictions,
    brier_losses,
    compute_metric,
    finite_or_none,
    log_losses,
    mean_f1,
    mean_precision,
    mean_recall,
    ranked_classes,
    reported_metrics,
)
from touchstone.learning.target import Floats, Indices, Target
from touchstone.learning.task_interface import Json

MAX_RESAMPLED_ROWS: Final = 20_000
MAX_RESAMPLED_CELLS: Final = 200_000  # With many classes fewer rows are resampled, since each class is measured.
MIN_RESAMPLED_ROWS: Final = 5_000
CELLS_PER_BLOCK: Final = 200_000  # Resamples are evaluated in blocks whose arrays fit into the cache of a processor.


@dataclass(frozen=True, slots=True)
class Resamples:
    """Resamples of predicted rows; `counts` says how often each of them drew each row, times the row's weight."""

    predictions: Predictions
    counts: Counts = field(repr=False)  # Shape (resamples, rows).
    _threshold_rows: dict[int, "ThresholdRows"] = field(init=False, repr=False, default_factory=dict)

    def blocks(self) -> "Iterator[Resamples]":
        """Yield the resamples a few at a time."""
        size = max(1, CELLS_PER_BLOCK // self.counts.shape[1])
        for start in range(0, len(self.counts), size):
            yield Resamples(self.predictions, self.counts[start : start + size])

    def threshold_rows(self, code: int) -> "ThresholdRows":
        """Return the rows that each threshold of the probability of a class adds, counted once for all metrics."""
        if code not in self._threshold_rows:
            is_positive = self.predictions.truth == code
            self._threshold_rows[code] = _count_by_threshold(self, is_positive, self.predictions.probabilities[:, code])
        return self._threshold_rows[code]

    def mean(self, values: npt.NDArray[np.floating]) -> Floats:
        """Return, for every resample, the mean of a value that each row has."""
        means: Floats = (self.counts @ values) / self.counts.sum(axis=1)
        return means

    def confusion_matrices(self) -> Counts:
        """Return the confusion matrix of every resample, true classes before predicted ones."""
        class_count = self.predictions.class_count
        resample_count = len(self.counts)
        cell_of_row = self.predictions.truth * class_count + self.predictions.predicted

        # Each resample has cells of its own, so that a single count fills the matrices of all of them.
        first_cells = np.arange(resample_count)[:, None] * class_count**2
        rows_per_cell = np.bincount(
            (first_cells + cell_of_row).ravel(),
            weights=self.counts.ravel(),
            minlength=resample_count * class_count**2,
        )
        return rows_per_cell.reshape(resample_count, class_count, class_count)


def summarize_holdout(target: Target, predictions: Predictions, seed: int, units: Indices | None = None) -> Json:
    """Return every metric on a held-out fold, with its bootstrap interval, as `{metric: {value, low, high}}`.

    `units` are as for `bootstrap_metrics`.
    """
    return bootstrap_metrics(reported_metrics(target), predictions, seed, units)


def bootstrap_metric(metric: str, predictions: Predictions, seed: int) -> Json:
    """Return the value of one metric with its 95 % confidence interval, as `{value, low, high}`."""
    return bootstrap_metrics([metric], predictions, seed)[metric]


def bootstrap_metrics(
    metrics: Sequence[str], predictions: Predictions, seed: int, units: Indices | None = None
) -> dict[str, Json]:
    """Return the values of metrics with their 95 % confidence intervals, as `{metric: {value, low, high}}`.

    An interval contains the middle 95 % of the values on rows drawn at random with replacement. `units` are the codes
    of the units to which the rows belong, such as patients or groups of equal rows: all rows of a unit are drawn
    together, since they tell less than as many independent rows. A value is None if the metric is undefined on
    these rows, and both ends are None if it is undefined on every resample, or if all rows belong to the same unit,
    of which no others can be drawn.
    """
    rng = np.random.default_rng(seed)
    unit_of_row = np.arange(len(predictions.truth)) if units is None else np.unique(units, return_inverse=True)[1]
    has_one_unit = not unit_of_row.any()
    rows = _choose_rows(predictions, unit_of_row, rng)
    resampled_predictions = predictions.take(rows)
    resamples = draw_resamples(resampled_predictions, rng, unit_of_row[rows])

    row_ratio = len(rows) / len(predictions.truth)
    blocks_of_values = [[RESAMPLED_METRICS[metric](block) for metric in metrics] for block in resamples.blocks()]
    summary_by_metric = {}
    for metric, values_of_blocks in zip(metrics, zip(*blocks_of_values, strict=True), strict=True):
        values = np.full(1, np.nan) if has_one_unit else np.concatenate(values_of_blocks)
        value = compute_metric(metric, predictions)
        centre = compute_metric(metric, resampled_predictions)
        interval = _interval(values, centre, shift=value - centre, narrowing=math.sqrt(row_ratio))
        summary_by_metric[metric] = {"value": finite_or_none(value), **interval}
    return summary_by_metric


def draw_resamples(predictions: Predictions, rng: np.random.Generator, unit_of_row: Indices | None = None) -> Resamples:
    """Draw as many units of rows as there are, with replacement, again and again; by default each row is a unit."""
    if unit_of_row is None:
        unit_of_row = np.arange(len(predictions.truth))
    _codes, unit_of_row = np.unique(unit_of_row, return_inverse=True)

    unit_count = int(unit_of_row.max()) + 1
    counts = np.empty((BOOTSTRAPS, len(unit_of_row)), dtype=np.int32)
    for resample in range(BOOTSTRAPS):
        drawn_units = rng.integers(0, unit_count, unit_count)
        count_of_unit = np.bincount(drawn_units, minlength=unit_count)
        counts[resample] = count_of_unit[unit_of_row]
    return Resamples(predictions, counts if predictions.weights is None else counts * predictions.weights)


def _choose_rows(predictions: Predictions, unit_of_row: Indices, rng: np.random.Generator) -> Indices:
    """Return the rows that are resampled: all of them, or those of some units chosen at random if there are many."""
    rows = len(predictions.truth)
    limit = MAX_RESAMPLED_ROWS
    if predictions.class_count:
        limit = min(limit, max(MIN_RESAMPLED_ROWS, MAX_RESAMPLED_CELLS // predictions.class_count))
    if rows <= limit:
        return np.arange(rows)

    unit_count = int(unit_of_row.max()) + 1
    chosen_count = max(2, limit * unit_count // rows)
    is_chosen = np.zeros(unit_count, dtype=np.bool_)
    is_chosen[rng.choice(unit_count, min(chosen_count, unit_count), replace=False)] = True
    return np.flatnonzero(is_chosen[unit_of_row])


def _interval(values: Floats, centre: float, shift: float, *, narrowing: float) -> Json:
    """Return the middle 95 % of the values of a metric that are defined, as `{low, high}`.

    If only some rows were resampled, on which the metric is `centre`, the interval is narrowed around it and moved by
    `shift` to the value on all rows.
    """
    defined_values = values[~np.isnan(values)]
    if not len(defined_values):
        return {"low": None, "high": None}

    low, high = np.quantile(defined_values, TAILS)
    if narrowing < 1:
        low = centre + shift + (low - centre) * narrowing
        high = centre + shift + (high - centre) * narrowing
    return {"low": finite_or_none(float(low)), "high": finite_or_none(float(high))}


@dataclass(frozen=True, slots=True)
class ThresholdRows:
    """The rows that each threshold adds to the selected ones, from the highest score down, for every resample.

    Both arrays have the shape (resamples, thresholds).
    """

    positives: Floats = field(repr=False)
    negatives: Floats = field(repr=False)


def _count_by_threshold(resamples: Resamples, is_positive: Mask, scores: Floats) -> ThresholdRows:
    """Count the positive and the negative rows of every distinct score; rows with equal scores share a threshold."""
    descending = np.argsort(-scores, kind="stable")
    is_new_score = np.diff(scores[descending], prepend=np.inf) != 0
    first_position_of_score = np.flatnonzero(is_new_score)

    sorted_counts = resamples.counts[:, descending]
    sorted_positives = sorted_counts * is_positive[descending]
    rows = np.add.reduceat(sorted_counts, first_position_of_score, axis=1)
    positives = np.add.reduceat(sorted_positives, first_position_of_score, axis=1)
    return ThresholdRows(positives.astype(np.float64), (rows - positives).astype(np.float64))


def _area_under_roc(threshold_rows: ThresholdRows) -> Floats:
    """Return the area under the ROC curve of every resample, NaN where all rows are of one kind."""
    positives = threshold_rows.positives
    negatives = threshold_rows.negatives

    # A positive row is ahead of all negative rows with a lower score, and half ahead of those with the same one.
    all_negatives = negatives.sum(axis=1, keepdims=True)
    lower_negatives = all_negatives - negatives.cumsum(axis=1)
    pairs_in_right_order = (positives * (lower_negatives + negatives / 2)).sum(axis=1)
    pairs = positives.sum(axis=1) * all_negatives[:, 0]
    return _ratio_or_nan(pairs_in_right_order, pairs)


def _average_precision(threshold_rows: ThresholdRows) -> Floats:
    """Return the average precision of every resample, NaN where there are no positive rows."""
    positives = threshold_rows.positives
    hits = positives.cumsum(axis=1)
    selected = hits + threshold_rows.negatives.cumsum(axis=1)

    precisions = np.divide(hits, selected, out=np.zeros_like(hits), where=selected > 0)
    return _ratio_or_nan((positives * precisions).sum(axis=1), hits[:, -1])


def _ratio_or_nan(numerators: Floats, denominators: Floats) -> Floats:
    """Divide element by element; the ratio is NaN where the denominator is 0."""
    undefined = np.full(len(numerators), np.nan)
    ratio: Floats = np.divide(numerators, denominators, out=undefined, where=denominators > 0)
    return ratio


def _mean_over_classes(metric: Callable[[ThresholdRows], Floats]) -> Callable[[Resamples], Floats]:
    """Return a function that averages a metric of rankings over the classes for which a resample defines it."""

    def compute(resamples: Resamples) -> Floats:
        codes = ranked_classes(resamples.predictions)
        values = np.stack([metric(resamples.threshold_rows(code)) for code in codes])
        is_defined = ~np.isnan(values)
        return _ratio_or_nan(np.where(is_defined, values, 0.0).sum(axis=0), is_defined.sum(axis=0).astype(np.float64))

    return compute


def _accuracy(resamples: Resamples) -> Floats:
    """Return the share of the rows whose class is predicted correctly."""
    predictions = resamples.predictions
    return resamples.mean((predictions.truth == predictions.predicted).astype(np.float64))


def _r2(resamples: Resamples) -> Floats:
    """Return the share of the variance that the predictions explain."""
    truth = resamples.predictions.truth
    # Without this shift, which changes no variance, large numbers close together would lose their digits.
    centred_truth = truth - truth.mean()
    variance = resamples.mean(centred_truth**2) - resamples.mean(centred_truth) ** 2
    return 1 - _ratio_or_nan(_mean_squared_error(resamples), variance)


def _mean_squared_error(resamples: Resamples) -> Floats:
    """Return the mean squared error of every resample."""
    return resamples.mean((resamples.predictions.truth - resamples.predictions.predicted) ** 2)


def _median_ae(resamples: Resamples) -> Floats:
    """Return the median absolute error: the middle one of the sorted errors, or the mean of the two in the middle."""
    errors = np.abs(resamples.predictions.truth - resamples.predictions.predicted)
    ascending = np.argsort(errors, kind="stable")
    rows_up_to_error = resamples.counts[:, ascending].cumsum(axis=1)

    half_of_rows = rows_up_to_error[:, -1:] / 2
    lower_positions = (rows_up_to_error < half_of_rows).sum(axis=1)
    upper_positions = (rows_up_to_error <= half_of_rows).sum(axis=1)
    sorted_errors = errors[ascending]
    median: Floats = (sorted_errors[lower_positions] + sorted_errors[upper_positions]) / 2
    return median


RESAMPLED_METRICS: Final[dict[str, Callable[[Resamples], Floats]]] = {
    "balanced_accuracy": lambda resamples: mean_recall(resamples.confusion_matrices()),
    "accuracy": _accuracy,
    "f1_macro": lambda resamples: mean_f1(resamples.confusion_matrices()),
    "precision_macro": lambda resamples: mean_precision(resamples.confusion_matrices()),
    "recall_macro": lambda resamples: mean_recall(resamples.confusion_matrices()),
    "roc_auc": _mean_over_classes(_area_under_roc),
    "average_precision": _mean_over_classes(_average_precision),
    "log_loss": lambda resamples: resamples.mean(log_losses(resamples.predictions)),
    "brier": lambda resamples: resamples.mean(brier_losses(resamples.predictions)),
    "r2": _r2,
    "rmse": lambda resamples: np.sqrt(_mean_squared_error(resamples)),
    "mae": lambda resamples: resamples.mean(np.abs(resamples.predictions.truth - resamples.predictions.predicted)),
    "median_ae": _median_ae,
}
