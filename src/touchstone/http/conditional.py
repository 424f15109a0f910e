"""Conditional requests (RFC 9110, section 13): `If-Match` before a write, `If-None-Match` before a read."""

import re
from collections.abc import Collection, Sequence
from typing import Final

from starlette.requests import Request

_ENTITY_TAG: Final = re.compile(r'(?:W/)?"[\x21\x23-\x7e]*"')
# Hexadecimal digits after the version distinguish different responses about the same version.
_VERSION_TAG: Final = re.compile(r'"([0-9]{1,9})(?:-[0-9a-f]+)?"')


def parse_if_match(request: Request) -> frozenset[str] | None:
    """Return the entity tags in `If-Match`, or None if the write does not depend on a version.

    The result for a malformed header is empty. Weak tags are included, but never match. The response is 412 in both
    cases.
    """
    values = request.headers.getlist("if-match")
    if not values or values == ["*"]:
        return None

    return _parse_entity_tags(values)


def parse_version_tags(tags: Collection[str] | None) -> frozenset[int] | None:
    """Return the version numbers in the entity tags, or None if any version is acceptable.

    Tags without a version number are omitted, because they cannot match any version.
    """
    if tags is None:
        return None

    matches = [_VERSION_TAG.fullmatch(tag) for tag in tags]
    return frozenset(int(match[1]) for match in matches if match)


def is_not_modified(request: Request, etag: str) -> bool:
    """Return whether the client already has the response with this entity tag.

    The entity tags in `If-None-Match` are compared weakly, so that the `W/` prefix makes no difference.
    """
    values = request.headers.getlist("if-none-match")
    if values == ["*"]:
        return True

    known_tags = {tag.removeprefix("W/") for tag in _parse_entity_tags(values)}
    return etag.removeprefix("W/") in known_tags


def _parse_entity_tags(values: Sequence[str]) -> frozenset[str]:
    """Return the entity tags in the values of a header, or an empty set if a value is malformed."""
    header = ",".join(values)
    text_between_tags = _ENTITY_TAG.sub("", header)
    is_malformed = text_between_tags.strip(", \t") != ""
    if is_malformed:
        return frozenset()

    return frozenset(_ENTITY_TAG.findall(header))
