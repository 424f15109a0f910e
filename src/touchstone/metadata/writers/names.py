"""File and resource names derived from the names of datasets and projects."""

import re
from typing import Final

from touchstone.core.text import fold

_NOT_IN_NAMES: Final = re.compile(r"[^a-z0-9]+")
MAX_LENGTH: Final = 80


def file_stem(name: str, default: str = "dataset") -> str:
    """Convert a name to lower-case ASCII letters, digits and hyphens, at most 80 characters.

    A name without Latin letters or digits is replaced by `default`.
    """
    stem = _NOT_IN_NAMES.sub("-", fold(name)).strip("-")[:MAX_LENGTH].strip("-")
    return stem or default
