"""The proxy in front of the gateway's routes and the backends, which authenticates requests and forwards them."""

import functools
import re
from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import quote

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from touchstone.core.errors import MethodNotAllowed, NotFound, ServiceError
from touchstone.core.internal_tokens import InternalTokens
from touchstone.http.backend_auth import CALLER
from touchstone.http.error_responses import error_response
from touchstone.http.internal_client import identity_headers
from touchstone.http.upstream import PATH_SAFE, Upstream
from touchstone.services.gateway.authentication import IDENTITY, Authenticator, Identity
from touchstone.services.gateway.public_routes import PublicRoute
from touchstone.services.gateway.route_matcher import (
    PublicLocations,
    RouteMatch,
    RouteMatcher,
    fill_template,
    public_addresses,
)

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


class AuthenticatingProxy:
    """The entrance to the whole public API: it authenticates a request and forwards it to the gateway or a backend.

    Only routes that are marked as open can be called without a token. Clients can write anything into a request, so
    the decoded path alone decides about the route, and the destination receives a scope that is built anew.
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
        """Prepare to forward requests for these routes to the gateway's own application or to a backend.

        `upstreams` are the connections to the backends, by name. `tokens` sign the requests that are forwarded to
        backends in other processes, so that these know who the caller is.
        """
        self._matcher = RouteMatcher(public_addresses(routes))
        self._locations = PublicLocations(routes)
        self._gateway_app = gateway_app
        self._upstreams = upstreams
        self._authenticator = authenticator
        self._tokens = tokens

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Authenticate a request and forward it to its destination, or respond with the reason why it is refused."""
        try:
            match = self._matcher.find(scope)
            route = match.routes.get(scope["method"]) if match else None

            # An unknown address needs a token, too, before the response says that it is unknown.
            identity = None
            if not _is_open(match, route):
                identity = self._authenticator.cached_identity(scope["headers"])
                if identity is None:
                    identity = await self._authenticator.authenticate(scope["headers"])

            if match is None:
                raise NotFound
            if route is None:
                raise MethodNotAllowed(allowed=match.routes)

            destination = self._gateway_app if route.backend is None else self._upstreams[route.backend]
            rebuilt_scope = self._rebuild_scope(scope, route, match, identity)
            if route.returns_location:
                send = self._publish_location(send, route)
            await destination(rebuilt_scope, receive, send)
        except ServiceError as error:
            # No response has begun: applications respond to their own errors, and a backend that cannot be reached
            # raises before its first byte.
            await error_response(error, scope)(scope, receive, send)

    def _rebuild_scope(self, scope: Scope, route: PublicRoute, match: RouteMatch, identity: Identity | None) -> Scope:
        """Return the ASGI scope with which a request is forwarded.

        It has the path at the destination. Of the client's headers it keeps only those on a short list; the headers
        that name the caller are always written here, whatever the client has sent.

        Raises:
            ServiceError: the path contains a value that nothing can have, for example a wrong kind of id. The error is
                the same as for something that does not exist.
        """
        path = fill_template(route.target, match.values)
        caller = identity.caller if identity else None

        allowed_headers = GATEWAY_HEADERS if route.backend is None else FORWARDED_HEADERS
        client_headers = [(name, value) for name, value in scope["headers"] if name in allowed_headers]

        return {
            **scope,
            "path": path,
            "raw_path": _encode_path(path),
            "root_path": "",
            "query_string": _UNSAFE_IN_QUERY.sub(_percent_encode_byte, scope["query_string"]),
            "headers": client_headers + identity_headers(caller, self._tokens),
            CALLER: caller,
            IDENTITY: identity,
        }

    def _publish_location(self, send: Send, route: PublicRoute) -> Send:
        """Wrap `send` so that the Location header of the response contains a public address.

        A backend knows only its own addresses: it names `/datasets/7`, and the client receives `/api/v1/datasets/7`.
        """

        async def send_with_public_location(message: Message) -> None:
            """Send a message of the response, with the Location header translated if it has one."""
            if message["type"] == "http.response.start":
                headers = []
                for name, value in message["headers"]:
                    if name == b"location":
                        value = self._locations.to_public(route.backend, value)
                    headers.append((name, value))
                message = {**message, "headers": headers}

            await send(message)

        return send_with_public_location


def _is_open(match: RouteMatch | None, route: PublicRoute | None) -> bool:
    """Return whether a request needs no token.

    An unknown address (no `match`) needs one. A method that is not allowed at the address (no `route`) needs one
    unless all methods that are allowed there are open.
    """
    if match is None:
        return False
    if route is None:
        return all(allowed_route.is_open for allowed_route in match.routes.values())

    return route.is_open


@functools.lru_cache(maxsize=1000)
def _encode_path(path: str) -> bytes:
    """Return a decoded path as it is written in a URL; the encoding of recent paths is cached."""
    return quote(path, safe=PATH_SAFE).encode()


def _percent_encode_byte(match: re.Match[bytes]) -> bytes:
    """Return the percent-encoding of a single matched byte, for example `%3C`."""
    byte = match[0][0]
    return b"%%%02X" % byte
