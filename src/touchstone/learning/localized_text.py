"""Sentences from the templates in `messages`, with numbers formatted for each language."""

import re
from collections.abc import Sequence
from typing import Any, Final

from touchstone.core.text import replace_control_characters
from touchstone.messages.locales import Text
from touchstone.messages.numbers import less_than
from touchstone.messages.plurals import with_count

LOCALES: Final = ("fr", "en")
MAX_EXTRA_DECIMALS: Final = 4
MAX_CELL_LENGTH: Final = 100
SMALLEST_SHARE: Final = 1e-5  # Sentences do not tell smaller shares apart.
_THIN_SPACE: Final = "\u202f"
_MINUS: Final = "\u2212"
_FRENCH_MARKS: Final = str.maketrans({",": _THIN_SPACE, ".": ","})  # converts an English number to French
_NUMBER: Final = re.compile(r"-?\d+(\.\d+)?")

LocalizedText = dict[str, str]  # {"fr": ..., "en": ...}


def localize(text: Text, **facts: Any) -> LocalizedText:
    """Fill in the placeholders of a message in both languages.

    Args:
        text: the French and the English template.
        facts: the values of the placeholders, each a `LocalizedText`, a number, a string, or a list of these.
    """
    return {locale: _fill_in(template, facts, locale) for locale, template in zip(LOCALES, text, strict=True)}


def _fill_in(template: str, facts: dict[str, Any], locale: str) -> str:
    """Fill in the placeholders of a template with the facts, formatted for this language."""
    values = {name: with_count(format_fact(fact, locale), fact, locale) for name, fact in facts.items()}
    return template.format(**values)


def join_texts(sentences: Sequence[LocalizedText], *, separator: str = " ") -> LocalizedText:
    """Join several sentences in each language."""
    return {locale: separator.join(sentence[locale] for sentence in sentences) for locale in LOCALES}


def with_unit(number: LocalizedText, unit: str) -> LocalizedText:
    """Append a unit to a formatted number. An empty unit adds nothing."""
    if not unit:
        return number
    english_space = "" if unit == "%" else "\u00a0"
    return {"fr": f"{number['fr']}\u00a0{unit}", "en": f"{number['en']}{english_space}{unit}"}


def format_percentage(share: float) -> LocalizedText:
    """Format a share as a percentage, or as `<0.001%` if it is smaller but not zero."""
    if 0 < share < SMALLEST_SHARE:
        return {locale: less_than(text, locale) for locale, text in format_percentage(SMALLEST_SHARE).items()}
    return with_unit(format_tenths(100 * share), "%")


def format_tenths(number: float, *, smallest: float = 1.0) -> LocalizedText:
    """Format a number with one decimal, or with more decimals if its magnitude is below `smallest`."""
    if number == 0:
        return dict.fromkeys(LOCALES, "0")
    if abs(number) < smallest:
        return {locale: format_fact(float(number), locale) for locale in LOCALES}

    english = f"{number:,.1f}".replace("-", _MINUS)
    return {"fr": english.translate(_FRENCH_MARKS), "en": english}


def format_signed(number: float) -> LocalizedText:
    """Format a number with an explicit sign, as for contributions to a prediction."""
    sign = "+" if number > 0 else ""
    return {locale: sign + format_fact(number, locale) for locale in LOCALES}


def format_distinctly(numbers: Sequence[float]) -> list[LocalizedText]:
    """Format numbers with as many decimals as are needed to make different numbers look different."""
    for extra_decimals in range(MAX_EXTRA_DECIMALS + 1):
        english = [_format_float(number, extra_decimals).replace("-", _MINUS, 1) for number in numbers]
        if len(set(english)) == len(set(numbers)):
            return [{"fr": text.translate(_FRENCH_MARKS), "en": text} for text in english]
    return [{locale: format_fact(number, locale) for locale in LOCALES} for number in numbers]


def format_cell(cell: Any) -> LocalizedText:
    """Format a cell with all its digits, and with the decimal mark and the minus sign of each language.

    Of a long text, only the beginning is kept, and its line breaks become spaces.
    """
    text = replace_control_characters(str(cell))
    if not _NUMBER.fullmatch(text):
        line = " ".join(text.split())
        if len(line) > MAX_CELL_LENGTH:
            line = line[: MAX_CELL_LENGTH - 1].rstrip() + "…"
        return dict.fromkeys(LOCALES, line)
    english = text.replace("-", _MINUS)
    return {"fr": english.replace(".", ","), "en": english}


def format_fact(fact: Any, locale: str) -> str:
    """Format a fact for a sentence in this language.

    The items of a list are separated by commas, numbers are rounded to about three significant digits, and control
    characters in strings are replaced. A `LocalizedText` is already formatted.
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
    """Format a number with the decimal mark, the thousands separator and the minus sign of a language."""
    english = f"{number:,}" if isinstance(number, int) else _format_float(number)
    if number < 0:
        english = english.replace("-", _MINUS, 1)
    return english.translate(_FRENCH_MARKS) if locale == "fr" else english


def _format_float(number: float, extra_decimals: int = 0) -> str:
    """Format about three significant digits, with an exponent only for very small or very large numbers."""
    if number != 0 and not 1e-3 <= abs(number) < 1e6:
        return f"{number:.{2 + extra_decimals}e}"
    if abs(number) < 1:
        return f"{number:,.{3 + extra_decimals}f}"
    if abs(number) < 100:
        return f"{number:,.{2 + extra_decimals}f}"
    return f"{number:,.{extra_decimals}f}"
