"""Matching of requests to routes by the segments of the decoded path."""

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
from touchstone.core.identity_provider_errors import IdentityProviderNotFound, OAuthAccountNotFound
from touchstone.http.upstream import PATH_SAFE
from touchstone.services.gateway.public_routes import PublicRoute

# The maximum length of a value in a path, in characters.
MAX_VALUE_LENGTH: Final = 255
# The error for an unsafe value in a path, which is the same as for an object that does not exist.
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
    "provider": IdentityProviderNotFound,
    "oauth_account_id": OAuthAccountNotFound,
    "asset": NotFound,
}


@dataclass(frozen=True, slots=True)
class RouteMatch:
    """A matching address.

    Attributes:
        routes: the routes at the address by method.
        values: the segments of the path that match the placeholders of the template, in order.
    """

    routes: Mapping[str, PublicRoute]
    values: tuple[str, ...]


@dataclass(slots=True)
class _Node:
    """A node in the tree of path segments.

    Attributes:
        literal_children: the children for literal segments.
        value_child: the child for placeholders, or None.
        routes: the routes that end at this node, by method.
    """

    literal_children: dict[str, "_Node"] = field(default_factory=dict)
    value_child: "_Node | None" = None
    routes: dict[str, PublicRoute] = field(default_factory=dict)

    def get_or_create_child(self, segment: str) -> "_Node":
        """Return the child for a segment of a template.

        All placeholders share one child, regardless of their names.
        """
        is_placeholder = segment.startswith("{")
        if not is_placeholder:
            return self.literal_children.setdefault(segment, _Node())

        if self.value_child is None:
            self.value_child = _Node()
        return self.value_child


class RouteMatcher:
    """Finds the routes for a path in a tree of path segments, ignoring a trailing slash."""

    def __init__(self, addresses: Iterable[tuple[str, PublicRoute]]) -> None:
        """Build the tree.

        Args:
            addresses: pairs of a path template, such as `/projects/{project_id}`, and a route.
        """
        self._root = _Node()
        self._fixed_matches: dict[str, RouteMatch] = {}  # the paths without placeholders, which need no search

        for address, route in addresses:
            node = self._root
            for segment in _split_path(address):
                node = node.get_or_create_child(segment)
            node.routes[route.method] = route

            if "{" not in address:
                self._fixed_matches[address] = RouteMatch(node.routes, values=())

    def find(self, scope: Scope) -> RouteMatch | None:
        """Return the routes at the address of a request, or None if there is no such address."""
        # Fast path for fixed addresses. If there is a percent sign in the raw path, it may encode a slash, which must
        # not be treated as a separator.
        fixed_match = self._fixed_matches.get(scope["path"])
        if fixed_match is not None and b"%" not in (scope.get("raw_path") or b""):
            return fixed_match

        return self._find_segments(_request_segments(scope))

    def find_path(self, path: str) -> RouteMatch | None:
        """Return the routes at a decoded path, or None if there is no such address."""
        return self._find_segments(_split_path(path))

    def _find_segments(self, segments: list[str]) -> RouteMatch | None:
        """Return the routes for these path segments, or None if there are none.

        Literal segments take precedence over placeholders. An empty segment matches no placeholder.
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
    """Translates the paths of a backend, as in a Location header, into public paths."""

    def __init__(self, routes: Iterable[PublicRoute]) -> None:
        """Build a matcher for the target paths of each backend. The key None is for the gateway itself."""
        targets: dict[str | None, list[tuple[str, PublicRoute]]] = {}
        for route in routes:
            targets.setdefault(route.backend, []).append((route.target, route))

        self._matchers = {backend: RouteMatcher(addresses) for backend, addresses in targets.items()}

    def to_public(self, backend: str | None, location: bytes) -> bytes:
        """Translate the location sent by a backend into a public path.

        For example, `/datasets/7` becomes `/api/v1/datasets/7`. A location that matches no route of the backend is
        returned unchanged.
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
    """Yield all public paths, including aliases, with their routes."""
    for route in routes:
        for address in route.addresses:
            yield address, route


def fill_template(template: str, values: tuple[str, ...]) -> str:
    """Replace the placeholders of a path template by values, in order.

    For example, `/projects/{project_id}` and `("42",)` give `/projects/42`.

    Raises:
        ServiceError: a value is unsafe in a path. The error is the same as for an object that does not exist.
    """
    if not values:
        return template

    remaining_values = iter(values)
    segments = []
    for segment in template.split("/"):
        if segment.startswith("{"):
            value = next(remaining_values)
            _check_value(segment.strip("{}"), value)
            segments.append(value)
        else:
            segments.append(segment)

    return "/".join(segments)


def _check_value(name: str, value: str) -> None:
    """Check that a value from a path can safely be inserted into the path of a forwarded request.

    Args:
        name: the name of the placeholder, which determines the error.
        value: the decoded value.

    Raises:
        ServiceError: the value is too long, is not printable, or would lead to another path. The error is the same as
            for an object that does not exist.
    """
    is_short = len(value) <= MAX_VALUE_LENGTH
    is_single_segment = value not in (".", "..") and "/" not in value
    if not (is_short and is_single_segment and value.isprintable()):
        raise NOT_FOUND_ERRORS[name]


def _split_path(path: str) -> list[str]:
    """Split a path into its segments, ignoring a trailing slash."""
    return path.removesuffix("/").split("/")


def _request_segments(scope: Scope) -> list[str]:
    """Split the path of a request into its decoded segments.

    An encoded slash does not separate segments.
    """
    raw_path: bytes = scope.get("raw_path") or b""
    if b"%2f" not in raw_path.lower():
        return _split_path(scope["path"])

    # Encoded slashes cannot be recognized in the decoded path, so the raw path is split before it is decoded.
    return [unquote(segment) for segment in _split_path(raw_path.decode("latin-1"))]
