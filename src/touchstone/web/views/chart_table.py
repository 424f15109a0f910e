"""The values of a chart as a table, for readers who do not see the drawing.

Only charts whose values no other part of the page states have a table. Its columns are the fields that the
specification (Vega-Lite) draws as a colour, a position or a text.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from touchstone.web.localizer import Localizer

JsonObject = Mapping[str, Any]

# The beginnings of the names of these charts.
CHARTS_WITH_TABLES: Final = ("calibration", "confusion", "dependence", "learning_curve")
# The table of a longer chart would take too long to read or to listen to.
MAX_ROWS: Final = 60
_CHANNELS: Final = ("color", "x", "y", "text")


@dataclass(frozen=True, slots=True)
class ChartColumn:
    """A column of the table of a chart.

    Attributes:
        field: the name of the field in the data of the chart.
        title: the title of the column; empty if the chart does not name it.
        is_number: whether the column contains numbers.
    """

    field: str
    title: str
    is_number: bool


@dataclass(frozen=True, slots=True)
class ChartTable:
    """The values of a chart.

    Attributes:
        columns: the columns.
        rows: the formatted values of each row, one for each column.
    """

    columns: tuple[ChartColumn, ...]
    rows: tuple[tuple[str, ...], ...]


def build_chart_table(name: str, specification: JsonObject, localizer: Localizer) -> ChartTable | None:
    """Return the values of a chart, or None if the chart has too many or they are stated elsewhere on the page.

    Args:
        name: the name of the chart.
        specification: the specification in the language of the reader.
        localizer: formats the numbers.
    """
    if not name.startswith(CHARTS_WITH_TABLES):
        return None

    records, encoding = _main_series(specification)
    columns = _columns(encoding, localizer)
    if not columns or not records or len(records) > MAX_ROWS:
        return None

    rows = tuple(tuple(_format(record.get(column.field), localizer) for column in columns) for record in records)
    return ChartTable(tuple(columns), rows)


def _main_series(specification: JsonObject) -> tuple[Sequence[JsonObject], JsonObject]:
    """Return the records that a chart shows, and the encoding that assigns their fields to channels such as `x`.

    All layers of a chart show the same records, or each layer has its own. In the second case, the records of the last
    layer are the main ones, and others, such as a diagonal, lie below them.
    """
    layers: Sequence[JsonObject] = specification.get("layer") or ()
    if "data" not in specification:
        main_layer = layers[-1] if layers else {}
        return (main_layer.get("data") or {}).get("values") or (), main_layer.get("encoding") or {}

    encoding: dict[str, JsonObject] = {}
    for chart_or_layer in (specification, *layers):
        for channel, definition in (chart_or_layer.get("encoding") or {}).items():
            # A channel may also have a constant value instead of a field.
            if "field" in definition:
                encoding.setdefault(channel, definition)
    return specification["data"].get("values") or (), encoding


def _columns(encoding: JsonObject, localizer: Localizer) -> list[ChartColumn]:
    """Return the columns of the table: first those with names of classes or curves, then those with numbers."""
    columns: list[ChartColumn] = []
    for channel in _CHANNELS:
        definition = encoding.get(channel) or {}
        if "field" not in definition:
            continue

        title = (definition.get("axis") or {}).get("title") or definition.get("title")
        if channel == "text" and not title:
            # A confusion matrix shows numbers of rows in its cells, without a title.
            title = localizer.text("chart_rows")
        is_number = definition.get("type") != "nominal"
        columns.append(ChartColumn(definition["field"], title or "", is_number))
    return sorted(columns, key=lambda column: column.is_number)


def _format(value: Any, localizer: Localizer) -> str:
    """Return a value as a string in the language of the reader."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return localizer.number(value) if is_number or value is None else str(value)
