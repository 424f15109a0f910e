"""Metrics for each group of a sensitive column, because an average hides whom a model fails.

Proportions carry Wilson's score interval (Wilson 1927), which holds for small groups; means of errors carry a
bootstrap interval.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import norm

from touchstone.learning.column_types import MISSING, ColumnKind, ColumnSchema
from touchstone.learning.evaluation import BOOTSTRAPS, TAILS, Predictions
from touchstone.learning.interfaces import Json
from touchstone.learning.target import Floats

SMALL_GROUP: Final = 30
MAX_GROUPS: Final = 12  # A category's largest groups are reported; the others are counted together.
NUMBER_BINS: Final = 4
OTHERS: Final = "…"
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval."""

    low: float
    high: float


def group_metrics(columns: Sequence[ColumnSchema], frame: pd.DataFrame, predictions: Predictions) -> list[Json]:
    """Return one entry per sensitive column: `{column, groups: [{group, rows, too_small, metrics}], gaps}`.

    `frame` holds the sensitive columns of the predicted rows, in the same order. The group None holds the rows whose
    value is missing.
    """
    return [_column_metrics(column, frame[column.name], predictions) for column in columns]


def group_labels(column: ColumnSchema, cells: "pd.Series[Any]") -> npt.NDArray[Any]:
    """Return the group of every row: a value, a range of numbers (quartiles), a year, or None for a missing value."""
    if column.kind is ColumnKind.DATE:
        return np.array([None if pd.isna(cell) else str(cell.year) for cell in cells], dtype=object)
    if column.kind is ColumnKind.NUMBER:
        return _range_labels(cells.to_numpy(dtype=np.float64), integral=column.integral)
    counts = cells[cells != MISSING].value_counts().sort_index()
    labels = {cell: cell for cell in counts.nlargest(MAX_GROUPS).index} | {MISSING: None}
    return np.array([labels.get(cell, OTHERS) for cell in cells], dtype=object)


def _column_metrics(column: ColumnSchema, cells: "pd.Series[Any]", predictions: Predictions) -> Json:
    labels = group_labels(column, cells)
    groups = [_group_entry(name, predictions.take(labels == name)) for name in _sorted_groups(column, labels)]
    if None in set(labels):
        has_no_value = np.array([label is None for label in labels])
        groups.append(_group_entry(None, predictions.take(has_no_value)))
    return {"column": column.name, "groups": groups, "gaps": _gaps(groups)}


def _sorted_groups(column: ColumnSchema, labels: npt.NDArray[Any]) -> list[str]:
    """Return the groups as readers expect them: ranges by their lower end, words in alphabetical order."""
    present = {label for label in labels if label is not None}
    if column.kind is ColumnKind.NUMBER:
        return sorted(present, key=lambda label: float(label.split(" – ")[0]))
    return sorted(present)


def _range_labels(numbers: Floats, *, integral: bool) -> npt.NDArray[Any]:
    """Label every number with its quartile, or with itself where the column has only a few different values."""
    known = numbers[~np.isnan(numbers)]
    values = np.unique(known)
    if len(values) <= NUMBER_BINS + 2:
        return np.array([None if np.isnan(number) else f"{number:g}" for number in numbers], dtype=object)

    edges = np.unique(np.quantile(known, np.linspace(0, 1, NUMBER_BINS + 1), method="nearest"))
    last_bin = max(0, len(edges) - 2)
    bins = np.clip(np.searchsorted(edges, numbers, side="right") - 1, 0, last_bin)
    names = [_range_name(values, edges, position, integral=integral) for position in range(last_bin + 1)]
    labels = [None if np.isnan(number) else names[position] for number, position in zip(numbers, bins, strict=True)]
    return np.array(labels, dtype=object)


def _range_name(values: Floats, edges: Floats, position: int, *, integral: bool) -> str:
    """Name a bin by the lowest and the highest value that really occur in it."""
    is_last = position == len(edges) - 2
    below_end = values <= edges[-1] if is_last else values < edges[position + 1]
    inside = values[(values >= edges[position]) & below_end]

    number_format = ".0f" if integral else ".4g"
    ends = [format(inside[end], number_format) for end in (0, -1)]
    return " – ".join(dict.fromkeys(ends))


def _group_entry(name: str | None, predictions: Predictions) -> Json:
    rows = len(predictions.truth)
    metrics = _class_metrics(predictions) if predictions.class_count else _error_metrics(predictions)
    return {"group": name, "rows": rows, "too_small": rows < SMALL_GROUP, "metrics": metrics}


def _class_metrics(predictions: Predictions) -> Json:
    correct = predictions.truth == predictions.predicted
    everyone = np.ones(len(correct), dtype=np.bool_)
    accuracy = {"accuracy": _proportion(correct, everyone)}
    if predictions.class_count != 2:
        return accuracy

    selected = predictions.predicted == 1
    positive = predictions.truth == 1
    return accuracy | {
        "selection_rate": _proportion(selected, everyone),
        "true_positive_rate": _proportion(selected, positive),
        "false_positive_rate": _proportion(selected, ~positive),
    }


def _proportion(hits: Mask, population: Mask) -> Json:
    """Return the share of hits in a population with Wilson's interval; null for an empty population."""
    count = int(population.sum())
    if not count:
        return {"value": None, "low": None, "high": None, "rows": 0}
    share = float(hits[population].mean())
    interval = wilson_interval(share, count)
    return {"value": share, "low": interval.low, "high": interval.high, "rows": count}


def wilson_interval(share: float, count: int) -> Interval:
    """Return Wilson's score interval of a share that was observed on `count` rows."""
    z = float(norm.ppf(TAILS[1]))
    centre = (share + z**2 / (2 * count)) / (1 + z**2 / count)
    margin = z * np.sqrt(share * (1 - share) / count + z**2 / (4 * count**2)) / (1 + z**2 / count)
    return Interval(low=max(0.0, float(centre - margin)), high=min(1.0, float(centre + margin)))


def _error_metrics(predictions: Predictions) -> Json:
    error = predictions.predicted - predictions.truth
    return {"mae": _mean(np.abs(error)), "mean_error": _mean(error)}


def _mean(values: Floats) -> Json:
    """Return a mean with its bootstrap interval."""
    rng = np.random.default_rng(0)
    draws = [float(values[rng.integers(0, len(values), len(values))].mean()) for _ in range(BOOTSTRAPS)]
    low, high = np.quantile(draws, TAILS)
    return {"value": float(values.mean()), "low": float(low), "high": float(high), "rows": len(values)}


def _gaps(groups: Sequence[Json]) -> Json:
    """Return for each metric the difference and the ratio between the extreme groups, ignoring too small ones."""
    if not groups:
        return {}
    large_enough = [group for group in groups if not group["too_small"]]
    return {name: _gap([group["metrics"][name] for group in large_enough]) for name in groups[0]["metrics"]}


def _gap(figures: Sequence[Json]) -> Json:
    """Compare the lowest with the highest figure; the gap is `certain` when their intervals do not overlap."""
    defined = sorted((figure for figure in figures if figure["value"] is not None), key=lambda figure: figure["value"])
    if len(defined) < 2:
        return {"difference": None, "ratio": None, "certain": False}
    lowest = defined[0]
    highest = defined[-1]
    has_ratio = highest["value"] > 0 and lowest["value"] >= 0
    return {
        "difference": highest["value"] - lowest["value"],
        "ratio": lowest["value"] / highest["value"] if has_ratio else None,
        "certain": bool(lowest["high"] < highest["low"]),
    }
