"""Templates filled for one reader: texts from the catalog, numbers and dates in their language, local addresses."""

import hashlib
import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

from babel.core import Locale
from babel.dates import format_datetime, format_timedelta
from babel.numbers import format_percent, get_decimal_symbol, get_group_symbol
from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from touchstone.core.attributes import BY_NAME
from touchstone.core.text import replace_control_characters
from touchstone.messages import text
from touchstone.messages.locales import LOCALES
from touchstone.messages.plurals import is_singular
from touchstone.web import chart_script

HERE: Final = Path(__file__).parent
STATIC: Final = HERE / "static"
_MINUS: Final = "\N{MINUS SIGN}"
_FIGURES: Final = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
# Numbers, alone or as the ends of a range; a date or a code keeps its hyphens.
_ONLY_FIGURES: Final = re.compile(rf"[<>≤≥ ]*{_FIGURES.pattern}(?: ?[–…] ?{_FIGURES.pattern})?")
_RAISED: Final = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
# A field of a form keeps each character, so that saving a record changes nothing that nobody has touched.
_SENT_BACK: Final = re.compile(r'(\svalue="[^"]*"|<textarea\b[^>]*>[^<]*</textarea>)')
_SHORT: Final = 10  # seconds below which their tenths are shown


@cache
def digest(name: str) -> str:
    """A short digest of a static file: its address changes when it does, so that browsers may keep it for ever."""
    return hashlib.sha256((STATIC / name).read_bytes()).hexdigest()[:12]


def static(name: str) -> str:
    """The address of a static file."""
    return f"/app/static/{name}?v={digest(name)}"


def address(path: str, **query: Any) -> str:
    """A local address; None is left out of its query, lists are repeated."""
    given = {name: value for name, value in query.items() if value is not None}
    return f"{path}?{urlencode(given, doseq=True)}" if given else path


def extended(query: str, **more: Any) -> str:
    """Return a query (`?…` or empty) with further parameters at its end."""
    return f"{query}&{urlencode(more)}" if query else f"?{urlencode(more)}"


class Speech:
    """How one language says texts, numbers and dates."""

    def __init__(self, locale: str) -> None:
        self.locale = locale
        self._babel = Locale.parse(locale)
        group, decimal = get_group_symbol(self._babel), get_decimal_symbol(self._babel)
        self._signs = str.maketrans({",": group, ".": decimal, "-": _MINUS})
        self._percent = format_percent(0, locale=self._babel).replace("0", "{}")

    def text(self, key: str, **facts: Any) -> str:
        """A sentence of the catalog."""
        return text(key, self.locale, **facts)

    def counted(self, key: str, count: int, **facts: Any) -> str:
        """A sentence that counts something: `<key>_one` for zero (in French) and one, else `<key>`."""
        chosen = f"{key}_one" if is_singular(count, self.locale) else key
        return self.text(chosen, count=self.number(count), **facts)

    def number(self, value: float | None, digits: int | None = None) -> str:
        """A number with this many digits, by default as many as it has up to three; a dash for None."""
        if value is None:
            return "–"
        # Hundreds of numbers stand on a page: Python writes them, Babel only tells the language's signs.
        if digits is not None:
            plain = f"{value:z,.{digits}f}"
        else:
            plain = f"{value:,}" if isinstance(value, int) else f"{value:z,.3f}".rstrip("0").rstrip(".")
        return plain.translate(self._signs)

    def figure(self, found: Any) -> str:
        """A cell, a class or the ends of a group: with this language's signs where it is made of numbers alone."""
        text = str(found)
        return _FIGURES.sub(self._figure, text) if _ONLY_FIGURES.fullmatch(text) else text

    def _figure(self, found: re.Match[str]) -> str:
        digits, _, power = found[0].partition("e")
        times = "\u00a0×\u00a010" + str(int(power)).translate(_RAISED) if power else ""
        return digits.translate(self._signs) + times

    def percent(self, share: float | None, digits: int = 0) -> str:
        """A share of one as a percentage; a dash for None."""
        return "–" if share is None else self._percent.format(self.number(100 * share, digits))

    def date(self, moment: datetime | None) -> str:
        """A day and a time; a dash for None."""
        return "–" if moment is None else str(format_datetime(moment, "medium", locale=self._babel))

    def duration(self, start: datetime | None, end: datetime | None) -> str:
        """The time between two moments, in its largest unit, with tenths of short ones; a dash when one is missing."""
        if start is None or end is None:
            return "–"
        seconds = (end - start).total_seconds()
        if seconds < _SHORT:
            return f"{self.number(seconds, 1)} s"
        return str(format_timedelta(end - start, granularity="second", threshold=1.2, locale=self._babel))

    def span(self, seconds: float) -> str:
        """Return a duration in its largest unit, as people estimate it."""
        rounded = timedelta(seconds=max(5, 5 * round(seconds / 5)))
        return str(format_timedelta(rounded, granularity="second", threshold=1.5, locale=self._babel))

    def bytes(self, count: int | None) -> str:
        """A size in kB or MB (powers of a thousand)."""
        if count is None:
            return "–"
        units = ("o", "ko", "Mo", "Go") if self.locale == "fr" else ("B", "kB", "MB", "GB")
        size, unit = float(count), 0
        while size >= 1000 and unit < len(units) - 1:
            size, unit = size / 1000, unit + 1
        return f"{self.number(size, 1 if unit and size < 100 else 0)} {units[unit]}"

    def attribute(self, name: str) -> str:
        """The label of a dataset attribute."""
        row = BY_NAME[name]
        return self.either((row.label_fr, row.label_en))

    def either(self, both: tuple[str, str]) -> str:
        """The text of a pair (French, English)."""
        return both[LOCALES.index(self.locale)]


class Pages:
    """The templates, compiled once."""

    def __init__(self) -> None:
        self._environment = Environment(
            loader=FileSystemLoader(HERE / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
        self._environment.globals.update(static=static, address=address, extended=extended, vega=chart_script.ADDRESS)
        self._speech = {locale: Speech(locale) for locale in LOCALES}
        self._languages: Mapping[str, Environment] = {locale: self._overlay(locale) for locale in LOCALES}

    def _overlay(self, locale: str) -> Environment:
        speech = self._speech[locale]
        environment = self._environment.overlay()
        environment.globals = {
            **self._environment.globals,
            "locale": locale,
            "t": speech.text,
            "counted": speech.counted,
            "attribute": speech.attribute,
            "either": speech.either,
        }
        environment.filters = {
            **self._environment.filters,
            "number": speech.number,
            "figure": speech.figure,
            "percent": speech.percent,
            "date": speech.date,
            "bytes": speech.bytes,
            "duration": speech.duration,
        }
        return environment

    def speech(self, locale: str) -> Speech:
        """How `locale` says things."""
        return self._speech[locale]

    def render(self, name: str, locale: str, **context: Any) -> str:
        """A template filled with `context`."""
        template: Template = self._languages[locale].get_template(name)
        return _harmless(template.render(**context))


def _harmless(page: str) -> str:
    """Return the page with characters that would turn a line around made visible, but for what a form sends back."""
    if replace_control_characters(page) == page:
        return page
    parts = _SENT_BACK.split(page)
    return "".join(part if place % 2 else replace_control_characters(part) for place, part in enumerate(parts))
