"""The common look of all charts, and their labels in two languages. The colours come from `core.colours`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from touchstone.core.colours import CLASSES, REFERENCE, SHADES_LIGHT
from touchstone.core.text import replace_control_characters
from touchstone.learning.localized_text import LOCALES, localize
from touchstone.learning.task_interface import Json
from touchstone.messages.charts import AXIS_LABELS, CHART_TITLES
from touchstone.messages.locales import Text

SCHEMA: Final = "https://vega.github.io/schema/vega-lite/v6.json"
SHADES: Final = [fill for fill, _ink in SHADES_LIGHT]
FIRST_DARK_SHADE: Final = next(index for index, (_fill, ink) in enumerate(SHADES_LIGHT) if ink == "#ffffff")
DARK_FROM: Final = FIRST_DARK_SHADE / len(SHADES)  # From this value of 0 to 1, black text on its shade is illegible.
DASHES: Final = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [10, 4], [4, 2]]  # They distinguish classes without colour.
WIDTH: Final = 440
HEIGHT: Final = 280
ROW_HEIGHT: Final = 22
MIN_ROWS: Final = 3
MAX_LABEL_LENGTH: Final = 80
MAX_LABEL_ENDS: Final = 16  # This many characters are left at each end of a label that is shortened in the middle.

_NUMBER_LOCALES: Final[dict[str, Json]] = {
    "fr": {"decimal": ",", "thousands": "\u202f", "grouping": [3], "currency": ["", "\u202f€"]},
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
    """The labels of axes and legends in one language, as a table: `labels["rows"]`."""

    locale: str

    def __getitem__(self, key: str) -> str:
        """Return the label with this key of `AXIS_LABELS`."""
        return self.translate(AXIS_LABELS[key])

    def translate(self, text: Text) -> str:
        """Return the version of a text that is in this language."""
        return text[LOCALES.index(self.locale)]


SpecBuilder = Callable[[ChartLabels], Json]


def bilingual_chart(key: str, build_spec: SpecBuilder, /, **facts: Any) -> Json:
    """Return a Vega-Lite chart in both languages as `{title: {fr, en}, spec: {fr, en}}`.

    `key` selects the title from `CHART_TITLES`, and `facts` fill it in. `build_spec` is called with the labels of each
    language, and returns the part of the specification that is particular to this chart.
    """
    title = localize(CHART_TITLES[key], **facts)
    specs = {locale: _complete_spec(build_spec, title[locale], locale) for locale in LOCALES}
    return {"title": title, "spec": specs}


def _complete_spec(build_spec: SpecBuilder, title: str, locale: str) -> Json:
    """Return the Vega-Lite specification of a chart in one language: the common look, and the chart's own part.

    Where both specify the same property, that of the chart is used.
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
    """Return a Vega-Lite encoding for a field of numbers; `axis` and `channel` hold further properties."""
    return {"field": field, "type": "quantitative", "axis": {"title": title, **(axis or {})}, **channel}


def nominal(field: str, title: str | None, *, axis: Json | None = None, **channel: Any) -> Json:
    """Return a Vega-Lite encoding for a field of names, which stay in the order of the data.

    `axis` and `channel` hold further properties of the axis and of the encoding.
    """
    axis_properties = {"title": title, "labelLimit": 220}
    if axis is not None:
        axis_properties.update(axis)
    return {"field": field, "type": "nominal", "sort": None, "axis": axis_properties, **channel}


def dashed_line(points: Sequence[tuple[float, float]]) -> Json:
    """Return a layer with a dashed reference line through points, on axes that other layers describe."""
    return {
        "data": {"values": [{"x": x, "y": y} for x, y in points]},
        "mark": {"type": "line", "strokeDash": [5, 4], "color": REFERENCE.light},
        "encoding": {"x": {"field": "x", "type": "quantitative"}, "y": {"field": "y", "type": "quantitative"}},
    }


def shortened(text: object) -> str:
    """Return a name that is short enough for a chart and free of control characters."""
    name = replace_control_characters(str(text))
    return name if len(name) <= MAX_LABEL_LENGTH else name[: MAX_LABEL_LENGTH - 1] + "…"


def shortened_in_middle(text: object) -> str:
    """Return a name that is free of control characters and short enough to fit beside a chart as a whole.

    The ends are kept, because names of groups that combine two columns often differ in the last words only.
    """
    name = replace_control_characters(str(text))
    if len(name) <= 2 * MAX_LABEL_ENDS + 1:
        return name
    return f"{name[:MAX_LABEL_ENDS].rstrip()}…{name[-MAX_LABEL_ENDS:].lstrip()}"


def row_height(rows: int) -> int:
    """Return the height in pixels of a chart that has one bar or dot per line."""
    return max(MIN_ROWS, rows) * ROW_HEIGHT
