"""Canonical JSON (RFC 8785), which writes equal values as equal bytes, and digests of it."""

from hashlib import sha256
from typing import Any, Final

import msgspec
import rfc8785

# RFC 8785 treats all numbers as float64, which cannot represent every integer beyond this one exactly.
_LARGEST_INTEGER: Final = 2**53 - 1


def canonical_json(value: Any) -> bytes:
    """Return the canonical JSON of a value, which may contain structs, times and UUIDs, but no infinite numbers."""
    json_value = msgspec.to_builtins(value)
    return rfc8785.dumps(_round_large_integers(json_value))


def canonical_digest(value: Any) -> str:
    """Return the SHA-256 digest of the canonical JSON of a value, in hexadecimal digits."""
    return sha256(canonical_json(value)).hexdigest()


def _round_large_integers(value: Any) -> Any:
    """Return a JSON value in which the nearest float64 replaces each integer that is too large to be exact."""
    if isinstance(value, dict):
        return {key: _round_large_integers(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [_round_large_integers(item) for item in value]
    if isinstance(value, int) and abs(value) > _LARGEST_INTEGER:
        return float(value)
    return value
