"""Metrics of predictions, and their intervals over several folds.

Such an interval is Student's t on the fold values, with the variance enlarged because the training sets overlap (Nadeau
and Bengio 2003), and clipped to the range of the metric. The interval on a single fold is in `bootstrap.py`.
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

BOOTSTRAPS: Final = 200
CONFIDENCE: Final = 0.95
TAILS: Final = ((1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2)
MIN_PROBABILITY: Final = 1e-15

Counts = npt.NDArray[Any]  # Numbers of rows or, if these do not all count the same, the sums of their weights.
Mask = npt.NDArray[np.bool_]
# From the mask of the positive rows, the scores and the weights of the rows to a value.
BinaryMetric = Callable[[Mask, Floats, Floats | None], float]


@dataclass(frozen=True, slots=True)
class Predictions:
    """True values beside predicted ones.

    Classes are integer codes and come with `probabilities` of shape (rows, classes); for a regression `class_count`
    is 0 and `probabilities` is empty. `weights` say how much each row counts in metrics; None if all count the same.
    """

    truth: npt.NDArray[Any] = field(repr=False)
    predicted: npt.NDArray[Any] = field(repr=False)
    class_count: int = 0
    probabilities: Floats = field(repr=False, default_factory=lambda: np.empty((0, 0)))
    weights: Floats | None = field(repr=False, default=None)

    def take(self, rows: npt.NDArray[Any]) -> "Predictions":
        """Return the predictions of some rows only, selected by positions or by a mask."""
        probabilities = self.probabilities[rows] if len(self.probabilities) else self.probabilities
        weights = None if self.weights is None else self.weights[rows]
        return Predictions(self.truth[rows], self.predicted[rows], self.class_count, probabilities, weights)

    def with_probabilities(self, probabilities: Floats) -> "Predictions":
        """Return the same predictions with other probabilities."""
        return replace(self, probabilities=probabilities)

    def without_weights(self) -> "Predictions":
        """Return the same predictions, each of which counts once."""
        return replace(self, weights=None)

    def mean(self, values: npt.NDArray[Any]) -> float:
        """Return the weighted mean of a value that each row has."""
        return float(np.average(values, weights=self.weights))

    def decided_by(self, codes: npt.NDArray[Any]) -> "Predictions":
        """Return the same probabilities with other predicted classes."""
        return replace(self, predicted=codes)


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
    """What happens if the rows that reach a threshold are selected, for each distinct score from the highest down."""

    selected: Counts = field(repr=False)  # How many rows have at least this score.
    hits: Counts = field(repr=False)  # How many of these rows are positive.


def confusion_matrix(predictions: Predictions) -> Counts:
    """Count the rows, by their weights, by their true class (first axis) and their predicted class (second axis)."""
    class_count = predictions.class_count
    cell_of_row = predictions.truth * class_count + predictions.predicted
    rows_per_cell = np.bincount(cell_of_row, weights=predictions.weights, minlength=class_count**2)
    return rows_per_cell.reshape(class_count, class_count)


def count_by_threshold(is_positive: Mask, scores: Floats, weights: Floats | None = None) -> ThresholdCounts:
    """Count the selected rows and the hits among them, by their weights, for every threshold that separates rows.

    Rows with equal scores cannot be separated, so they share one threshold.
    """
    # NumPy only sorts in ascending order. Negated scores put the highest first, and keep ties in their order.
    descending = np.argsort(-scores, kind="stable")
    score_changes = np.diff(scores[descending])
    last_position_of_tie = np.append(np.flatnonzero(score_changes), len(scores) - 1)

    row_counts = np.ones(len(scores), dtype=np.int64) if weights is None else weights
    selected_so_far = np.cumsum(row_counts[descending])
    hits_so_far = np.cumsum((row_counts * is_positive)[descending])
    return ThresholdCounts(selected_so_far[last_position_of_tie], hits_so_far[last_position_of_tie])


def _safe_ratio(numerator: npt.NDArray[Any], denominator: npt.NDArray[Any]) -> Floats:
    """Divide element by element; the ratio is 0 where the denominator is 0."""
    zeros = np.zeros(np.broadcast(numerator, denominator).shape)
    ratio: Floats = np.divide(numerator, denominator, out=zeros, where=denominator > 0)
    return ratio


def mean_recall(confusion: Counts) -> Floats:
    """Return the mean recall of the classes that have rows.

    This and the two functions below take one confusion matrix, or a stack of them, and return one value for each.
    """
    return _mean_of_present_classes(_recalls(confusion), confusion)


def mean_precision(confusion: Counts) -> Floats:
    """Return the mean precision of the classes that have rows; that of a class that is never predicted is 0."""
    return _mean_of_present_classes(_precisions(confusion), confusion)


def mean_f1(confusion: Counts) -> Floats:
    """Return the mean F1 score of the classes that have rows: the harmonic mean of precision and recall."""
    precisions = _precisions(confusion)
    recalls = _recalls(confusion)
    f1_scores = _safe_ratio(2 * precisions * recalls, precisions + recalls)
    return _mean_of_present_classes(f1_scores, confusion)


def _recalls(confusion: Counts) -> Floats:
    """Return the recall of every class; it is 0 for a class without rows."""
    return _safe_ratio(_diagonal(confusion), confusion.sum(axis=-1))


def _precisions(confusion: Counts) -> Floats:
    """Return the precision of every class; it is 0 for a class that is never predicted."""
    return _safe_ratio(_diagonal(confusion), confusion.sum(axis=-2))


def _diagonal(confusion: Counts) -> Counts:
    """Return, for every class, the number of rows that are predicted correctly."""
    return np.diagonal(confusion, axis1=-2, axis2=-1)


def _mean_of_present_classes(values: Floats, confusion: Counts) -> Floats:
    """Return the mean of a value of each class over the classes that have rows."""
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
    """Return the share of the rows whose class is predicted correctly."""
    return predictions.mean(predictions.truth == predictions.predicted)


def area_under_roc(is_positive: Mask, scores: Floats, weights: Floats | None = None) -> float:
    """Return the probability that a positive row has a higher score than a negative one, where ties count half.

    This equals the area under the ROC curve (Mann and Whitney 1947). It is NaN if all rows are of one kind.
    """
    if weights is not None:
        return _weighted_area_under_roc(count_by_threshold(is_positive, scores, weights))

    positives = int(is_positive.sum())
    negatives = len(is_positive) - positives
    if positives == 0 or negatives == 0:
        return float("nan")

    rank_sum = float(rankdata(scores)[is_positive].sum())
    lowest_possible_rank_sum = positives * (positives + 1) / 2
    pairs_in_right_order = rank_sum - lowest_possible_rank_sum
    return pairs_in_right_order / (positives * negatives)


def _weighted_area_under_roc(counts: ThresholdCounts) -> float:
    """Return the area below the line that the rates of true and of false positives describe."""
    misses = counts.selected - counts.hits
    if counts.hits[-1] == 0 or misses[-1] == 0:
        return float("nan")

    true_positive_rates = np.concatenate([[0.0], counts.hits / counts.hits[-1]])
    false_positive_rates = np.concatenate([[0.0], misses / misses[-1]])
    return float(np.trapezoid(true_positive_rates, false_positive_rates))


def average_precision(is_positive: Mask, scores: Floats, weights: Floats | None = None) -> float:
    """Return the mean precision over the positive rows of a ranking by score.

    The precision of a positive row is the share of positive rows among those that score at least as high. The result
    is NaN if there are no positive rows.
    """
    counts = count_by_threshold(is_positive, scores, weights)
    all_hits = counts.hits[-1]
    if all_hits == 0:
        return float("nan")

    # Rows with equal scores share a threshold, so the precision of a threshold counts once per new hit.
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
    """Return the codes of the classes that metrics of rankings regard as positive, one after the other.

    Of two classes, only the second is.
    """
    return [1] if predictions.class_count == 2 else range(predictions.class_count)


def _mean_over_classes(binary_metric: BinaryMetric, predictions: Predictions) -> float:
    """Return the mean over the classes of a metric that only distinguishes positive from negative rows.

    Classes for which the metric is not defined are left out, and the result is NaN if it is defined for none.
    """
    defined_values = []
    for code in ranked_classes(predictions):
        is_positive = predictions.truth == code
        value = binary_metric(is_positive, predictions.probabilities[:, code], predictions.weights)
        if not np.isnan(value):
            defined_values.append(value)

    return float(np.mean(defined_values)) if defined_values else float("nan")


def log_losses(predictions: Predictions) -> Floats:
    """Return, for every row, the negative logarithm of the probability that was predicted for its class."""
    rows = np.arange(len(predictions.truth))
    true_class_probabilities = predictions.probabilities[rows, predictions.truth]

    # A probability of 0 would make the loss infinite, whatever the other rows are like.
    losses: Floats = -np.log(np.clip(true_class_probabilities, MIN_PROBABILITY, 1.0))
    return losses


def brier_losses(predictions: Predictions) -> Floats:
    """Return the squared distance of every row to its class, halved for two classes (Brier 1950)."""
    one_hot_truth = np.eye(predictions.class_count)[predictions.truth]
    squared_distances: Floats = ((predictions.probabilities - one_hot_truth) ** 2).sum(axis=1)
    return squared_distances / 2 if predictions.class_count == 2 else squared_distances


def _log_loss(predictions: Predictions) -> float:
    """Return the mean negative logarithm of the probability that was predicted for the true class."""
    return predictions.mean(log_losses(predictions))


def _brier(predictions: Predictions) -> float:
    """Return the mean squared distance to the true class, halved for two classes."""
    return predictions.mean(brier_losses(predictions))


def _r2(predictions: Predictions) -> float:
    """Return the share of the variance that the predictions explain; NaN if all true values are equal."""
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
    """Return the median absolute error: half of the weight lies below it."""
    errors = np.abs(predictions.truth - predictions.predicted)
    if predictions.weights is None:
        return float(np.median(errors))

    ascending = np.argsort(errors, kind="stable")
    weight_so_far = np.cumsum(predictions.weights[ascending])
    half = weight_so_far[-1] / 2
    lower_position = np.searchsorted(weight_so_far, half, side="left")
    upper_position = np.searchsorted(weight_so_far, half, side="right")
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
    """Return one metric of the predictions; NaN where it is not defined."""
    return METRIC_FUNCTIONS[metric](predictions)


def metric_sign(metric: str) -> int:
    """Return +1 when a higher value of the metric is better, -1 when a lower one is."""
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
    """Summarise the values of one metric on the folds of a cross-validation as `{mean, std, low, high, values}`.

    `low` and `high` are the ends of the 95 % confidence interval of the mean. If the metric is not defined on some
    fold, everything but the values is None.
    """
    if np.isnan(values).any():
        values_or_none = [finite_or_none(value) for value in values]
        return {"mean": None, "std": None, "low": None, "high": None, "values": values_or_none}

    folds = len(values)
    mean = float(np.mean(values))
    standard_deviation = float(np.std(values, ddof=1))

    # The training sets of the folds overlap, so the mean is less certain than that of independent values.
    overlap_factor = math.sqrt(1 / folds + 1 / (folds - 1))
    t_quantile = float(t.ppf(TAILS[1], folds - 1))
    half_width = t_quantile * standard_deviation * overlap_factor

    bounds = METRIC_BY_NAME[metric]
    return {
        "mean": mean,
        "std": standard_deviation,
        "low": max(bounds.least, mean - half_width),
        "high": min(bounds.most, mean + half_width),
        "values": list(values),
    }


def finite_or_none(value: float) -> float | None:
    """Return a number as JSON can represent it: None for NaN and infinities."""
    return float(value) if np.isfinite(value) else None
