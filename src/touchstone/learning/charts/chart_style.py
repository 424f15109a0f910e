"""What every chart shares: its look, and its words in two languages. Its colours are those of `core.colours`."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from touchstone.core.colours import CLASSES, SHADES_LIGHT
from touchstone.core.text import replace_control_characters
from touchstone.learning.interfaces import Json
from touchstone.learning.number_format import LOCALES, say
from touchstone.messages.charts import AXIS_LABELS, CHART_TITLES
from touchstone.messages.locales import Text

SCHEMA: Final = "https://vega.github.io/schema/vega-lite/v6.json"
SHADES: Final = [fill for fill, _ink in SHADES_LIGHT]
# The share of the shades from which black figures can no longer be read on them.
DARK_FROM: Final = next(place for place, (_fill, ink) in enumerate(SHADES_LIGHT) if ink == "#ffffff") / len(SHADES)
DASHES: Final = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [10, 4], [4, 2]]  # of classes, beside their colours
WIDTH: Final = 440
HEIGHT: Final = 280
ROW_HEIGHT: Final = 22
LONGEST_LABEL: Final = 80  # longer names are cut; what does not fit an axis is cut by its label limit

_NUMBERS: Final[dict[str, Json]] = {
    "fr": {"decimal": ",", "thousands": "\u202f", "grouping": [3], "currency": ["", "\u202f€"]},
    "en": {"decimal": ".", "thousands": ",", "grouping": [3], "currency": ["$", ""]},
}
_STYLE: Final[Json] = {
    "font": "DejaVu Sans, Arial, sans-serif",
    "view": {"stroke": None},
    "title": {"anchor": "start", "fontSize": 14, "fontWeight": 600, "offset": 12, "subtitleColor": "#555555"},
    "axis": {"labelFontSize": 11, "titleFontSize": 11, "titleFontWeight": 500, "gridColor": "#E6E6E6", "domain": False}
    | {"labelFlush": False},
    "legend": {"labelFontSize": 11, "titleFontSize": 11, "symbolType": "circle"},
    "range": {"category": [colour.light for colour in CLASSES]},
}


@dataclass(frozen=True, slots=True)
class Words:
    """The words of one language: called with a key of `AXIS_LABELS`."""

    locale: str

    def __call__(self, key: str) -> str:
        """The word of an axis or a legend."""
        return self.of(AXIS_LABELS[key])

    def of(self, text: Text) -> str:
        """The side of a row of a table that is in this language."""
        return text[LOCALES.index(self.locale)]


Build = Callable[[Words], Json]


def chart(key: str, build: Build, /, **facts: Any) -> Json:
    """A chart in both languages: `{title {fr, en}, spec {fr, en}}`; `build` makes the body with the given words."""
    title = say(CHART_TITLES[key], **facts)
    return {"title": title, "spec": {locale: _framed(build, title[locale], locale) for locale in LOCALES}}


def _framed(build: Build, title: str, locale: str) -> Json:
    body = build(Words(locale))
    config = _STYLE | {"locale": {"number": _NUMBERS[locale]}} | body.pop("config", {})
    head = {"$schema": SCHEMA, "title": title, "description": title, "background": "white", "padding": 10}
    return head | {"width": WIDTH, "height": HEIGHT} | body | {"config": config}


def quantitative(field: str, title: str, **more: Any) -> Json:
    """A channel of numbers with its axis title."""
    axis = {"title": title} | more.pop("axis", {})
    return {"field": field, "type": "quantitative", "axis": axis} | more


def nominal(field: str, title: str | None, **more: Any) -> Json:
    """A channel of names in the order given, long names cut."""
    axis = {"title": title, "labelLimit": 220} | more.pop("axis", {})
    return {"field": field, "type": "nominal", "sort": None, "axis": axis} | more


def shortened(text: object) -> str:
    """A name short enough for a chart."""
    words = replace_control_characters(str(text))
    return words if len(words) <= LONGEST_LABEL else words[: LONGEST_LABEL - 1] + "…"


def row_height(rows: int) -> int:
    """The height of a chart with one line a row."""
    return max(3, rows) * ROW_HEIGHT
