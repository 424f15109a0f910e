"""Charts of what a model does: importance, contributions, effects of single columns."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from touchstone.core.colours import DATA, DATA_PALE, LOWERS, RAISES, REFERENCE, RESULT
from touchstone.learning.charts.chart_style import SHADES, Words, chart, nominal, quantitative, row_height, shortened
from touchstone.learning.column_types import Kind
from touchstone.learning.explaining.partial_dependence import Dependence
from touchstone.learning.explaining.permutation_importance import Importance
from touchstone.learning.interfaces import Json
from touchstone.learning.number_format import spelled
from touchstone.learning.target import Floats
from touchstone.messages.labels import MISSING_VALUE

TOP: Final = 12
BEESWARM_COLUMNS: Final = 10
WATERFALL_COLUMNS: Final = 9
THIN: Final = 0.01
DIRECTIONS: Final = {"up": RAISES.light, "down": LOWERS.light, "unclear": REFERENCE.light}
SIGNS: Final = {"up": "▲", "down": "▼", "unclear": ""}


def importance_chart(found: Sequence[Importance], metric: Json) -> Json:
    """Loss of quality when a column is shuffled, with the spread over repeats."""
    values = [
        {"column": shortened(one.column), "loss": one.mean, "low": one.mean - one.spread, "high": one.mean + one.spread}
        for one in found[:TOP]
    ]

    def build(word: Words) -> Json:
        title = f"{word('loss')} ({metric[word.locale]})"
        place = {"y": nominal("column", None), "x": quantitative("loss", title, axis={"tickCount": 5})}
        span = {"x": {"field": "low", "type": "quantitative"}, "x2": {"field": "high"}}
        bars = {"mark": {"type": "bar", "color": DATA.light, "opacity": 0.75}}
        rules = {"mark": {"type": "rule", "color": "black"}, "encoding": span}
        return {
            "data": {"values": values},
            "encoding": place,
            "layer": [bars, rules],
            "height": row_height(len(values)),
        }

    return chart("importance", build)


def shap_importance_chart(rows: Sequence[Json]) -> Json:
    """Mean absolute contribution of each column; the colour and the legend say which way it mostly pushes."""

    def build(word: Words) -> Json:
        values = [
            {"column": shortened(row["column"]), "size": row["mean_absolute"], "way": word(row["direction"])}
            | {"sign": SIGNS[row["direction"]]}
            for row in rows[:TOP]
        ]
        scale = {"domain": [word(key) for key in DIRECTIONS], "range": list(DIRECTIONS.values())}
        encoding = {
            "y": nominal("column", None),
            "x": quantitative("size", word("mean_contribution"), axis={"tickCount": 5}),
            "color": {"field": "way", "type": "nominal", "scale": scale, "title": word("high_value")},
        }
        signs = {"mark": {"type": "text", "dx": 8, "fontSize": 9}, "encoding": {"text": {"field": "sign"}}}
        layers = [{"mark": "bar"}, signs]
        return {"data": {"values": values}, "encoding": encoding, "layer": layers, "height": row_height(len(values))}

    return chart("shap_importance", build)


def beeswarm_chart(contributions: Floats, ranks: Floats, columns: Sequence[str], order: Sequence[int]) -> Json:
    """A dot a row and column: its contribution, shaded by the rank of its value (NaN: grey, it has no order).

    `contributions` and `ranks` have shape (rows, columns); `order` lists the columns to show, the first on top.
    """
    rng = np.random.default_rng(0)
    values = [
        {"column": shortened(columns[j]), "x": float(f"{contributions[i, j]:.5g}"), "rank": _rank(ranks[i, j])}
        | {"jitter": round(float(rng.uniform(-1, 1)), 3)}
        for j in list(order)[:BEESWARM_COLUMNS]
        for i in range(len(contributions))
    ]

    def build(word: Words) -> Json:
        shade = {
            "condition": {
                "test": "datum.rank >= 0",
                "field": "rank",
                "type": "quantitative",
                "scale": {"domain": [0, 1], "range": [SHADES[3], SHADES[6], SHADES[9]]},
                "legend": {
                    "title": word("column_value"),
                    "values": [0, 1],
                    "labelExpr": f"datum.value < 0.5 ? '{word('low')}' : '{word('high')}'",
                    "gradientLength": 90,
                },
            },
            "value": DATA_PALE.light,
        }
        encoding = {
            "y": nominal("column", None, axis={"grid": True, "tickBand": "extent"}),
            "yOffset": {"field": "jitter", "type": "quantitative", "scale": {"domain": [-1.6, 1.6]}},
            "x": quantitative("x", word("contribution"), axis={"tickCount": 6}),
            "color": shade,
        }
        mark = {"type": "circle", "size": 20, "opacity": 0.75, "invalid": "show"}
        height = 28 * min(len(order), BEESWARM_COLUMNS)
        return {"data": {"values": values}, "mark": mark, "encoding": encoding, "height": height}

    return chart("beeswarm", build)


def _rank(rank: float) -> float:
    """The rank as the chart reads it: -1 stands for a value without an order, since null would hide the dot."""
    return -1.0 if np.isnan(rank) else round(float(rank), 3)


def waterfall_chart(local: Json, cells: dict[str, str]) -> Json:
    """From the base value to the prediction of one row, the strongest columns one by one, the others together."""
    ordered = sorted(local["attributions"].items(), key=lambda pair: -abs(pair[1]))
    strongest, rest = ordered[:WATERFALL_COLUMNS], ordered[WATERFALL_COLUMNS:]

    def build(word: Words) -> Json:
        steps = [(_cell(name, cells, word), points) for name, points in strongest if points]
        others = [(word("others"), sum(points for _name, points in rest))] if rest else []
        values = _steps(local, [*steps, *others], word)
        domain = [word("reference"), word("up"), word("down"), word("prediction")]
        scale = {"domain": domain, "range": [REFERENCE.light, RAISES.light, LOWERS.light, RESULT.light]}
        place: Json = {
            "y": nominal("label", None, axis={"labelLimit": 300}),
            "x": quantitative("start", word("value"), scale={"zero": False, "nice": True}, axis={"tickCount": 6}),
            "x2": {"field": "end"},
            "color": {
                "field": "way",
                "type": "nominal",
                "scale": scale,
                "title": None,
                "legend": {"symbolType": "square", "orient": "bottom"},
            },
        }
        bars = {"mark": {"type": "bar", "height": {"band": 0.7}, "minBandSize": 2}, "encoding": place}
        texts: Json = {
            "mark": {"type": "text", "align": "left", "dx": 4},
            "encoding": {
                "y": place["y"],
                "x": {"field": "right", "type": "quantitative"},
                "text": {"field": "points", "format": "+.3~g"},
            },
        }
        plain = {"transform": [{"filter": "datum.kind == 'step'"}]} | texts
        ends = {"transform": [{"filter": "datum.kind != 'step'"}]} | texts
        ends = ends | {"encoding": texts["encoding"] | {"text": {"field": "points", "format": ".4~g"}}}
        return {"data": {"values": values}, "layer": [bars, plain, ends], "height": row_height(len(values)) + 20}

    return chart("waterfall", build, name=local["row"])


def _cell(name: str, cells: dict[str, str], word: Words) -> str:
    cell = cells.get(name)
    return f"{shortened(name)} = {shortened(spelled(cell)[word.locale]) if cell else word.of(MISSING_VALUE)}"


def _steps(local: Json, steps: Sequence[tuple[str, float]], word: Words) -> list[Json]:
    levels = np.cumsum([local["base_value"], *(points for _label, points in steps)])
    thin = max(float(np.ptp(levels)), 1e-9) * THIN  # the two ends are marks, not bars from zero
    values, level = [_end(word("reference"), local["base_value"], thin)], local["base_value"]
    for label, points in steps:
        way = word("up") if points >= 0 else word("down")
        ends = {"start": level, "end": level + points, "right": max(level, level + points)}
        values.append({"label": label, "way": way, "points": points, "kind": "step"} | ends)
        level += points
    return [*values, _end(word("prediction"), local["prediction"], thin)]


def _end(label: str, level: float, thin: float) -> Json:
    ends = {"start": level - thin / 2, "end": level + thin / 2, "right": level + thin}
    return {"label": label, "way": label, "points": level, "kind": "end"} | ends


def dependence_chart(found: Dependence) -> Json:
    """The mean prediction (thick) and single rows (thin) as a column takes its values."""
    grid = short_moments(found.grid) if found.kind is Kind.DATE else found.grid
    mean = [{"value": value, "mean": level} for value, level in zip(grid, found.mean, strict=True)]
    curves = [
        {"value": value, "level": float(f"{level:.5g}"), "row": row}
        for row, curve in enumerate(found.curves)
        for value, level in zip(grid, curve, strict=True)
    ]

    def build(word: Words) -> Json:
        x: Any = (
            quantitative("value", shortened(found.column), scale={"zero": False}, axis={"tickCount": 6})
            if found.kind is Kind.NUMBER
            else nominal("value", shortened(found.column), axis={"labelAngle": -35, "labelLimit": 120})
        )
        y = quantitative("level", word("mean_prediction"), scale={"zero": False})
        thin = {
            "data": {"values": curves},
            "mark": {"type": "line", "color": DATA_PALE.light, "strokeWidth": 0.8, "opacity": 0.6},
            "encoding": {"x": x, "y": y, "detail": {"field": "row", "type": "nominal"}},
        }
        mark = {
            "type": "line",
            "color": DATA.light,
            "strokeWidth": 3,
            "point": {"filled": True, "size": 40, "color": DATA.light},
        }
        thick = {"data": {"values": mean}, "mark": mark, "encoding": {"x": x, "y": y | {"field": "mean"}}}
        return {"layer": [thin, thick]}

    return chart("dependence", build, name=found.column)


def short_moments(moments: Sequence[str]) -> list[str]:
    """ISO 8601 moments cut to the day, the minute or the second, whichever still tells them apart."""
    for length in (len("2020-01-09"), len("2020-01-09T00:00"), len("2020-01-09T00:00:00")):
        short = [moment[:length].replace("T", " ") for moment in moments]
        if len(set(short)) == len(set(moments)):
            return short
    return list(moments)
