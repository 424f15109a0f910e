"""Finding the route of a request: by its decoded path alone, one segment at a time."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import quote, unquote

from starlette.types import Scope

from touchstone.core.errors import (
    ArtifactNotFound,
    ClaimNotFound,
    DatasetNotFound,
    JobNotFound,
    NotFound,
    ProjectNotFound,
    ServiceError,
    SessionNotFound,
    SnapshotNotFound,
    UploadNotFound,
    UserNotFound,
)
from touchstone.http.upstream import PATH_SAFE
from touchstone.services.gateway.public_routes import PublicRoute

# The largest number of characters of a value in a path.
MAX_VALUE_LENGTH: Final = 255
# An impossible value in a path gets the same response as a possible value of something that does not exist.
NOT_FOUND_ERRORS: Final[Mapping[str, type[ServiceError]]] = {
    "dataset_id": DatasetNotFound,
    "claim_id": ClaimNotFound,
    "file_id": UploadNotFound,
    "project_id": ProjectNotFound,
    "snapshot_id": SnapshotNotFound,
    "job_id": JobNotFound,
    "comparison_id": JobNotFound,
    "name": ArtifactNotFound,
    "session_id": SessionNotFound,
    "user_id": UserNotFound,
    "asset": NotFound,
}


@dataclass(frozen=True, slots=True)
class RouteMatch:
    """The routes at an address by method, and the values of the address for the placeholders of their templates."""

    routes: Mapping[str, PublicRoute]
    values: tuple[str, ...]


@dataclass(slots=True)
class _Node:
    """A node of the tree of path segments: its children by literal segment, and the child for any value."""

    literal_children: dict[str, "_Node"] = field(default_factory=dict)
    value_child: "_Node | None" = None
    routes: dict[str, PublicRoute] = field(default_factory=dict)

    def get_or_create_child(self, segment: str) -> "_Node":
        """Return the child for a segment of a template; all placeholders share one child, whatever their names."""
        is_placeholder = segment.startswith("{")
        if not is_placeholder:
            return self.literal_children.setdefault(segment, _Node())

        if self.value_child is None:
            self.value_child = _Node()
        return self.value_child


class RouteMatcher:
    """Finds routes in a tree of path segments; an address with a trailing slash is the same as one without."""

    def __init__(self, addresses: Iterable[tuple[str, PublicRoute]]) -> None:
        """Build the tree from the templates of addresses, such as `/projects/{project_id}`, and their routes."""
        self._root = _Node()
        self._fixed_matches: dict[str, RouteMatch] = {}  # addresses without values, which need no search

        for address, route in addresses:
            node = self._root
            for segment in _split_path(address):
                node = node.get_or_create_child(segment)
            node.routes[route.method] = route

            if "{" not in address:
                self._fixed_matches[address] = RouteMatch(node.routes, values=())

    def find(self, scope: Scope) -> RouteMatch | None:
        """Return the routes at the address of a request, or None if there is no such address."""
        # Most addresses without values are found at once. A percent sign in the raw path may encode a slash, which only
        # the comparison of segments tells from a separator.
        fixed_match = self._fixed_matches.get(scope["path"])
        if fixed_match is not None and b"%" not in (scope.get("raw_path") or b""):
            return fixed_match

        return self._find_segments(_request_segments(scope))

    def find_path(self, path: str) -> RouteMatch | None:
        """Return the routes at a decoded path, or None if there is no such address."""
        return self._find_segments(_split_path(path))

    def _find_segments(self, segments: list[str]) -> RouteMatch | None:
        """Return the routes at the address with these path segments, or None if there is no such address.

        Each segment leads one level down in the tree. Where a segment matches both a literal text and a placeholder,
        the literal text wins. An empty segment matches no placeholder.
        """
        node = self._root
        values = []
        for segment in segments:
            literal_child = node.literal_children.get(segment)
            if literal_child is not None:
                node = literal_child
            elif node.value_child is not None and segment:
                node = node.value_child
                values.append(segment)
            else:
                return None

        return RouteMatch(node.routes, tuple(values)) if node.routes else None


class PublicLocations:
    """Translates addresses at a backend, as in a Location header, into public addresses."""

    def __init__(self, routes: Iterable[PublicRoute]) -> None:
        """Build a matcher for the addresses of each backend; the gateway itself has the key None."""
        targets: dict[str | None, list[tuple[str, PublicRoute]]] = {}
        for route in routes:
            targets.setdefault(route.backend, []).append((route.target, route))

        self._matchers = {backend: RouteMatcher(addresses) for backend, addresses in targets.items()}

    def to_public(self, backend: str | None, location: bytes) -> bytes:
        """Return the public address of something that a backend names by its own address.

        For example, `/datasets/7` becomes `/api/v1/datasets/7`. A location that is no path of the backend is returned
        unchanged.
        """
        path = unquote(location.decode("latin-1"))
        match = self._matchers[backend].find_path(path)
        if match is None:
            return location

        # All routes at an address have the same path, whatever their method.
        route = next(iter(match.routes.values()))
        public_path = fill_template(route.path, match.values)
        return quote(public_path, safe=PATH_SAFE).encode()


def public_addresses(routes: Iterable[PublicRoute]) -> Iterator[tuple[str, PublicRoute]]:
    """Yield every public address, including the aliases, with its route."""
    for route in routes:
        for address in route.addresses:
            yield address, route


def fill_template(template: str, values: tuple[str, ...]) -> str:
    """Return a path in which the placeholders of a template are replaced by values, in their order.

    For example, `/projects/{project_id}` and `("42",)` give `/projects/42`.

    Raises:
        ServiceError: a value cannot be part of a path. The error is the same as for something that does not exist.
    """
    if not values:
        return template

    remaining_values = iter(values)
    segments = []
    for segment in template.split("/"):
        if segment.startswith("{"):
            value = next(remaining_values)
            _check_value(segment[1:-1], value)
            segments.append(value)
        else:
            segments.append(segment)

    return "/".join(segments)


def _check_value(name: str, value: str) -> None:
    """Check that a value from the path of a request can safely be put into the path of a forwarded request.

    Raises:
        ServiceError: the value is too long, is not printable, or would lead to another path. The error is the same as
            for something that does not exist; which one that is depends on the name of the placeholder.
    """
    is_short = len(value) <= MAX_VALUE_LENGTH
    is_single_segment = value not in (".", "..") and "/" not in value
    if not (is_short and is_single_segment and value.isprintable()):
        raise NOT_FOUND_ERRORS[name]


def _split_path(path: str) -> list[str]:
    """Return the segments of a path; a trailing slash makes no difference."""
    return path.removesuffix("/").split("/")


def _request_segments(scope: Scope) -> list[str]:
    """Return the decoded segments of the path of a request; an encoded slash is part of its segment."""
    raw_path: bytes = scope.get("raw_path") or b""
    if b"%2f" not in raw_path.lower():
        return _split_path(scope["path"])

    # The decoded path no longer shows which slashes were encoded, so the raw path is split and then decoded.
    return [unquote(segment) for segment in _split_path(raw_path.decode("latin-1"))]
