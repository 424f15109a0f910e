"""Texts, numbers, dates and sizes as the reader's language writes them.

`request_language` decides which language that is; the texts themselves are in `messages`.
"""

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
_UNIT_FACTOR: Final = 1000
_MIN_SIZE_WITHOUT_DECIMAL: Final = 100
_SHORT_SECONDS: Final = 10  # shorter durations are shown with tenths
_ESTIMATE_STEP_SECONDS: Final = 5
# How many of a unit a duration must have to be given in it: hours are used from 72 minutes on, in estimates from 90 on.
_DURATION_THRESHOLD: Final = 1.2
_ESTIMATE_THRESHOLD: Final = 1.5


class Localizer:
    """The texts and the formats of one language; one instance serves all requests in that language.

    Attributes:
        locale: The language, `fr` or `en`.
    """

    def __init__(self, locale: str) -> None:
        self.locale = locale
        self._babel_locale = Locale.parse(locale)

        group_symbol = get_group_symbol(self._babel_locale)
        decimal_symbol = get_decimal_symbol(self._babel_locale)
        self._symbols = str.maketrans({",": group_symbol, ".": decimal_symbol, "-": _MINUS})
        self._percent_pattern = format_percent(0, locale=self._babel_locale).replace("0", "{}")

    def text(self, key: str, **facts: Any) -> str:
        """Return the sentence with this key, with its placeholders filled in."""
        return text(key, self.locale, **facts)

    def counted(self, key: str, count: int, **facts: Any) -> str:
        """Return a sentence about a count in the singular or the plural, whichever the language uses for that count.

        The singular has the key `<key>_one`, the plural the key itself.
        """
        counted_key = f"{key}_one" if is_singular(count, self.locale) else key
        return self.text(counted_key, count=self.number(count), **facts)

    def number(self, value: float | None, digits: int | None = None) -> str:
        """Return a number as this language writes it, such as `1 234,5` in French, or a dash for None.

        The number has `digits` decimals. By default, integers have none and other numbers at most three.

        Python formats the number and then replaces its commas and points by the symbols of the language. That is much
        faster than Babel, and a page shows hundreds of numbers.
        """
        if value is None:
            return _DASH

        # The option `z` writes a number that is rounded to zero without a minus sign.
        if digits is not None:
            python_text = f"{value:z,.{digits}f}"
        elif isinstance(value, int):
            python_text = f"{value:,}"
        else:
            python_text = f"{value:z,.3f}".rstrip("0").rstrip(".")

        return python_text.translate(self._symbols)

    def place(self, place: int, tied_with: int) -> str:
        """Return a place in a ranking, with an equals sign if datasets with the same score share it: `5 =`."""
        return f"{self.number(place)}\u00a0=" if tied_with else self.number(place)

    def table_value(self, value: Any) -> str:
        """Return a value of a data table, such as a cell or a class, as this language writes it.

        A number or a range of numbers gets the symbols of the language. Any other text stays as it is.
        """
        text = str(value)
        if not _NUMBER_OR_RANGE.fullmatch(text):
            return text
        return _NUMBER.sub(self._localize_number, text)

    def _localize_number(self, match: re.Match[str]) -> str:
        """Replace the symbols of a matched number by those of the language. An exponent becomes a power of ten."""
        mantissa, _, exponent = match[0].partition("e")
        localized_mantissa = mantissa.translate(self._symbols)
        if not exponent:
            return localized_mantissa

        superscript = str(int(exponent)).translate(_SUPERSCRIPT)
        return f"{localized_mantissa}\u00a0×\u00a010{superscript}"

    def percent(self, share: float | None, digits: int = 0) -> str:
        """Return a share in 0-1 as a percentage, or a dash for None."""
        if share is None:
            return _DASH
        return self._percent_pattern.format(self.number(100 * share, digits))

    def date(self, moment: datetime | None) -> str:
        """Return a day and a time, or a dash for None."""
        if moment is None:
            return _DASH
        return str(format_datetime(moment, "medium", locale=self._babel_locale))

    def duration(self, start: datetime | None, end: datetime | None) -> str:
        """Return the time between two moments in its largest unit, or a dash if one of them is missing."""
        if start is None or end is None:
            return _DASH

        elapsed = end - start
        seconds = elapsed.total_seconds()
        if seconds < _SHORT_SECONDS:
            return f"{self.number(seconds, digits=1)} s"
        return self._largest_unit(elapsed, threshold=_DURATION_THRESHOLD)

    def estimated_duration(self, seconds: float) -> str:
        """Return an estimate of a duration in its largest unit, rounded to five seconds and never less than that."""
        step_count = max(1, round(seconds / _ESTIMATE_STEP_SECONDS))
        duration = timedelta(seconds=step_count * _ESTIMATE_STEP_SECONDS)
        return self._largest_unit(duration, threshold=_ESTIMATE_THRESHOLD)

    def _largest_unit(self, duration: timedelta, *, threshold: float) -> str:
        """Return a duration in its largest unit; `threshold` is how many of that unit it must at least have."""
        return str(format_timedelta(duration, granularity="second", threshold=threshold, locale=self._babel_locale))

    def bytes(self, count: int | None) -> str:
        """Return a file size such as `1.4 MB` or `350 kB`, or a dash for None.

        The unit is the largest one, in steps of 1000, in which the size is at least 1. Sizes below 100 have one
        decimal, except in bytes.
        """
        if count is None:
            return _DASH

        units = _BYTE_UNITS[self.locale]
        size = float(count)
        unit_index = 0
        while size >= _UNIT_FACTOR and unit_index < len(units) - 1:
            size /= _UNIT_FACTOR
            unit_index += 1

        has_decimal = unit_index > 0 and size < _MIN_SIZE_WITHOUT_DECIMAL
        number = self.number(size, digits=1 if has_decimal else 0)
        return f"{number} {units[unit_index]}"

    def attribute(self, name: str) -> str:
        """Return the label of a dataset attribute."""
        attribute = BY_NAME[name]
        return self.choose_text((attribute.label_fr, attribute.label_en))

    def choose_text(self, texts: tuple[str, str]) -> str:
        """Return this language's text of a pair that consists of a French and an English text."""
        return texts[LOCALES.index(self.locale)]
