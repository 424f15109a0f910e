"""Charts of the quality of a model: confusion, ROC, precision-recall, calibration, residuals, learning, groups."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from touchstone.core.colours import DATA, REFERENCE
from touchstone.learning.charts.chart_style import (
    DARK_FROM,
    DASHES,
    HEIGHT,
    SHADES,
    ChartLabels,
    bilingual_chart,
    nominal,
    quantitative,
    row_height,
    shortened,
)
from touchstone.learning.evaluation import Predictions, confusion_matrix
from touchstone.learning.group_metrics import wilson_interval
from touchstone.learning.interfaces import Json
from touchstone.learning.localized_text import LocalizedText
from touchstone.learning.target import Floats
from touchstone.messages.labels import GROUP_METRIC_LABELS

CURVE_POINTS: Final = 80
CURVE_CLASSES: Final = 6
SCATTER_POINTS: Final = 400
CALIBRATION_BINS: Final = 10
ROWS_PER_BIN: Final = 15
GROUP_FIGURES: Final = ("accuracy", "true_positive_rate", "selection_rate", "mae", "mean_error")
SQUARE: Final = 300
MAX_MATRIX_SIDE: Final = 480
CELL_SIDE: Final = 42
CHARACTER_WIDTH: Final = 7  # An upper bound, in pixels, of the mean width of a label's characters.

_SHADE_SCALE: Final = {"domain": [0, 1], "range": SHADES}
_PERCENT_AXIS: Final = {"format": "%", "tickCount": 5}
_UNIT_SCALE: Final = {"domain": [0, 1]}
_FIFTHS_AXIS: Final = {"tickCount": 5}
_DIAGONAL: Final = ((0, 0), (1, 1))

Points = Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class LearningCurvePoint:
    """The scores of a model that was fitted on a number of training rows."""

    rows: int
    training_score: float
    test_score: float


def confusion_chart(predictions: Predictions, class_names: Sequence[str]) -> Json:
    """Chart the true class by the predicted class; shades show the share of the true class, texts the rows."""
    labels = [shortened(name) for name in class_names]
    counts = confusion_matrix(predictions)
    totals = np.maximum(counts.sum(axis=1), 1)
    cells = [
        {"true": labels[i], "predicted": labels[j], "rows": int(rows), "share": float(rows / totals[i])}
        for (i, j), rows in np.ndenumerate(counts)
    ]
    side = min(MAX_MATRIX_SIDE, max(HEIGHT, CELL_SIDE * len(labels)))

    def build(label: ChartLabels) -> Json:
        encoding = {
            "x": nominal("predicted", label("predicted_class"), axis=_slanted_where_narrow(labels)),
            "y": nominal("true", label("true_class")),
        }
        shade = {
            "field": "share",
            "type": "quantitative",
            "title": label("share"),
            "scale": _SHADE_SCALE,
            "legend": _PERCENT_AXIS,
        }
        ink = {"condition": {"test": f"datum.share > {DARK_FROM}", "value": "white"}, "value": "black"}
        text = {"text": {"field": "rows", "format": ",d"}, "color": ink}
        layers = [
            {"mark": "rect", "encoding": {"color": shade}},
            {"mark": {"type": "text"}, "encoding": text},
        ]
        return {"data": {"values": cells}, "encoding": encoding, "layer": layers, "width": side, "height": side}

    return bilingual_chart("confusion", build)


def _slanted_where_narrow(labels: Sequence[str]) -> Json:
    """Return an axis whose labels are slanted when the chart is drawn too narrow for them side by side."""
    longest = max(map(len, labels))
    fits = f"width / {len(labels)} > {CHARACTER_WIDTH * longest + 8}"
    return {
        "labelAngle": {"expr": f"{fits} ? 0 : -40"},
        "labelAlign": {"expr": f"{fits} ? 'center' : 'right'"},
        "labelBaseline": {"expr": f"{fits} ? 'top' : 'middle'"},
        "labelLimit": 160,
    }


def roc_chart(predictions: Predictions, class_names: Sequence[str]) -> Json:
    """Chart true against false positives, one line per class, with the diagonal of chance."""
    points = [
        {"class": shortened(class_names[code]), "x": x, "y": y}
        for code in _curve_classes(predictions)
        for x, y in _thin_out(*_roc_curve(predictions.truth == code, predictions.probabilities[:, code]))
    ]

    def build(label: ChartLabels) -> Json:
        curves = _class_curves(points, label("false_positive_rate"), label("true_positive_rate"), label)
        return {"layer": [_dashed_line(_DIAGONAL), curves], "width": SQUARE, "height": SQUARE}

    return bilingual_chart("roc", build)


def precision_recall_chart(predictions: Predictions, class_names: Sequence[str]) -> Json:
    """Chart precision against recall, one line per class; for two classes a dashed line marks the class's share."""
    codes = _curve_classes(predictions)
    points = [
        {"class": shortened(class_names[code]), "x": x, "y": y}
        for code in codes
        for x, y in _thin_out(*_precision_recall_curve(predictions.truth == code, predictions.probabilities[:, code]))
    ]
    reference_lines: list[Json] = []
    if len(codes) == 1:
        share = float((predictions.truth == codes[0]).mean())
        reference_lines.append(_dashed_line([(0, share), (1, share)]))

    def build(label: ChartLabels) -> Json:
        curves = _class_curves(points, label("recall"), label("precision"), label)
        return {"layer": [*reference_lines, curves], "width": SQUARE, "height": SQUARE}

    return bilingual_chart("precision_recall", build)


def _curve_classes(predictions: Predictions) -> list[int]:
    """Return the classes that get a line: the second of two, otherwise the most frequent ones."""
    if predictions.class_count == 2:
        return [1]
    counts = np.bincount(predictions.truth, minlength=predictions.class_count)
    return sorted(np.argsort(-counts, kind="stable")[:CURVE_CLASSES].tolist())


def _roc_curve(positive: npt.NDArray[np.bool_], scores: Floats) -> tuple[Floats, Floats]:
    hits, last_of_tie = _hits_by_cut(positive, scores)
    false_alarms = last_of_tie + 1 - hits
    x = false_alarms / max(1, false_alarms[-1])
    y = hits / max(1, hits[-1])
    return np.insert(x, 0, 0.0), np.insert(y, 0, 0.0)


def _precision_recall_curve(positive: npt.NDArray[np.bool_], scores: Floats) -> tuple[Floats, Floats]:
    hits, last_of_tie = _hits_by_cut(positive, scores)
    return hits / max(1, hits[-1]), hits / (last_of_tie + 1)


def _hits_by_cut(positive: npt.NDArray[np.bool_], scores: Floats) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return the positives down to each different score, and the position of the last row with that score."""
    order = np.argsort(-scores, kind="stable")
    last_of_tie = np.append(np.flatnonzero(np.diff(scores[order])), len(scores) - 1)
    return np.cumsum(positive[order])[last_of_tie], last_of_tie


def _thin_out(x: Floats, y: Floats) -> list[tuple[float, float]]:
    """Return evenly spaced points of a curve, few enough to draw."""
    positions = np.unique(np.linspace(0, len(x) - 1, CURVE_POINTS).round().astype(int))
    return [(round(float(x[position]), 4), round(float(y[position]), 4)) for position in positions]


def _class_curves(points: Sequence[Json], x_title: str, y_title: str, label: ChartLabels) -> Json:
    """Return a layer with one line per class, told apart by colour and dashes."""
    by_class = {
        "field": "class",
        "type": "nominal",
        "sort": None,
        "title": label("class"),
        "legend": {"symbolType": "stroke", "symbolSize": 300},
    }
    return {
        "data": {"values": points},
        "mark": {"type": "line", "strokeWidth": 2, "interpolate": "linear", "clip": True},
        "encoding": {
            "x": quantitative("x", x_title, scale=_UNIT_SCALE, axis=_FIFTHS_AXIS),
            "y": quantitative("y", y_title, scale=_UNIT_SCALE, axis=_FIFTHS_AXIS),
            "order": {"field": "x", "type": "quantitative"},
            "color": by_class,
            "strokeDash": {**by_class, "scale": {"range": DASHES}},
        },
    }


def _dashed_line(points: Points) -> Json:
    """Return a layer with a dashed reference line."""
    return {
        "data": {"values": [{"x": x, "y": y} for x, y in points]},
        "mark": {"type": "line", "strokeDash": [5, 4], "color": REFERENCE.light},
        "encoding": {"x": {"field": "x", "type": "quantitative"}, "y": {"field": "y", "type": "quantitative"}},
    }


def calibration_chart(predictions: Predictions) -> Json:
    """Chart observed against predicted probabilities.

    Of two classes the second is observed; of more, whether the predicted class is the true one.
    """
    if predictions.class_count == 2:
        scores = predictions.probabilities[:, 1]
        hits = predictions.truth == 1
    else:
        scores = predictions.probabilities.max(axis=1)
        hits = predictions.truth == predictions.predicted
    data = {"values": _calibration_bins(scores, hits)}

    def build(label: ChartLabels) -> Json:
        x = quantitative("x", label("predicted_probability"), scale=_UNIT_SCALE, axis=_PERCENT_AXIS)
        y = quantitative("y", label("observed_share"), scale=_UNIT_SCALE, axis=_PERCENT_AXIS)
        interval = {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}}
        point = {"type": "point", "filled": True, "opacity": 1, "size": 60}
        layers = [
            _dashed_line(_DIAGONAL),
            {"data": data, "mark": {"type": "rule"}, "encoding": interval},
            {"data": data, "mark": {"type": "line"}, "encoding": {"x": x, "y": y}},
            {"data": data, "mark": point, "encoding": {"x": x, "y": y}},
        ]
        colours = {mark: {"color": DATA.light} for mark in ("rule", "line", "point")}
        return {"layer": layers, "width": SQUARE, "height": SQUARE, "config": colours}

    return bilingual_chart("calibration", build)


def _calibration_bins(scores: Floats, hits: npt.NDArray[np.bool_]) -> list[Json]:
    """Return bins of about equally many rows, each with its observed share and Wilson's interval."""
    order = np.argsort(scores, kind="stable")
    bin_count = min(CALIBRATION_BINS, max(2, len(order) // ROWS_PER_BIN))
    bins = []
    for rows in np.array_split(order, bin_count):
        if not len(rows):
            continue
        share = float(hits[rows].mean())
        interval = wilson_interval(share, len(rows))
        x = float(scores[rows].mean())
        bins.append({"x": x, "y": share, "rows": len(rows), "low": interval.low, "high": interval.high})
    return bins


def residuals_chart(predictions: Predictions) -> Json:
    """Chart the residuals against the predicted values, with a line at zero."""
    points = _sample_points(predictions.predicted, predictions.truth - predictions.predicted)
    zero_line = {
        "data": {"values": [{"y": 0}]},
        "mark": {"type": "rule", "color": REFERENCE.light, "strokeDash": [5, 4]},
        "encoding": {"y": {"field": "y", "type": "quantitative"}},
    }

    def build(label: ChartLabels) -> Json:
        return {"layer": [_scatter_plot(points, label("predicted"), label("residual")), zero_line]}

    return bilingual_chart("residuals", build)


def predicted_actual_chart(predictions: Predictions) -> Json:
    """Chart predicted against actual values, with the line of a perfect prediction."""
    points = _sample_points(predictions.truth, predictions.predicted)
    low = float(min(predictions.truth.min(), predictions.predicted.min()))
    high = float(max(predictions.truth.max(), predictions.predicted.max()))

    def build(label: ChartLabels) -> Json:
        dots = _scatter_plot(points, label("actual"), label("predicted"))
        return {"layer": [dots, _dashed_line([(low, low), (high, high)])], "width": SQUARE, "height": SQUARE}

    return bilingual_chart("predicted_actual", build)


def _sample_points(x: Floats, y: Floats) -> list[Json]:
    """Return the points of a random sample of the rows, few enough to draw."""
    rows = np.sort(np.random.default_rng(0).permutation(len(x))[:SCATTER_POINTS])
    return [{"x": float(f"{x[row]:.6g}"), "y": float(f"{y[row]:.6g}")} for row in rows]


def _scatter_plot(points: Sequence[Json], x_title: str, y_title: str) -> Json:
    without_zero = {"zero": False}
    return {
        "data": {"values": points},
        "mark": {"type": "point", "filled": True, "size": 22, "opacity": 0.45, "color": DATA.light},
        "encoding": {
            "x": quantitative("x", x_title, scale=without_zero),
            "y": quantitative("y", y_title, scale=without_zero),
        },
    }


def learning_curve_chart(points: Sequence[LearningCurvePoint], metric_label: LocalizedText) -> Json:
    """Chart the score on training rows and on test rows by the number of training rows."""

    def build(label: ChartLabels) -> Json:
        values = []
        for point in points:
            values.append({"rows": point.rows, "score": point.training_score, "on": label("on_training")})
            values.append({"rows": point.rows, "score": point.test_score, "on": label("on_test")})
        by_rows = {"field": "on", "type": "nominal", "sort": None, "title": None, "legend": {"symbolType": "stroke"}}
        encoding = {
            "x": quantitative("rows", label("training_rows"), axis={"tickCount": 5, "format": ",d"}),
            "y": quantitative("score", metric_label[label.locale], scale={"zero": False}),
            "color": {**by_rows, "scale": {"range": [REFERENCE.light, DATA.light]}},
            "strokeDash": {**by_rows, "scale": {"range": [[5, 4], [1, 0]]}},
        }
        return {"data": {"values": values}, "mark": {"type": "line", "point": True}, "encoding": encoding}

    return bilingual_chart("learning_curve", build)


def leaderboard_chart(leaderboard: Sequence[Json], metric_label: LocalizedText) -> Json:
    """Chart the validation score of the best trial of every algorithm, with its range over the folds."""
    best_by_algorithm: dict[str, Json] = {}
    for entry in leaderboard:
        best_by_algorithm.setdefault(entry["algorithm"], entry)

    def build(label: ChartLabels) -> Json:
        values = [
            {
                "model": entry["label"][label.locale],
                "score": entry["score"]["mean"],
                "low": entry["score"]["low"],
                "high": entry["score"]["high"],
            }
            for entry in best_by_algorithm.values()
            if entry["score"]["mean"] is not None
        ]
        return _interval_plot(values, x_title=metric_label[label.locale], y_field="model")

    return bilingual_chart("leaderboard", build)


def group_chart(column: Json) -> Json:
    """Chart the figures of every group of a sensitive column with their intervals; too small groups are hollow."""
    metrics = [name for name in GROUP_FIGURES if name in column["groups"][0]["metrics"]]

    def build(label: ChartLabels) -> Json:
        panels = [_group_panel(column["groups"], metric, label) for metric in metrics]
        return {"hconcat": panels}

    chart = bilingual_chart("group_metrics", build, name=column["column"])
    specs = {locale: _without_size(spec) for locale, spec in chart["spec"].items()}
    return {**chart, "spec": specs}


def _group_panel(groups: Sequence[Json], metric: str, label: ChartLabels) -> Json:
    values = []
    for group in groups:
        figure = group["metrics"][metric]
        if figure["value"] is not None:
            values.append(
                {
                    "group": _group_name(group, label),
                    "small": group["too_small"],
                    "score": figure["value"],
                    "low": figure["low"],
                    "high": figure["high"],
                }
            )
    x_title = label.choose(GROUP_METRIC_LABELS[metric])
    return {**_interval_plot(values, x_title=x_title, y_field="group", y_title=label("group")), "width": 190}


def _group_name(group: Json, label: ChartLabels) -> str:
    name = label("missing") if group["group"] is None else shortened(group["group"])
    return f"{name} ({group['rows']})"


def _interval_plot(values: Sequence[Json], *, x_title: str, y_field: str, y_title: str | None = None) -> Json:
    """Return a plot of one score per line with its interval; the dots of values marked `small` are hollow."""
    fill = {"condition": {"test": "datum.small", "value": "white"}, "value": DATA.light}
    point = {"type": "point", "size": 70, "opacity": 1, "stroke": DATA.light, "filled": True}
    interval = {"x": {"field": "low", "type": "quantitative"}, "x2": {"field": "high"}}
    return {
        "data": {"values": values},
        "encoding": {
            "y": nominal(y_field, y_title),
            "x": quantitative("score", x_title, scale={"zero": False}, axis={"tickCount": 5}),
        },
        "layer": [
            {"mark": {"type": "rule", "color": DATA.light}, "encoding": interval},
            {"mark": point, "encoding": {"fill": fill}},
        ],
        "height": row_height(len(values)),
    }


def _without_size(spec: Json) -> Json:
    """Return a specification of concatenated charts, which must not have a size of its own."""
    return {name: value for name, value in spec.items() if name not in ("width", "height")}
