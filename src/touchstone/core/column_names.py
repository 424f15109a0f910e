"""Usable and unique names for the columns of a table."""

import re
from collections.abc import Iterable
from typing import Final

_LINE_BREAK: Final = re.compile(r"\s*[\r\n]\s*")


def numbered_name(position: int) -> str:
    """Return the name for a column without a name, where the first column has position 1."""
    return f"column_{position}"


def one_line_name(name: str) -> str:
    """Strip white space from a name, and replace line breaks by spaces."""
    return _LINE_BREAK.sub(" ", name.strip())


def unique_names(names: Iterable[str]) -> list[str]:
    """Return unique names on one line.

    Empty names are numbered, and repeated names get a numeric suffix.
    """
    unique: list[str] = []
    used_names: set[str] = set()
    for position, name in enumerate(names, start=1):
        base_name = one_line_name(name) or numbered_name(position)
        candidate = base_name
        suffix = 2
        while candidate in used_names:
            candidate = f"{base_name}_{suffix}"
            suffix += 1

        used_names.add(candidate)
        unique.append(candidate)
    return unique
