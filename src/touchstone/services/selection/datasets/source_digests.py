"""Digests that identify imported records by their owner, their source and their key in the source.

A digest is a string that begins with a hash of the owner and the source and ends with the key. So the records of a
source are neighbours in the database index, in the order of their keys. Digests in the old form are a single hash.
They are scattered over the whole index, so that a large database has to write a separate page for each new record.
"""

import hashlib
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final, TypeAlias
from uuid import UUID

import msgspec

# Returns the digest for an owner, the standard of a document, the name of a source and a key.
DigestOf: TypeAlias = Callable[[UUID | None, str | None, str | None, str], str]

# Digests in the old form are hexadecimal, so none of them begins with this letter.
_PREFIX: Final = "k"
_SOURCE_DIGEST_LENGTH: Final = 32
# Longer keys are replaced by a hash, because databases limit the length of strings in an index.
_MAX_KEY_LENGTH: Final = 64
_KEY_SEPARATOR: Final = ":"
_KEY_DIGEST_SEPARATOR: Final = "#"
_MAX_CACHED_SOURCES: Final = 1000
# Longer source names are not cached, so that a client cannot exhaust the memory.
_MAX_CACHED_NAME_LENGTH: Final = 200


def source_digest(owner: UUID | None, standard: str | None, source_name: str | None, key: str) -> str:
    """Return the digest that identifies a record.

    Args:
        owner: the owner of the record, or None.
        standard: the metadata standard, if the record was imported from a document.
        source_name: the name of the source.
        key: the key of the record in the source.
    """
    is_short = len(standard or "") + len(source_name or "") <= _MAX_CACHED_NAME_LENGTH
    digest_of_source = _cached_digest_of_source if is_short else _digest_of_source
    digest = digest_of_source(owner, standard, source_name)
    if len(key) <= _MAX_KEY_LENGTH:
        return f"{digest}{_KEY_SEPARATOR}{key}"
    return f"{digest}{_KEY_DIGEST_SEPARATOR}{_digest_of(key)}"


def old_source_digest(owner: UUID | None, standard: str | None, source_name: str | None, key: str) -> str:
    """Return the digest of a record in the old form, which older records keep."""
    return _digest_of([owner, standard, source_name, key])


def digests_of_source(
    metadata: Mapping[str, Any] | None, owner: UUID | None, digest_of: DigestOf = source_digest
) -> list[str]:
    """Return the digests that may identify a record with a source and a key in its metadata.

    The result is empty if the metadata contains no source or no key. A key may be a whole number, which is the same key
    as the string of its digits. The first digest is for new records. The second one is for records that were imported
    from a document, whose digest also depends on the metadata standard, the `kind` of the source.

    Args:
        metadata: the metadata of the record.
        owner: the owner of the record.
        digest_of: the function that returns a digest in the new or the old form.
    """
    source = (metadata or {}).get("source")
    if not isinstance(source, dict):
        return []

    name, key, kind = source.get("name"), source.get("key"), source.get("kind")
    # A number would otherwise identify nothing, and each import would create its record anew.
    if isinstance(key, int) and not isinstance(key, bool):
        key = str(key)
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
    """Return the beginning of the digest, which is the same for all records of a source."""
    return _PREFIX + _digest_of([owner, standard, source_name])[:_SOURCE_DIGEST_LENGTH]


_cached_digest_of_source = lru_cache(maxsize=_MAX_CACHED_SOURCES)(_digest_of_source)


def _digest_of(value: object) -> str:
    """Return the hexadecimal SHA-256 digest of a JSON value."""
    return hashlib.sha256(msgspec.json.encode(value)).hexdigest()
