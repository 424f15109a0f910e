"""Messages, numbers, dates and sizes in the language of the reader.

`request_language` determines the language; the messages themselves are in `messages`.
"""

import re
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from babel.core import Locale
from babel.dates import format_datetime, format_timedelta
from babel.numbers import format_percent, get_decimal_symbol, get_group_symbol

from touchstone.core.attributes import BY_NAME
from touchstone.messages import text
from touchstone.messages.locales import in_language
from touchstone.messages.numbers import bound_of_tiny_share, less_than, limit_to_show
from touchstone.messages.plurals import is_singular
from touchstone.messages.proposal_notes import translate_note

_DASH: Final = "–"
_MINUS: Final = "\N{MINUS SIGN}"
_NUMBER: Final = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
# A number or a range of numbers. It must match the whole value, so that dates and codes keep their hyphens.
_NUMBER_OR_RANGE: Final = re.compile(rf"[<>≤≥ ]*{_NUMBER.pattern}(?: ?[–…] ?{_NUMBER.pattern})?")
_SUPERSCRIPT: Final = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_BYTE_UNITS: Final = {"fr": ("o", "ko", "Mo", "Go"), "en": ("B", "kB", "MB", "GB")}
_UNIT_FACTOR: Final = 1000
_MIN_SIZE_WITHOUT_DECIMAL: Final = 100
_SHORT_SECONDS: Final = 10  # shorter durations are shown with tenths
_ESTIMATE_STEP_SECONDS: Final = 5
# The number of units that a duration must contain to be given in this unit. Hours are used from 72 minutes on, and in
# estimates from 90 minutes on.
_DURATION_THRESHOLD: Final = 1.2
_ESTIMATE_THRESHOLD: Final = 1.5
_SMALLEST_GROUPED_NUMBER: Final = 10_000


class Localizer:
    """The messages and formats of one language; all requests in that language share one instance.

    Attributes:
        locale: the language, `fr` or `en`.
    """

    def __init__(self, locale: str) -> None:
        self.locale = locale
        self._babel_locale = Locale.parse(locale)

        self._group_symbol = get_group_symbol(self._babel_locale)
        decimal_symbol = get_decimal_symbol(self._babel_locale)
        self._symbols = str.maketrans({",": self._group_symbol, ".": decimal_symbol, "-": _MINUS})
        self._percent_pattern = format_percent(0, locale=self._babel_locale).replace("0", "{}")

    def text(self, key: str, **placeholders: Any) -> str:
        """Return the message with this key, with its placeholders filled in."""
        return text(key, self.locale, **placeholders)

    def counted(self, key: str, count: int, **placeholders: Any) -> str:
        """Return the singular or plural form of a message about a count.

        The singular has the key `<key>_one`, and the plural has the key itself.
        """
        counted_key = f"{key}_one" if is_singular(count, self.locale) else key
        return self.text(counted_key, count=self.number(count), **placeholders)

    def number(self, value: float | None, digits: int | None = None) -> str:
        """Format a number, such as `1 234,5` in French, or return a dash for None.

        The number has `digits` decimals. By default, integers have none and other numbers have at most three.

        Python formats the number, and its commas and points are then replaced by the symbols of the language. This is
        much faster than formatting with Babel, and a page shows hundreds of numbers.
        """
        if value is None:
            return _DASH

        # With `z`, a negative number that is rounded to zero has no minus sign.
        if digits is not None:
            python_text = f"{value:z,.{digits}f}"
        elif isinstance(value, int):
            python_text = f"{value:,}"
        else:
            python_text = f"{value:z,.3f}".rstrip("0").rstrip(".")

        return python_text.translate(self._symbols)

    def cell_number(self, value: float | None, digits: int = 3) -> str:
        """Format a number in a column of a data table with at most `digits` decimals, of which there are three or less.

        There are separators between thousands only from five digits on, so a year never has a separator.
        """
        if value is None:
            return _DASH

        rounded = round(value, digits)
        text = self.number(rounded)
        is_grouped = abs(rounded) >= _SMALLEST_GROUPED_NUMBER
        return text if is_grouped else text.replace(self._group_symbol, "")

    def limit(self, value: float, limit: float, digits: int) -> str:
        """Format the highest possible value of a number, or return an empty string if it looks like the number."""
        rounded_limit = limit_to_show(value, limit, digits)
        return "" if rounded_limit is None else self.number(rounded_limit, digits=digits)

    def place(self, place: int, tied_with: int) -> str:
        """Format a place in a ranking, with an equals sign if other datasets share it, as in `5 =`."""
        return f"{self.number(place)}\u00a0=" if tied_with else self.number(place)

    def table_value(self, value: Any) -> str:
        """Format a value of a data table, such as a cell or a class.

        A number or a range of numbers gets the symbols of the language. Any other string is returned unchanged.
        """
        value_text = str(value)
        if _NUMBER_OR_RANGE.fullmatch(value_text):
            return _NUMBER.sub(self._localize_number, value_text)
        return value_text

    def _localize_number(self, match: re.Match[str]) -> str:
        """Format a matched number with the symbols of the language. An exponent becomes a power of ten."""
        mantissa, _, exponent = match[0].partition("e")
        localized_mantissa = mantissa.translate(self._symbols)
        if not exponent:
            return localized_mantissa

        superscript = str(int(exponent)).translate(_SUPERSCRIPT)
        return f"{localized_mantissa}\u00a0×\u00a010{superscript}"

    def percent(self, share: float | None, digits: int = 0) -> str:
        """Format a share in 0-1 as a percentage, or return a dash for None.

        A share that would be rounded to zero becomes `<1%`, or `<0.1%` with one decimal, because 0 % would deny it.
        """
        if share is None:
            return _DASH

        bound = bound_of_tiny_share(share, digits)
        if bound is not None:
            return less_than(self.percent(bound, digits), self.locale)
        return self._percent_pattern.format(self.number(100 * share, digits))

    def date(self, timestamp: datetime | None) -> str:
        """Format a date and time in UTC, or return a dash for None.

        The time zone is stated, because readers would otherwise take the time for their own.
        """
        if timestamp is None:
            return _DASH
        date_and_time = format_datetime(timestamp, "medium", tzinfo=UTC, locale=self._babel_locale)
        return f"{date_and_time}\u00a0UTC"

    def duration(self, start: datetime | None, end: datetime | None) -> str:
        """Format the time between two timestamps in its largest unit, or return a dash if one is None."""
        if start is None or end is None:
            return _DASH

        elapsed = end - start
        seconds = elapsed.total_seconds()
        if seconds < _SHORT_SECONDS:
            return f"{self.number(seconds, digits=1)} s"
        return self._format_in_largest_unit(elapsed, threshold=_DURATION_THRESHOLD)

    def estimated_duration(self, seconds: float) -> str:
        """Format an estimated duration in its largest unit.

        It is rounded to a multiple of five seconds, but never to zero.
        """
        step_count = max(1, round(seconds / _ESTIMATE_STEP_SECONDS))
        duration = timedelta(seconds=step_count * _ESTIMATE_STEP_SECONDS)
        return self._format_in_largest_unit(duration, threshold=_ESTIMATE_THRESHOLD)

    def _format_in_largest_unit(self, duration: timedelta, *, threshold: float) -> str:
        """Format a duration in the largest unit that it contains at least `threshold` times."""
        return str(format_timedelta(duration, granularity="second", threshold=threshold, locale=self._babel_locale))

    def bytes(self, count: int | None) -> str:
        """Format a file size, such as `1.4 MB` or `350 kB`, or return a dash for None.

        Each unit is 1000 times the previous one, and the size is given in the largest unit that fits into it. Sizes
        below 100 have one decimal, except in bytes.
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
        """Return the string for this language from a pair of a French and an English string."""
        return in_language(texts, self.locale)

    def claim_note(self, note: str) -> str:
        """Return the note of a claim, which says by which rule its value follows from the quote."""
        return translate_note(note, self.locale)
