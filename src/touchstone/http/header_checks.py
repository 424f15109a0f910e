"""Checks of the headers of a request."""

import itertools
from collections.abc import Mapping
from typing import Final

from starlette.types import Scope

from touchstone.core.errors import BadRequest, HeadersTooLarge, UnsupportedMedia

MAX_HEADERS: Final = 100
MAX_HEADER_BYTES: Final = 32 * 1024
_NO_CODING: Final = frozenset({b"", b"identity"})
_HTTP_VERSIONS: Final = frozenset({"1.0", "1.1"})


def check_headers(scope: Scope) -> None:
    """Check that the headers of a request are not too large or ambiguous.

    If a proxy interpreted ambiguous headers differently, a client could smuggle a second request past it (RFC 9112,
    section 11.2).

    Raises:
        HeadersTooLarge: there are too many headers, or they are too long.
        BadRequest: the headers are ambiguous.
    """
    headers: list[tuple[bytes, bytes]] = scope["headers"]
    if len(headers) > MAX_HEADERS or _count_bytes(headers) > MAX_HEADER_BYTES:
        raise HeadersTooLarge

    http_version = scope["http_version"]
    has_valid_version = http_version in _HTTP_VERSIONS

    # HTTP/1.0 does not require a `Host` header, and HTTP/1.1 requires exactly one.
    names = [name for name, _value in headers]
    host_count = names.count(b"host")
    has_valid_host = host_count == 1 or (host_count == 0 and http_version == "1.0")

    # Applications can only decode the transfer coding `chunked`.
    has_valid_coding = True
    if b"transfer-encoding" in names:
        transfer_codings = [value.strip().lower() for name, value in headers if name == b"transfer-encoding"]
        has_valid_coding = transfer_codings == [b"chunked"]

    if not (has_valid_version and has_valid_host and has_valid_coding):
        raise BadRequest(headers={"Connection": "close"})


def check_content_coding(scope: Scope) -> None:
    """Check that the body of a request is not compressed, because a compressed file would be stored as it is.

    Raises:
        UnsupportedMedia: the body has a content coding. The response names the accepted one (RFC 9110, section
            15.5.16).
    """
    for name, value in scope["headers"]:
        if name == b"content-encoding" and value.strip().lower() not in _NO_CODING:
            raise UnsupportedMedia(expected="Content-Encoding: identity", headers={"Accept-Encoding": "identity"})


def has_body(headers: Mapping[bytes, bytes]) -> bool:
    """Return whether the headers of a request, keyed by name, announce a body."""
    return b"transfer-encoding" in headers or headers.get(b"content-length", b"0") != b"0"


def _count_bytes(headers: list[tuple[bytes, bytes]]) -> int:
    """Return the total length of all header names and values in bytes."""
    return sum(map(len, itertools.chain.from_iterable(headers)))
