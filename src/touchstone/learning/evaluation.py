"""Metrics of predictions, and their confidence intervals over several folds.

An interval over several folds is Student's t interval of the fold values. Its variance is enlarged because the training
sets overlap (Nadeau and Bengio 2003), and it is clipped to the range of the metric. For the interval on a single fold,
see `bootstrap.py`.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata, t

from touchstone.learning.request_choices import METRIC_BY_NAME, METRICS
from touchstone.learning.target import Floats, Target
from touchstone.learning.task_interface import Json

BOOTSTRAP_RESAMPLES: Final = 200
CONFIDENCE: Final = 0.95
INTERVAL_QUANTILES: Final = ((1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2)
MIN_PROBABILITY: Final = 1e-15

Counts = npt.NDArray[Any]  # numbers of rows, or sums of their weights if the rows are weighted
Mask = npt.NDArray[np.bool_]
# A function of the mask of the positive rows, the scores of the rows, and their weights.
BinaryMetric = Callable[[Mask, Floats, Floats | None], float]


@dataclass(frozen=True, slots=True)
class Predictions:
    """The true and the predicted values of rows.

    Attributes:
        truth: the true values, which are integer codes for classes.
        predicted: the predicted values.
        class_count: the number of classes, or 0 for a regression.
        probabilities: the predicted probabilities of shape (rows, classes), empty for a regression.
        weights: the weight of each row in metrics, or None for equal weights.
    """

    truth: npt.NDArray[Any] = field(repr=False)
    predicted: npt.NDArray[Any] = field(repr=False)
    class_count: int = 0
    probabilities: Floats = field(repr=False, default_factory=lambda: np.empty((0, 0)))
    weights: Floats | None = field(repr=False, default=None)

    def take(self, rows: npt.NDArray[Any]) -> "Predictions":
        """Return the predictions for the selected rows, which are given as positions or as a mask."""
        probabilities = self.probabilities[rows] if len(self.probabilities) else self.probabilities
        weights = None if self.weights is None else self.weights[rows]
        return Predictions(self.truth[rows], self.predicted[rows], self.class_count, probabilities, weights)

    def with_probabilities(self, probabilities: Floats) -> "Predictions":
        """Return a copy with other probabilities."""
        return replace(self, probabilities=probabilities)

    def without_weights(self) -> "Predictions":
        """Return a copy without weights, so that all rows count the same."""
        return replace(self, weights=None)

    def mean(self, values: npt.NDArray[Any]) -> float:
        """Return the weighted mean of `values`, one value per row."""
        return float(np.average(values, weights=self.weights))

    def with_predicted(self, predicted: npt.NDArray[Any]) -> "Predictions":
        """Return a copy with other predicted values."""
        return replace(self, predicted=predicted)


def concatenate(folds: Sequence[Predictions]) -> Predictions:
    """Return the predictions of several folds, one fold after the other."""
    return Predictions(
        truth=np.concatenate([fold.truth for fold in folds]),
        predicted=np.concatenate([fold.predicted for fold in folds]),
        class_count=folds[0].class_count,
        probabilities=np.concatenate([fold.probabilities for fold in folds]),
        weights=None if folds[0].weights is None else np.concatenate([fold.weights for fold in folds]),
    )


@dataclass(frozen=True, slots=True)
class ThresholdCounts:
    """The rows selected at each threshold, where the thresholds are the distinct scores in descending order."""

    selected: Counts = field(repr=False)  # the number of rows that reach the threshold
    hits: Counts = field(repr=False)  # the number of positive rows among them


def confusion_matrix(predictions: Predictions) -> Counts:
    """Return the weighted number of rows by true class (first axis) and predicted class (second axis)."""
    class_count = predictions.class_count
    cell_of_row = predictions.truth * class_count + predictions.predicted
    rows_per_cell = np.bincount(cell_of_row, weights=predictions.weights, minlength=class_count**2)
    return rows_per_cell.reshape(class_count, class_count)


def count_by_threshold(is_positive: Mask, scores: Floats, weights: Floats | None = None) -> ThresholdCounts:
    """Count the selected rows, and the positive rows among them, at every distinct score.

    Args:
        is_positive: the mask of the positive rows.
        scores: the score of each row.
        weights: the weight of each row, or None for equal weights.
    """
    # NumPy only sorts in ascending order. Negated scores put the highest first and preserve the order of ties.
    descending = np.argsort(-scores, kind="stable")
    score_changes = np.diff(scores[descending])
    last_position_of_tie = np.append(np.flatnonzero(score_changes), len(scores) - 1)

    row_counts = np.ones(len(scores), dtype=np.int64) if weights is None else weights
    selected_so_far = np.cumsum(row_counts[descending])
    hits_so_far = np.cumsum((row_counts * is_positive)[descending])
    return ThresholdCounts(selected_so_far[last_position_of_tie], hits_so_far[last_position_of_tie])


def _safe_ratio(numerator: npt.NDArray[Any], denominator: npt.NDArray[Any]) -> Floats:
    """Divide element by element, with 0 where the denominator is 0."""
    zeros = np.zeros(np.broadcast(numerator, denominator).shape)
    ratio: Floats = np.divide(numerator, denominator, out=zeros, where=denominator > 0)
    return ratio


def mean_recall(confusion: Counts) -> Floats:
    """Return the mean recall over the classes that have rows.

    Like `mean_precision` and `mean_f1`, it accepts one confusion matrix or a stack of them, and returns one value per
    matrix.
    """
    return _mean_of_present_classes(_recalls(confusion), confusion)


def mean_precision(confusion: Counts) -> Floats:
    """Return the mean precision over the classes that have rows (0 for a class that is never predicted)."""
    return _mean_of_present_classes(_precisions(confusion), confusion)


def mean_f1(confusion: Counts) -> Floats:
    """Return the mean F1 score over the classes that have rows.

    The F1 score is the harmonic mean of precision and recall.
    """
    precisions = _precisions(confusion)
    recalls = _recalls(confusion)
    f1_scores = _safe_ratio(2 * precisions * recalls, precisions + recalls)
    return _mean_of_present_classes(f1_scores, confusion)


def _recalls(confusion: Counts) -> Floats:
    """Return the recall of every class, or 0 for a class without rows."""
    return _safe_ratio(_diagonal(confusion), confusion.sum(axis=-1))


def _precisions(confusion: Counts) -> Floats:
    """Return the precision of every class, or 0 for a class that is never predicted."""
    return _safe_ratio(_diagonal(confusion), confusion.sum(axis=-2))


def _diagonal(confusion: Counts) -> Counts:
    """Return the number of correctly predicted rows of every class."""
    return np.diagonal(confusion, axis1=-2, axis2=-1)


def _mean_of_present_classes(values: Floats, confusion: Counts) -> Floats:
    """Return the mean of `values`, one value per class, over the classes that have rows."""
    is_present = confusion.sum(axis=-1) > 0
    mean: Floats = (values * is_present).sum(axis=-1) / is_present.sum(axis=-1)
    return mean


def _balanced_accuracy(predictions: Predictions) -> float:
    """Return the mean recall of the classes."""
    return float(mean_recall(confusion_matrix(predictions)))


def _precision_macro(predictions: Predictions) -> float:
    """Return the mean precision of the classes."""
    return float(mean_precision(confusion_matrix(predictions)))


def _f1_macro(predictions: Predictions) -> float:
    """Return the mean F1 score of the classes."""
    return float(mean_f1(confusion_matrix(predictions)))


def _accuracy(predictions: Predictions) -> float:
    """Return the share of correctly predicted rows."""
    return predictions.mean(predictions.truth == predictions.predicted)


def area_under_roc(is_positive: Mask, scores: Floats, weights: Floats | None = None) -> float:
    """Return the area under the ROC curve, or NaN if all rows are positive or all are negative.

    The area equals the probability that a positive row has a higher score than a negative row, where ties count half
    (Mann and Whitney 1947).
    """
    if weights is not None:
        return _weighted_area_under_roc(count_by_threshold(is_positive, scores, weights))

    positives = int(is_positive.sum())
    negatives = len(is_positive) - positives
    if positives == 0 or negatives == 0:
        return float("nan")

    rank_sum = float(rankdata(scores)[is_positive].sum())
    lowest_possible_rank_sum = positives * (positives + 1) / 2
    correctly_ordered_pairs = rank_sum - lowest_possible_rank_sum
    return correctly_ordered_pairs / (positives * negatives)


def _weighted_area_under_roc(counts: ThresholdCounts) -> float:
    """Integrate the true positive rate over the false positive rate."""
    false_positives = counts.selected - counts.hits
    if counts.hits[-1] == 0 or false_positives[-1] == 0:
        return float("nan")

    true_positive_rates = np.concatenate([[0.0], counts.hits / counts.hits[-1]])
    false_positive_rates = np.concatenate([[0.0], false_positives / false_positives[-1]])
    return float(np.trapezoid(true_positive_rates, false_positive_rates))


def average_precision(is_positive: Mask, scores: Floats, weights: Floats | None = None) -> float:
    """Return the mean precision over the positive rows of a ranking by score, or NaN if there are none.

    The precision of a positive row is the share of positive rows among all rows with at least the same score.
    """
    counts = count_by_threshold(is_positive, scores, weights)
    all_hits = counts.hits[-1]
    if all_hits == 0:
        return float("nan")

    # Rows with equal scores share a threshold, so weight the precision of each threshold by its new hits.
    new_hits = np.diff(counts.hits, prepend=0)
    weighted_precisions = new_hits * _safe_ratio(counts.hits, counts.selected)
    return float(weighted_precisions.sum() / all_hits)


def _roc_auc(predictions: Predictions) -> float:
    """Return the area under the ROC curve, averaged over the classes."""
    return _mean_over_classes(area_under_roc, predictions)


def _average_precision(predictions: Predictions) -> float:
    """Return the average precision, averaged over the classes."""
    return _mean_over_classes(average_precision, predictions)


def ranked_classes(predictions: Predictions) -> Sequence[int]:
    """Return the codes of the classes that ranking metrics treat as positive in turn.

    With two classes, only the second is treated as positive.
    """
    return [1] if predictions.class_count == 2 else range(predictions.class_count)


def _mean_over_classes(binary_metric: BinaryMetric, predictions: Predictions) -> float:
    """Return the mean of a binary metric over the classes that define it, or NaN if there are none."""
    defined_values = []
    for code in ranked_classes(predictions):
        is_positive = predictions.truth == code
        value = binary_metric(is_positive, predictions.probabilities[:, code], predictions.weights)
        if not np.isnan(value):
            defined_values.append(value)

    return float(np.mean(defined_values)) if defined_values else float("nan")


def log_losses(predictions: Predictions) -> Floats:
    """Return the negative logarithm of the probability predicted for the true class of every row."""
    rows = np.arange(len(predictions.truth))
    true_class_probabilities = predictions.probabilities[rows, predictions.truth]

    # A single probability of 0 would make the mean loss infinite.
    losses: Floats = -np.log(np.clip(true_class_probabilities, MIN_PROBABILITY, 1.0))
    return losses


def brier_losses(predictions: Predictions) -> Floats:
    """Return the squared distance of every row's probabilities from the ideal ones (Brier 1950).

    It is halved for two classes, so that it lies between 0 and 1.
    """
    one_hot_truth = np.eye(predictions.class_count)[predictions.truth]
    squared_distances: Floats = ((predictions.probabilities - one_hot_truth) ** 2).sum(axis=1)
    return squared_distances / 2 if predictions.class_count == 2 else squared_distances


def _log_loss(predictions: Predictions) -> float:
    """Return the mean negative logarithm of the probability predicted for the true class."""
    return predictions.mean(log_losses(predictions))


def _brier(predictions: Predictions) -> float:
    """Return the Brier score, which is the mean of `brier_losses`."""
    return predictions.mean(brier_losses(predictions))


def _r2(predictions: Predictions) -> float:
    """Return the share of the variance explained by the predictions, or NaN if all true values are equal."""
    variance = predictions.mean((predictions.truth - predictions.mean(predictions.truth)) ** 2)
    return 1 - _mean_squared_error(predictions) / variance if variance else float("nan")


def _rmse(predictions: Predictions) -> float:
    """Return the root of the mean squared error."""
    return float(np.sqrt(_mean_squared_error(predictions)))


def _mean_squared_error(predictions: Predictions) -> float:
    """Return the mean squared error."""
    return predictions.mean((predictions.truth - predictions.predicted) ** 2)


def _mae(predictions: Predictions) -> float:
    """Return the mean absolute error."""
    return predictions.mean(np.abs(predictions.truth - predictions.predicted))


def _median_ae(predictions: Predictions) -> float:
    """Return the weighted median of the absolute errors."""
    errors = np.abs(predictions.truth - predictions.predicted)
    if predictions.weights is None:
        return float(np.median(errors))

    ascending = np.argsort(errors, kind="stable")
    cumulative_weights = np.cumsum(predictions.weights[ascending])
    half = cumulative_weights[-1] / 2
    lower_position = np.searchsorted(cumulative_weights, half, side="left")
    upper_position = np.searchsorted(cumulative_weights, half, side="right")
    sorted_errors = errors[ascending]
    return float(sorted_errors[[lower_position, upper_position]].mean())


METRIC_FUNCTIONS: Final[dict[str, Callable[[Predictions], float]]] = {
    "balanced_accuracy": _balanced_accuracy,
    "accuracy": _accuracy,
    "f1_macro": _f1_macro,
    "precision_macro": _precision_macro,
    "recall_macro": _balanced_accuracy,
    "roc_auc": _roc_auc,
    "average_precision": _average_precision,
    "log_loss": _log_loss,
    "brier": _brier,
    "r2": _r2,
    "rmse": _rmse,
    "mae": _mae,
    "median_ae": _median_ae,
}


def compute_metric(metric: str, predictions: Predictions) -> float:
    """Return one metric of the predictions, or NaN if it is undefined."""
    return METRIC_FUNCTIONS[metric](predictions)


def metric_sign(metric: str) -> int:
    """Return +1 if higher values of the metric are better, or -1 if lower values are."""
    return 1 if METRIC_BY_NAME[metric].greater_is_better else -1


def reported_metrics(target: Target) -> tuple[str, ...]:
    """Return the names of the metrics that are reported for a target."""
    return tuple(metric.name for metric in METRICS if metric.task is target.task)


def summarize_folds(target: Target, folds: Sequence[Predictions]) -> Json:
    """Return every metric over the folds as `{metric: {mean, std, low, high, values}}`."""
    summaries = {}
    for name in reported_metrics(target):
        fold_values = [compute_metric(name, fold) for fold in folds]
        summaries[name] = _summarize_fold_values(name, fold_values)
    return summaries


def _summarize_fold_values(metric: str, values: Sequence[float]) -> Json:
    """Summarize the values of one metric on several folds as `{mean, std, low, high, values}`.

    `low` and `high` are the ends of the 95 % confidence interval of the mean. If the metric is undefined on any fold,
    everything except `values` is None.
    """
    if np.isnan(values).any():
        values_or_none = [finite_or_none(value) for value in values]
        return {"mean": None, "std": None, "low": None, "high": None, "values": values_or_none}

    folds = len(values)
    mean = float(np.mean(values))
    standard_deviation = float(np.std(values, ddof=1))

    # The training sets of the folds overlap, so the mean is less certain than a mean of independent values.
    overlap_factor = math.sqrt(1 / folds + 1 / (folds - 1))
    t_quantile = float(t.ppf(INTERVAL_QUANTILES[1], folds - 1))
    half_width = t_quantile * standard_deviation * overlap_factor

    bounds = METRIC_BY_NAME[metric]
    return {
        "mean": mean,
        "std": standard_deviation,
        "low": max(bounds.lower_bound, mean - half_width),
        "high": min(bounds.upper_bound, mean + half_width),
        "values": list(values),
    }


def finite_or_none(value: float) -> float | None:
    """Return the number, or None for NaN and infinities, which JSON cannot represent."""
    return float(value) if np.isfinite(value) else None
