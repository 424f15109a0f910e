"""Strict parsing of JSON request bodies."""

import re
from typing import Any, Final

import msgspec

from touchstone.core.errors import FieldError, Invalid, NotJson
from touchstone.core.repeated_keys import find_repeated_key
from touchstone.http.spelling_suggestions import MAX_SHOWN_CHARACTERS

# Matches a string, or NaN or an infinity. Matching strings skips such words inside them. The closing quote is optional,
# so that malformed input is scanned only once.
_STRING_OR_NON_FINITE: Final = re.compile(rb'"(?:[^"\\]|\\.)*+"?|-?(?:NaN|Infinity)', re.DOTALL)
_STRICT_DECODER: Final = msgspec.json.Decoder()
_INFINITY_DECODER: Final = msgspec.json.Decoder(float_hook=float)


def parse_json(raw: bytes) -> Any:
    """Parse a request body as strict JSON (RFC 8259).

    NaN, infinities, lone surrogates and excessive nesting are refused.

    Raises:
        NotJson: the body is not JSON.
        Invalid: the body contains a number that is out of range, or an object with a repeated key.
    """
    return _decode_body(raw, _STRICT_DECODER)


def parse_json_allowing_infinity(raw: bytes) -> Any:
    """Parse a request body as JSON, and read NaN, infinities and numbers beyond float64 as infinity.

    This is for callers that validate every number, so that their error can name the invalid field. Strictly valid JSON
    is parsed as fast as by `parse_json`.

    Raises:
        NotJson: the body is not JSON.
        Invalid: the body contains an object with a repeated key.
    """
    try:
        return parse_json(raw)
    except (NotJson, Invalid):
        replaced = _STRING_OR_NON_FINITE.sub(_replace_non_finite, raw)
        return _decode_body(replaced, _INFINITY_DECODER)


def _replace_non_finite(match: re.Match[bytes]) -> bytes:
    """Return a number too large for float64 to replace NaN or an infinity, and return strings unchanged."""
    is_string = match[0].startswith(b'"')
    return match[0] if is_string else b"1e999"


def _decode_body(raw: bytes, decoder: msgspec.json.Decoder[Any]) -> Any:
    """Decode a request body, and check that no object in it has a repeated key.

    Raises:
        NotJson: the body is not JSON.
        Invalid: the decoder does not accept a number, or an object has a repeated key.
    """
    try:
        value = decoder.decode(raw)
        repeated_key = find_repeated_key(raw, value)
    except msgspec.ValidationError as error:
        # Without a schema, msgspec only reports numbers that do not fit into a float as invalid.
        raise Invalid(FieldError(("body",), "number_out_of_range")) from error
    except (ValueError, RecursionError) as error:
        raise NotJson from error

    if repeated_key is not None:
        name = repeated_key.name[:MAX_SHOWN_CHARACTERS]
        raise Invalid(FieldError(("body", name), "given_twice", {"count": repeated_key.count}))
    return value
