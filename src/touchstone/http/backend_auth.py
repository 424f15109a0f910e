"""Authentication of the gateway by a backend: by process, by signed token, or on loopback by a plain header."""

from collections.abc import Awaitable
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from touchstone.core.errors import InvalidUserId, ServiceError
from touchstone.core.identity import Caller, InternalTokens, read_user_id
from touchstone.http.error_responses import error_response

# A scope is built in this process, so only our own gateway can have put the caller into it.
CALLER: Final = "touchstone.caller"
_PUBLIC_PATHS: Final = ("/docs", "/openapi.json", "/health/")


class BackendAuthMiddleware:
    """Identifies the caller of a backend; with a key, requests that do not come from the gateway are refused."""

    def __init__(self, app: ASGIApp, tokens: InternalTokens | None) -> None:
        self.app = app
        self.tokens = tokens

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Put the caller into the scope and pass the request on."""
        if scope["type"] != "http" or CALLER in scope or scope["path"].startswith(_PUBLIC_PATHS):
            return self.app(scope, receive, send)

        try:
            caller = self._identify(scope)
        except ServiceError as error:
            return error_response(error, scope)(scope, receive, send)
        return self.app({**scope, CALLER: caller}, receive, send)

    def _identify(self, scope: Scope) -> Caller | None:
        if self.tokens is not None:
            return self.tokens.verify(scope["headers"])

        user_id = read_user_id(scope["headers"])
        return None if user_id is None else Caller(user_id)


def caller_of(scope: Scope) -> Caller | None:
    """Return the caller whom `BackendAuthMiddleware` identified, or None for a request without a user."""
    caller: Caller | None = scope.get(CALLER)
    return caller


def require_caller(scope: Scope) -> Caller:
    """Return the caller of a request that needs a user.

    Raises:
        InvalidUserId: the request has no user.
    """
    caller = caller_of(scope)
    if caller is None:
        raise InvalidUserId
    return caller
