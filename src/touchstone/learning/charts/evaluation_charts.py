"""Charts of the quality of a model for all tasks: residuals, learning curve, leaderboard and groups."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from touchstone.core.colours import DATA, REFERENCE
from touchstone.learning.charts.chart_style import (
    ChartLabels,
    bilingual_chart,
    dashed_line,
    nominal,
    quantitative,
    row_height,
    shorten_in_middle,
)
from touchstone.learning.evaluation import Predictions
from touchstone.learning.localized_text import LocalizedText
from touchstone.learning.target import Floats
from touchstone.learning.task_interface import Json
from touchstone.messages.labels import GROUP_METRIC_LABELS

MAX_SCATTER_POINTS: Final = 400
GROUP_METRICS: Final = ("accuracy", "true_positive_rate", "selection_rate", "mae", "mean_error")
SQUARE_SIDE: Final = 300
GROUP_PANEL_WIDTH: Final = 190


@dataclass(frozen=True, slots=True)
class LearningCurvePoint:
    """The scores of a model fitted on the given number of training rows."""

    rows: int
    training_score: float
    test_score: float


def residuals_chart(predictions: Predictions) -> Json:
    """Return a scatter plot of a regression's residuals against its predicted values, with a line at zero.

    A residual is the true value minus the predicted value. A visible pattern indicates that the model missed something.
    """
    points = _sample_points(predictions.predicted, predictions.truth - predictions.predicted)
    return bilingual_chart("residuals", lambda labels: _residuals_spec(points, labels))


def _residuals_spec(points: Sequence[Json], labels: ChartLabels) -> Json:
    """Return the Vega-Lite specification of a residual plot from its points `{x, y}`."""
    zero_line = {
        "data": {"values": [{"y": 0}]},
        "mark": {"type": "rule", "color": REFERENCE.light, "strokeDash": [5, 4]},
        "encoding": {"y": {"field": "y", "type": "quantitative"}},
    }
    return {"layer": [_scatter_plot(points, labels["predicted"], labels["residual"]), zero_line]}


def predicted_actual_chart(predictions: Predictions) -> Json:
    """Return a scatter plot of predicted against actual values, with the line of a perfect prediction."""
    points = _sample_points(predictions.truth, predictions.predicted)
    lowest = float(min(predictions.truth.min(), predictions.predicted.min()))
    highest = float(max(predictions.truth.max(), predictions.predicted.max()))
    perfect_line = dashed_line([(lowest, lowest), (highest, highest)])

    return bilingual_chart("predicted_actual", lambda labels: _predicted_actual_spec(points, perfect_line, labels))


def _predicted_actual_spec(points: Sequence[Json], perfect_line: Json, labels: ChartLabels) -> Json:
    """Return the Vega-Lite specification of a plot of predicted against actual values from its points `{x, y}`."""
    dots = _scatter_plot(points, labels["actual"], labels["predicted"])
    return {"layer": [dots, perfect_line], "width": SQUARE_SIDE, "height": SQUARE_SIDE}


def _sample_points(x_values: Floats, y_values: Floats) -> list[Json]:
    """Return the points `{x, y}` of a random sample of the rows."""
    shuffled_rows = np.random.default_rng(0).permutation(len(x_values))
    rows = np.sort(shuffled_rows[:MAX_SCATTER_POINTS])
    return [{"x": float(f"{x_values[row]:.6g}"), "y": float(f"{y_values[row]:.6g}")} for row in rows]


def _scatter_plot(points: Sequence[Json], x_title: str, y_title: str) -> Json:
    """Return a layer with a dot for each point, on axes that need not include zero."""
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
    """Return a line chart of the scores on training and test rows against the number of training rows.

    It shows whether the model would improve with more rows.
    """
    return bilingual_chart(
        "learning_curve", lambda labels: _learning_curve_spec(points, metric_label[labels.locale], labels)
    )


def _learning_curve_spec(points: Sequence[LearningCurvePoint], metric_name: str, labels: ChartLabels) -> Json:
    """Return the Vega-Lite specification of a learning curve.

    A solid line shows the scores on test rows, and a dashed line the scores on training rows.
    """
    values = []
    for point in points:
        values.append({"rows": point.rows, "score": point.training_score, "on": labels["on_training"]})
        values.append({"rows": point.rows, "score": point.test_score, "on": labels["on_test"]})

    by_row_kind = {"field": "on", "type": "nominal", "sort": None, "title": None, "legend": {"symbolType": "stroke"}}
    return {
        "data": {"values": values},
        "mark": {"type": "line", "point": True},
        "encoding": {
            "x": quantitative("rows", labels["training_rows"], axis={"tickCount": 5, "format": ",d"}),
            "y": quantitative("score", metric_name, scale={"zero": False}),
            "color": {**by_row_kind, "scale": {"range": [REFERENCE.light, DATA.light]}},
            "strokeDash": {**by_row_kind, "scale": {"range": [[5, 4], [1, 0]]}},
        },
    }


def leaderboard_chart(leaderboard: Sequence[Json], metric_label: LocalizedText) -> Json:
    """Return a chart of the best validation score of every algorithm, with its range over the folds.

    `leaderboard` lists all trials as documented by the API, the best first.
    """
    best_by_algorithm: dict[str, Json] = {}
    for entry in leaderboard:
        best_by_algorithm.setdefault(entry["algorithm"], entry)

    defined_entries = [entry for entry in best_by_algorithm.values() if entry["score"]["mean"] is not None]
    return bilingual_chart(
        "leaderboard", lambda labels: _leaderboard_spec(defined_entries, metric_label[labels.locale], labels)
    )


def _leaderboard_spec(entries: Sequence[Json], metric_name: str, labels: ChartLabels) -> Json:
    """Return the Vega-Lite specification of the scores of the given leaderboard entries."""
    values = [
        {
            "model": entry["label"][labels.locale],
            "score": entry["score"]["mean"],
            "low": entry["score"]["low"],
            "high": entry["score"]["high"],
        }
        for entry in entries
    ]
    return _interval_plot(values, x_title=metric_name, y_field="model")


def group_chart(column: Json) -> Json:
    """Return a chart of the metrics of each group of a sensitive column, with one panel per metric.

    Lines show confidence intervals, and hollow dots mark groups that are too small to judge. `column` is the entry of
    the column in the group metrics.
    """
    groups = column["groups"]
    metrics = [name for name in GROUP_METRICS if name in groups[0]["metrics"]]

    def build_panels(labels: ChartLabels) -> Json:
        return {"hconcat": [_group_panel(groups, metric, labels) for metric in metrics]}

    chart = bilingual_chart("group_metrics", build_panels, name=column["column"])

    # Vega-Lite allows a size for each panel, but not for a row of panels.
    specs = {locale: _without_size(spec) for locale, spec in chart["spec"].items()}
    return {**chart, "spec": specs}


def _group_panel(groups: Sequence[Json], metric: str, labels: ChartLabels) -> Json:
    """Return the plot of one metric for all groups where it is defined."""
    values = []
    for group in groups:
        estimate = group["metrics"][metric]
        if estimate["value"] is None:
            continue

        value = {
            "group": _group_label(group, labels),
            "small": group["too_small"],
            "score": estimate["value"],
            "low": estimate["low"],
            "high": estimate["high"],
        }
        values.append(value)

    metric_label = labels.translate(GROUP_METRIC_LABELS[metric])
    plot = _interval_plot(values, x_title=metric_label, y_field="group")
    return {**plot, "width": GROUP_PANEL_WIDTH}


def _group_label(group: Json, labels: ChartLabels) -> str:
    """Return the name of a group and its number of rows."""
    name = labels["missing"] if group["group"] is None else shorten_in_middle(group["group"])
    return f"{name} ({group['rows']})"


def _interval_plot(values: Sequence[Json], *, x_title: str, y_field: str) -> Json:
    """Return a plot with one score per line, drawn as a dot on its interval.

    Each value has a `score`, its bounds `low` and `high`, and its name in the field `y_field`. Values marked as `small`
    have hollow dots.
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
            "y": nominal(y_field, None),
            "x": quantitative("score", x_title, scale={"zero": False}, axis={"tickCount": 5}),
        },
        "layer": [interval_line, dot],
        "height": row_height(len(values)),
    }


def _without_size(spec: Json) -> Json:
    """Return a specification without its width and height."""
    return {name: value for name, value in spec.items() if name not in ("width", "height")}
