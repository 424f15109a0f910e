"""Charts of the behaviour of a model: importance, contributions, and the effect of single columns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from touchstone.core.colours import DATA, DATA_PALE, LOWERS, RAISES, REFERENCE, RESULT
from touchstone.learning.charts.chart_style import (
    SHADES,
    ChartLabels,
    bilingual_chart,
    nominal,
    quantitative,
    row_height,
    shorten,
)
from touchstone.learning.column_types import ColumnKind
from touchstone.learning.explaining.model_explanation import ContributionSummary
from touchstone.learning.explaining.partial_dependence import Dependence
from touchstone.learning.explaining.permutation_importance import Importance
from touchstone.learning.localized_text import LocalizedText, format_cell
from touchstone.learning.target import Floats
from touchstone.learning.task_interface import Json
from touchstone.messages.labels import MISSING_VALUE

BAR_COLUMNS: Final = 12
BEESWARM_COLUMNS: Final = 10
BEESWARM_ROW_HEIGHT: Final = 28
WATERFALL_COLUMNS: Final = 9
MARKER_SHARE: Final = 0.01  # the thickness of the end markers of a waterfall, as a share of its width
MIN_WATERFALL_WIDTH: Final = 1e-9
NUMBER_WIDTH: Final = 46  # of the numbers beside the bars of a waterfall, in pixels; pages cut off what is outside
# Lighter shades than the first would hardly be visible as dots on a white background.
RANK_SHADES: Final = [SHADES[3], SHADES[6], SHADES[9]]
DIRECTION_COLOURS: Final = {"up": RAISES.light, "down": LOWERS.light, "unclear": REFERENCE.light}
DIRECTION_SIGNS: Final = {"up": "▲", "down": "▼", "unclear": ""}


@dataclass(frozen=True, slots=True)
class WaterfallStep:
    """A step of a waterfall chart, with its label and its contribution to the prediction."""

    label: str
    contribution: float


def importance_chart(importances: Sequence[Importance], metric_label: LocalizedText) -> Json:
    """Return a bar chart of the permutation importance of the columns.

    `importances` lists the columns, the most important first. A line through the end of each bar shows the standard
    deviation over repeated shuffles.
    """
    bars = [
        {
            "column": shorten(importance.column),
            "loss": importance.mean,
            "low": importance.mean - importance.deviation,
            "high": importance.mean + importance.deviation,
        }
        for importance in importances[:BAR_COLUMNS]
    ]
    return bilingual_chart("importance", lambda labels: _importance_spec(bars, metric_label[labels.locale], labels))


def _importance_spec(bars: Sequence[Json], metric_name: str, labels: ChartLabels) -> Json:
    """Return the Vega-Lite specification of a bar chart with one bar per `{column, loss, low, high}`."""
    x_title = f"{labels['loss']} ({metric_name})"
    interval = {"x": {"field": "low", "type": "quantitative"}, "x2": {"field": "high"}}
    return {
        "data": {"values": bars},
        "encoding": {"y": nominal("column", None), "x": quantitative("loss", x_title, axis={"tickCount": 5})},
        "layer": [
            {"mark": {"type": "bar", "color": DATA.light, "opacity": 0.75}},
            {"mark": {"type": "rule", "color": "black"}, "encoding": interval},
        ],
        "height": row_height(len(bars)),
    }


def shap_importance_chart(summaries: Mapping[str, ContributionSummary]) -> Json:
    """Return a bar chart of the mean absolute contribution of each column, in the given order.

    The colour of a bar and the sign beside it show whether high values of the column raise or lower the prediction.
    """
    displayed_summaries = dict(list(summaries.items())[:BAR_COLUMNS])
    return bilingual_chart("shap_importance", lambda labels: _shap_importance_spec(displayed_summaries, labels))


def _shap_importance_spec(summaries: Mapping[str, ContributionSummary], labels: ChartLabels) -> Json:
    """Return the Vega-Lite specification of a bar chart with one bar per column."""
    bars = [
        {
            "column": shorten(name),
            "size": summary.mean_absolute,
            "way": labels[summary.direction],
            "sign": DIRECTION_SIGNS[summary.direction],
        }
        for name, summary in summaries.items()
    ]
    sign_layer = {"mark": {"type": "text", "dx": 8, "fontSize": 9}, "encoding": {"text": {"field": "sign"}}}
    return {
        "data": {"values": bars},
        "encoding": {
            "y": nominal("column", None),
            "x": quantitative("size", labels["mean_contribution"], axis={"tickCount": 5}),
            "color": _direction_colours(labels),
        },
        "layer": [{"mark": "bar"}, sign_layer],
        "height": row_height(len(bars)),
    }


def _direction_colours(labels: ChartLabels) -> Json:
    """Return a colour channel for the direction of the effect of high values."""
    return {
        "field": "way",
        "type": "nominal",
        "scale": {
            "domain": [labels[direction] for direction in DIRECTION_COLOURS],
            "range": list(DIRECTION_COLOURS.values()),
        },
        "title": labels["high_value"],
    }


def beeswarm_chart(contributions: Floats, ranks: Floats, columns: Sequence[str], order: Sequence[int]) -> Json:
    """Return a chart with a dot for each row and column, placed at its contribution and shaded by its value.

    Args:
        contributions: the contributions, of shape (rows, columns).
        ranks: the ranks of the values within their columns, of the same shape, from 0 (lowest) to 1 (highest), or NaN
            if the values have no order.
        columns: the names of all columns.
        order: the positions of the columns to show, from top to bottom.
    """
    rng = np.random.default_rng(0)
    shown_columns = list(order)[:BEESWARM_COLUMNS]

    dots = []
    for column in shown_columns:
        for row in range(len(contributions)):
            jitter = float(rng.uniform(-1, 1))  # a vertical shift, so that dots rarely overlap
            dots.append(
                {
                    "column": shorten(columns[column]),
                    "x": float(f"{contributions[row, column]:.5g}"),
                    "rank": _rank_or_minus_one(ranks[row, column]),
                    "jitter": round(jitter, 3),
                }
            )

    height = BEESWARM_ROW_HEIGHT * len(shown_columns)
    return bilingual_chart("beeswarm", lambda labels: _beeswarm_spec(dots, height, labels))


def _beeswarm_spec(dots: Sequence[Json], height: int, labels: ChartLabels) -> Json:
    """Return the Vega-Lite specification of a chart with one dot per `{column, x, rank, jitter}`."""
    return {
        "data": {"values": dots},
        "mark": {"type": "circle", "size": 20, "opacity": 0.75, "invalid": "show"},
        "encoding": {
            "y": nominal("column", None, axis={"grid": True, "tickBand": "extent"}),
            "yOffset": {"field": "jitter", "type": "quantitative", "scale": {"domain": [-1.6, 1.6]}},
            "x": quantitative("x", labels["contribution"], axis={"tickCount": 6}),
            "color": _rank_shades(labels),
        },
        "height": height,
    }


def _rank_or_minus_one(rank: float) -> float:
    """Replace NaN by -1, because Vega-Lite would hide dots with a null rank."""
    return -1.0 if np.isnan(rank) else round(float(rank), 3)


def _rank_shades(labels: ChartLabels) -> Json:
    """Return a colour channel that shades dots by their rank, from 0 (low values) to 1 (high values).

    Dots with the rank -1, whose values have no order, are grey.
    """
    # The legend has only two labels, at its ends 0 and 1. They are words, because ranks mean nothing to readers.
    word_for_end = f"datum.value < 0.5 ? '{labels['low']}' : '{labels['high']}'"
    legend = {
        "title": labels["column_value"],
        "values": [0, 1],
        "labelExpr": word_for_end,
        "gradientLength": 90,
    }
    return {
        "condition": {
            "test": "datum.rank >= 0",
            "field": "rank",
            "type": "quantitative",
            "scale": {"domain": [0, 1], "range": RANK_SHADES},
            "legend": legend,
        },
        "value": DATA_PALE.light,
    }


def waterfall_chart(entry: Json, cells: Mapping[str, str]) -> Json:
    """Return a chart of the steps from the base value to the prediction for one row.

    The columns with the strongest contributions come first, and the weakest ones share one step. `entry` is the
    explanation of the row as documented by the API, and `cells` holds its values as text.
    """
    return bilingual_chart("waterfall", lambda labels: _waterfall_spec(entry, cells, labels), name=entry["row"])


def _waterfall_spec(entry: Json, cells: Mapping[str, str], labels: ChartLabels) -> Json:
    """Return the Vega-Lite specification of a waterfall chart."""
    steps = _waterfall_steps(entry, cells, labels)
    values = _waterfall_values(entry, steps, labels)
    return {
        "data": {"values": values},
        "layer": _waterfall_layers(labels),
        "height": row_height(len(values)) + 20,
    }


def _waterfall_steps(entry: Json, cells: Mapping[str, str], labels: ChartLabels) -> list[WaterfallStep]:
    """Return a step for each of the strongest contributions, and a common step for all others.

    Contributions that are not significant belong to the others. `cells` holds the values of the row as text.
    """
    attributions: Mapping[str, float] = entry["attributions"]
    significant_columns = [name for name in attributions if attributions[name] != 0 and name not in entry["uncertain"]]
    strongest_first = sorted(significant_columns, key=lambda name: abs(attributions[name]), reverse=True)
    shown_columns = strongest_first[:WATERFALL_COLUMNS]
    steps = [WaterfallStep(_step_label(name, cells, labels), attributions[name]) for name in shown_columns]

    other_contributions = [contribution for name, contribution in attributions.items() if name not in shown_columns]
    if any(other_contributions):
        steps.append(WaterfallStep(labels["others"], sum(other_contributions)))
    return steps


def _step_label(name: str, cells: Mapping[str, str], labels: ChartLabels) -> str:
    """Return the label of a step with the name of the column and its value, such as "age = 42"."""
    cell = cells.get(name)
    value = shorten(format_cell(cell)[labels.locale]) if cell else labels.translate(MISSING_VALUE)
    return f"{shorten(name)} = {value}"


def _waterfall_values(entry: Json, steps: Sequence[WaterfallStep], labels: ChartLabels) -> list[Json]:
    """Return the bars of a waterfall chart from top to bottom: the base value, the steps and the prediction.

    Each step begins at the end of the previous one.
    """
    base_value = entry["base_value"]
    level = base_value
    levels = [level]
    step_bars = []
    for step in steps:
        next_level = level + step.contribution
        step_bars.append(
            {
                "label": step.label,
                "way": labels["up"] if step.contribution >= 0 else labels["down"],
                "points": step.contribution,
                "kind": "step",
                "start": level,
                "end": next_level,
                "right": max(level, next_level),
            }
        )
        level = next_level
        levels.append(level)

    # The base value and the prediction are thin markers, with a thickness relative to the width of the chart.
    width = max(levels) - min(levels)
    marker_thickness = max(width, MIN_WATERFALL_WIDTH) * MARKER_SHARE
    base_marker = _end_marker(labels["reference"], base_value, marker_thickness)
    prediction_marker = _end_marker(labels["prediction"], entry["prediction"], marker_thickness)
    return [base_marker, *step_bars, prediction_marker]


def _end_marker(label: str, level: float, thickness: float) -> Json:
    """Return a thin marker at a level. A bar would have to start at zero, which may be far away."""
    return {
        "label": label,
        "way": label,
        "points": level,
        "kind": "end",
        "start": level - thickness / 2,
        "end": level + thickness / 2,
        "right": level + thickness,
    }


def _waterfall_layers(labels: ChartLabels) -> list[Json]:
    """Return the layers of a waterfall chart: its bars, and the numbers beside steps and end markers."""
    y_axis = nominal("label", None, axis={"labelLimit": 300})
    scale = {"zero": False, "nice": True, "padding": NUMBER_WIDTH}
    bars = {
        "mark": {"type": "bar", "height": {"band": 0.7}, "minBandSize": 2},
        "encoding": {
            "y": y_axis,
            "x": quantitative("start", labels["value"], scale=scale, axis={"tickCount": 6}),
            "x2": {"field": "end"},
            "color": _waterfall_colours(labels),
        },
    }
    step_sizes = _waterfall_numbers(y_axis, condition="datum.kind == 'step'", number_format="+.3~g")
    end_levels = _waterfall_numbers(y_axis, condition="datum.kind != 'step'", number_format=".4~g")
    return [bars, step_sizes, end_levels]


def _waterfall_colours(labels: ChartLabels) -> Json:
    """Return a colour channel that distinguishes the base value, steps up, steps down and the prediction."""
    return {
        "field": "way",
        "type": "nominal",
        "scale": {
            "domain": [labels["reference"], labels["up"], labels["down"], labels["prediction"]],
            "range": [REFERENCE.light, RAISES.light, LOWERS.light, RESULT.light],
        },
        "title": None,
        "legend": {"symbolType": "square", "orient": "bottom"},
    }


def _waterfall_numbers(y_axis: Json, *, condition: str, number_format: str) -> Json:
    """Return a layer with a number to the right of each bar that satisfies a condition."""
    return {
        "transform": [{"filter": condition}],
        "mark": {"type": "text", "align": "left", "dx": 4},
        "encoding": {
            "y": y_axis,
            "x": {"field": "right", "type": "quantitative"},
            "text": {"field": "points", "format": number_format},
        },
    }


def dependence_chart(dependence: Dependence) -> Json:
    """Return a line chart of the predictions by the value of one column.

    A thick line shows the mean over all rows, and thin lines show single rows.
    """
    is_date = dependence.kind is ColumnKind.DATE
    column_values = shorten_timestamps(dependence.grid) if is_date else dependence.grid

    mean_points = [{"value": value, "mean": mean} for value, mean in zip(column_values, dependence.mean, strict=True)]
    curve_points = []
    for row, curve in enumerate(dependence.curves):
        for value, level in zip(column_values, curve, strict=True):
            curve_points.append({"value": value, "level": float(f"{level:.5g}"), "row": row})

    x_axis = _value_axis(dependence)
    return bilingual_chart(
        "dependence",
        lambda labels: _dependence_spec(mean_points, curve_points, x_axis, labels),
        name=dependence.column,
    )


def _dependence_spec(
    mean_points: Sequence[Json], curve_points: Sequence[Json], x_axis: Json, labels: ChartLabels
) -> Json:
    """Return the Vega-Lite specification of a partial dependence chart.

    A thick line shows the mean prediction for each value of the column, and thin lines the predictions for single rows.

    Args:
        mean_points: the points of the thick line, `{value, mean}`.
        curve_points: the points of the thin lines, `{value, level, row}`, of which `level` is the prediction.
        x_axis: the axis of the values.
        labels: the displayed texts.
    """
    y_axis = quantitative("level", labels["mean_prediction"], scale={"zero": False})
    thin_lines = {
        "data": {"values": curve_points},
        "mark": {"type": "line", "color": DATA_PALE.light, "strokeWidth": 0.8, "opacity": 0.6},
        "encoding": {"x": x_axis, "y": y_axis, "detail": {"field": "row", "type": "nominal"}},
    }

    point = {"filled": True, "size": 40, "color": DATA.light}
    thick_line = {
        "data": {"values": mean_points},
        "mark": {"type": "line", "color": DATA.light, "strokeWidth": 3, "point": point},
        "encoding": {"x": x_axis, "y": {**y_axis, "field": "mean"}},
    }
    return {"layer": [thin_lines, thick_line]}


def _value_axis(dependence: Dependence) -> Json:
    """Return the axis for the values of a column, which is continuous for numbers and discrete otherwise."""
    title = shorten(dependence.column)
    if dependence.kind is ColumnKind.NUMBER:
        return quantitative("value", title, scale={"zero": False}, axis={"tickCount": 6})
    return nominal("value", title, axis={"labelAngle": -35, "labelLimit": 120})


def shorten_timestamps(timestamps: Sequence[str]) -> list[str]:
    """Truncate ISO 8601 timestamps to the day, minute or second if this keeps them distinct."""
    for length in (len("2020-01-09"), len("2020-01-09T00:00"), len("2020-01-09T00:00:00")):
        shortened_timestamps = [timestamp[:length].replace("T", " ") for timestamp in timestamps]
        if len(set(shortened_timestamps)) == len(set(timestamps)):
            return shortened_timestamps
    return list(timestamps)
