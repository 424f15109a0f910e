"""Conditional requests (RFC 9110, section 13): `If-Match` before a write, `If-None-Match` before a read."""

import re
from collections.abc import Collection
from typing import Final

from starlette.requests import Request

_TAG: Final = re.compile(r'(?:W/)?"[\x21\x23-\x7e]*"')
_VERSION: Final = re.compile(r'"([0-9]{1,9})"')


def if_match(request: Request) -> frozenset[str] | None:
    """The entity tags that a write depends on; None when it depends on nothing but that the thing is there.

    A weak tag is among them but equals no strong one, and neither does anything malformed: the answer is then 412.
    """
    values = request.headers.getlist("if-match")
    if not values or values == ["*"]:
        return None
    return frozenset(tag for value in values for tag in _TAG.findall(value))


def versions_of(tags: Collection[str] | None) -> frozenset[int] | None:
    """The version numbers that are named by entity tags; None for any."""
    if tags is None:
        return None
    return frozenset(int(found[1]) for tag in tags if (found := _VERSION.fullmatch(tag)))


def is_unchanged(request: Request, etag: str) -> bool:
    """Whether the reader has this version already (weak comparison)."""
    values = request.headers.getlist("if-none-match")
    known = {tag.removeprefix("W/") for value in values for tag in _TAG.findall(value)}
    return etag in known or values == ["*"]
