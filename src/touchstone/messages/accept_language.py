"""The language that a request prefers, from its `Accept-Language` header."""

from typing import Final

from touchstone.messages.locales import DEFAULT_LOCALE, LOCALES

_MAX_LANGUAGE_RANGES: Final = 20  # the rest of a longer header is ignored
_MAX_WEIGHT_LENGTH: Final = 8  # in characters


def preferred_locale(accept_language: str | None) -> str:
    """Return the locale that the Accept-Language header prefers (RFC 9110, section 12.5.4).

    The header lists languages with optional weights, as in `en-GB, fr;q=0.8`. Ties go to the language listed first. If
    the header is missing, or accepts neither French nor English, the default is returned.
    """
    if accept_language is None:
        return DEFAULT_LOCALE

    language_ranges = accept_language.split(",")[:_MAX_LANGUAGE_RANGES]
    best_locale = DEFAULT_LOCALE
    best_weight = 0.0

    for language_range in language_ranges:
        language, weight = _parse_language_range(language_range)
        if language in LOCALES and weight > best_weight:
            best_locale = language
            best_weight = weight
    return best_locale


def _parse_language_range(language_range: str) -> tuple[str, float]:
    """Return the language and the weight of one item in the header, such as `fr-CA;q=0.8`."""
    tag, _, parameter = language_range.strip().partition(";")
    language = tag.split("-")[0].strip().lower()
    return language, _parse_weight(parameter)


def _parse_weight(parameter: str) -> float:
    """Return the weight in a parameter such as `q=0.8`, by default 1, and 0 if it is not a number."""
    name, _, value = parameter.strip().partition("=")
    if name.strip().lower() != "q":
        return 1.0
    try:
        return float(value[:_MAX_WEIGHT_LENGTH])
    except ValueError:
        return 0.0
