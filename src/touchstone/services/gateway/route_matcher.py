"""Finding the route of a request: by its decoded path alone, one segment at a time."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import quote, unquote

from starlette.types import Scope

from touchstone.core.errors import (
    ArtifactNotFound,
    DatasetNotFound,
    JobNotFound,
    NotFound,
    ProjectNotFound,
    ServiceError,
    SessionNotFound,
    UploadNotFound,
    UserNotFound,
)
from touchstone.http.upstream import PATH_SAFE
from touchstone.services.gateway.route_table import PublicRoute

MAX_VALUE: Final = 255
# What an impossible value in a path is answered with: just as a possible value that leads to nothing.
MISSING: Final[Mapping[str, type[ServiceError]]] = {
    "dataset_id": DatasetNotFound,
    "file_id": UploadNotFound,
    "project_id": ProjectNotFound,
    "job_id": JobNotFound,
    "name": ArtifactNotFound,
    "session_id": SessionNotFound,
    "user_id": UserNotFound,
    "asset": NotFound,
}


@dataclass(frozen=True, slots=True)
class Match:
    """The routes at an address by method, and the values that the address gives for their templates."""

    routes: Mapping[str, PublicRoute]
    values: tuple[str, ...]


@dataclass(slots=True)
class _Node:
    literal: dict[str, "_Node"] = field(default_factory=dict)
    value: "_Node | None" = None
    routes: dict[str, PublicRoute] = field(default_factory=dict)

    def below(self, segment: str) -> "_Node":
        if not segment.startswith("{"):
            return self.literal.setdefault(segment, _Node())
        self.value = self.value or _Node()
        return self.value


class Matcher:
    """Looks addresses up in a tree of segments; both slash forms of an address are one."""

    def __init__(self, addresses: Iterable[tuple[str, PublicRoute]]) -> None:
        self._root = _Node()
        self._fixed: dict[str, Match] = {}  # addresses without values, found in one step
        for address, route in addresses:
            node = self._root
            for segment in _segments(address):
                node = node.below(segment)
            node.routes[route.method] = route
            if "{" not in address:
                self._fixed[address] = Match(node.routes, ())

    def find(self, scope: Scope) -> Match | None:
        """The routes at the request's address; None when there are none."""
        fixed = self._fixed.get(scope["path"])
        # An escape in the raw form may be a slash: only the segments tell.
        if fixed is not None and b"%" not in (scope.get("raw_path") or b""):
            return fixed
        return self._find(_segments_of(scope))

    def find_path(self, path: str) -> Match | None:
        """The routes at a decoded path; None when there are none."""
        return self._find(_segments(path))

    def _find(self, segments: list[str]) -> Match | None:
        node, values = self._root, []
        for segment in segments:
            if (literal := node.literal.get(segment)) is not None:
                node = literal
            elif node.value is not None and segment:
                node = node.value
                values.append(segment)
            else:
                return None
        return Match(node.routes, tuple(values)) if node.routes else None


class PublicLocations:
    """Turns the addresses that a backend knows its own things by into those that clients know."""

    def __init__(self, routes: Iterable[PublicRoute]) -> None:
        by_backend: dict[str | None, list[tuple[str, PublicRoute]]] = {}
        for route in routes:
            by_backend.setdefault(route.backend, []).append((route.target, route))
        self._matchers = {backend: Matcher(addresses) for backend, addresses in by_backend.items()}

    def of(self, backend: str | None, location: bytes) -> bytes:
        """The canonical public form of a Location; one that is no path of the backend's stays as it is."""
        match = self._matchers[backend].find_path(unquote(location.decode("latin-1")))
        if match is None:
            return location
        route = next(iter(match.routes.values()))
        return quote(filled(route.path, match.values), safe=PATH_SAFE).encode()


def public_addresses(routes: Iterable[PublicRoute]) -> Iterator[tuple[str, PublicRoute]]:
    """Every public address with its route."""
    return ((address, route) for route in routes for address in route.addresses)


def filled(template: str, values: tuple[str, ...]) -> str:
    """The decoded path of a template with the values put in.

    Raises:
        ServiceError: a value cannot be one; the refusal is that of a value which leads to nothing.
    """
    if not values:
        return template
    given = iter(values)
    return "/".join(_checked(part[1:-1], next(given)) if part[:1] == "{" else part for part in template.split("/"))


def _checked(name: str, value: str) -> str:
    if len(value) > MAX_VALUE or value in (".", "..") or "/" in value or not value.isprintable():
        raise MISSING[name]
    return value


def _segments(path: str) -> list[str]:
    return path.removesuffix("/").split("/")


def _segments_of(scope: Scope) -> list[str]:
    raw: bytes = scope.get("raw_path") or b""
    if b"%2f" not in raw.lower():
        return _segments(scope["path"])
    # The server has decoded the path: only the raw form tells an encoded slash from a separator.
    return [unquote(part) for part in _segments(raw.decode("latin-1"))]
