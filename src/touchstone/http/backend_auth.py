"""Whom a backend believes: the gateway in its own process, its signed token, or (on loopback) a bare header."""

from collections.abc import Awaitable
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from touchstone.core.errors import InvalidUserId, ServiceError
from touchstone.core.identity import Caller, InternalTokens, read_user_id
from touchstone.http.error_responses import error_response

# Only code in this process can put a key into a scope: what stands there was put there by our own gateway.
CALLER: Final = "touchstone.caller"
_OPEN: Final = ("/docs", "/openapi.json", "/health/")


class BackendAuthMiddleware:
    """The first layer of a backend: finds the caller, and with a key lets nobody but the gateway pass."""

    def __init__(self, app: ASGIApp, tokens: InternalTokens | None) -> None:
        self.app = app
        self.tokens = tokens

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Put the caller into the scope and pass the request on."""
        if scope["type"] == "http" and CALLER not in scope and not scope["path"].startswith(_OPEN):
            try:
                scope = {**scope, CALLER: self._caller(scope)}
            except ServiceError as problem:
                return error_response(problem, scope)(scope, receive, send)
        return self.app(scope, receive, send)

    def _caller(self, scope: Scope) -> Caller | None:
        if self.tokens is not None:
            return self.tokens.verify(scope["headers"])
        user_id = read_user_id(scope["headers"])
        return None if user_id is None else Caller(user_id)


def caller_of(scope: Scope) -> Caller | None:
    """The caller that the guard found; None when there is none."""
    found: Caller | None = scope.get(CALLER)
    return found


def require_caller(scope: Scope) -> Caller:
    """The caller.

    Raises:
        InvalidUserId: there is none.
    """
    found = caller_of(scope)
    if found is None:
        raise InvalidUserId
    return found
