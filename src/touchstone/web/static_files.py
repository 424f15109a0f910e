"""Addresses of the static files, which browsers may cache for ever."""

import hashlib
from functools import cache
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent / "static"
STATIC_PREFIX: Final = "/app/static/"
_DIGEST_LENGTH: Final = 12  # enough to tell the versions of a file apart


@cache
def content_digest(name: str) -> str:
    """Return a short digest of the content of a static file."""
    return hashlib.sha256((FOLDER / name).read_bytes()).hexdigest()[:_DIGEST_LENGTH]


def static_address(name: str) -> str:
    """Return the address of a static file with a digest, so that cached copies are never outdated."""
    return f"{STATIC_PREFIX}{name}?v={content_digest(name)}"
