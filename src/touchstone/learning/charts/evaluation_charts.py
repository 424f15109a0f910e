"""Charts of how good a model is: confusion, ROC, precision-recall, calibration, residuals, learning, groups."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy.stats import norm

from touchstone.core.colours import DATA, REFERENCE
from touchstone.learning.charts.chart_style import (
    DARK_FROM,
    DASHES,
    HEIGHT,
    SHADES,
    Words,
    chart,
    nominal,
    quantitative,
    row_height,
    shortened,
)
from touchstone.learning.evaluation import Measured, confusion
from touchstone.learning.interfaces import Json
from touchstone.learning.target import Floats
from touchstone.messages.labels import GROUP_METRIC_LABELS

CURVE_POINTS: Final = 80
CURVE_CLASSES: Final = 6
SCATTER_POINTS: Final = 400
CALIBRATION_BINS: Final = 10
GROUP_FIGURES: Final = ("accuracy", "true_positive_rate", "selection_rate", "mae", "mean_error")
SQUARE: Final = 300
CHARACTER_WIDTH: Final = 7  # pixels that a character of a label takes, at most on average


def confusion_chart(measured: Measured, names: Sequence[str]) -> Json:
    """True class by predicted class: the shade is the share of the true class, the figure the rows."""
    counts = confusion(measured)
    totals = np.maximum(counts.sum(axis=1), 1)
    cells = [
        {"true": shortened(names[i]), "predicted": shortened(names[j]), "rows": int(n), "share": float(n / totals[i])}
        for (i, j), n in np.ndenumerate(counts)
    ]
    side = min(480, max(HEIGHT, 42 * len(names)))
    longest = max(len(shortened(name)) for name in names)

    def build(word: Words) -> Json:
        place = {
            "x": nominal("predicted", word("predicted_class"), axis=_lying_or_slanted(longest, len(names))),
            "y": nominal("true", word("true_class")),
        }
        shade = {"field": "share", "type": "quantitative", "title": word("share"), "scale": _SHADES, "legend": _PERCENT}
        dark = {"condition": {"test": f"datum.share > {DARK_FROM}", "value": "white"}, "value": "black"}
        figure = {"text": {"field": "rows", "format": ",d"}, "color": dark}
        layers = [{"mark": "rect", "encoding": {"color": shade}}, {"mark": {"type": "text"}, "encoding": figure}]
        return {"data": {"values": cells}, "encoding": place, "layer": layers, "width": side, "height": side}

    return chart("confusion", build)


def _lying_or_slanted(longest: int, labels: int) -> Json:
    """The labels of an axis as wide as the chart is drawn: lying where they have room, else slanted."""
    fit = f"width / {labels} > {CHARACTER_WIDTH * longest + 8}"
    return {
        "labelAngle": {"expr": f"{fit} ? 0 : -40"},
        "labelAlign": {"expr": f"{fit} ? 'center' : 'right'"},
        "labelBaseline": {"expr": f"{fit} ? 'top' : 'middle'"},
        "labelLimit": 160,
    }


_SHADES: Final = {"domain": [0, 1], "range": SHADES}
_PERCENT: Final = {"format": "%", "tickCount": 5}
_UNIT: Final = {"domain": [0, 1]}
_FIFTHS: Final = {"tickCount": 5}


def roc_chart(measured: Measured, names: Sequence[str]) -> Json:
    """True against false positives, a line a class (of two classes only the second), chance dashed."""
    points = [
        {"class": shortened(names[code]), "x": x, "y": y}
        for code in _curve_classes(measured)
        for x, y in _thinned(*_roc(measured.truth == code, measured.probabilities[:, code]))
    ]
    return chart("roc", lambda word: _curves(points, word("false_positive_rate"), word("true_positive_rate"), word))


def precision_recall_chart(measured: Measured, names: Sequence[str]) -> Json:
    """Precision against recall, a line a class; the dashed line is the share of the class (only for two classes)."""
    classes = _curve_classes(measured)
    points = [
        {"class": shortened(names[code]), "x": x, "y": y}
        for code in classes
        for x, y in _thinned(*_precision_recall(measured.truth == code, measured.probabilities[:, code]))
    ]
    share = float((measured.truth == classes[0]).mean()) if len(classes) == 1 else None
    return chart("precision_recall", lambda word: _curves(points, word("recall"), word("precision"), word, level=share))


def _curve_classes(measured: Measured) -> list[int]:
    """The classes that get a line: the second of two, else the most frequent ones."""
    if measured.classes == 2:
        return [1]
    counts = np.bincount(measured.truth, minlength=measured.classes)
    return sorted(np.argsort(-counts, kind="stable")[:CURVE_CLASSES].tolist())


def _roc(positive: npt.NDArray[np.bool_], scores: Floats) -> tuple[Floats, Floats]:
    hits, last = _cuts(positive, scores)
    misses = last + 1 - hits
    x, y = misses / max(1, misses[-1]), hits / max(1, hits[-1])
    return np.insert(x, 0, 0.0), np.insert(y, 0, 0.0)


def _precision_recall(positive: npt.NDArray[np.bool_], scores: Floats) -> tuple[Floats, Floats]:
    hits, last = _cuts(positive, scores)
    return hits / max(1, hits[-1]), hits / (last + 1)


def _cuts(positive: npt.NDArray[np.bool_], scores: Floats) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Positives found down to each different score, and the position of the last row with that score."""
    order = np.argsort(-scores, kind="stable")
    last = np.append(np.flatnonzero(np.diff(scores[order])), len(scores) - 1)
    return np.cumsum(positive[order])[last], last


def _thinned(x: Floats, y: Floats) -> list[tuple[float, float]]:
    keep = np.unique(np.linspace(0, len(x) - 1, CURVE_POINTS).round().astype(int))
    return [(round(float(x[place]), 4), round(float(y[place]), 4)) for place in keep]


def _curves(points: list[Json], x: str, y: str, word: Words, *, level: float | None = -1.0) -> Json:
    line = {
        "data": {"values": points},
        "mark": {"type": "line", "strokeWidth": 2, "interpolate": "linear", "clip": True},
        "encoding": {
            "x": quantitative("x", x, scale=_UNIT, axis=_FIFTHS),
            "y": quantitative("y", y, scale=_UNIT, axis=_FIFTHS),
            "order": {"field": "x", "type": "quantitative"},
            "color": _by_class(word),
            "strokeDash": _by_class(word) | {"scale": {"range": DASHES}},
        },
    }
    dashes = [] if level is None else [_dashed([(0, 0), (1, 1)] if level < 0 else [(0, level), (1, level)])]
    return {"layer": [*dashes, line], "width": SQUARE, "height": SQUARE}


def _by_class(word: Words) -> Json:
    legend = {"symbolType": "stroke", "symbolSize": 300}
    return {"field": "class", "type": "nominal", "sort": None, "title": word("class"), "legend": legend}


def _dashed(points: Sequence[tuple[float, float]]) -> Json:
    return {
        "data": {"values": [{"x": x, "y": y} for x, y in points]},
        "mark": {"type": "line", "strokeDash": [5, 4], "color": REFERENCE.light},
        "encoding": {"x": {"field": "x", "type": "quantitative"}, "y": {"field": "y", "type": "quantitative"}},
    }


def calibration_chart(measured: Measured) -> Json:
    """Observed against predicted: of the second of two classes, else of the predicted class being right."""
    if measured.classes == 2:
        scores, hits = measured.probabilities[:, 1], measured.truth == 1
    else:
        scores, hits = measured.probabilities.max(axis=1), measured.truth == measured.predicted
    bins = _calibration_bins(scores, hits)

    def build(word: Words) -> Json:
        x = quantitative("x", word("predicted_probability"), scale=_UNIT, axis=_PERCENT)
        y = quantitative("y", word("observed_share"), scale=_UNIT, axis=_PERCENT)
        whole = {"x": x, "y": y}
        bars = {"mark": {"type": "rule"}, "encoding": {"x": x, "y": y | {"field": "low"}, "y2": {"field": "high"}}}
        line = {"mark": {"type": "line"}, "encoding": whole}
        dots = {"mark": {"type": "point", "filled": True, "opacity": 1, "size": 60}, "encoding": whole}
        layers = [{"data": {"values": bins}, **layer} for layer in (bars, line, dots)]
        colors = {name: {"color": DATA.light} for name in ("rule", "line", "point")}
        diagonal = _dashed([(0, 0), (1, 1)])
        return {"layer": [diagonal, *layers], "width": SQUARE, "height": SQUARE, "config": colors}

    return chart("calibration", build)


def _calibration_bins(scores: Floats, hits: npt.NDArray[np.bool_]) -> list[Json]:
    """Bins of about equally many rows, each with its observed share and a normal interval (Wilson's centre)."""
    order = np.argsort(scores, kind="stable")
    parts = [part for part in np.array_split(order, min(CALIBRATION_BINS, max(2, len(order) // 15))) if len(part)]
    z = float(norm.ppf(0.975))
    bins = []
    for part in parts:
        share, rows = float(hits[part].mean()), len(part)
        middle = (share + z * z / (2 * rows)) / (1 + z * z / rows)
        half = z * np.sqrt(share * (1 - share) / rows + z * z / (4 * rows * rows)) / (1 + z * z / rows)
        edges = {"low": max(0.0, float(middle - half)), "high": min(1.0, float(middle + half))}
        bins.append({"x": float(scores[part].mean()), "y": share, "rows": rows} | edges)
    return bins


def residuals_chart(measured: Measured) -> Json:
    """What was missed against what was predicted."""
    points = _scatter(measured.predicted, measured.truth - measured.predicted)

    def build(word: Words) -> Json:
        zero = {
            "data": {"values": [{"y": 0}]},
            "mark": {"type": "rule", "color": REFERENCE.light, "strokeDash": [5, 4]},
        }
        zero["encoding"] = {"y": {"field": "y", "type": "quantitative"}}
        return {"layer": [_dots(points, word("predicted"), word("residual")), zero]}

    return chart("residuals", build)


def predicted_actual_chart(measured: Measured) -> Json:
    """Predicted against actual values, with the line of a perfect prediction."""
    points = _scatter(measured.truth, measured.predicted)
    low = float(min(measured.truth.min(), measured.predicted.min()))
    high = float(max(measured.truth.max(), measured.predicted.max()))

    def build(word: Words) -> Json:
        dots = _dots(points, word("actual"), word("predicted"))
        return {"layer": [dots, _dashed([(low, low), (high, high)])], "width": SQUARE, "height": SQUARE}

    return chart("predicted_actual", build)


def _scatter(x: Floats, y: Floats) -> list[Json]:
    keep = np.sort(np.random.default_rng(0).permutation(len(x))[:SCATTER_POINTS])
    return [{"x": float(f"{x[row]:.6g}"), "y": float(f"{y[row]:.6g}")} for row in keep]


def _dots(points: list[Json], x: str, y: str) -> Json:
    free = {"zero": False}
    return {
        "data": {"values": points},
        "mark": {"type": "point", "filled": True, "size": 22, "opacity": 0.45, "color": DATA.light},
        "encoding": {"x": quantitative("x", x, scale=free), "y": quantitative("y", y, scale=free)},
    }


def learning_curve_chart(points: Sequence[tuple[int, float, float]], metric: Json) -> Json:
    """Score on learned and on unseen rows by the number of rows learned from."""

    def build(word: Words) -> Json:
        values = [
            {"rows": rows, "score": score, "on": word(on)}
            for rows, train, test in points
            for on, score in (("on_training", train), ("on_test", test))
        ]
        by_rows = {"field": "on", "type": "nominal", "sort": None, "title": None, "legend": {"symbolType": "stroke"}}
        colours, dashes = [REFERENCE.light, DATA.light], [[5, 4], [1, 0]]
        encoding = {
            "x": quantitative("rows", word("training_rows"), axis={"tickCount": 5, "format": ",d"}),
            "y": quantitative("score", metric[word.locale], scale={"zero": False}),
            "color": by_rows | {"scale": {"range": colours}},
            "strokeDash": by_rows | {"scale": {"range": dashes}},
        }
        return {"data": {"values": values}, "mark": {"type": "line", "point": True}, "encoding": encoding}

    return chart("learning_curve", build)


def leaderboard_chart(rows: Sequence[Json], metric: Json) -> Json:
    """The best trial of every algorithm by its validation score, with the spread over folds."""
    best: dict[str, Json] = {}
    for row in rows:
        best.setdefault(row["algorithm"], row)

    def build(word: Words) -> Json:
        values = [
            {"model": row["label"][word.locale], "score": row["score"]["mean"]}
            | {"low": row["score"]["low"], "high": row["score"]["high"]}
            for row in best.values()
            if row["score"]["mean"] is not None
        ]
        return _intervals(values, metric[word.locale], None, "model")

    return chart("leaderboard", build)


def group_chart(column: Json) -> Json:
    """Figures of every group of a sensitive column with their intervals; too small groups are hollow."""
    shown = [name for name in GROUP_FIGURES if name in column["groups"][0]["metrics"]]

    def build(word: Words) -> Json:
        panels = []
        for name in shown:
            values = [
                {"group": _group_name(group, word), "small": group["too_small"]}
                | {"score": figure["value"], "low": figure["low"], "high": figure["high"]}
                for group in column["groups"]
                if (figure := group["metrics"][name])["value"] is not None
            ]
            panels.append(
                _intervals(values, word.of(GROUP_METRIC_LABELS[name]), word("group"), "group") | {"width": 190}
            )
        return {"hconcat": panels, "width": 190}

    return _without_size(chart("group_metrics", build, name=column["column"]))


def _group_name(group: Json, word: Words) -> str:
    name = word("missing") if group["group"] is None else shortened(group["group"])
    return f"{name} ({group['rows']})"


def _intervals(values: list[Json], x: str, y: str | None, field: str) -> Json:
    place = {"y": nominal(field, y), "x": quantitative("score", x, scale={"zero": False}, axis={"tickCount": 5})}
    fill = {"condition": {"test": "datum.small", "value": "white"}, "value": DATA.light}
    mark = {"type": "point", "size": 70, "opacity": 1, "stroke": DATA.light, "filled": True}
    span = {"x": {"field": "low", "type": "quantitative"}, "x2": {"field": "high"}}
    bars = {"mark": {"type": "rule", "color": DATA.light}, "encoding": span}
    dots = {"mark": mark, "encoding": {"fill": fill}}
    return {"data": {"values": values}, "encoding": place, "layer": [bars, dots], "height": row_height(len(values))}


def _without_size(made: Json) -> Json:
    """Concatenated charts have no size of their own."""
    for spec in made["spec"].values():
        spec.pop("width")
        spec.pop("height")
    return made
