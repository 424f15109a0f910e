"""The common look of all charts, and their labels in two languages. The colours come from `core.colours`."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from touchstone.core.colours import CLASSES, SHADES_LIGHT
from touchstone.core.text import replace_control_characters
from touchstone.learning.interfaces import Json
from touchstone.learning.localized_text import LOCALES, localize
from touchstone.messages.charts import AXIS_LABELS, CHART_TITLES
from touchstone.messages.locales import Text

SCHEMA: Final = "https://vega.github.io/schema/vega-lite/v6.json"
SHADES: Final = [fill for fill, _ink in SHADES_LIGHT]
# The share of the shades from which on black text can no longer be read on them.
DARK_FROM: Final = next(place for place, (_fill, ink) in enumerate(SHADES_LIGHT) if ink == "#ffffff") / len(SHADES)
DASHES: Final = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [10, 4], [4, 2]]  # They tell classes apart without colour.
WIDTH: Final = 440
HEIGHT: Final = 280
ROW_HEIGHT: Final = 22
MIN_ROWS: Final = 3
MAX_LABEL_LENGTH: Final = 80

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
    """The labels of axes and legends in one language."""

    locale: str

    def __call__(self, key: str) -> str:
        """Return the label with this key of `AXIS_LABELS`."""
        return self.choose(AXIS_LABELS[key])

    def choose(self, text: Text) -> str:
        """Return the version of a text that is in this language."""
        return text[LOCALES.index(self.locale)]


ChartBuilder = Callable[[ChartLabels], Json]


def bilingual_chart(key: str, build: ChartBuilder, /, **facts: Any) -> Json:
    """Return a chart in both languages: `{title: {fr, en}, spec: {fr, en}}`.

    `build` returns the part of the specification that is particular to this chart; `facts` fill in its title.
    """
    title = localize(CHART_TITLES[key], **facts)
    return {"title": title, "spec": {locale: _complete_spec(build, title[locale], locale) for locale in LOCALES}}


def _complete_spec(build: ChartBuilder, title: str, locale: str) -> Json:
    body = build(ChartLabels(locale))
    config = {**_CONFIG, "locale": {"number": _NUMBER_LOCALES[locale]}, **body.get("config", {})}
    return {
        "$schema": SCHEMA,
        "title": title,
        "description": title,
        "background": "white",
        "padding": 10,
        "width": WIDTH,
        "height": HEIGHT,
        **body,
        "config": config,
    }


def quantitative(field: str, title: str, *, axis: Json | None = None, **channel: Any) -> Json:
    """Return an encoding channel of numbers with its axis title."""
    return {"field": field, "type": "quantitative", "axis": {"title": title, **(axis or {})}, **channel}


def nominal(field: str, title: str | None, *, axis: Json | None = None, **channel: Any) -> Json:
    """Return an encoding channel of names that keep their order; the axis cuts long names."""
    return {
        "field": field,
        "type": "nominal",
        "sort": None,
        "axis": {"title": title, "labelLimit": 220, **(axis or {})},
        **channel,
    }


def shortened(text: object) -> str:
    """Return a name short enough for a chart."""
    name = replace_control_characters(str(text))
    return name if len(name) <= MAX_LABEL_LENGTH else name[: MAX_LABEL_LENGTH - 1] + "…"


def row_height(rows: int) -> int:
    """Return the height of a chart with one line per row."""
    return max(MIN_ROWS, rows) * ROW_HEIGHT
