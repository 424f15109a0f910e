"""Names of exported files and resources, made from the names of datasets."""

import re
from typing import Final

from touchstone.core.text import fold

_NOT_IN_NAMES: Final = re.compile(r"[^a-z0-9]+")
MAX_LENGTH: Final = 80


def file_stem(name: str) -> str:
    """Return the name of a dataset in small letters, digits and hyphens, which every file system and header takes."""
    stem = _NOT_IN_NAMES.sub("-", fold(name)).strip("-")[:MAX_LENGTH].strip("-")
    return stem or "dataset"
