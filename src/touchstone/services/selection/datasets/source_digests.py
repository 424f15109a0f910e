"""Digests that identify imported records: their owner, their source and their key in the source, in a single text.

The text begins with a digest of the owner and the source and ends with the key, so that the records of a source are
neighbours in the index of all digests, in the order of their keys. Digests in the old form, which cover everything
together, are in random places, so that the database of a large catalog has to write a whole page of the index for each
new record.
"""

import hashlib
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final, TypeAlias
from uuid import UUID

import msgspec

# Makes a digest from the owner, the standard of the document, the name of the source and the key.
DigestOf: TypeAlias = Callable[[UUID | None, str | None, str | None, str], str]

# Digests in the old form consist of hexadecimal digits, so that none of them begins with this letter.
_PREFIX: Final = "k"
_SOURCE_DIGEST_LENGTH: Final = 32
# Longer keys are replaced by their digests, because databases limit the length of a text in an index.
_MAX_KEY_LENGTH: Final = 64
_KEY_SEPARATOR: Final = ":"
_KEY_DIGEST_SEPARATOR: Final = "#"
_KNOWN_SOURCES: Final = 1000
# Longer names of sources are not remembered, so that a client cannot fill the memory with them.
_MAX_REMEMBERED_LENGTH: Final = 200


def source_digest(owner: UUID | None, standard: str | None, source_name: str | None, key: str) -> str:
    """Return what identifies the record with a key in a source; `standard` is that of the document, if there is one.

    The key is a part of the result, unless it is long.
    """
    is_short = len(standard or "") + len(source_name or "") <= _MAX_REMEMBERED_LENGTH
    digest_of_source = _remembered_digest_of_source if is_short else _digest_of_source
    digest = digest_of_source(owner, standard, source_name)
    if len(key) <= _MAX_KEY_LENGTH:
        return f"{digest}{_KEY_SEPARATOR}{key}"
    return f"{digest}{_KEY_DIGEST_SEPARATOR}{_digest_of(key)}"


def old_source_digest(owner: UUID | None, standard: str | None, source_name: str | None, key: str) -> str:
    """Return the digest of the same record in the old form; records that are stored under it keep it."""
    return _digest_of([owner, standard, source_name, key])


def digests_of_source(
    metadata: Mapping[str, Any] | None, owner: UUID | None, digest_of: DigestOf = source_digest
) -> list[str]:
    """Return the digests under which a record with some metadata may be stored, or an empty list if they name no key.

    The first digest, which new records get, is that of the owner, the source and the key. A record that was imported
    from a document has a digest that also covers the standard of the document, the `kind` of its source.
    """
    source = (metadata or {}).get("source")
    if not isinstance(source, dict):
        return []

    name, key, kind = source.get("name"), source.get("key"), source.get("kind")
    if not isinstance(name, str) or not isinstance(key, str):
        return []
    if not name or not key:
        return []

    digests = [digest_of(owner, None, name, key)]
    if isinstance(kind, str):
        digests.append(digest_of(owner, kind, name, key))
    return digests


def is_old_source_digest(digest: str) -> bool:
    """Return whether a stored digest has the old form."""
    return not digest.startswith(_PREFIX)


def _digest_of_source(owner: UUID | None, standard: str | None, source_name: str | None) -> str:
    """Return the part of a digest that all records of a source have in common."""
    return _PREFIX + _digest_of([owner, standard, source_name])[:_SOURCE_DIGEST_LENGTH]


_remembered_digest_of_source = lru_cache(maxsize=_KNOWN_SOURCES)(_digest_of_source)


def _digest_of(value: object) -> str:
    """Return the SHA-256 digest of a JSON value in hexadecimal digits."""
    return hashlib.sha256(msgspec.json.encode(value)).hexdigest()
