"""The two languages of the service, and which of them a request prefers."""

from typing import Final

# A sentence in French and in English, in the order of LOCALES.
Text = tuple[str, str]

LOCALES: Final = ("fr", "en")
DEFAULT_LOCALE: Final = "fr"
_MAX_LANGUAGE_RANGES: Final = 20


def preferred_locale(accept_language: str | None) -> str:
    """Return `fr` or `en`, whichever an Accept-Language header prefers (RFC 9110, section 12.5.4).

    A header that accepts neither of them, and a missing one, give the default.
    """
    best_locale = DEFAULT_LOCALE
    best_quality = 0.0

    for language_range in (accept_language or "").split(",")[:_MAX_LANGUAGE_RANGES]:
        tag, _, parameter = language_range.strip().partition(";")
        language = tag.split("-")[0].strip().lower()
        quality = _parse_quality(parameter)
        if language in LOCALES and quality > best_quality:
            best_locale = language
            best_quality = quality

    return best_locale


def _parse_quality(parameter: str) -> float:
    """Return the weight of a language range: 1 when it has none, 0 when it is not a number."""
    name, _, value = parameter.strip().partition("=")
    if name.strip() != "q":
        return 1.0
    try:
        return float(value[:8])
    except ValueError:
        return 0.0
