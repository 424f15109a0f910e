"""Charts of a table without a model: the balance of the target, associations, missing values."""

from collections.abc import Sequence
from itertools import permutations
from operator import itemgetter
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
    shorten,
)
from touchstone.learning.target import Floats
from touchstone.learning.task_interface import Json

MAX_COLUMNS: Final = 25
MIN_LABELLED_ASSOCIATION: Final = 0.3  # Weaker associations are only shown by their shade.
MATRIX_CELL_SIDE: Final = 30
MIN_MATRIX_SIDE: Final = 160
MAX_MATRIX_SIDE: Final = 560


def balance_chart(name: str, bars: Sequence[tuple[str, int]]) -> Json:
    """Return a bar chart of the number of rows by value or range. `bars` holds pairs of label and count."""
    values = [{"value": shorten(label), "rows": rows} for label, rows in bars]
    return bilingual_chart("target_balance", lambda labels: _balance_spec(values, labels), name=name)


def _balance_spec(values: Sequence[Json], labels: ChartLabels) -> Json:
    """Return the Vega-Lite specification of a bar chart with one bar per `{value, rows}`."""
    return {
        "data": {"values": values},
        "mark": {"type": "bar", "color": DATA.light},
        "encoding": {
            "y": nominal("value", None),
            "x": quantitative("rows", labels["rows"], axis={"format": ",d"}),
        },
        "height": row_height(len(values)),
    }


def association_chart(names: Sequence[str], strengths: Floats) -> Json:
    """Return a heat map of the associations between columns, with numbers in the cells of strong ones.

    `strengths` is a square matrix. Its first rows and columns correspond to the named columns, in the same order.
    """
    short_names = [shorten(name) for name in names]
    cells = [
        {"a": short_names[first], "b": short_names[second], "strength": round(float(strengths[first, second]), 3)}
        for first, second in permutations(range(len(short_names)), 2)
    ]
    return bilingual_chart("correlations", lambda labels: _association_spec(cells, short_names, labels))


def _association_spec(cells: Sequence[Json], names: Sequence[str], labels: ChartLabels) -> Json:
    """Return the Vega-Lite specification of a square heat map, with the names along both axes.

    `cells` holds the strength of the association for every pair of names, as `{a, b, strength}`.
    """
    preferred_side = MATRIX_CELL_SIDE * len(names)
    side = min(MAX_MATRIX_SIDE, max(MIN_MATRIX_SIDE, preferred_side))
    return {
        "data": {"values": cells},
        "encoding": {
            "x": nominal("a", None, axis={"labelAngle": -45}, sort=names),
            "y": nominal("b", None, sort=names),
        },
        "layer": [_association_shades(labels), _association_numbers()],
        "width": side,
        "height": side,
    }


def _association_shades(labels: ChartLabels) -> Json:
    """Return the layer of a heat map that shades each cell by the strength of the association."""
    shade = {
        "field": "strength",
        "type": "quantitative",
        "title": labels["association"],
        "scale": {"domain": [0, 1], "range": SHADES},
    }
    return {"mark": "rect", "encoding": {"color": shade}}


def _association_numbers() -> Json:
    """Return the layer of a heat map with the numbers of strong associations, in a legible colour."""
    ink = {"condition": {"test": f"datum.strength > {DARK_FROM}", "value": "white"}, "value": "black"}
    return {
        "mark": {"type": "text", "fontSize": 9},
        "encoding": {"text": {"field": "strength", "format": ".1f"}, "color": ink},
        "transform": [{"filter": f"datum.strength >= {MIN_LABELLED_ASSOCIATION}"}],
    }


def missing_chart(columns: Sequence[Json]) -> Json:
    """Return a bar chart of the percentage of missing cells per column, the emptiest column first.

    Columns without missing cells are left out. `columns` holds the entries of the table profile.
    """
    incomplete_columns = [column for column in columns if column["missing_percentage"] > 0]
    emptiest_first = sorted(incomplete_columns, key=itemgetter("missing_percentage"), reverse=True)
    bars = [
        {"column": shorten(column["name"]), "share": column["missing_percentage"]}
        for column in emptiest_first[:MAX_COLUMNS]
    ]
    return bilingual_chart("missing", lambda labels: _missing_spec(bars, labels))


def _missing_spec(values: Sequence[Json], labels: ChartLabels) -> Json:
    """Return the Vega-Lite specification of a bar chart with one bar per `{column, share}`, in percent."""
    return {
        "data": {"values": values},
        "mark": {"type": "bar", "color": DATA.light},
        "encoding": {
            "y": nominal("column", None),
            "x": quantitative("share", labels["missing_percentage"], scale={"domain": [0, 100]}),
        },
        "height": row_height(len(values)),
    }
