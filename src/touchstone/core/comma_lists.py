r"""Lists that are written as one string, with commas between their values.

A comma that belongs to a value is written as `\,`.
"""

import re
from collections.abc import Iterable
from typing import Final

_SEPARATOR: Final = re.compile(r"(?<!\\),")


def split_at_commas(text: str) -> list[str]:
    """Return the values in a list, without surrounding spaces and without empty values."""
    values = (value.replace("\\,", ",").strip() for value in _SEPARATOR.split(text))
    return [value for value in values if value]


def join_with_commas(values: Iterable[str]) -> str:
    """Return the list of the values as one string."""
    return ", ".join(value.replace(",", "\\,") for value in values)
