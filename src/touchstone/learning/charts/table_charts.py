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

MAX_COLUMNS: Final = 25
MIN_WRITTEN_ASSOCIATION: Final = 0.3  # Weaker associations are shown by their shade only.
MATRIX_CELL_SIDE: Final = 30
MIN_MATRIX_SIDE: Final = 160
MAX_MATRIX_SIDE: Final = 560


def balance_chart(name: str, bars: Sequence[tuple[str, int]]) -> Json:
    """Return a bar chart of the rows of a column by value or by range; `bars` are pairs of a label and its rows."""
    values = [{"value": shortened(label), "rows": rows} for label, rows in bars]

    def build_spec(labels: ChartLabels) -> Json:
        """Return the Vega-Lite specification of this chart, labelled in one language."""
        return {
            "data": {"values": values},
            "mark": {"type": "bar", "color": DATA.light},
            "encoding": {
                "y": nominal("value", None),
                "x": quantitative("rows", labels["rows"], axis={"format": ",d"}),
            },
            "height": row_height(len(values)),
        }

    return bilingual_chart("target_balance", build_spec, name=name)


def association_chart(names: Sequence[str], strengths: Floats) -> Json:
    """Return a heat map of the associations between columns; strong ones are also written as numbers.

    `strengths` is a square matrix whose first rows and columns belong to the named columns, in the same order.
    """
    labels_of_columns = [shortened(name) for name in names]
    cells = [
        {"a": first, "b": second, "strength": round(float(strengths[i, j]), 3)}
        for i, first in enumerate(labels_of_columns)
        for j, second in enumerate(labels_of_columns)
        if i != j
    ]
    side = min(MAX_MATRIX_SIDE, max(MIN_MATRIX_SIDE, MATRIX_CELL_SIDE * len(names)))

    def build_spec(labels: ChartLabels) -> Json:
        """Return the Vega-Lite specification of this chart, labelled in one language."""
        return {
            "data": {"values": cells},
            "encoding": {
                "x": nominal("a", None, axis={"labelAngle": -45}, sort=labels_of_columns),
                "y": nominal("b", None, sort=labels_of_columns),
            },
            "layer": [_association_shades(labels), _association_numbers()],
            "width": side,
            "height": side,
        }

    return bilingual_chart("correlations", build_spec)


def _association_shades(labels: ChartLabels) -> Json:
    """Return the layer of a heat map that shades each cell by the strength of its association."""
    shade = {
        "field": "strength",
        "type": "quantitative",
        "title": labels["association"],
        "scale": {"domain": [0, 1], "range": SHADES},
    }
    return {"mark": "rect", "encoding": {"color": shade}}


def _association_numbers() -> Json:
    """Return the layer of a heat map that writes strong associations into their cells, in a legible colour."""
    ink = {"condition": {"test": f"datum.strength > {DARK_FROM}", "value": "white"}, "value": "black"}
    return {
        "mark": {"type": "text", "fontSize": 9},
        "encoding": {"text": {"field": "strength", "format": ".1f"}, "color": ink},
        "transform": [{"filter": f"datum.strength >= {MIN_WRITTEN_ASSOCIATION}"}],
    }


def missing_chart(columns: Sequence[Json]) -> Json:
    """Return a bar chart of the percentage of missing cells of the columns that have some, the emptiest first.

    `columns` are the entries of a table's profile.
    """
    incomplete_columns = [column for column in columns if column["missing_percentage"] > 0]
    emptiest_first = sorted(incomplete_columns, key=lambda column: -column["missing_percentage"])
    values = [
        {"column": shortened(column["name"]), "share": column["missing_percentage"]}
        for column in emptiest_first[:MAX_COLUMNS]
    ]

    def build_spec(labels: ChartLabels) -> Json:
        """Return the Vega-Lite specification of this chart, labelled in one language."""
        return {
            "data": {"values": values},
            "mark": {"type": "bar", "color": DATA.light},
            "encoding": {
                "y": nominal("column", None),
                "x": quantitative("share", labels["missing_percentage"], scale={"domain": [0, 100]}),
            },
            "height": row_height(len(values)),
        }

    return bilingual_chart("missing", build_spec)
