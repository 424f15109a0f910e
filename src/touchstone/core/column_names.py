"""Names of columns: those that a file gives, made usable, and numbered ones for columns without a name."""

import re
from collections.abc import Iterable
from typing import Final

_LINE_BREAK: Final = re.compile(r"\s*[\r\n]\s*")


def numbered_name(position: int) -> str:
    """Return the name of a column for which the file has none; the position of the first column is 1."""
    return f"column_{position}"


def one_line_name(name: str) -> str:
    """Return a name without white space around it, and with spaces in place of line breaks."""
    return _LINE_BREAK.sub(" ", name.strip())


def unique_names(names: Iterable[str]) -> list[str]:
    """Return usable column names: on one line, empty ones numbered, repeated ones distinguished by a suffix."""
    unique: list[str] = []
    taken: set[str] = set()
    for position, name in enumerate(names, start=1):
        base = one_line_name(name) or numbered_name(position)
        candidate = base
        suffix = 2
        while candidate in taken:
            candidate = f"{base}_{suffix}"
            suffix += 1

        taken.add(candidate)
        unique.append(candidate)
    return unique
