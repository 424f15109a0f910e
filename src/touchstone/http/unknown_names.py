"""Errors for names that do not exist, with the nearest names that do."""

import difflib
from collections.abc import Iterable
from typing import Any

from touchstone.core.errors import FieldError, UnknownName

MAX_SHOWN_CHARACTERS = 80
MAX_SUGGESTIONS = 3


def unknown_name_error(name: str, known: Iterable[str], *loc: str | int) -> UnknownName:
    """Return the error for a parameter, field or key at `loc` that does not exist."""
    return UnknownName(FieldError(loc, "unknown_name", suggestion_facts(name, known)))


def unknown_value_error(value: str, known: Iterable[str], *loc: str | int) -> UnknownName:
    """Return the error for a value at `loc` that is not one of the known values."""
    field_path = ".".join(map(str, loc[1:]))
    return UnknownName(FieldError(loc, "unknown_value", suggestion_facts(value, known) | {"where": field_path}))


def suggestion_facts(name: str, known: Iterable[str]) -> dict[str, Any]:
    """Return the facts of an unknown name: the name itself, and the nearest known names, or all if none is near.

    Names are compared without case and punctuation, so `PAGE`, `page-size` and `pageSize` are near to the real names.
    """
    known_by_letters = {_letters(known_name): known_name for known_name in sorted(known)}
    shown_name = name[:MAX_SHOWN_CHARACTERS]
    letters = _letters(shown_name)

    if letters in known_by_letters:
        nearest = [known_by_letters[letters]]
    else:
        matches = difflib.get_close_matches(letters, known_by_letters, MAX_SUGGESTIONS)
        nearest = [known_by_letters[match] for match in matches]

    return {
        "name": shown_name,
        "known": ", ".join(nearest or known_by_letters.values()),
        "is_near": bool(nearest),
    }


def _letters(name: str) -> str:
    """Return the letters and digits of a name in lower case, or the name itself if it has none."""
    return "".join(character for character in name.lower() if character.isalnum()) or name
