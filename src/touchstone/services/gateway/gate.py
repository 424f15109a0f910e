"""The only public door: finds the route, knows the caller, and hands the request on, rebuilt, to whoever answers."""

import functools
import re
from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import quote

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from touchstone.core.errors import MethodNotAllowed, NotFound, ServiceError
from touchstone.core.identity import Headers, InternalTokens
from touchstone.http.backend_auth import CALLER
from touchstone.http.error_responses import error_response
from touchstone.http.internal_client import identity_headers
from touchstone.http.upstream import PATH_SAFE, Upstream
from touchstone.services.gateway.identities import IDENTITY, Identities, Identity
from touchstone.services.gateway.route_matcher import Match, Matcher, PublicLocations, filled, public_addresses
from touchstone.services.gateway.route_table import PublicRoute

# Everything else that a client sends stays behind, whatever its spelling: identity is rebuilt, never passed on.
FORWARDED: Final = frozenset(
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
# The gateway's own routes see cookies too: the sign-in looks for the one of the device, and none proves an identity.
OWN_HEADERS: Final = FORWARDED | {b"cookie"}
_UNSAFE_IN_QUERY: Final = re.compile(rb"[^\x21\x24-\x3b\x3d\x3f-\x5b\x5d\x5f\x61-\x7a\x7e]")


class Gate:
    """Authentication is the default; what is open is a row of the table that says so.

    Decides on the decoded path of the request and on nothing else a client can write (not on its Host).
    """

    def __init__(
        self,
        routes: Sequence[PublicRoute],
        *,
        own: ASGIApp,
        upstreams: Mapping[str, Upstream],
        identities: Identities,
        tokens: InternalTokens | None,
    ) -> None:
        self._matcher = Matcher(public_addresses(routes))
        self._locations = PublicLocations(routes)
        self._own = own
        self._upstreams = upstreams
        self._identities = identities
        self._tokens = tokens

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        # Refusals come before an answer has begun: an application answers its own, a hop fails before its first byte.
        try:
            match = self._matcher.find(scope)
            route = match.routes.get(scope["method"]) if match else None
            identity = None
            if not _is_open(match, route):
                headers = scope["headers"]
                identity = self._identities.known(headers) or await self._identities.of(headers)
            if match is None:
                raise NotFound
            if route is None:
                raise MethodNotAllowed(allowed=match.routes)
            rebuilt = self._rebuilt(scope, route, match, identity)
            answerer = self._own if route.backend is None else self._upstreams[route.backend]
            await answerer(rebuilt, receive, self._locating(send, route) if route.is_making else send)
        except ServiceError as problem:
            await error_response(problem, scope)(scope, receive, send)

    def _locating(self, send: Send, route: PublicRoute) -> Send:
        """A `send` that gives what was made its public address."""

        async def located(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = [
                    (n, self._locations.of(route.backend, v) if n == b"location" else v) for n, v in message["headers"]
                ]
                message = {**message, "headers": headers}
            await send(message)

        return located

    def _rebuilt(self, scope: Scope, route: PublicRoute, match: Match, identity: Identity | None) -> Scope:
        path = filled(route.target, match.values)
        caller = identity.caller if identity else None
        names = OWN_HEADERS if route.backend is None else FORWARDED
        headers: Headers = [(name, value) for name, value in scope["headers"] if name in names]
        return {
            **scope,
            "path": path,
            "raw_path": _encoded(path),
            "root_path": "",
            "query_string": _UNSAFE_IN_QUERY.sub(_escaped, scope["query_string"]),
            "headers": headers + identity_headers(caller, self._tokens),
            CALLER: caller,
            IDENTITY: identity,
        }


@functools.lru_cache(maxsize=1000)
def _encoded(path: str) -> bytes:
    return quote(path, safe=PATH_SAFE).encode()


def _is_open(match: Match | None, route: PublicRoute | None) -> bool:
    if match is None:
        return False
    return route.is_open if route else all(other.is_open for other in match.routes.values())


def _escaped(byte: re.Match[bytes]) -> bytes:
    return b"%%%02X" % byte[0][0]
