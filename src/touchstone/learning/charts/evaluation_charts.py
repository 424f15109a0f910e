"""Charts of the quality of a model: confusion, ROC, precision-recall, calibration, residuals, learning, groups."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

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
from touchstone.learning.evaluation import Mask, Predictions, confusion_matrix, count_by_threshold
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
GROUP_METRICS: Final = ("accuracy", "true_positive_rate", "selection_rate", "mae", "mean_error")
SQUARE_SIDE: Final = 300
GROUP_PANEL_WIDTH: Final = 190
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
    """Return a heat map of the confusion matrix: the true class by the predicted class.

    Each cell shows a number of rows, and is shaded by its share of the rows of the true class. `class_names` lists the
    names of the classes by their codes.
    """
    class_labels = [shortened(name) for name in class_names]
    rows_per_cell = confusion_matrix(predictions)
    rows_per_true_class = np.maximum(rows_per_cell.sum(axis=1), 1)
    cells = [
        {
            "true": class_labels[true_code],
            "predicted": class_labels[predicted_code],
            "rows": int(rows),
            "share": float(rows / rows_per_true_class[true_code]),
        }
        for (true_code, predicted_code), rows in np.ndenumerate(rows_per_cell)
    ]
    side = min(MAX_MATRIX_SIDE, max(HEIGHT, CELL_SIDE * len(class_labels)))

    def build_spec(labels: ChartLabels) -> Json:
        """Return the Vega-Lite specification of this chart, labelled in one language."""
        return {
            "data": {"values": cells},
            "encoding": {
                "x": nominal("predicted", labels["predicted_class"], axis=_slanted_if_narrow(class_labels)),
                "y": nominal("true", labels["true_class"]),
            },
            "layer": _confusion_layers(labels),
            "width": side,
            "height": side,
        }

    return bilingual_chart("confusion", build_spec)


def _confusion_layers(labels: ChartLabels) -> list[Json]:
    """Return the layers of a confusion matrix: shaded cells, and numbers of rows in a colour legible on the shade."""
    shade = {
        "field": "share",
        "type": "quantitative",
        "title": labels["share"],
        "scale": _SHADE_SCALE,
        "legend": _PERCENT_AXIS,
    }
    ink = {"condition": {"test": f"datum.share > {DARK_FROM}", "value": "white"}, "value": "black"}
    text = {"field": "rows", "format": ",d"}
    return [
        {"mark": "rect", "encoding": {"color": shade}},
        {"mark": {"type": "text"}, "encoding": {"text": text, "color": ink}},
    ]


def _slanted_if_narrow(axis_labels: Sequence[str]) -> Json:
    """Return an axis whose labels are slanted if the chart is drawn too narrow for them to fit side by side."""
    longest = max(map(len, axis_labels))
    fits = f"width / {len(axis_labels)} > {CHARACTER_WIDTH * longest + 8}"
    return {
        "labelAngle": {"expr": f"{fits} ? 0 : -40"},
        "labelAlign": {"expr": f"{fits} ? 'center' : 'right'"},
        "labelBaseline": {"expr": f"{fits} ? 'top' : 'middle'"},
        "labelLimit": 160,
    }


def roc_chart(predictions: Predictions, class_names: Sequence[str]) -> Json:
    """Return the ROC curves of a classifier: true against false positives, for every threshold.

    There is one line per class; the dashed diagonal is what guessing would achieve. `class_names` lists the names of
    the classes by their codes.
    """
    points: list[Json] = []
    for code in _curve_classes(predictions):
        curve = _roc_curve(predictions.truth == code, predictions.probabilities[:, code])
        points += _curve_points(class_names[code], curve)

    def build_spec(labels: ChartLabels) -> Json:
        """Return the Vega-Lite specification of this chart, labelled in one language."""
        x_title = labels["false_positive_rate"]
        y_title = labels["true_positive_rate"]
        curves = _class_curves(points, x_title, y_title, labels)
        return {"layer": [_dashed_line(_DIAGONAL), curves], "width": SQUARE_SIDE, "height": SQUARE_SIDE}

    return bilingual_chart("roc", build_spec)


def precision_recall_chart(predictions: Predictions, class_names: Sequence[str]) -> Json:
    """Return the precision-recall curves of a classifier, one line per class.

    If only one class has a line, a dashed line at the share of its rows shows what guessing would achieve.
    `class_names` lists the names of the classes by their codes.
    """
    codes = _curve_classes(predictions)
    points: list[Json] = []
    for code in codes:
        curve = _precision_recall_curve(predictions.truth == code, predictions.probabilities[:, code])
        points += _curve_points(class_names[code], curve)

    reference_lines: list[Json] = []
    if len(codes) == 1:
        share = float((predictions.truth == codes[0]).mean())
        reference_lines.append(_dashed_line([(0, share), (1, share)]))

    def build_spec(labels: ChartLabels) -> Json:
        """Return the Vega-Lite specification of this chart, labelled in one language."""
        curves = _class_curves(points, labels["recall"], labels["precision"], labels)
        return {"layer": [*reference_lines, curves], "width": SQUARE_SIDE, "height": SQUARE_SIDE}

    return bilingual_chart("precision_recall", build_spec)


def _curve_classes(predictions: Predictions) -> list[int]:
    """Return the codes of the classes that get a line: the second of two, otherwise the most frequent ones."""
    if predictions.class_count == 2:
        return [1]

    rows_per_class = np.bincount(predictions.truth, minlength=predictions.class_count)
    most_frequent = np.argsort(-rows_per_class, kind="stable")[:CURVE_CLASSES]
    return sorted(most_frequent.tolist())


def _roc_curve(is_positive: Mask, scores: Floats) -> tuple[Floats, Floats]:
    """Return the false and the true positive rate at each threshold, from the highest down, beginning at (0, 0)."""
    counts = count_by_threshold(is_positive, scores)
    false_positives = counts.selected - counts.hits

    false_positive_rates = false_positives / max(1, false_positives[-1])
    true_positive_rates = counts.hits / max(1, counts.hits[-1])
    return np.insert(false_positive_rates, 0, 0.0), np.insert(true_positive_rates, 0, 0.0)


def _precision_recall_curve(is_positive: Mask, scores: Floats) -> tuple[Floats, Floats]:
    """Return the recall and the precision at each threshold, from the highest down."""
    counts = count_by_threshold(is_positive, scores)
    return counts.hits / max(1, counts.hits[-1]), counts.hits / counts.selected


def _curve_points(class_name: str, curve: tuple[Floats, Floats]) -> list[Json]:
    """Return evenly spaced points of the curve of one class, few enough to draw."""
    x, y = curve
    positions = np.unique(np.linspace(0, len(x) - 1, CURVE_POINTS).round().astype(int))
    label = shortened(class_name)
    return [
        {"class": label, "x": round(float(x[position]), 4), "y": round(float(y[position]), 4)} for position in positions
    ]


def _class_curves(points: Sequence[Json], x_title: str, y_title: str, labels: ChartLabels) -> Json:
    """Return a layer with one line per class; colours and dashes distinguish the classes."""
    by_class = {
        "field": "class",
        "type": "nominal",
        "sort": None,
        "title": labels["class"],
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
    """Return a chart of how often events are observed against how probable the model thought them.

    With two classes the event is the second class; with more, it is that the predicted class is the true one. The
    points of a well calibrated model lie on the dashed diagonal.
    """
    if predictions.class_count == 2:
        probabilities = predictions.probabilities[:, 1]
        is_event = predictions.truth == 1
    else:
        probabilities = predictions.probabilities.max(axis=1)
        is_event = predictions.truth == predictions.predicted
    data = {"values": _calibration_bins(probabilities, is_event)}

    def build_spec(labels: ChartLabels) -> Json:
        """Return the Vega-Lite specification of this chart, labelled in one language."""
        x_axis = quantitative("x", labels["predicted_probability"], scale=_UNIT_SCALE, axis=_PERCENT_AXIS)
        y_axis = quantitative("y", labels["observed_share"], scale=_UNIT_SCALE, axis=_PERCENT_AXIS)

        interval = {"x": x_axis, "y": {**y_axis, "field": "low"}, "y2": {"field": "high"}}
        point = {"type": "point", "filled": True, "opacity": 1, "size": 60}
        layers = [
            _dashed_line(_DIAGONAL),
            {"data": data, "mark": {"type": "rule"}, "encoding": interval},
            {"data": data, "mark": {"type": "line"}, "encoding": {"x": x_axis, "y": y_axis}},
            {"data": data, "mark": point, "encoding": {"x": x_axis, "y": y_axis}},
        ]
        colours = {mark: {"color": DATA.light} for mark in ("rule", "line", "point")}
        return {"layer": layers, "width": SQUARE_SIDE, "height": SQUARE_SIDE, "config": colours}

    return bilingual_chart("calibration", build_spec)


def _calibration_bins(probabilities: Floats, is_event: Mask) -> list[Json]:
    """Divide the rows into bins of similar probability and about equal size, and count the events in each.

    Each bin has its mean probability `x`, the observed share of events `y`, and Wilson's interval of that share.
    """
    ascending = np.argsort(probabilities, kind="stable")
    bin_count = min(CALIBRATION_BINS, max(2, len(ascending) // ROWS_PER_BIN))

    bins = []
    for rows in np.array_split(ascending, bin_count):
        if len(rows) == 0:
            continue
        share = float(is_event[rows].mean())
        interval = wilson_interval(share, len(rows))
        bins.append(
            {
                "x": float(probabilities[rows].mean()),
                "y": share,
                "rows": len(rows),
                "low": interval.low,
                "high": interval.high,
            }
        )
    return bins


def residuals_chart(predictions: Predictions) -> Json:
    """Return a scatter plot of a regression's residuals against its predicted values, with a line at zero.

    A residual is the true value minus the predicted one. Any visible pattern is something that the model has missed.
    """
    points = _sample_points(predictions.predicted, predictions.truth - predictions.predicted)
    zero_line = {
        "data": {"values": [{"y": 0}]},
        "mark": {"type": "rule", "color": REFERENCE.light, "strokeDash": [5, 4]},
        "encoding": {"y": {"field": "y", "type": "quantitative"}},
    }

    def build_spec(labels: ChartLabels) -> Json:
        """Return the Vega-Lite specification of this chart, labelled in one language."""
        dots = _scatter_plot(points, labels["predicted"], labels["residual"])
        return {"layer": [dots, zero_line]}

    return bilingual_chart("residuals", build_spec)


def predicted_actual_chart(predictions: Predictions) -> Json:
    """Return a scatter plot of predicted against actual values, with the line of a perfect prediction."""
    points = _sample_points(predictions.truth, predictions.predicted)
    lowest = float(min(predictions.truth.min(), predictions.predicted.min()))
    highest = float(max(predictions.truth.max(), predictions.predicted.max()))
    perfect_line = _dashed_line([(lowest, lowest), (highest, highest)])

    def build_spec(labels: ChartLabels) -> Json:
        """Return the Vega-Lite specification of this chart, labelled in one language."""
        dots = _scatter_plot(points, labels["actual"], labels["predicted"])
        return {"layer": [dots, perfect_line], "width": SQUARE_SIDE, "height": SQUARE_SIDE}

    return bilingual_chart("predicted_actual", build_spec)


def _sample_points(x: Floats, y: Floats) -> list[Json]:
    """Return the points of a random sample of the rows, few enough to draw."""
    shuffled_rows = np.random.default_rng(0).permutation(len(x))
    rows = np.sort(shuffled_rows[:SCATTER_POINTS])
    return [{"x": float(f"{x[row]:.6g}"), "y": float(f"{y[row]:.6g}")} for row in rows]


def _scatter_plot(points: Sequence[Json], x_title: str, y_title: str) -> Json:
    """Return a layer with a dot per point; its axes do not have to include zero."""
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
    """Return a line chart of the scores on training and test rows by the number of training rows.

    It shows whether more rows would make the model better.
    """

    def build_spec(labels: ChartLabels) -> Json:
        """Return the Vega-Lite specification of this chart, labelled in one language."""
        values = []
        for point in points:
            values.append({"rows": point.rows, "score": point.training_score, "on": labels["on_training"]})
            values.append({"rows": point.rows, "score": point.test_score, "on": labels["on_test"]})

        by_row_kind = {
            "field": "on",
            "type": "nominal",
            "sort": None,
            "title": None,
            "legend": {"symbolType": "stroke"},
        }
        encoding = {
            "x": quantitative("rows", labels["training_rows"], axis={"tickCount": 5, "format": ",d"}),
            "y": quantitative("score", metric_label[labels.locale], scale={"zero": False}),
            "color": {**by_row_kind, "scale": {"range": [REFERENCE.light, DATA.light]}},
            "strokeDash": {**by_row_kind, "scale": {"range": [[5, 4], [1, 0]]}},
        }
        return {"data": {"values": values}, "mark": {"type": "line", "point": True}, "encoding": encoding}

    return bilingual_chart("learning_curve", build_spec)


def leaderboard_chart(leaderboard: Sequence[Json], metric_label: LocalizedText) -> Json:
    """Return a chart of the validation score of the best trial of every algorithm, with its range over the folds.

    `leaderboard` lists all trials as the API documents them, the best first.
    """
    best_by_algorithm: dict[str, Json] = {}
    for entry in leaderboard:
        best_by_algorithm.setdefault(entry["algorithm"], entry)
    best_entries = [entry for entry in best_by_algorithm.values() if entry["score"]["mean"] is not None]

    def build_spec(labels: ChartLabels) -> Json:
        """Return the Vega-Lite specification of this chart, labelled in one language."""
        values = [
            {
                "model": entry["label"][labels.locale],
                "score": entry["score"]["mean"],
                "low": entry["score"]["low"],
                "high": entry["score"]["high"],
            }
            for entry in best_entries
        ]
        return _interval_plot(values, x_title=metric_label[labels.locale], y_field="model")

    return bilingual_chart("leaderboard", build_spec)


def group_chart(column: Json) -> Json:
    """Return a chart of the metrics of each group of a sensitive column, with one panel per metric.

    Lines show confidence intervals, and hollow dots mark groups that are too small to judge. `column` is the column's
    entry of the group metrics.
    """
    groups = column["groups"]
    metrics = [name for name in GROUP_METRICS if name in groups[0]["metrics"]]

    def build_spec(labels: ChartLabels) -> Json:
        """Return the Vega-Lite specification of this chart, labelled in one language."""
        return {"hconcat": [_group_panel(groups, metric, labels) for metric in metrics]}

    chart = bilingual_chart("group_metrics", build_spec, name=column["column"])
    specs = {locale: _without_size(spec) for locale, spec in chart["spec"].items()}
    return {**chart, "spec": specs}


def _group_panel(groups: Sequence[Json], metric: str, labels: ChartLabels) -> Json:
    """Return the plot of one metric of all groups; a group for which it is not defined is left out."""
    values = []
    for group in groups:
        estimate = group["metrics"][metric]
        if estimate["value"] is None:
            continue
        values.append(
            {
                "group": _group_label(group, labels),
                "small": group["too_small"],
                "score": estimate["value"],
                "low": estimate["low"],
                "high": estimate["high"],
            }
        )

    metric_label = labels.translate(GROUP_METRIC_LABELS[metric])
    plot = _interval_plot(values, x_title=metric_label, y_field="group", y_title=labels["group"])
    return {**plot, "width": GROUP_PANEL_WIDTH}


def _group_label(group: Json, labels: ChartLabels) -> str:
    """Return the name of a group and its number of rows."""
    name = labels["missing"] if group["group"] is None else shortened(group["group"])
    return f"{name} ({group['rows']})"


def _interval_plot(values: Sequence[Json], *, x_title: str, y_field: str, y_title: str | None = None) -> Json:
    """Return a plot with one score per line, drawn as a dot on a line that spans its interval.

    Each value has a `score` with its bounds `low` and `high`, and its name in the field `y_field`. The dots of values
    that are marked as `small` are hollow.
    """
    interval_line = {
        "mark": {"type": "rule", "color": DATA.light},
        "encoding": {"x": {"field": "low", "type": "quantitative"}, "x2": {"field": "high"}},
    }
    dot = {
        "mark": {"type": "point", "size": 70, "opacity": 1, "stroke": DATA.light, "filled": True},
        "encoding": {"fill": {"condition": {"test": "datum.small", "value": "white"}, "value": DATA.light}},
    }
    return {
        "data": {"values": values},
        "encoding": {
            "y": nominal(y_field, y_title),
            "x": quantitative("score", x_title, scale={"zero": False}, axis={"tickCount": 5}),
        },
        "layer": [interval_line, dot],
        "height": row_height(len(values)),
    }


def _without_size(spec: Json) -> Json:
    """Return a specification without its width and height, which a row of charts must not have."""
    return {name: value for name, value in spec.items() if name not in ("width", "height")}
