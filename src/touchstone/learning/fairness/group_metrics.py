"""Metrics for each group of a sensitive column, because an average hides the groups that a model fails.

Proportions carry Wilson's score interval (Wilson 1927), which is reliable for small groups too; means of errors carry
a bootstrap interval.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import norm

from touchstone.learning.column_types import MISSING, ColumnKind, ColumnSchema
from touchstone.learning.evaluation import BOOTSTRAPS, TAILS, Mask, Predictions
from touchstone.learning.interfaces import Json
from touchstone.learning.target import Floats

SMALL_GROUP_ROWS: Final = 30
MAX_GROUPS: Final = 12  # A category's largest groups are reported; the others are counted together.
NUMBER_RANGES: Final = 4
MAX_SINGLE_NUMBERS: Final = 6  # Up to this many different numbers are groups of their own; more are cut into ranges.
OTHER_GROUPS: Final = "…"
RANGE_SEPARATOR: Final = " – "


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval."""

    low: float
    high: float


def group_metrics(columns: Sequence[ColumnSchema], frame: pd.DataFrame, predictions: Predictions) -> list[Json]:
    """Return one entry per sensitive column: `{column, groups: [{group, rows, too_small, metrics}], gaps}`.

    `frame` holds the sensitive columns of the predicted rows, in the same order as the predictions. The group None
    contains the rows whose value is missing.
    """
    return [_column_metrics(column, frame[column.name], predictions) for column in columns]


def group_labels(column: ColumnSchema, cells: "pd.Series[Any]") -> npt.NDArray[Any]:
    """Return the group of each row of a sensitive column, by which the quality of a model is compared.

    Dates are grouped by year and numbers by range. Each of the most frequent categories is a group, and all others
    share one. The group of a row without a value is None.
    """
    if column.kind is ColumnKind.DATE:
        years = [None if pd.isna(cell) else str(cell.year) for cell in cells]
        return np.array(years, dtype=object)

    if column.kind is ColumnKind.NUMBER:
        return _number_labels(cells.to_numpy(dtype=np.float64), integral=column.integral)

    present_cells = cells[cells != MISSING]
    rows_per_category = present_cells.value_counts().sort_index()
    largest_categories = rows_per_category.nlargest(MAX_GROUPS).index

    label_by_cell: dict[Any, str | None] = {category: category for category in largest_categories}
    label_by_cell[MISSING] = None
    return np.array([label_by_cell.get(cell, OTHER_GROUPS) for cell in cells], dtype=object)


def _number_labels(numbers: Floats, *, integral: bool) -> npt.NDArray[Any]:
    """Label each number with the range that it lies in, such as "20 – 34"; a missing number (NaN) gets None.

    A column with only a few different numbers is not divided into ranges; each number is then its own label.
    """
    is_missing = np.isnan(numbers)
    distinct_numbers = np.unique(numbers[~is_missing])

    if len(distinct_numbers) <= MAX_SINGLE_NUMBERS:
        labels = np.array([f"{number:g}" for number in numbers], dtype=object)
    else:
        labels = _range_labels(numbers, integral=integral)

    labels[is_missing] = None
    return labels


def _range_labels(numbers: Floats, *, integral: bool) -> npt.NDArray[Any]:
    """Divide numbers into four ranges that hold about as many rows each, and label each number with its range.

    A range is labelled with the lowest and the highest number that occur in it. Missing numbers (NaN) get any label.
    """
    known_numbers = numbers[~np.isnan(numbers)]

    # With the method "nearest" every border is a number that occurs. Equal quartiles merge into one range.
    quartiles = np.quantile(known_numbers, np.linspace(0, 1, NUMBER_RANGES + 1), method="nearest")
    inner_borders = np.unique(quartiles)[1:-1]

    distinct_numbers = np.unique(known_numbers)
    range_of_distinct_number = np.searchsorted(inner_borders, distinct_numbers, side="right")
    label_by_range = []
    for range_index in range(len(inner_borders) + 1):
        numbers_in_range = distinct_numbers[range_of_distinct_number == range_index]
        label_by_range.append(_range_label(numbers_in_range, integral=integral))

    range_of_row = np.searchsorted(inner_borders, numbers, side="right")
    return np.array(label_by_range, dtype=object)[range_of_row]


def _range_label(sorted_numbers: Floats, *, integral: bool) -> str:
    """Name a range by the lowest and the highest number that occur in it, or by its only number."""
    number_format = ".0f" if integral else ".4g"
    lowest = format(sorted_numbers[0], number_format)
    highest = format(sorted_numbers[-1], number_format)
    return lowest if lowest == highest else f"{lowest}{RANGE_SEPARATOR}{highest}"


def _column_metrics(column: ColumnSchema, cells: "pd.Series[Any]", predictions: Predictions) -> Json:
    """Return the metrics of every group of one sensitive column, and the gaps between the groups."""
    labels = group_labels(column, cells)
    groups = [_group_entry(name, predictions.take(labels == name)) for name in _sorted_groups(column, labels)]

    is_missing = np.array([label is None for label in labels])
    if is_missing.any():
        groups.append(_group_entry(None, predictions.take(is_missing)))

    return {"column": column.name, "groups": groups, "gaps": _gaps(groups)}


def _sorted_groups(column: ColumnSchema, labels: npt.NDArray[Any]) -> list[str]:
    """Return the groups in the order in which readers expect them: ranges by their lower end, words alphabetically."""
    groups = {label for label in labels if label is not None}
    if column.kind is ColumnKind.NUMBER:
        return sorted(groups, key=lambda group: float(group.split(RANGE_SEPARATOR)[0]))
    return sorted(groups)


def _group_entry(name: str | None, predictions: Predictions) -> Json:
    """Return the metrics of one group; `predictions` are those of its rows."""
    is_classification = predictions.class_count > 0
    metrics = _classification_metrics(predictions) if is_classification else _regression_metrics(predictions)

    rows = len(predictions.truth)
    return {"group": name, "rows": rows, "too_small": rows < SMALL_GROUP_ROWS, "metrics": metrics}


def _classification_metrics(predictions: Predictions) -> Json:
    """Return the accuracy of a classifier for one group of rows and, for two classes, the usual fairness rates.

    Each metric is a share of the rows of the group, as `{value, low, high, rows}` with a confidence interval. Of two
    classes, the second is the positive one; rows for which it is predicted are selected.
    """
    is_correct = predictions.truth == predictions.predicted
    all_rows = np.ones(len(is_correct), dtype=np.bool_)
    accuracy = _proportion(is_correct, among=all_rows)
    if predictions.class_count != 2:
        return {"accuracy": accuracy}

    is_selected = predictions.predicted == 1
    is_positive = predictions.truth == 1
    return {
        "accuracy": accuracy,
        "selection_rate": _proportion(is_selected, among=all_rows),
        "true_positive_rate": _proportion(is_selected, among=is_positive),
        "false_positive_rate": _proportion(is_selected, among=~is_positive),
    }


def _proportion(is_hit: Mask, *, among: Mask) -> Json:
    """Return the share of hits among some rows with Wilson's interval; its value is None if there are no rows."""
    rows = int(among.sum())
    if rows == 0:
        return {"value": None, "low": None, "high": None, "rows": 0}

    share = float(is_hit[among].mean())
    interval = wilson_interval(share, rows)
    return {"value": share, "low": interval.low, "high": interval.high, "rows": rows}


def wilson_interval(share: float, rows: int) -> Interval:
    """Return Wilson's 95 % score interval of a share that was observed on a number of rows."""
    z_score = float(norm.ppf(TAILS[1]))
    z_squared = z_score**2
    denominator = 1 + z_squared / rows

    centre = (share + z_squared / (2 * rows)) / denominator
    half_width = z_score * np.sqrt(share * (1 - share) / rows + z_squared / (4 * rows**2)) / denominator
    return Interval(low=max(0.0, float(centre - half_width)), high=min(1.0, float(centre + half_width)))


def _regression_metrics(predictions: Predictions) -> Json:
    """Return the mean absolute error and the mean signed error of a regression for one group of rows."""
    errors = predictions.predicted - predictions.truth
    return {"mae": _mean(np.abs(errors)), "mean_error": _mean(errors)}


def _mean(values: Floats) -> Json:
    """Return a mean with its bootstrap interval as `{value, low, high, rows}`."""
    rng = np.random.default_rng(0)
    rows = len(values)
    resampled_means = [float(values[rng.integers(0, rows, rows)].mean()) for _ in range(BOOTSTRAPS)]

    low, high = np.quantile(resampled_means, TAILS)
    return {"value": float(values.mean()), "low": float(low), "high": float(high), "rows": rows}


def _gaps(groups: Sequence[Json]) -> Json:
    """Return for each metric the gap between the two most different groups; groups that are too small are ignored."""
    if not groups:
        return {}

    metric_names = groups[0]["metrics"]
    large_groups = [group for group in groups if not group["too_small"]]
    return {name: _gap([group["metrics"][name] for group in large_groups]) for name in metric_names}


def _gap(estimates: Sequence[Json]) -> Json:
    """Compare the groups with the lowest and the highest value of one metric, as `{difference, ratio, certain}`.

    Each estimate holds the `value` for one group, and its confidence interval from `low` to `high`. The gap is certain
    if the intervals of the two groups do not overlap.
    """
    defined_estimates = [estimate for estimate in estimates if estimate["value"] is not None]
    if len(defined_estimates) < 2:
        return {"difference": None, "ratio": None, "certain": False}

    ascending = sorted(defined_estimates, key=itemgetter("value"))
    lowest = ascending[0]
    highest = ascending[-1]

    # A ratio of numbers that may be negative, such as mean errors, would say nothing.
    ratio = None
    if lowest["value"] >= 0 and highest["value"] > 0:
        ratio = lowest["value"] / highest["value"]

    return {
        "difference": highest["value"] - lowest["value"],
        "ratio": ratio,
        "certain": bool(lowest["high"] < highest["low"]),
    }
