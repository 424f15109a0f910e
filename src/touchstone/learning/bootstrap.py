"""Confidence intervals of metrics on one held-out fold, by the percentile bootstrap (Efron 1979).

Every metric is computed on the same resamples. A resample is not a copy of the rows but the number of times that each
row was drawn, multiplied by the row's weight, so many resamples can be evaluated at once.

Only a sample of a long fold is resampled, so that a million rows take no longer than twenty thousand. The intervals are
then narrowed by the square root of the sampling ratio (the m out of n bootstrap, Bickel, Götze and van Zwet 1997).
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from touchstone.learning.evaluation import (
    BOOTSTRAP_RESAMPLES,
    INTERVAL_QUANTILES,
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
MAX_RESAMPLED_CELLS: Final = 200_000  # Rows times classes: with many classes, fewer rows are resampled.
MIN_RESAMPLED_ROWS: Final = 5_000
CELLS_PER_BLOCK: Final = 200_000  # Resamples are evaluated in blocks that fit into the processor cache.


@dataclass(frozen=True, slots=True)
class Resamples:
    """Resamples of predicted rows, as counts of shape (resamples, rows).

    A count is the number of times that a resample drew a row, multiplied by the row's weight.
    """

    predictions: Predictions
    counts: Counts = field(repr=False)
    _threshold_rows: dict[int, "ThresholdRows"] = field(init=False, repr=False, default_factory=dict)

    def blocks(self) -> "Iterator[Resamples]":
        """Yield the resamples in blocks of a few resamples."""
        size = max(1, CELLS_PER_BLOCK // self.counts.shape[1])
        for start in range(0, len(self.counts), size):
            yield Resamples(self.predictions, self.counts[start : start + size])

    def threshold_rows(self, code: int) -> "ThresholdRows":
        """Return the rows added by each threshold on the probability of a class.

        The result is cached, because several metrics use it.
        """
        if code not in self._threshold_rows:
            is_positive = self.predictions.truth == code
            self._threshold_rows[code] = _count_by_threshold(self, is_positive, self.predictions.probabilities[:, code])
        return self._threshold_rows[code]

    def mean(self, values: npt.NDArray[np.floating]) -> Floats:
        """Return the weighted mean of `values`, one value per row, for every resample."""
        means: Floats = (self.counts @ values) / self.counts.sum(axis=1)
        return means

    def confusion_matrices(self) -> Counts:
        """Return an array of shape (resamples, true classes, predicted classes)."""
        class_count = self.predictions.class_count
        resample_count = len(self.counts)
        cell_of_row = self.predictions.truth * class_count + self.predictions.predicted

        # Give each resample its own range of cell numbers, so that one `bincount` fills all matrices.
        first_cells = np.arange(resample_count)[:, None] * class_count**2
        rows_per_cell = np.bincount(
            (first_cells + cell_of_row).ravel(),
            weights=self.counts.ravel(),
            minlength=resample_count * class_count**2,
        )
        return rows_per_cell.reshape(resample_count, class_count, class_count)


def summarize_holdout(target: Target, predictions: Predictions, seed: int, units: Indices | None = None) -> Json:
    """Return every reported metric on a held-out fold with its confidence interval (see `bootstrap_metrics`)."""
    return bootstrap_metrics(reported_metrics(target), predictions, seed, units)


def bootstrap_metric(metric: str, predictions: Predictions, seed: int) -> Json:
    """Return the value of one metric with its 95 % confidence interval, as `{value, low, high}`."""
    return bootstrap_metrics([metric], predictions, seed)[metric]


def bootstrap_metrics(
    metrics: Sequence[str], predictions: Predictions, seed: int, units: Indices | None = None
) -> dict[str, Json]:
    """Return the values of the given metrics with their 95 % confidence intervals.

    An interval contains the middle 95 % of the values on rows drawn at random with replacement.

    Args:
        metrics: the names of the metrics.
        predictions: the predictions for the rows of the fold.
        seed: the seed of the random draws.
        units: the code of the unit of each row, such as a patient or a group of equal rows. The rows of a unit are
            drawn together, since they contain less information than independent rows. By default each row is a unit.

    Returns:
        `{metric: {value, low, high}}`. The value is None if the metric is undefined on these rows. Both ends of the
        interval are None if the metric is undefined on every resample, or if there is only one unit to draw.
    """
    rng = np.random.default_rng(seed)
    if units is None:
        unit_of_row = np.arange(len(predictions.truth))
    else:
        _codes, unit_of_row = np.unique(units, return_inverse=True)
    has_one_unit = not unit_of_row.any()  # Units are numbered from 0.
    rows = _select_resampled_rows(predictions, unit_of_row, rng)
    resampled_predictions = predictions.take(rows)
    resamples = draw_resamples(resampled_predictions, rng, unit_of_row[rows])

    row_ratio = len(rows) / len(predictions.truth)
    blocks_of_values = [[RESAMPLED_METRICS[metric](block) for metric in metrics] for block in resamples.blocks()]
    summary_by_metric = {}
    for metric, values_of_blocks in zip(metrics, zip(*blocks_of_values, strict=True), strict=True):
        values = np.full(1, np.nan) if has_one_unit else np.concatenate(values_of_blocks)
        value = compute_metric(metric, predictions)
        centre = compute_metric(metric, resampled_predictions)
        interval = _percentile_interval(values, centre, shift=value - centre, narrowing=math.sqrt(row_ratio))
        summary_by_metric[metric] = {"value": finite_or_none(value), **interval}
    return summary_by_metric


def draw_resamples(predictions: Predictions, rng: np.random.Generator, unit_of_row: Indices | None = None) -> Resamples:
    """Draw `BOOTSTRAP_RESAMPLES` resamples, each with as many units as there are, with replacement.

    Args:
        predictions: the predicted rows.
        rng: the source of randomness.
        unit_of_row: the code of the unit of each row. By default each row is a unit.
    """
    if unit_of_row is None:
        unit_of_row = np.arange(len(predictions.truth))
    _codes, unit_of_row = np.unique(unit_of_row, return_inverse=True)

    unit_count = int(unit_of_row.max()) + 1
    counts = np.empty((BOOTSTRAP_RESAMPLES, len(unit_of_row)), dtype=np.int32)
    for resample in range(BOOTSTRAP_RESAMPLES):
        drawn_units = rng.integers(0, unit_count, unit_count)
        count_of_unit = np.bincount(drawn_units, minlength=unit_count)
        counts[resample] = count_of_unit[unit_of_row]
    return Resamples(predictions, counts if predictions.weights is None else counts * predictions.weights)


def _select_resampled_rows(predictions: Predictions, unit_of_row: Indices, rng: np.random.Generator) -> Indices:
    """Return the positions of the rows to resample.

    These are all rows, or if there are too many, the rows of randomly chosen units, about as many as allowed.
    """
    row_count = len(predictions.truth)
    max_rows = MAX_RESAMPLED_ROWS
    if predictions.class_count:
        max_rows = min(max_rows, max(MIN_RESAMPLED_ROWS, MAX_RESAMPLED_CELLS // predictions.class_count))
    if row_count <= max_rows:
        return np.arange(row_count)

    unit_count = int(unit_of_row.max()) + 1
    chosen_count = max(2, max_rows * unit_count // row_count)
    chosen_units = rng.choice(unit_count, min(chosen_count, unit_count), replace=False)
    return np.flatnonzero(np.isin(unit_of_row, chosen_units))


def _percentile_interval(values: Floats, centre: float, shift: float, *, narrowing: float) -> Json:
    """Return the ends of the middle 95 % of the defined values of a metric, as `{low, high}`.

    Args:
        values: the value of the metric on each resample, NaN where it is undefined.
        centre: the value of the metric on the rows that were resampled.
        shift: the difference between the value on all rows and `centre`, which is added to both ends.
        narrowing: the factor for the width of the interval; below 1 if only a sample of the rows was resampled.
    """
    defined_values = values[~np.isnan(values)]
    if not len(defined_values):
        return {"low": None, "high": None}

    low, high = np.quantile(defined_values, INTERVAL_QUANTILES)
    if narrowing < 1:
        low = centre + shift + (low - centre) * narrowing
        high = centre + shift + (high - centre) * narrowing
    return {"low": finite_or_none(float(low)), "high": finite_or_none(float(high))}


@dataclass(frozen=True, slots=True)
class ThresholdRows:
    """The positive and the negative rows that each lower threshold adds to the selected rows.

    Both arrays have the shape (resamples, thresholds). The thresholds are the distinct scores in descending order.
    """

    positives: Floats = field(repr=False)
    negatives: Floats = field(repr=False)


def _count_by_threshold(resamples: Resamples, is_positive: Mask, scores: Floats) -> ThresholdRows:
    """Count the positive and the negative rows of every distinct score, in every resample."""
    descending = np.argsort(-scores, kind="stable")
    is_new_score = np.diff(scores[descending], prepend=np.inf) != 0
    first_position_of_score = np.flatnonzero(is_new_score)

    sorted_counts = resamples.counts[:, descending]
    sorted_positives = sorted_counts * is_positive[descending]
    rows = np.add.reduceat(sorted_counts, first_position_of_score, axis=1)
    positives = np.add.reduceat(sorted_positives, first_position_of_score, axis=1)
    return ThresholdRows(positives.astype(np.float64), (rows - positives).astype(np.float64))


def _area_under_roc(threshold_rows: ThresholdRows) -> Floats:
    """Return the area under the ROC curve of every resample, or NaN if all rows have the same class."""
    positives = threshold_rows.positives
    negatives = threshold_rows.negatives

    # Count the pairs in which the positive row has the higher score; a tie counts half.
    all_negatives = negatives.sum(axis=1, keepdims=True)
    lower_negatives = all_negatives - negatives.cumsum(axis=1)
    correctly_ordered_pairs = (positives * (lower_negatives + negatives / 2)).sum(axis=1)
    pairs = positives.sum(axis=1) * all_negatives[:, 0]
    return _ratio_or_nan(correctly_ordered_pairs, pairs)


def _average_precision(threshold_rows: ThresholdRows) -> Floats:
    """Return the average precision of every resample, or NaN if there are no positive rows."""
    positives = threshold_rows.positives
    hits = positives.cumsum(axis=1)
    selected = hits + threshold_rows.negatives.cumsum(axis=1)

    precisions = np.divide(hits, selected, out=np.zeros_like(hits), where=selected > 0)
    return _ratio_or_nan((positives * precisions).sum(axis=1), hits[:, -1])


def _ratio_or_nan(numerators: Floats, denominators: Floats) -> Floats:
    """Divide element by element, with NaN where the denominator is 0."""
    undefined = np.full(len(numerators), np.nan)
    ratio: Floats = np.divide(numerators, denominators, out=undefined, where=denominators > 0)
    return ratio


def _mean_over_classes(metric: Callable[[ThresholdRows], Floats]) -> Callable[[Resamples], Floats]:
    """Return a function that averages a ranking metric over the classes that define it in a resample."""

    def compute(resamples: Resamples) -> Floats:
        codes = ranked_classes(resamples.predictions)
        values = np.stack([metric(resamples.threshold_rows(code)) for code in codes])
        is_defined = ~np.isnan(values)
        return _ratio_or_nan(np.where(is_defined, values, 0.0).sum(axis=0), is_defined.sum(axis=0).astype(np.float64))

    return compute


def _accuracy(resamples: Resamples) -> Floats:
    """Return the share of correctly predicted rows of every resample."""
    predictions = resamples.predictions
    return resamples.mean((predictions.truth == predictions.predicted).astype(np.float64))


def _r2(resamples: Resamples) -> Floats:
    """Return the share of the variance explained by the predictions, for every resample."""
    truth = resamples.predictions.truth
    # The shift does not change the variance, but avoids cancellation among large numbers that are close together.
    centred_truth = truth - truth.mean()
    variance = resamples.mean(centred_truth**2) - resamples.mean(centred_truth) ** 2
    return 1 - _ratio_or_nan(_mean_squared_error(resamples), variance)


def _mean_squared_error(resamples: Resamples) -> Floats:
    """Return the mean squared error of every resample."""
    return resamples.mean((resamples.predictions.truth - resamples.predictions.predicted) ** 2)


def _median_ae(resamples: Resamples) -> Floats:
    """Return the weighted median of the absolute errors of every resample."""
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
