"""Texts, numbers, dates and sizes as the reader's language writes them."""

import re
from datetime import datetime, timedelta
from typing import Any, Final

from babel.core import Locale
from babel.dates import format_datetime, format_timedelta
from babel.numbers import format_percent, get_decimal_symbol, get_group_symbol

from touchstone.core.attributes import BY_NAME
from touchstone.messages import text
from touchstone.messages.locales import LOCALES
from touchstone.messages.plurals import is_singular

_DASH: Final = "–"
_MINUS: Final = "\N{MINUS SIGN}"
_NUMBER: Final = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
# Numbers, alone or as the ends of a range; a date or a code keeps its hyphens.
_NUMBER_OR_RANGE: Final = re.compile(rf"[<>≤≥ ]*{_NUMBER.pattern}(?: ?[–…] ?{_NUMBER.pattern})?")
_SUPERSCRIPT: Final = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_BYTE_UNITS: Final = {"fr": ("o", "ko", "Mo", "Go"), "en": ("B", "kB", "MB", "GB")}
_SHORT_SECONDS: Final = 10  # shorter durations are shown with tenths


class Localizer:
    """Everything that one language writes in its own way."""

    def __init__(self, locale: str) -> None:
        self.locale = locale
        self._babel = Locale.parse(locale)

        group, decimal = get_group_symbol(self._babel), get_decimal_symbol(self._babel)
        self._symbols = str.maketrans({",": group, ".": decimal, "-": _MINUS})
        self._percent_pattern = format_percent(0, locale=self._babel).replace("0", "{}")

    def text(self, key: str, **facts: Any) -> str:
        """Return the sentence with this key, with its placeholders filled in."""
        return text(key, self.locale, **facts)

    def counted(self, key: str, count: int, **facts: Any) -> str:
        """Return a sentence about a count: `<key>_one` where the language takes the singular, else `<key>`."""
        chosen = f"{key}_one" if is_singular(count, self.locale) else key
        return self.text(chosen, count=self.number(count), **facts)

    def number(self, value: float | None, digits: int | None = None) -> str:
        """Return a number with `digits` decimals, by default up to three as needed; a dash for None."""
        if value is None:
            return _DASH

        # A page holds hundreds of numbers. Python formats them much faster than Babel, which only supplies the symbols.
        if digits is not None:
            plain = f"{value:z,.{digits}f}"
        elif isinstance(value, int):
            plain = f"{value:,}"
        else:
            plain = f"{value:z,.3f}".rstrip("0").rstrip(".")
        return plain.translate(self._symbols)

    def figure(self, value: Any) -> str:
        """Return a table cell, a class or a range as text; one that consists of numbers is written as they are here."""
        plain = str(value)
        if not _NUMBER_OR_RANGE.fullmatch(plain):
            return plain
        return _NUMBER.sub(self._format_match, plain)

    def _format_match(self, match: re.Match[str]) -> str:
        mantissa, _, exponent = match[0].partition("e")
        written = mantissa.translate(self._symbols)
        if not exponent:
            return written
        return f"{written}\u00a0×\u00a010{str(int(exponent)).translate(_SUPERSCRIPT)}"

    def percent(self, share: float | None, digits: int = 0) -> str:
        """Return a share in 0-1 as a percentage; a dash for None."""
        return _DASH if share is None else self._percent_pattern.format(self.number(100 * share, digits))

    def date(self, moment: datetime | None) -> str:
        """Return a day and a time; a dash for None."""
        return _DASH if moment is None else str(format_datetime(moment, "medium", locale=self._babel))

    def duration(self, start: datetime | None, end: datetime | None) -> str:
        """Return the time between two moments in its largest unit; a dash if one of them is missing."""
        if start is None or end is None:
            return _DASH

        seconds = (end - start).total_seconds()
        if seconds < _SHORT_SECONDS:
            return f"{self.number(seconds, 1)} s"
        return str(format_timedelta(end - start, granularity="second", threshold=1.2, locale=self._babel))

    def estimated_duration(self, seconds: float) -> str:
        """Return a duration in its largest unit, rounded to five seconds."""
        rounded = timedelta(seconds=max(5, 5 * round(seconds / 5)))
        return str(format_timedelta(rounded, granularity="second", threshold=1.5, locale=self._babel))

    def bytes(self, count: int | None) -> str:
        """Return a file size in the largest fitting unit, in powers of 1000; a dash for None."""
        if count is None:
            return _DASH

        units = _BYTE_UNITS[self.locale]
        size, unit = float(count), 0
        while size >= 1000 and unit < len(units) - 1:
            size /= 1000
            unit += 1
        digits = 1 if unit and size < 100 else 0
        return f"{self.number(size, digits)} {units[unit]}"

    def attribute(self, name: str) -> str:
        """Return the label of a dataset attribute."""
        attribute = BY_NAME[name]
        return self.either((attribute.label_fr, attribute.label_en))

    def either(self, texts: tuple[str, str]) -> str:
        """Return this language's text of a pair in French and English."""
        return texts[LOCALES.index(self.locale)]
