"""Singular and plural inside sentences: `{rows} {rows:ligne|lignes}` takes the form that agrees with the number."""

from typing import Final, Self

_FORMS_BAR: Final = "|"
_MANY: Final = 2


def is_singular(count: float, locale: str) -> bool:
    """Return whether a count takes the singular: below two in French, exactly one in English."""
    return abs(count) < 2 if locale == "fr" else count == 1


class Counted(str):
    """A fact of a sentence, written for its reader, with the count that the words around it agree with."""

    __slots__ = ("_count", "_locale")
    _count: float
    _locale: str

    def __new__(cls, written: str, count: float, locale: str) -> Self:
        """Return the written fact with its count."""
        fact = super().__new__(cls, written)
        fact._count, fact._locale = count, locale
        return fact

    def __format__(self, spec: str) -> str:
        """Return the form of `singular|plural` that agrees with the count; without a bar, the fact itself."""
        if _FORMS_BAR not in spec:
            return super().__format__(spec)

        singular, plural = spec.split(_FORMS_BAR)
        return singular if is_singular(self._count, self._locale) else plural


def agreeing(fact: object, written: str, locale: str) -> Counted:
    """Return the written fact with its count: of a number itself, of a list its length, of anything else many."""
    if isinstance(fact, int | float) and not isinstance(fact, bool):
        return Counted(written, fact, locale)
    return Counted(written, len(fact) if isinstance(fact, list | tuple) else _MANY, locale)
