"""Strict parsing of JSON request bodies."""

import re
from collections.abc import Callable
from typing import Any, Final

import msgspec

from touchstone.core.errors import FieldError, Invalid, NotJson

# Either a string, or something that stands for a number that is not finite. A string may lack its closing quote, so
# that malformed input is scanned only once.
_STRING_OR_NON_FINITE: Final = re.compile(rb'"(?:[^"\\]|\\.)*+"?|-?(?:NaN|Infinity)', re.DOTALL)
_INFINITY_DECODER: Final = msgspec.json.Decoder(float_hook=float)


def parse_json(raw: bytes) -> Any:
    """Return the value of a JSON text (RFC 8259), without NaN, infinities, lone surrogates or endless nesting.

    Raises:
        NotJson: the text is not JSON.
        Invalid: the text contains a number that is out of range.
    """
    return _decode(raw, msgspec.json.decode)


def parse_json_allowing_infinity(raw: bytes) -> Any:
    """Return the value of a JSON text in which NaN, infinities and numbers beyond float64 are read as infinity.

    This is for bodies whose reader checks every number itself, so that the error can name the field with an invalid
    number. Bodies that are strictly JSON are read as fast as by `parse_json`.

    Raises:
        NotJson: the text is not JSON.
    """
    try:
        return parse_json(raw)
    except (NotJson, Invalid):
        text_without_non_finite = _STRING_OR_NON_FINITE.sub(_replace_non_finite, raw)
        return _decode(text_without_non_finite, _INFINITY_DECODER.decode)


def _replace_non_finite(match: re.Match[bytes]) -> bytes:
    """Return a string as it is, and a number too large for float64 in place of NaN and infinities."""
    is_string = match[0].startswith(b'"')
    return match[0] if is_string else b"1e999"


def _decode(raw: bytes, decode: Callable[[bytes], Any]) -> Any:
    """Return what `decode` makes of a request body, and turn its exceptions into errors of our own."""
    try:
        return decode(raw)
    except msgspec.ValidationError as error:
        raise Invalid(FieldError(("body",), "number_out_of_range")) from error
    except (ValueError, RecursionError) as error:
        raise NotJson from error
