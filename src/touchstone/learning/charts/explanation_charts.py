"""Charts of the behaviour of a model: importance, contributions, and the effect of single columns."""

from collections.abc import Mapping, Sequence
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
    shortened,
)
from touchstone.learning.column_types import ColumnKind
from touchstone.learning.explaining.model_explanation import ContributionSummary
from touchstone.learning.explaining.partial_dependence import Dependence
from touchstone.learning.explaining.permutation_importance import Importance
from touchstone.learning.interfaces import Json
from touchstone.learning.localized_text import LocalizedText, format_cell
from touchstone.learning.target import Floats
from touchstone.messages.labels import MISSING_VALUE

BAR_COLUMNS: Final = 12
BEESWARM_COLUMNS: Final = 10
BEESWARM_ROW_HEIGHT: Final = 28
WATERFALL_COLUMNS: Final = 9
MARKER_SHARE: Final = 0.01  # The thickness of the two end marks of a waterfall, as a share of its width.
DIRECTION_COLOURS: Final = {"up": RAISES.light, "down": LOWERS.light, "unclear": REFERENCE.light}
DIRECTION_SIGNS: Final = {"up": "▲", "down": "▼", "unclear": ""}


def importance_chart(importances: Sequence[Importance], metric_label: LocalizedText) -> Json:
    """Chart the loss of quality when a column is shuffled, with the deviation over the repeats."""
    values = [
        {
            "column": shortened(importance.column),
            "loss": importance.mean,
            "low": importance.mean - importance.deviation,
            "high": importance.mean + importance.deviation,
        }
        for importance in importances[:BAR_COLUMNS]
    ]

    def build(label: ChartLabels) -> Json:
        title = f"{label('loss')} ({metric_label[label.locale]})"
        interval = {"x": {"field": "low", "type": "quantitative"}, "x2": {"field": "high"}}
        return {
            "data": {"values": values},
            "encoding": {"y": nominal("column", None), "x": quantitative("loss", title, axis={"tickCount": 5})},
            "layer": [
                {"mark": {"type": "bar", "color": DATA.light, "opacity": 0.75}},
                {"mark": {"type": "rule", "color": "black"}, "encoding": interval},
            ],
            "height": row_height(len(values)),
        }

    return bilingual_chart("importance", build)


def shap_importance_chart(summaries: Mapping[str, ContributionSummary]) -> Json:
    """Chart the mean absolute contribution of each column, coloured by the direction in which high values push."""

    def build(label: ChartLabels) -> Json:
        values = [
            {
                "column": shortened(name),
                "size": summary.mean_absolute,
                "way": label(summary.direction),
                "sign": DIRECTION_SIGNS[summary.direction],
            }
            for name, summary in list(summaries.items())[:BAR_COLUMNS]
        ]
        scale = {"domain": [label(key) for key in DIRECTION_COLOURS], "range": list(DIRECTION_COLOURS.values())}
        encoding = {
            "y": nominal("column", None),
            "x": quantitative("size", label("mean_contribution"), axis={"tickCount": 5}),
            "color": {"field": "way", "type": "nominal", "scale": scale, "title": label("high_value")},
        }
        signs = {"mark": {"type": "text", "dx": 8, "fontSize": 9}, "encoding": {"text": {"field": "sign"}}}
        return {
            "data": {"values": values},
            "encoding": encoding,
            "layer": [{"mark": "bar"}, signs],
            "height": row_height(len(values)),
        }

    return bilingual_chart("shap_importance", build)


def beeswarm_chart(contributions: Floats, ranks: Floats, columns: Sequence[str], order: Sequence[int]) -> Json:
    """Chart a dot per row and column at its contribution, shaded by the rank of the row's value.

    `contributions` and `ranks` have shape (rows, columns); a rank of NaN (a value without an order) is drawn grey.
    `order` lists the positions of the columns to show, the first on top.
    """
    rng = np.random.default_rng(0)
    shown = list(order)[:BEESWARM_COLUMNS]
    values = [
        {
            "column": shortened(columns[column]),
            "x": float(f"{contributions[row, column]:.5g}"),
            "rank": _rank_or_minus_one(ranks[row, column]),
            "jitter": round(float(rng.uniform(-1, 1)), 3),
        }
        for column in shown
        for row in range(len(contributions))
    ]

    def build(label: ChartLabels) -> Json:
        return {
            "data": {"values": values},
            "mark": {"type": "circle", "size": 20, "opacity": 0.75, "invalid": "show"},
            "encoding": {
                "y": nominal("column", None, axis={"grid": True, "tickBand": "extent"}),
                "yOffset": {"field": "jitter", "type": "quantitative", "scale": {"domain": [-1.6, 1.6]}},
                "x": quantitative("x", label("contribution"), axis={"tickCount": 6}),
                "color": _rank_shades(label),
            },
            "height": BEESWARM_ROW_HEIGHT * len(shown),
        }

    return bilingual_chart("beeswarm", build)


def _rank_or_minus_one(rank: float) -> float:
    """Replace NaN by -1, since the chart would hide a dot whose rank is null."""
    return -1.0 if np.isnan(rank) else round(float(rank), 3)


def _rank_shades(label: ChartLabels) -> Json:
    """Return a colour channel that shades dots by rank, with a legend from low to high."""
    return {
        "condition": {
            "test": "datum.rank >= 0",
            "field": "rank",
            "type": "quantitative",
            "scale": {"domain": [0, 1], "range": [SHADES[3], SHADES[6], SHADES[9]]},
            "legend": {
                "title": label("column_value"),
                "values": [0, 1],
                "labelExpr": f"datum.value < 0.5 ? '{label('low')}' : '{label('high')}'",
                "gradientLength": 90,
            },
        },
        "value": DATA_PALE.light,
    }


def waterfall_chart(entry: Json, cells: Mapping[str, str]) -> Json:
    """Chart the way from the base value to the prediction of one row, the strongest columns first.

    `entry` is the row's explanation in the words of the contract, `cells` its values as text.
    """
    strongest_first = sorted(entry["attributions"].items(), key=lambda attribution: -abs(attribution[1]))
    shown = strongest_first[:WATERFALL_COLUMNS]
    others = strongest_first[WATERFALL_COLUMNS:]

    def build(label: ChartLabels) -> Json:
        steps = [(_step_label(name, cells, label), points) for name, points in shown if points]
        if others:
            steps.append((label("others"), sum(points for _name, points in others)))
        values = _waterfall_values(entry, steps, label)
        return {
            "data": {"values": values},
            "layer": _waterfall_layers(label),
            "height": row_height(len(values)) + 20,
        }

    return bilingual_chart("waterfall", build, name=entry["row"])


def _step_label(name: str, cells: Mapping[str, str], label: ChartLabels) -> str:
    cell = cells.get(name)
    value = shortened(format_cell(cell)[label.locale]) if cell else label.choose(MISSING_VALUE)
    return f"{shortened(name)} = {value}"


def _waterfall_values(entry: Json, steps: Sequence[tuple[str, float]], label: ChartLabels) -> list[Json]:
    """Return the bars of a waterfall: the reference, one bar per step, and the prediction."""
    base = entry["base_value"]
    levels = np.cumsum([base, *(points for _label, points in steps)])
    thickness = max(float(np.ptp(levels)), 1e-9) * MARKER_SHARE

    values = [_end_mark(label("reference"), base, thickness)]
    level = base
    for step_label, points in steps:
        values.append(
            {
                "label": step_label,
                "way": label("up") if points >= 0 else label("down"),
                "points": points,
                "kind": "step",
                "start": level,
                "end": level + points,
                "right": max(level, level + points),
            }
        )
        level += points
    return [*values, _end_mark(label("prediction"), entry["prediction"], thickness)]


def _end_mark(label: str, level: float, thickness: float) -> Json:
    """Return a thin mark at a level; a bar would have to start at zero, which may be far away."""
    return {
        "label": label,
        "way": label,
        "points": level,
        "kind": "end",
        "start": level - thickness / 2,
        "end": level + thickness / 2,
        "right": level + thickness,
    }


def _waterfall_layers(label: ChartLabels) -> list[Json]:
    """Return the layers of a waterfall: its bars, the signed points of its steps, and the values of its ends."""
    y = nominal("label", None, axis={"labelLimit": 300})
    scale = {
        "domain": [label("reference"), label("up"), label("down"), label("prediction")],
        "range": [REFERENCE.light, RAISES.light, LOWERS.light, RESULT.light],
    }
    bars = {
        "mark": {"type": "bar", "height": {"band": 0.7}, "minBandSize": 2},
        "encoding": {
            "y": y,
            "x": quantitative("start", label("value"), scale={"zero": False, "nice": True}, axis={"tickCount": 6}),
            "x2": {"field": "end"},
            "color": {
                "field": "way",
                "type": "nominal",
                "scale": scale,
                "title": None,
                "legend": {"symbolType": "square", "orient": "bottom"},
            },
        },
    }

    def texts(condition: str, number_format: str) -> Json:
        return {
            "transform": [{"filter": condition}],
            "mark": {"type": "text", "align": "left", "dx": 4},
            "encoding": {
                "y": y,
                "x": {"field": "right", "type": "quantitative"},
                "text": {"field": "points", "format": number_format},
            },
        }

    return [bars, texts("datum.kind == 'step'", "+.3~g"), texts("datum.kind != 'step'", ".4~g")]


def dependence_chart(dependence: Dependence) -> Json:
    """Chart the mean prediction (thick line) and those of single rows (thin lines) as a column takes its values."""
    grid = short_moments(dependence.grid) if dependence.kind is ColumnKind.DATE else dependence.grid
    means = [{"value": value, "mean": mean} for value, mean in zip(grid, dependence.mean, strict=True)]
    curves = [
        {"value": value, "level": float(f"{level:.5g}"), "row": row}
        for row, curve in enumerate(dependence.curves)
        for value, level in zip(grid, curve, strict=True)
    ]
    title = shortened(dependence.column)
    if dependence.kind is ColumnKind.NUMBER:
        x = quantitative("value", title, scale={"zero": False}, axis={"tickCount": 6})
    else:
        x = nominal("value", title, axis={"labelAngle": -35, "labelLimit": 120})

    def build(label: ChartLabels) -> Json:
        y = quantitative("level", label("mean_prediction"), scale={"zero": False})
        thin_lines = {
            "data": {"values": curves},
            "mark": {"type": "line", "color": DATA_PALE.light, "strokeWidth": 0.8, "opacity": 0.6},
            "encoding": {"x": x, "y": y, "detail": {"field": "row", "type": "nominal"}},
        }
        point = {"filled": True, "size": 40, "color": DATA.light}
        thick_line = {
            "data": {"values": means},
            "mark": {"type": "line", "color": DATA.light, "strokeWidth": 3, "point": point},
            "encoding": {"x": x, "y": {**y, "field": "mean"}},
        }
        return {"layer": [thin_lines, thick_line]}

    return bilingual_chart("dependence", build, name=dependence.column)


def short_moments(moments: Sequence[str]) -> list[str]:
    """Cut ISO 8601 moments to the day, the minute or the second, whichever is the first to tell them apart."""
    for length in (len("2020-01-09"), len("2020-01-09T00:00"), len("2020-01-09T00:00:00")):
        shortened_moments = [moment[:length].replace("T", " ") for moment in moments]
        if len(set(shortened_moments)) == len(set(moments)):
            return shortened_moments
    return list(moments)
