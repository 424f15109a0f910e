"""The two languages of the service."""

from typing import Final

# A text in French and in English, in the order of LOCALES.
Text = tuple[str, str]

LOCALES: Final = ("fr", "en")
DEFAULT_LOCALE: Final = "fr"
