"""Sentences from the tables of `messages`, with numbers written as each language writes them."""

import re
from typing import Any, Final

from touchstone.core.text import replace_control_characters
from touchstone.messages.locales import Text
from touchstone.messages.plurals import with_count

LOCALES: Final = ("fr", "en")
_THIN_SPACE: Final = "\u202f"
_MINUS: Final = "\u2212"
_NUMBER: Final = re.compile(r"-?\d+(\.\d+)?")
Said = dict[str, str]  # {"fr": …, "en": …}


def say(text: Text, **facts: Any) -> Said:
    """A row of a table in both languages; a fact may itself be a `Said`, a number, a text, or a list of these."""
    return {
        locale: template.format(
            **{name: with_count(written(fact, locale), fact, locale) for name, fact in facts.items()}
        )
        for locale, template in zip(LOCALES, text, strict=True)
    }


def joined(sentences: list[Said]) -> Said:
    """Several sentences as one text."""
    return {locale: " ".join(sentence[locale] for sentence in sentences) for locale in LOCALES}


def signed(number: float) -> Said:
    """A number with its sign always written, as a contribution is read."""
    return {locale: ("+" if number > 0 else "") + written(number, locale) for locale in LOCALES}


def spelled(cell: Any) -> Said:
    """A cell with the digits that it has in its table, and each language's signs where it is a number."""
    text = replace_control_characters(str(cell))
    if not _NUMBER.fullmatch(text):
        return dict.fromkeys(LOCALES, text)
    english = text.replace("-", _MINUS)
    return {"fr": english.replace(".", ","), "en": english}


def written(fact: Any, locale: str) -> str:
    """A fact as a reader of this language writes it."""
    if isinstance(fact, dict):
        return str(fact[locale])
    if isinstance(fact, list | tuple):
        return ", ".join(written(part, locale) for part in fact)
    if isinstance(fact, bool) or not isinstance(fact, int | float):
        return replace_control_characters(str(fact))
    text = f"{fact:,}" if isinstance(fact, int) else _figures(fact)
    text = text.replace("-", _MINUS, 1) if fact < 0 else text
    return text.replace(",", _THIN_SPACE).replace(".", ",") if locale == "fr" else text


def _figures(number: float) -> str:
    """Three significant figures, without an exponent where people would not write one."""
    if number == 0 or 1e-3 <= abs(number) < 1e6:
        digits = 3 if abs(number) < 1 else 2 if abs(number) < 100 else 0
        return f"{number:,.{digits}f}"
    return f"{number:.2e}"
