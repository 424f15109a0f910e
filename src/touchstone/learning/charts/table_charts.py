"""Charts of a table without a model: the balance of the target, associations, missing values."""

from collections.abc import Sequence
from typing import Final

from touchstone.core.colours import DATA
from touchstone.learning.charts.chart_style import (
    DARK_FROM,
    SHADES,
    ChartLabels,
    bilingual_chart,
    nominal,
    quantitative,
    row_height,
    shortened,
)
from touchstone.learning.interfaces import Json
from touchstone.learning.target import Floats

MOST_COLUMNS: Final = 25


def balance_chart(name: str, bars: Sequence[tuple[str, int]]) -> Json:
    """Chart the rows by value or range of a column."""
    values = [{"value": shortened(value), "rows": rows} for value, rows in bars]

    def build(label: ChartLabels) -> Json:
        encoding = {"y": nominal("value", None), "x": quantitative("rows", label("rows"), axis={"format": ",d"})}
        mark = {"type": "bar", "color": DATA.light}
        return {"data": {"values": values}, "mark": mark, "encoding": encoding, "height": row_height(len(values))}

    return bilingual_chart("target_balance", build, name=name)


def association_chart(names: Sequence[str], strengths: Floats) -> Json:
    """Chart the associations as a heat map; strong ones are also written as figures."""
    short = [shortened(name) for name in names]
    cells = [
        {"a": short[i], "b": short[j], "strength": round(float(strengths[i, j]), 3)}
        for i in range(len(short))
        for j in range(len(short))
        if i != j
    ]
    side = min(560, max(160, 30 * len(short)))

    def build(label: ChartLabels) -> Json:
        place = {"x": nominal("a", None, axis={"labelAngle": -45}, sort=short), "y": nominal("b", None, sort=short)}
        scale = {"domain": [0, 1], "range": SHADES}
        shade = {"field": "strength", "type": "quantitative", "title": label("association"), "scale": scale}
        dark = {"condition": {"test": f"datum.strength > {DARK_FROM}", "value": "white"}, "value": "black"}
        text = {"text": {"field": "strength", "format": ".1f"}, "color": dark}
        figures = {"mark": {"type": "text", "fontSize": 9}, "encoding": text}
        strong = figures | {"transform": [{"filter": "datum.strength >= 0.3"}]}
        layers = [{"mark": "rect", "encoding": {"color": shade}}, strong]
        return {"data": {"values": cells}, "encoding": place, "layer": layers, "width": side, "height": side}

    return bilingual_chart("correlations", build)


def missing_chart(columns: Sequence[Json]) -> Json:
    """Chart the share of missing cells of the columns that have some, the emptiest first."""
    some = sorted((row for row in columns if row["missing_percentage"] > 0), key=lambda row: -row["missing_percentage"])
    values = [{"column": shortened(row["name"]), "share": row["missing_percentage"]} for row in some[:MOST_COLUMNS]]

    def build(label: ChartLabels) -> Json:
        x = quantitative("share", label("missing_percentage"), scale={"domain": [0, 100]})
        mark = {"type": "bar", "color": DATA.light}
        encoding = {"y": nominal("column", None), "x": x}
        return {"data": {"values": values}, "mark": mark, "encoding": encoding, "height": row_height(len(values))}

    return bilingual_chart("missing", build)
