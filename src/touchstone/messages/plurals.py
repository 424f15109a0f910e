"""Singular and plural in sentences: `{rows} {rows:row|rows}` becomes "1 row" or "2 rows"."""

from typing import Final, Self

_FORM_SEPARATOR: Final = "|"
# The count of a value that is neither a number nor a list. It takes the plural.
_PLURAL_COUNT: Final = 2


def is_singular(count: float, locale: str) -> bool:
    """Return whether a count takes the singular: below two in French, exactly one in English."""
    if locale == "fr":
        return abs(count) < 2
    return count == 1


class CountedText(str):
    """A formatted value in a sentence, with the count that determines singular or plural."""

    __slots__ = ("_count", "_locale")
    _count: float
    _locale: str

    def __new__(cls, formatted: str, count: float, locale: str) -> Self:
        """Create a string from the formatted value, and store its count."""
        counted_text = super().__new__(cls, formatted)
        counted_text._count = count
        counted_text._locale = locale
        return counted_text

    def __format__(self, spec: str) -> str:
        """Return the singular or plural in a spec with a bar, or else format the string itself."""
        if _FORM_SEPARATOR not in spec:
            return super().__format__(spec)

        singular, plural = spec.split(_FORM_SEPARATOR)
        return singular if is_singular(self._count, self._locale) else plural


def with_count(formatted: str, value: object, locale: str) -> CountedText:
    """Return a formatted value with its count, which is the number itself or the length of a list.

    Any other value takes the plural.
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        return CountedText(formatted, value, locale)
    if isinstance(value, list | tuple):
        return CountedText(formatted, len(value), locale)
    return CountedText(formatted, _PLURAL_COUNT, locale)
