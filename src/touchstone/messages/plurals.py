"""Singular and plural inside sentences: `{rows} {rows:ligne|lignes}` takes the form that agrees with the number."""

from typing import Final, Self

_FORM_SEPARATOR: Final = "|"
# The count of a fact that is neither a number nor a list: any number that takes the plural.
_PLURAL_COUNT: Final = 2


def is_singular(count: float, locale: str) -> bool:
    """Return whether a count takes the singular: below two in French, exactly one in English."""
    if locale == "fr":
        return abs(count) < 2
    return count == 1


class CountedText(str):
    """A formatted fact of a sentence, with the count that the words around it agree with."""

    __slots__ = ("_count", "_locale")
    _count: float
    _locale: str

    def __new__(cls, formatted: str, count: float, locale: str) -> Self:
        """Return the formatted fact with its count."""
        fact = super().__new__(cls, formatted)
        fact._count = count
        fact._locale = locale
        return fact

    def __format__(self, spec: str) -> str:
        """Return the form of `singular|plural` that agrees with the count; without a bar, the fact itself."""
        if _FORM_SEPARATOR not in spec:
            return super().__format__(spec)

        singular, plural = spec.split(_FORM_SEPARATOR)
        return singular if is_singular(self._count, self._locale) else plural


def with_count(formatted: str, fact: object, locale: str) -> CountedText:
    """Return a formatted fact with its count: a number itself, the length of a list, plural for anything else."""
    if isinstance(fact, int | float) and not isinstance(fact, bool):
        return CountedText(formatted, fact, locale)
    if isinstance(fact, list | tuple):
        return CountedText(formatted, len(fact), locale)
    return CountedText(formatted, _PLURAL_COUNT, locale)
