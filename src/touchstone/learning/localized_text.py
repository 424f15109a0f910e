"""Sentences from the tables of `messages`, with numbers written as each language writes them."""

import re
from collections.abc import Sequence
from typing import Any, Final

from touchstone.core.text import replace_control_characters
from touchstone.messages.locales import Text
from touchstone.messages.plurals import with_count

LOCALES: Final = ("fr", "en")
MAX_EXTRA_DECIMALS: Final = 4
_THIN_SPACE: Final = "\u202f"
_MINUS: Final = "\u2212"
_FRENCH_MARKS: Final = str.maketrans({",": _THIN_SPACE, ".": ","})  # From English numbers.
_NUMBER: Final = re.compile(r"-?\d+(\.\d+)?")

LocalizedText = dict[str, str]  # {"fr": ..., "en": ...}


def localize(text: Text, **facts: Any) -> LocalizedText:
    """Return a text in both languages, with its placeholders filled in.

    A fact may be a `LocalizedText`, a number, a text, or a list of these.
    """
    return {locale: _fill_in(template, facts, locale) for locale, template in zip(LOCALES, text, strict=True)}


def _fill_in(template: str, facts: dict[str, Any], locale: str) -> str:
    """Replace the placeholders of a template by facts, which are written as readers of this language expect."""
    values = {name: with_count(format_fact(fact, locale), fact, locale) for name, fact in facts.items()}
    return template.format(**values)


def join_texts(sentences: Sequence[LocalizedText], *, separator: str = " ") -> LocalizedText:
    """Return several sentences as one text."""
    return {locale: separator.join(sentence[locale] for sentence in sentences) for locale in LOCALES}


def with_unit(number: LocalizedText, unit: str) -> LocalizedText:
    """Write a number with its unit, which may be empty."""
    if not unit:
        return number
    english_space = "" if unit == "%" else "\u00a0"
    return {"fr": f"{number['fr']}\u00a0{unit}", "en": f"{number['en']}{english_space}{unit}"}


def format_percentage(share: float) -> LocalizedText:
    """Write a share in percent, as probabilities are read."""
    return with_unit(format_tenths(100 * share), "%")


def format_tenths(number: float, *, smallest: float = 1.0) -> LocalizedText:
    """Write a number with one decimal, or more exactly if it is nearer to zero than `smallest`."""
    if number == 0:
        return dict.fromkeys(LOCALES, "0")
    if abs(number) < smallest:
        return {locale: format_fact(float(number), locale) for locale in LOCALES}

    english = f"{number:,.1f}".replace("-", _MINUS)
    return {"fr": english.translate(_FRENCH_MARKS), "en": english}


def format_signed(number: float) -> LocalizedText:
    """Write a number with its sign, as contributions are read."""
    sign = "+" if number > 0 else ""
    return {locale: sign + format_fact(number, locale) for locale in LOCALES}


def format_apart(numbers: Sequence[float]) -> list[LocalizedText]:
    """Write numbers so that different ones can be told apart, with more decimals than usual if that takes them."""
    for extra_decimals in range(MAX_EXTRA_DECIMALS + 1):
        english = [_format_float(number, extra_decimals).replace("-", _MINUS, 1) for number in numbers]
        if len(set(english)) == len(set(numbers)):
            return [{"fr": text.translate(_FRENCH_MARKS), "en": text} for text in english]
    return [{locale: format_fact(number, locale) for locale in LOCALES} for number in numbers]


def format_cell(cell: Any) -> LocalizedText:
    """Write a cell with the digits that it has in its table, and each language's decimal and minus signs."""
    text = replace_control_characters(str(cell))
    if not _NUMBER.fullmatch(text):
        return dict.fromkeys(LOCALES, text)
    english = text.replace("-", _MINUS)
    return {"fr": english.replace(".", ","), "en": english}


def format_fact(fact: Any, locale: str) -> str:
    """Write a fact as readers of this language expect it, so that it can be quoted in a sentence.

    The items of a list are separated by commas, numbers are rounded to about three significant digits, and control
    characters in texts are replaced. A `LocalizedText` is already written in both languages.
    """
    if isinstance(fact, dict):
        return str(fact[locale])
    if isinstance(fact, list | tuple):
        return ", ".join(format_fact(item, locale) for item in fact)

    is_number = isinstance(fact, int | float) and not isinstance(fact, bool)
    if is_number:
        return _format_number(fact, locale)
    return replace_control_characters(str(fact))


def _format_number(number: float, locale: str) -> str:
    """Write a number with the decimal mark, the thousands mark and the minus sign of a language."""
    english = f"{number:,}" if isinstance(number, int) else _format_float(number)
    if number < 0:
        english = english.replace("-", _MINUS, 1)
    return english.translate(_FRENCH_MARKS) if locale == "fr" else english


def _format_float(number: float, extra_decimals: int = 0) -> str:
    """Write about three significant figures, with an exponent only for very small and very large numbers."""
    if number != 0 and not 1e-3 <= abs(number) < 1e6:
        return f"{number:.{2 + extra_decimals}e}"
    if abs(number) < 1:
        return f"{number:,.{3 + extra_decimals}f}"
    if abs(number) < 100:
        return f"{number:,.{2 + extra_decimals}f}"
    return f"{number:,.{extra_decimals}f}"
