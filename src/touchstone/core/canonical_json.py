"""Canonical JSON (RFC 8785), in which equal values are equal bytes, and digests over it."""

from hashlib import sha256
from typing import Any, Final

import msgspec
import rfc8785

# Integers beyond these bounds have no exact float64, which is what JSON numbers are in RFC 8785.
_LARGEST_INTEGER: Final = 2**53 - 1


def canonical_json(value: Any) -> bytes:
    """Return the canonical JSON of a value, which may contain structs, times and ids, but no infinite numbers."""
    return rfc8785.dumps(_without_large_integers(msgspec.to_builtins(value)))


def canonical_digest(value: Any) -> str:
    """Return the SHA-256 digest of the canonical JSON of a value, in hexadecimal digits."""
    return sha256(canonical_json(value)).hexdigest()


def _without_large_integers(value: Any) -> Any:
    """Return a JSON value with the nearest float64 in place of each integer that has no exact one."""
    if isinstance(value, dict):
        return {key: _without_large_integers(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [_without_large_integers(item) for item in value]
    if isinstance(value, int) and abs(value) > _LARGEST_INTEGER:
        return float(value)
    return value
