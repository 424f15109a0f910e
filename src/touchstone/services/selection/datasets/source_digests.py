"""What identifies an imported record: its owner, its source and its key in the source, in a single text.

The text begins with a digest of the owner and the source and ends with the key, so that the records of a source are
neighbours in the index of all digests, in the order of their keys. Digests of everything together, as they were stored
before, would be in random places, and the database of a large catalog would have to write a whole page of the index for
each new record.
"""

import hashlib
from functools import lru_cache
from typing import Final
from uuid import UUID

import msgspec

# Digests that were stored before consist of hexadecimal digits, so that none of them begins with this letter.
_PREFIX: Final = "k"
_SOURCE_DIGEST_LENGTH: Final = 32
# Longer keys are replaced by their digests, because databases limit the length of a text in an index.
_MAX_KEY_LENGTH: Final = 64
_KEY_SEPARATOR: Final = ":"
_KEY_DIGEST_SEPARATOR: Final = "#"
_KNOWN_SOURCES: Final = 10_000


def source_digest(owner: UUID | None, standard: str | None, source_name: str | None, key: str) -> str:
    """Return what identifies the record with a key in a source; `standard` is that of the document, if there is one."""
    digest = _digest_of_source(owner, standard, source_name)
    if len(key) <= _MAX_KEY_LENGTH:
        return f"{digest}{_KEY_SEPARATOR}{key}"
    return f"{digest}{_KEY_DIGEST_SEPARATOR}{_digest_of(key)}"


def old_source_digest(owner: UUID | None, standard: str | None, source_name: str | None, key: str) -> str:
    """Return the digest of the same record in the form that was stored before, which it keeps."""
    return _digest_of([owner, standard, source_name, key])


def is_old_source_digest(digest: str) -> bool:
    """Return whether a stored digest has the form that was stored before."""
    return not digest.startswith(_PREFIX)


@lru_cache(maxsize=_KNOWN_SOURCES)
def _digest_of_source(owner: UUID | None, standard: str | None, source_name: str | None) -> str:
    """Return the part of a digest that all records of a source have in common."""
    return _PREFIX + _digest_of([owner, standard, source_name])[:_SOURCE_DIGEST_LENGTH]


def _digest_of(value: object) -> str:
    """Return the SHA-256 digest of a JSON value in hexadecimal digits."""
    return hashlib.sha256(msgspec.json.encode(value)).hexdigest()
