"""Quality by group of a sensitive column, with sizes and intervals, because an average hides whom a model fails.

Proportions carry Wilson's score interval (Wilson 1927), which holds for small groups; means of errors the bootstrap.
"""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import norm

from touchstone.learning.column_types import MISSING, Column, Kind
from touchstone.learning.evaluation import BOOTSTRAPS, CONFIDENCE, Measured
from touchstone.learning.interfaces import Json
from touchstone.learning.target import Floats

SMALL_GROUP: Final = 30
MOST_GROUPS: Final = 12  # the largest groups of a category; the others are counted together
NUMBER_BINS: Final = 4
OTHERS: Final = "…"
Mask = npt.NDArray[np.bool_]


def group_metrics(columns: Sequence[Column], frame: pd.DataFrame, measured: Measured) -> list[Json]:
    """One entry a sensitive column: `{column, groups: [{group, rows, too_small, metrics}], gaps}`.

    `frame` holds the sensitive columns of the measured rows, in the same order; a group null is the missing values.
    """
    return [_of_column(column, frame[column.name], measured) for column in columns]


def group_labels(column: Column, cells: "pd.Series[Any]") -> npt.NDArray[Any]:
    """The group of every row: a value, a range of numbers (quartiles), a year, or None where it is missing."""
    if column.kind is Kind.DATE:
        return np.array([None if pd.isna(cell) else str(cell.year) for cell in cells], dtype=object)
    if column.kind is Kind.NUMBER:
        return _ranges(cells.to_numpy(dtype=np.float64), integral=column.integral)
    largest = set(cells[cells != MISSING].value_counts().sort_index().nlargest(MOST_GROUPS).index)
    return np.array([None if cell == MISSING else cell if cell in largest else OTHERS for cell in cells], dtype=object)


def _of_column(column: Column, cells: "pd.Series[Any]", measured: Measured) -> Json:
    labels = group_labels(column, cells)
    names = list(dict.fromkeys([*_in_order(column, labels), *([None] if None in set(labels) else [])]))
    groups = [_group(name, measured.take(np.array([label == name for label in labels]))) for name in names]
    return {"column": column.name, "groups": groups, "gaps": _gaps(groups)}


def _in_order(column: Column, labels: npt.NDArray[Any]) -> list[str]:
    """Groups as people expect them: ranges by their lower end, words by name."""
    present = {label for label in labels if label is not None}
    if column.kind is Kind.NUMBER:
        return sorted(present, key=lambda label: float(label.split(" – ")[0]))
    return sorted(present)


def _ranges(numbers: Floats, *, integral: bool) -> npt.NDArray[Any]:
    known = numbers[~np.isnan(numbers)]
    values = np.unique(known)
    if len(values) <= NUMBER_BINS + 2:
        return np.array([None if np.isnan(number) else f"{number:g}" for number in numbers], dtype=object)
    edges = np.unique(np.quantile(known, np.linspace(0, 1, NUMBER_BINS + 1), method="nearest"))
    place = np.clip(np.searchsorted(edges, numbers, side="right") - 1, 0, max(0, len(edges) - 2))
    names = [_range_name(values, edges, bin_, integral=integral) for bin_ in range(max(1, len(edges) - 1))]
    return np.array([None if np.isnan(n) else names[p] for n, p in zip(numbers, place, strict=True)], dtype=object)


def _range_name(values: Floats, edges: Floats, bin_: int, *, integral: bool) -> str:
    """The lowest and the highest value that really occur in the bin."""
    last = bin_ == len(edges) - 2
    inside = values[(values >= edges[bin_]) & ((values <= edges[-1]) if last else (values < edges[bin_ + 1]))]
    digits = ".0f" if integral else ".4g"
    names = [f"{inside[end]:{digits}}" for end in (0, -1)]
    return " – ".join(dict.fromkeys(names))


def _group(name: Any, measured: Measured) -> Json:
    rows = len(measured.truth)
    figures = _class_figures(measured) if measured.classes else _number_figures(measured)
    return {"group": name, "rows": rows, "too_small": rows < SMALL_GROUP, "metrics": figures}


def _class_figures(measured: Measured) -> Json:
    right = measured.truth == measured.predicted
    everyone = np.ones(len(right), dtype=np.bool_)
    figures = {"accuracy": _proportion(right, everyone)}
    if measured.classes == 2:
        chosen, positive = measured.predicted == 1, measured.truth == 1
        figures["selection_rate"] = _proportion(chosen, everyone)
        figures["true_positive_rate"] = _proportion(chosen, positive)
        figures["false_positive_rate"] = _proportion(chosen, ~positive)
    return figures


def _proportion(hits: Mask, among: Mask) -> Json:
    """A share with Wilson's interval; null when there is nobody to count."""
    count = int(among.sum())
    if not count:
        return {"value": None, "low": None, "high": None, "rows": 0}
    share, z = float(hits[among].mean()), float(norm.ppf((1 + CONFIDENCE) / 2))
    middle = (share + z**2 / (2 * count)) / (1 + z**2 / count)
    half = z * np.sqrt(share * (1 - share) / count + z**2 / (4 * count**2)) / (1 + z**2 / count)
    return {
        "value": share,
        "low": max(0.0, float(middle - half)),
        "high": min(1.0, float(middle + half)),
        "rows": count,
    }


def _number_figures(measured: Measured) -> Json:
    error = measured.predicted - measured.truth
    return {"mae": _mean(np.abs(error)), "mean_error": _mean(error)}


def _mean(values: Floats) -> Json:
    rng = np.random.default_rng(0)
    draws = [float(values[rng.integers(0, len(values), len(values))].mean()) for _ in range(BOOTSTRAPS)]
    low, high = np.quantile(draws, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return {"value": float(values.mean()), "low": float(low), "high": float(high), "rows": len(values)}


def _gaps(groups: Sequence[Json]) -> Json:
    """For each figure the difference and the ratio between the extreme groups, the too small ones left aside.

    `certain` says that the intervals of the two extremes do not overlap.
    """
    usable = [group for group in groups if not group["too_small"]]
    return {
        name: _gap([group["metrics"][name] for group in usable]) for name in (groups[0]["metrics"] if groups else ())
    }


def _gap(figures: Sequence[Json]) -> Json:
    known = sorted((figure for figure in figures if figure["value"] is not None), key=lambda figure: figure["value"])
    if len(known) < 2:
        return {"difference": None, "ratio": None, "certain": False}
    low, high = known[0], known[-1]
    ratio = low["value"] / high["value"] if high["value"] > 0 and low["value"] >= 0 else None
    certain = bool(low["high"] < high["low"])
    return {"difference": high["value"] - low["value"], "ratio": ratio, "certain": certain}
