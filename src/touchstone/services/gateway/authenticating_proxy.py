"""The proxy that authenticates requests and forwards them to the gateway's routes or a backend."""

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
from touchstone.http.request_tracking import identify_user
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

# No other client headers are forwarded. The headers that identify the caller are always written by the proxy.
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
# The gateway's own routes also receive cookies, because the sign-in reads the device cookie. No cookie authenticates a
# user.
GATEWAY_HEADERS: Final = FORWARDED_HEADERS | {b"cookie"}
# The bytes that may not occur in a query: control characters, spaces, non-ASCII bytes and the characters "#<>\^`{|}.
_UNSAFE_IN_QUERY: Final = re.compile(rb"[^\x21\x24-\x3b\x3d\x3f-\x5b\x5d\x5f\x61-\x7a\x7e]")


class AuthenticatingProxy:
    """The entry point of the public API, which authenticates and forwards requests.

    Only routes that are marked as open can be called without a token. Clients can send arbitrary headers and paths, so
    only the decoded path determines the route, and the destination receives a rebuilt scope.
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
        """Create the proxy.

        Args:
            routes: the public routes.
            gateway_app: the application with the gateway's own routes.
            upstreams: the backends by name.
            authenticator: resolves the Authorization header to a user.
            tokens: signs the requests to backends in other processes, or None if there is no internal key.
        """
        self._matcher = RouteMatcher(public_addresses(routes))
        self._locations = PublicLocations(routes)
        self._gateway_app = gateway_app
        self._upstreams = upstreams
        self._authenticator = authenticator
        self._tokens = tokens

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Authenticate a request and forward it to its destination, or send an error response.

        Raises:
            ServiceError: the response cannot be completed, for example because the database is gone during an export.
        """
        response_has_begun = False

        async def tracked_send(message: Message) -> None:
            nonlocal response_has_begun
            response_has_begun = True
            await send(message)

        try:
            match = self._matcher.find(scope)
            route = match.routes.get(scope["method"]) if match else None

            # Clients without a token do not even learn which addresses are unknown.
            identity = None
            if not _is_allowed_without_token(match, route):
                identity = self._authenticator.cached_identity(scope["headers"])
                if identity is None:
                    identity = await self._authenticator.authenticate(scope["headers"])
                identify_user(identity.caller.id)

            if match is None:
                raise NotFound
            if route is None:
                raise MethodNotAllowed(allowed=match.routes)

            destination = self._gateway_app if route.backend is None else self._upstreams[route.backend]
            rebuilt_scope = self._rebuild_scope(scope, route, match, identity)
            response_send = self._translate_location(tracked_send, route) if route.returns_location else tracked_send
            await destination(rebuilt_scope, receive, response_send)
        except ServiceError as error:
            # The server then closes the connection, so that the client does not take the response for complete.
            if response_has_begun:
                raise
            await error_response(error, scope)(scope, receive, send)

    def _rebuild_scope(self, scope: Scope, route: PublicRoute, match: RouteMatch, identity: Identity | None) -> Scope:
        """Return the ASGI scope of the forwarded request.

        It has the path at the destination and only the allowed headers of the client. The headers that identify the
        caller are always written here, even if the client has sent some.

        Raises:
            ServiceError: a value in the path is unsafe. The error is the same as for an object that does not exist.
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

    def _translate_location(self, send: Send, route: PublicRoute) -> Send:
        """Wrap `send` to translate the Location header of the response to a public address.

        For example, `/datasets/7` at the selection backend becomes `/api/v1/datasets/7`.
        """

        async def send_with_public_location(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = []
                for name, value in message["headers"]:
                    if name == b"location":
                        value = self._locations.to_public(route.backend, value)
                    headers.append((name, value))
                message = {**message, "headers": headers}

            await send(message)

        return send_with_public_location


def _is_allowed_without_token(match: RouteMatch | None, route: PublicRoute | None) -> bool:
    """Return whether a request is allowed without a token.

    An unknown address requires a token. So does a method that the address does not support, unless all supported ones
    are open.

    Args:
        match: the routes at the address, or None if the address is unknown.
        route: the route for the method, or None if the address does not support the method.
    """
    if match is None:
        return False
    if route is None:
        return all(supported_route.is_open for supported_route in match.routes.values())
    return route.is_open


@functools.lru_cache(maxsize=1000)
def _encode_path(path: str) -> bytes:
    """Percent-encode a decoded path."""
    return quote(path, safe=PATH_SAFE).encode()


def _percent_encode_byte(match: re.Match[bytes]) -> bytes:
    """Percent-encode a single matched byte, for example as `%3C`."""
    byte = match[0][0]
    return b"%%%02X" % byte
