"""Authentication of the gateway to backends, with signed tokens or with a plain header on loopback."""

from collections.abc import Awaitable
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from touchstone.core.errors import InvalidUserId, ServiceError
from touchstone.core.identity import Caller, read_user_id
from touchstone.core.internal_tokens import InternalTokens
from touchstone.http.error_responses import error_response

# The scope key under which the caller is stored. No client can set it, because scopes are built in this process.
CALLER: Final = "touchstone.caller"
_PUBLIC_PATHS: Final = ("/docs", "/openapi.json", "/health/")


class BackendAuthMiddleware:
    """Middleware of a backend that stores the caller of each request in its scope.

    With an internal key, requests are refused unless the gateway has signed them. Without one, the backend only listens
    on the loopback interface, and trusts the `X-User-ID` header.
    """

    def __init__(self, app: ASGIApp, tokens: InternalTokens | None) -> None:
        self.app = app
        self.tokens = tokens

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Identify the caller and pass the request on, or send an error response if authentication fails.

        If the gateway runs in the same process, it has already stored the caller in the scope.
        """
        is_identified = CALLER in scope
        if scope["type"] != "http" or is_identified or scope["path"].startswith(_PUBLIC_PATHS):
            return self.app(scope, receive, send)

        try:
            caller = self._identify(scope)
        except ServiceError as error:
            return error_response(error, scope)(scope, receive, send)

        return self.app({**scope, CALLER: caller}, receive, send)

    def _identify(self, scope: Scope) -> Caller | None:
        """Return the caller named in the request headers, or None for a request without a user.

        Raises:
            ServiceError: the request has no valid signature, or the user id is malformed.
        """
        if self.tokens is not None:
            return self.tokens.verify(scope["headers"])

        user_id = read_user_id(scope["headers"])
        if user_id is None:
            return None
        return Caller(user_id)


def caller_of(scope: Scope) -> Caller | None:
    """Return the caller identified by `BackendAuthMiddleware`, or None for a request without a user."""
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
