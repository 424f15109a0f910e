"""Errors for names that do not exist, with the nearest names that do."""

import difflib
from collections.abc import Iterable
from typing import Any, Final

from touchstone.core.errors import FieldError, UnknownName

MAX_SHOWN_CHARACTERS: Final = 80
MAX_SUGGESTIONS: Final = 3


def unknown_name_error(name: str, known_names: Iterable[str], *location: str | int) -> UnknownName:
    """Return the error for a parameter, field or key that does not exist; `location` says where it was used."""
    return UnknownName(FieldError(location, "unknown_name", suggestion_facts(name, known_names)))


def unknown_value_error(value: str, known_values: Iterable[str], *location: str | int) -> UnknownName:
    """Return the error for a value that is not one of the known ones; `location` says where it was used."""
    _request_part, *field_path = location
    facts = {**suggestion_facts(value, known_values), "where": ".".join(map(str, field_path))}
    return UnknownName(FieldError(location, "unknown_value", facts))


def suggestion_facts(name: str, known_names: Iterable[str]) -> dict[str, Any]:
    """Return the values for the placeholders of an error message about an unknown name: "did you mean `page_size`?".

    Names are compared without regard to case and punctuation, so `pageSize` is the same as `page_size`.

    Returns:
        `name`, which is shortened if it is very long; `known`, the known names that are similar or, if there are none,
        all known names; and `is_near`, whether there are similar names.
    """
    known_names_by_letters = {_letters(known_name): known_name for known_name in sorted(known_names)}
    shown_name = name[:MAX_SHOWN_CHARACTERS]
    letters = _letters(shown_name)

    if letters in known_names_by_letters:
        nearest_names = [known_names_by_letters[letters]]
    else:
        similar_letters = difflib.get_close_matches(letters, known_names_by_letters, n=MAX_SUGGESTIONS)
        nearest_names = [known_names_by_letters[similar] for similar in similar_letters]

    return {
        "name": shown_name,
        "known": ", ".join(nearest_names or known_names_by_letters.values()),
        "is_near": bool(nearest_names),
    }


def _letters(name: str) -> str:
    """Return the letters and digits of a name in lower case, or the name itself if it has none."""
    letters = [character for character in name.lower() if character.isalnum()]
    return "".join(letters) or name
