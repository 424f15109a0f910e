"""The gate: it finds the route of a request, authenticates the caller, and forwards a rebuilt request."""

import functools
import re
from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import quote

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from touchstone.core.errors import MethodNotAllowed, NotFound, ServiceError
from touchstone.core.identity import InternalTokens
from touchstone.http.backend_auth import CALLER
from touchstone.http.error_responses import error_response
from touchstone.http.internal_client import identity_headers
from touchstone.http.upstream import PATH_SAFE, Upstream
from touchstone.services.gateway.authentication import IDENTITY, Authenticator, Identity
from touchstone.services.gateway.route_matcher import (
    PublicLocations,
    RouteMatch,
    RouteMatcher,
    fill_template,
    public_addresses,
)
from touchstone.services.gateway.route_table import PublicRoute

# No other header of a client is forwarded, whatever its spelling. Headers that name the caller are always rebuilt.
FORWARDED_HEADERS: Final = frozenset(
    {
        b"content-type",
        b"user-agent",
        b"accept",
        b"accept-language",
        b"if-match",
        b"if-none-match",
        b"idempotency-key",
        b"last-event-id",
        b"x-request-id",
    }
)
# The routes of the gateway also see cookies: the sign-in reads the device cookie. No cookie proves an identity.
GATEWAY_HEADERS: Final = FORWARDED_HEADERS | {b"cookie"}
_UNSAFE_IN_QUERY: Final = re.compile(rb"[^\x21\x24-\x3b\x3d\x3f-\x5b\x5d\x5f\x61-\x7a\x7e]")


class Gate:
    """Authenticates every request, unless its route is marked as open, and forwards it to the gateway or a backend.

    The decoded path alone decides about the route, because clients can write anything into the other parts.
    """

    def __init__(
        self,
        routes: Sequence[PublicRoute],
        *,
        gateway_app: ASGIApp,
        upstreams: Mapping[str, Upstream],
        authenticator: Authenticator,
        tokens: InternalTokens | None,
    ) -> None:
        self._matcher = RouteMatcher(public_addresses(routes))
        self._locations = PublicLocations(routes)
        self._gateway_app = gateway_app
        self._upstreams = upstreams
        self._authenticator = authenticator
        self._tokens = tokens

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to a request."""
        # No error is raised after a response has begun: applications respond to their own errors, and an upstream
        # raises only before its first byte.
        try:
            match = self._matcher.find(scope)
            route = match.routes.get(scope["method"]) if match else None

            # An unknown address needs a token, too, before the response says that it is unknown.
            identity = None
            if not _is_open(match, route):
                headers = scope["headers"]
                identity = self._authenticator.cached_identity(headers)
                if identity is None:
                    identity = await self._authenticator.authenticate(headers)

            if match is None:
                raise NotFound
            if route is None:
                raise MethodNotAllowed(allowed=match.routes)

            rebuilt_scope = self._rebuild_scope(scope, route, match, identity)
            destination = self._gateway_app if route.backend is None else self._upstreams[route.backend]
            if route.returns_location:
                send = self._publish_location(send, route)
            await destination(rebuilt_scope, receive, send)
        except ServiceError as error:
            await error_response(error, scope)(scope, receive, send)

    def _rebuild_scope(self, scope: Scope, route: PublicRoute, match: RouteMatch, identity: Identity | None) -> Scope:
        """Return the scope for the destination: its path, the allowed headers, and the authenticated caller."""
        path = fill_template(route.target, match.values)
        caller = identity.caller if identity else None
        allowed_headers = GATEWAY_HEADERS if route.backend is None else FORWARDED_HEADERS
        headers = [(name, value) for name, value in scope["headers"] if name in allowed_headers]

        return {
            **scope,
            "path": path,
            "raw_path": _encode_path(path),
            "root_path": "",
            "query_string": _UNSAFE_IN_QUERY.sub(_escape_byte, scope["query_string"]),
            "headers": headers + identity_headers(caller, self._tokens),
            CALLER: caller,
            IDENTITY: identity,
        }

    def _publish_location(self, send: Send, route: PublicRoute) -> Send:
        """Return a `send` that replaces the backend's address in the Location header with the public one."""

        async def send_with_public_location(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = [
                    (name, self._locations.to_public(route.backend, value) if name == b"location" else value)
                    for name, value in message["headers"]
                ]
                message = {**message, "headers": headers}
            await send(message)

        return send_with_public_location


def _is_open(match: RouteMatch | None, route: PublicRoute | None) -> bool:
    """Return whether the request needs no token; for a method that is not allowed, the other methods decide."""
    if match is None:
        return False
    if route is None:
        return all(other_route.is_open for other_route in match.routes.values())
    return route.is_open


@functools.lru_cache(maxsize=1000)
def _encode_path(path: str) -> bytes:
    return quote(path, safe=PATH_SAFE).encode()


def _escape_byte(match: re.Match[bytes]) -> bytes:
    return b"%%%02X" % match[0][0]
