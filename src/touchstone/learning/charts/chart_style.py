"""The common style of all charts, and their labels in two languages. The colours come from `core.colours`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from touchstone.core.colours import CLASSES, REFERENCE, SHADES_LIGHT
from touchstone.core.text import replace_control_characters
from touchstone.learning.localized_text import LOCALES, localize
from touchstone.learning.task_interface import Json
from touchstone.messages.charts import AXIS_LABELS, CHART_TITLES
from touchstone.messages.locales import Text, in_language

SCHEMA: Final = "https://vega.github.io/schema/vega-lite/v6.json"
SHADES: Final = [fill for fill, _ink in SHADES_LIGHT]
FIRST_DARK_SHADE: Final = next(index for index, (_fill, ink) in enumerate(SHADES_LIGHT) if ink == "#ffffff")
DARK_FROM: Final = FIRST_DARK_SHADE / len(SHADES)  # Shades of greater values (from 0 to 1) need white text.
DASHES: Final = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [10, 4], [4, 2]]  # Distinguish classes without colour.
WIDTH: Final = 440
HEIGHT: Final = 280
ROW_HEIGHT: Final = 22
MIN_ROWS: Final = 3
MAX_LABEL_LENGTH: Final = 80
MAX_LABEL_ENDS: Final = 16  # the number of characters kept at each end of a label shortened in the middle

_NUMBER_LOCALES: Final[dict[str, Json]] = {
    "fr": {
        "decimal": ",",
        "thousands": "\u202f",
        "grouping": [3],
        "currency": ["", "\u202f€"],
        "percent": "\N{NO-BREAK SPACE}%",
    },
    "en": {"decimal": ".", "thousands": ",", "grouping": [3], "currency": ["$", ""]},
}
_CONFIG: Final[Json] = {
    "font": "DejaVu Sans, Arial, sans-serif",
    "view": {"stroke": None},
    "title": {"anchor": "start", "fontSize": 14, "fontWeight": 600, "offset": 12, "subtitleColor": "#555555"},
    "axis": {
        "labelFontSize": 11,
        "titleFontSize": 11,
        "titleFontWeight": 500,
        "gridColor": "#E6E6E6",
        "domain": False,
        "labelFlush": False,
    },
    "legend": {"labelFontSize": 11, "titleFontSize": 11, "symbolType": "circle"},
    "range": {"category": [colour.light for colour in CLASSES]},
}


@dataclass(frozen=True, slots=True)
class ChartLabels:
    """The labels of axes and legends in one language, as a mapping: `labels["rows"]`."""

    locale: str

    def __getitem__(self, key: str) -> str:
        """Return the label with the given key in `AXIS_LABELS`."""
        return self.translate(AXIS_LABELS[key])

    def translate(self, text: Text) -> str:
        """Return the version of a text in this language."""
        return in_language(text, self.locale)


SpecBuilder = Callable[[ChartLabels], Json]


def bilingual_chart(key: str, build_spec: SpecBuilder, /, **facts: Any) -> Json:
    """Return a Vega-Lite chart in both languages as `{title: {fr, en}, spec: {fr, en}}`.

    `key` selects the title from `CHART_TITLES`, and `facts` are the values of its placeholders. `build_spec` is called
    with the labels of each language, and returns the specific part of the specification.
    """
    title = localize(CHART_TITLES[key], **facts)
    specs = {locale: _complete_spec(build_spec, title[locale], locale) for locale in LOCALES}
    return {"title": title, "spec": specs}


def _complete_spec(build_spec: SpecBuilder, title: str, locale: str) -> Json:
    """Return the Vega-Lite specification of a chart in one language, in the common style.

    The properties of the chart override the properties of the common style.
    """
    chart_spec = build_spec(ChartLabels(locale))
    number_locale = {"number": _NUMBER_LOCALES[locale]}
    config = {**_CONFIG, "locale": number_locale, **chart_spec.get("config", {})}
    return {
        "$schema": SCHEMA,
        "title": title,
        "description": title,
        "background": "white",
        "padding": 10,
        "width": WIDTH,
        "height": HEIGHT,
        **chart_spec,
        "config": config,
    }


def quantitative(field: str, title: str, *, axis: Json | None = None, **channel: Any) -> Json:
    """Return a Vega-Lite encoding for a numeric field. `axis` and `channel` hold further properties."""
    return {"field": field, "type": "quantitative", "axis": {"title": title, **(axis or {})}, **channel}


def nominal(field: str, title: str | None, *, axis: Json | None = None, **channel: Any) -> Json:
    """Return a Vega-Lite encoding for a field of names, in the order of the data.

    `axis` and `channel` hold further properties of the axis and of the encoding.
    """
    axis_properties = {"title": title, "labelLimit": 220}
    if axis is not None:
        axis_properties.update(axis)
    return {"field": field, "type": "nominal", "sort": None, "axis": axis_properties, **channel}


def dashed_line(points: Sequence[tuple[float, float]]) -> Json:
    """Return a layer with a dashed reference line through points. Other layers define the axes."""
    return {
        "data": {"values": [{"x": x, "y": y} for x, y in points]},
        "mark": {"type": "line", "strokeDash": [5, 4], "color": REFERENCE.light},
        "encoding": {"x": {"field": "x", "type": "quantitative"}, "y": {"field": "y", "type": "quantitative"}},
    }


def shorten(text: object) -> str:
    """Truncate a name to a length suitable for a chart, and replace its control characters."""
    name = replace_control_characters(str(text))
    return name if len(name) <= MAX_LABEL_LENGTH else name[: MAX_LABEL_LENGTH - 1] + "…"


def shorten_in_middle(text: object) -> str:
    """Shorten a name in the middle so that it fits beside a chart, and replace its control characters.

    Both ends are kept, because the names of intersections of groups often differ only in their last words.
    """
    name = replace_control_characters(str(text))
    if len(name) <= 2 * MAX_LABEL_ENDS + 1:
        return name
    return f"{name[:MAX_LABEL_ENDS].rstrip()}…{name[-MAX_LABEL_ENDS:].lstrip()}"


def row_height(rows: int) -> int:
    """Return the height in pixels of a chart with one bar or dot per line."""
    return max(MIN_ROWS, rows) * ROW_HEIGHT
