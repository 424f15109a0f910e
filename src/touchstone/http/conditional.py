"""Conditional requests (RFC 9110, section 13): `If-Match` before a write, `If-None-Match` before a read."""

import re
from collections.abc import Collection, Sequence
from typing import Final

from starlette.requests import Request

_ENTITY_TAG: Final = re.compile(r'(?:W/)?"[\x21\x23-\x7e]*"')
_VERSION_TAG: Final = re.compile(r'"([0-9]{1,9})"')


def parse_if_match(request: Request) -> frozenset[str] | None:
    """Return the entity tags in `If-Match`, or None if the write does not depend on a version.

    A weak tag is included but never equals a strong one, and a malformed header contains no tags: both lead to 412.
    """
    values = request.headers.getlist("if-match")
    if not values or values == ["*"]:
        return None
    return _parse_entity_tags(values)


def parse_version_tags(tags: Collection[str] | None) -> frozenset[int] | None:
    """Return the version numbers in these entity tags, or None (any version) if there are no tags."""
    if tags is None:
        return None
    matches = [_VERSION_TAG.fullmatch(tag) for tag in tags]
    return frozenset(int(match[1]) for match in matches if match)


def is_not_modified(request: Request, etag: str) -> bool:
    """Return whether `If-None-Match` contains this entity tag (weak comparison), so that 304 is the answer."""
    values = request.headers.getlist("if-none-match")
    if values == ["*"]:
        return True
    known_tags = {tag.removeprefix("W/") for tag in _parse_entity_tags(values)}
    return etag.removeprefix("W/") in known_tags


def _parse_entity_tags(values: Sequence[str]) -> frozenset[str]:
    """Return the entity tags in the values of a header, or none if there is anything but tags and commas."""
    header = ",".join(values)
    if _ENTITY_TAG.sub("", header).strip(", \t"):
        return frozenset()
    return frozenset(_ENTITY_TAG.findall(header))
