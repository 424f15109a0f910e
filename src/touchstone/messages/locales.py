"""The two languages of the service."""

from typing import Final

# A text in French and in English, in the order of LOCALES.
Text = tuple[str, str]

LOCALES: Final = ("fr", "en")
DEFAULT_LOCALE: Final = "fr"


def in_language(text: Text, locale: str) -> str:
    """Return the text in the given language."""
    return text[LOCALES.index(locale)]
