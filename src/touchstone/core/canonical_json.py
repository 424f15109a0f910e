"""Canonical JSON (RFC 8785), which encodes equal values as equal bytes, and digests of it."""

from hashlib import sha256
from typing import Any, Final

import msgspec
import rfc8785

# RFC 8785 treats all numbers as float64, which represents all integers up to this one exactly.
_LARGEST_INTEGER: Final = 2**53 - 1


def canonical_json(value: Any) -> bytes:
    """Encode a value as canonical JSON.

    It may contain structs, times and UUIDs, but no infinite numbers. Integers that are too large for any float64 become
    strings.
    """
    json_value = msgspec.to_builtins(value)
    return rfc8785.dumps(_replace_large_integers(json_value))


def canonical_digest(value: Any) -> str:
    """Return the hexadecimal SHA-256 digest of the canonical JSON of a value."""
    return sha256(canonical_json(value)).hexdigest()


def _replace_large_integers(value: Any) -> Any:
    """Return a copy of a JSON value in which large integers are floats, or strings if they exceed all floats."""
    if isinstance(value, dict):
        return {key: _replace_large_integers(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [_replace_large_integers(item) for item in value]
    if isinstance(value, int) and abs(value) > _LARGEST_INTEGER:
        try:
            return float(value)
        except OverflowError:
            return str(value)
    return value
