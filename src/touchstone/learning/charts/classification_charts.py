"""Charts of the quality of a classifier: its confusion matrix, ROC and precision-recall curves."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from touchstone.learning.charts.chart_style import (
    DARK_FROM,
    DASHES,
    HEIGHT,
    SHADES,
    ChartLabels,
    bilingual_chart,
    dashed_line,
    nominal,
    quantitative,
    shorten,
)
from touchstone.learning.evaluation import Mask, Predictions, confusion_matrix, count_by_threshold
from touchstone.learning.even_spacing import evenly_spaced_positions
from touchstone.learning.target import Floats
from touchstone.learning.task_interface import Json

MAX_CURVE_POINTS: Final = 80
MAX_CURVE_CLASSES: Final = 6
SQUARE_SIDE: Final = 300
MAX_MATRIX_SIDE: Final = 480
CELL_SIDE: Final = 42
CHARACTER_WIDTH: Final = 7  # an upper bound of the mean width of the characters in a label, in pixels
FONT_SIZE: Final = 11
MIN_SLANTED_SIDE: Final = 20  # Labels below narrower cells overlap unless they are vertical.
MIN_SIDE_WITH_ZEROS: Final = 20  # In narrower cells, zeros would hide the other numbers.

_SHADE_SCALE: Final = {"domain": [0, 1], "range": SHADES}
_PERCENT_AXIS: Final = {"format": "%", "tickCount": 5}
_UNIT_SCALE: Final = {"domain": [0, 1]}
_FIFTHS_AXIS: Final = {"tickCount": 5}
_DIAGONAL: Final = ((0, 0), (1, 1))


def confusion_chart(predictions: Predictions, class_names: Sequence[str]) -> Json:
    """Return a heat map of the confusion matrix, with true classes as rows and predicted classes as columns.

    Each cell shows its number of rows, and is shaded by its share of the rows of the true class. `class_names` lists
    the names of the classes in the order of their codes.
    """
    class_labels = [shorten(name) for name in class_names]
    rows_per_cell = confusion_matrix(predictions)
    rows_per_true_class = rows_per_cell.sum(axis=1)

    cells = []
    for (true_code, predicted_code), rows in np.ndenumerate(rows_per_cell):
        rows_of_true_class = max(1, rows_per_true_class[true_code])  # Avoid a division by zero.
        cells.append(
            {
                "true": class_labels[true_code],
                "predicted": class_labels[predicted_code],
                "rows": int(rows),
                "share": float(rows / rows_of_true_class),
            }
        )
    return bilingual_chart("confusion", lambda labels: _confusion_spec(cells, class_labels, labels))


def _confusion_spec(cells: Sequence[Json], class_labels: Sequence[str], labels: ChartLabels) -> Json:
    """Return the Vega-Lite specification of a confusion matrix from its cells `{true, predicted, rows, share}`."""
    side = min(MAX_MATRIX_SIDE, max(HEIGHT, CELL_SIDE * len(class_labels)))
    return {
        "data": {"values": cells},
        "encoding": {
            "x": nominal("predicted", labels["predicted_class"], axis=_turned_labels_if_narrow(class_labels)),
            "y": nominal("true", labels["true_class"], axis={"labelFontSize": _label_size("height", class_labels)}),
        },
        "layer": _confusion_layers(len(class_labels), labels),
        "width": side,
        "height": side,
    }


def _confusion_layers(class_count: int, labels: ChartLabels) -> list[Json]:
    """Return the layers of a confusion matrix: shaded cells, and row counts in a legible colour.

    The counts become smaller if their cells are narrow.
    """
    shade = {
        "field": "share",
        "type": "quantitative",
        "title": labels["share"],
        "scale": _SHADE_SCALE,
        "legend": _PERCENT_AXIS,
    }
    ink = {"condition": {"test": f"datum.share > {DARK_FROM}", "value": "white"}, "value": "black"}
    text = {"field": "rows", "format": ",d"}

    # A digit is about two thirds as wide as its font size.
    side = f"width / {class_count}"
    font_size = {"expr": f"min({FONT_SIZE}, 1.5 * {side} / max(2, length(format(datum.rows, ',d'))))"}
    opacity = {"expr": f"datum.rows > 0 || {side} >= {MIN_SIDE_WITH_ZEROS} ? 1 : 0"}
    return [
        {"mark": "rect", "encoding": {"color": shade}},
        {"mark": {"type": "text", "fontSize": font_size, "opacity": opacity}, "encoding": {"text": text, "color": ink}},
    ]


def _turned_labels_if_narrow(axis_labels: Sequence[str]) -> Json:
    """Return axis properties that slant the labels if they do not fit side by side, or else make them vertical."""
    side = f"width / {len(axis_labels)}"
    fits = f"{side} > {CHARACTER_WIDTH * max(map(len, axis_labels)) + 8}"
    return {
        "labelAngle": {"expr": f"{fits} ? 0 : {side} >= {MIN_SLANTED_SIDE} ? -40 : -90"},
        "labelAlign": {"expr": f"{fits} ? 'center' : 'right'"},
        "labelBaseline": {"expr": f"{fits} ? 'top' : 'middle'"},
        "labelFontSize": _label_size("width", axis_labels),
        "labelLimit": 160,
    }


def _label_size(dimension: str, axis_labels: Sequence[str]) -> Json:
    """Return a font size with which the labels along an axis do not overlap. `dimension` is `width` or `height`."""
    return {"expr": f"min({FONT_SIZE}, 0.9 * {dimension} / {len(axis_labels)})"}


def roc_chart(predictions: Predictions, class_names: Sequence[str]) -> Json:
    """Return the ROC curves of a classifier, one line per class.

    `class_names` lists the names of the classes in the order of their codes. If there are two classes, only the second
    one has a line.
    """
    points: list[Json] = []
    for code in _curve_classes(predictions):
        curve = _roc_curve(predictions.truth == code, predictions.probabilities[:, code])
        points += _curve_points(class_names[code], curve)

    return bilingual_chart("roc", lambda labels: _roc_spec(points, labels))


def _roc_spec(points: Sequence[Json], labels: ChartLabels) -> Json:
    """Return the Vega-Lite specification of ROC curves from their points `{class, x, y}`."""
    curves = _class_curves(points, labels["false_positive_rate"], labels["true_positive_rate"], labels)
    guessing = dashed_line(_DIAGONAL)
    return {"layer": [guessing, curves], "width": SQUARE_SIDE, "height": SQUARE_SIDE}


def precision_recall_chart(predictions: Predictions, class_names: Sequence[str]) -> Json:
    """Return the precision-recall curves of a classifier, one line per class.

    `class_names` lists the names of the classes in the order of their codes. If there are two classes, only the second
    one has a line.
    """
    codes = _curve_classes(predictions)
    points: list[Json] = []
    for code in codes:
        curve = _precision_recall_curve(predictions.truth == code, predictions.probabilities[:, code])
        points += _curve_points(class_names[code], curve)

    # The precision of random guessing equals the share of the class, so several classes have no common reference line.
    reference_lines: list[Json] = []
    if len(codes) == 1:
        share = float((predictions.truth == codes[0]).mean())
        reference_lines.append(dashed_line([(0, share), (1, share)]))

    return bilingual_chart("precision_recall", lambda labels: _precision_recall_spec(points, reference_lines, labels))


def _precision_recall_spec(points: Sequence[Json], reference_lines: Sequence[Json], labels: ChartLabels) -> Json:
    """Return the Vega-Lite specification of precision-recall curves from their points `{class, x, y}`."""
    curves = _class_curves(points, labels["recall"], labels["precision"], labels)
    return {"layer": [*reference_lines, curves], "width": SQUARE_SIDE, "height": SQUARE_SIDE}


def _curve_classes(predictions: Predictions) -> list[int]:
    """Return the codes of the classes to draw: the second of two, or the most frequent ones of more."""
    if predictions.class_count == 2:
        return [1]

    rows_per_class = np.bincount(predictions.truth, minlength=predictions.class_count)
    most_frequent_first = sorted(range(predictions.class_count), key=lambda code: rows_per_class[code], reverse=True)
    return sorted(most_frequent_first[:MAX_CURVE_CLASSES])


def _roc_curve(is_positive: Mask, scores: Floats) -> tuple[Floats, Floats]:
    """Return the false and true positive rates at descending thresholds, beginning at (0, 0)."""
    counts = count_by_threshold(is_positive, scores)
    false_positives = counts.selected - counts.hits

    false_positive_rates = false_positives / max(1, false_positives[-1])
    true_positive_rates = counts.hits / max(1, counts.hits[-1])
    return np.insert(false_positive_rates, 0, 0.0), np.insert(true_positive_rates, 0, 0.0)


def _precision_recall_curve(is_positive: Mask, scores: Floats) -> tuple[Floats, Floats]:
    """Return the recall and the precision at descending thresholds."""
    counts = count_by_threshold(is_positive, scores)
    return counts.hits / max(1, counts.hits[-1]), counts.hits / counts.selected


def _curve_points(class_name: str, curve: tuple[Floats, Floats]) -> list[Json]:
    """Return evenly spaced points of the curve of one class. `curve` holds the x and y values."""
    x_values, y_values = curve
    positions = evenly_spaced_positions(len(x_values), MAX_CURVE_POINTS)

    label = shorten(class_name)
    return [
        {"class": label, "x": round(float(x_values[position]), 4), "y": round(float(y_values[position]), 4)}
        for position in positions
    ]


def _class_curves(points: Sequence[Json], x_title: str, y_title: str, labels: ChartLabels) -> Json:
    """Return a Vega-Lite layer with one line per class, distinguished by colours and dashes."""
    by_class = {
        "field": "class",
        "type": "nominal",
        "sort": None,  # keeps the order of the classes
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
