"""Errors for unknown names, with suggestions of similar names."""

import difflib
import re
from collections.abc import Iterable
from typing import Any, Final

from touchstone.core.errors import FieldError, UnknownName

MAX_SHOWN_CHARACTERS: Final = 80
MAX_SUGGESTIONS: Final = 3
_WORD: Final = re.compile(r"[^\W_]+")


def unknown_name_error(name: str, known_names: Iterable[str], *location: str | int) -> UnknownName:
    """Return the error for an unknown parameter, field or key.

    Args:
        name: the unknown name.
        known_names: all names that would be accepted.
        *location: the part of the request and the path of the field with the unknown name.
    """
    return UnknownName(FieldError(location, "unknown_name", suggestion_facts(name, known_names)))


def unknown_value_error(value: str, known_values: Iterable[str], *location: str | int) -> UnknownName:
    """Return the error for a value that is not among the accepted ones.

    Args:
        value: the unknown value.
        known_values: all values that would be accepted.
        *location: the part of the request and the path of the field with the unknown value.
    """
    _request_part, *field_path = location
    location_text = ".".join(map(str, field_path))
    facts = {**suggestion_facts(value, known_values), "where": location_text}
    return UnknownName(FieldError(location, "unknown_value", facts))


def suggestion_facts(name: str, known_names: Iterable[str]) -> dict[str, Any]:
    """Return the placeholder values for a message with suggestions for an unknown name.

    Names are compared without regard to case and punctuation, so `pageSize` is the same as `page_size`. A part of a
    name is similar to the whole name, so `year` suggests `year_min` and `year_max`.

    Returns:
        `name`: the unknown name, shortened if it is very long.
        `known`: the similar known names, or all known names if none is similar.
        `is_near`: whether there are similar names.
    """
    known_by_normalized_name = {_normalize_name(known_name): known_name for known_name in sorted(known_names)}
    shown_name = name[:MAX_SHOWN_CHARACTERS]
    normalized_name = _normalize_name(shown_name)

    if normalized_name in known_by_normalized_name:
        nearest_names = [known_by_normalized_name[normalized_name]]
    else:
        matches = difflib.get_close_matches(normalized_name, known_by_normalized_name, n=MAX_SUGGESTIONS)
        nearest_names = _names_with_words(shown_name, known_by_normalized_name.values())
        nearest_names += [known_by_normalized_name[match] for match in matches]
        nearest_names = list(dict.fromkeys(nearest_names))[:MAX_SUGGESTIONS]

    return {
        "name": shown_name,
        "known": ", ".join(nearest_names or known_by_normalized_name.values()),
        "is_near": bool(nearest_names),
    }


def _names_with_words(part: str, known_names: Iterable[str]) -> list[str]:
    """Return the known names that contain all words of `part`, or none if they are too many to be a suggestion."""
    words = _words_of(part)
    names = [known_name for known_name in known_names if words <= _words_of(known_name)] if words else []
    return names if len(names) <= MAX_SUGGESTIONS else []


def _words_of(name: str) -> set[str]:
    """Return the words of a name, which underscores and other punctuation separate, in lower case."""
    return set(_WORD.findall(name.lower()))


def _normalize_name(name: str) -> str:
    """Return the letters and digits of a name in lower case, or the name itself if it has none."""
    letters = [character for character in name.lower() if character.isalnum()]
    return "".join(letters) or name
