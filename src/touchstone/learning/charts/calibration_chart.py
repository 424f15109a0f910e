"""The chart that compares predicted probabilities with observed frequencies, before and after calibration."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from touchstone.core.colours import DATA, REFERENCE
from touchstone.learning.charts.chart_style import (
    ChartLabels,
    bilingual_chart,
    dashed_line,
    quantitative,
    shorten,
)
from touchstone.learning.evaluation import Mask, Predictions
from touchstone.learning.fairness.estimates import wilson_interval
from touchstone.learning.target import Floats
from touchstone.learning.task_interface import Json

MAX_BINS: Final = 10
MIN_ROWS_PER_BIN: Final = 15
SQUARE_SIDE: Final = 300

_PERCENT_AXIS: Final = {"format": "%", "tickCount": 5}
_UNIT_SCALE: Final = {"domain": [0, 1]}
_DIAGONAL: Final = ((0, 0), (1, 1))


@dataclass(frozen=True, slots=True)
class CalibrationCurve:
    """Bins of rows as `{x, y, rows, low, high}`, with the key of the curve's label in the legend."""

    label_key: str
    bins: Sequence[Json]


def calibration_chart(predictions: Predictions, uncalibrated: Predictions, class_names: Sequence[str]) -> Json:
    """Return a chart of the observed frequency of an event by its predicted probability.

    With two classes, the event is the positive class. With more classes, the event is that the most probable class is
    the true one. The points of a well calibrated model lie on the dashed diagonal. If the model was calibrated, a
    second curve shows the probabilities before calibration.

    Args:
        predictions: the predictions of the model.
        uncalibrated: the predictions before calibration.
        class_names: the names of the classes in the order of their codes.
    """
    curves = [CalibrationCurve("after_calibration", _calibration_bins(predictions))]
    if not np.array_equal(predictions.probabilities, uncalibrated.probabilities):
        curves.append(CalibrationCurve("before_calibration", _calibration_bins(uncalibrated)))

    event = shorten(class_names[1]) if len(class_names) == 2 else None
    return bilingual_chart("calibration", lambda labels: _calibration_spec(curves, event, labels))


def _calibration_bins(predictions: Predictions) -> list[Json]:
    """Return the bins of a calibration curve."""
    if predictions.class_count == 2:
        return _event_bins(predictions.probabilities[:, 1], predictions.truth == 1)

    most_probable_classes = predictions.probabilities.argmax(axis=1)
    return _event_bins(predictions.probabilities.max(axis=1), predictions.truth == most_probable_classes)


def _event_bins(probabilities: Floats, is_event: Mask) -> list[Json]:
    """Divide rows into bins of similar probability and size, and measure the share of events in each bin.

    Returns:
        an entry per bin, with the mean probability `x`, the share of events `y`, its confidence interval from `low` to
        `high`, and the number of `rows`.
    """
    rows_by_probability = np.argsort(probabilities, kind="stable")
    full_bins = len(probabilities) // MIN_ROWS_PER_BIN
    bin_count = min(MAX_BINS, max(2, full_bins))  # A curve needs two points, even if there are too few rows for them.

    bins = []
    for rows in np.array_split(rows_by_probability, bin_count):
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


def _calibration_spec(curves: Sequence[CalibrationCurve], event: str | None, labels: ChartLabels) -> Json:
    """Return the Vega-Lite specification of a calibration chart.

    Each bin is a point with a confidence interval, and a line connects the points of a curve. `event` is the name of
    the positive class for the axis title, or None if there are more than two classes.
    """
    values = [{**bin_entry, "curve": labels[curve.label_key]} for curve in curves for bin_entry in curve.bins]
    data = {"values": values}

    x_title = labels["predicted_probability"] if event is None else f"{labels['predicted_probability']} ({event})"
    x_axis = quantitative("x", x_title, scale=_UNIT_SCALE, axis=_PERCENT_AXIS)
    y_axis = quantitative("y", labels["observed_share"], scale=_UNIT_SCALE, axis=_PERCENT_AXIS)
    by_curve = _by_curve(curves, labels)

    position = {"x": x_axis, "y": y_axis, **by_curve}
    interval = {"x": x_axis, "y": {**y_axis, "field": "low"}, "y2": {"field": "high"}, "color": by_curve["color"]}
    layers = [
        dashed_line(_DIAGONAL),
        {"data": data, "mark": {"type": "rule"}, "encoding": interval},
        {"data": data, "mark": {"type": "line"}, "encoding": position},
        {"data": data, "mark": {"type": "point", "filled": True, "opacity": 1, "size": 60}, "encoding": position},
    ]
    return {"layer": layers, "width": SQUARE_SIDE, "height": SQUARE_SIDE}


def _by_curve(curves: Sequence[CalibrationCurve], labels: ChartLabels) -> Json:
    """Return the encodings that distinguish several curves by colour, shape and legend."""
    names = [labels[curve.label_key] for curve in curves]
    by_curve_name: Json = {
        "field": "curve",
        "type": "nominal",
        "sort": None,
        "title": None,
        "legend": {"orient": "bottom"} if len(curves) > 1 else None,
    }
    colours = [DATA.light, REFERENCE.light][: len(names)]
    shapes = ["circle", "square"][: len(names)]
    return {
        "color": {**by_curve_name, "scale": {"domain": names, "range": colours}},
        "shape": {**by_curve_name, "scale": {"domain": names, "range": shapes}},
    }
