"""Decoding of untrusted JSON, which raises the same exception for every kind of invalid input."""

from typing import Any, TypeVar

import msgspec

Content = TypeVar("Content")


def decode_json(encoded: bytes | str, content_type: type[Content]) -> Content:
    """Decode JSON, and return its content as the given type.

    Raises:
        msgspec.DecodeError: it is not JSON of this type, is not valid Unicode, or has too many levels.
    """
    try:
        return msgspec.json.decode(encoded, type=content_type)
    except RecursionError as error:
        raise msgspec.DecodeError("JSON has too many levels") from error
    except UnicodeError as error:
        raise msgspec.DecodeError("JSON contains invalid characters") from error


def parse_scalar(text: str) -> int | float | bool | str:
    """Parse a string such as `3` or `true` as a JSON number or Boolean. Other strings are returned unchanged."""
    any_type: Any = Any
    try:
        value = decode_json(text, any_type)
    except msgspec.DecodeError:
        return text
    return value if isinstance(value, int | float | bool) else text
