"""A client with which one part of the service calls another on behalf of a user."""

import functools
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

import msgspec
from starlette.types import Message, Scope

from touchstone.core.identity import USER_EMAIL_HEADER, USER_ID_HEADER, Caller, Headers
from touchstone.core.internal_tokens import INTERNAL_HEADER, InternalTokens
from touchstone.http.backend_auth import CALLER
from touchstone.http.upstream import PATH_SAFE, Upstream

_ASGI_HTTP: Final = {"type": "http", "asgi": {"version": "3.0", "spec_version": "2.3"}, "http_version": "1.1"}
_EMAIL_SAFE: Final = "@+!#$&'*/=?^`{|}~"


@dataclass(frozen=True, slots=True)
class InternalResponse:
    """The response of another part: its status and its JSON value, which is None if the body is empty."""

    status: int
    value: Any


def identity_headers(caller: Caller | None, tokens: InternalTokens | None) -> Headers:
    """Return the headers that tell a backend on whose behalf it is called.

    If the parts share an internal key, a signed token proves that the headers come from one of them.
    """
    headers: Headers = [] if caller is None else [*_user_headers(caller)]
    if tokens is not None:
        headers.append((INTERNAL_HEADER, tokens.sign(caller)))
    return headers


@functools.lru_cache(maxsize=10_000)
def _user_headers(caller: Caller) -> tuple[tuple[bytes, bytes], ...]:
    """Return the headers with the id of a user and, if it is known, the e-mail address in percent-encoding."""
    id_header = (USER_ID_HEADER, str(caller.id).encode())
    if not caller.email:
        return (id_header,)

    email_header = (USER_EMAIL_HEADER, quote(caller.email, safe=_EMAIL_SAFE).encode())
    return id_header, email_header


class InternalClient:
    """A client with which one part of the service reads from a backend, in this process or another one."""

    def __init__(self, upstream: Upstream, tokens: InternalTokens | None) -> None:
        self.upstream = upstream
        self.tokens = tokens

    async def get(self, path: str, caller: Caller | None, *, query: str = "", locale: str = "fr") -> InternalResponse:
        """Send a GET request to the backend on behalf of a user, and return its response.

        Args:
            path: the path, whose variable parts must have been validated.
            caller: the user, or None for a request without one.
            query: the query of the URL.
            locale: the language of texts in the response.

        Raises:
            BackendUnavailable: the backend cannot be reached.
            UpstreamTimeout: the backend did not respond in time.
        """
        locale_header = (b"accept-language", locale.encode())
        scope: Scope = {
            **_ASGI_HTTP,
            "method": "GET",
            "scheme": "http",
            "path": path,
            "raw_path": quote(path, safe=PATH_SAFE).encode(),
            "root_path": "",
            "query_string": query.encode(),
            "headers": [locale_header, *identity_headers(caller, self.tokens)],
            "client": None,
            "server": None,
            # A backend in this process finds the caller here and does not read the identity headers.
            CALLER: caller,
        }

        collector = _ResponseCollector()
        await self.upstream(scope, _receive_empty_body, collector.send)

        value = msgspec.json.decode(collector.body) if collector.body else None
        return InternalResponse(collector.status, value)


class _ResponseCollector:
    """An ASGI `send` function that keeps the response in memory."""

    def __init__(self) -> None:
        self.status = 0
        self.body = b""

    async def send(self, message: Message) -> None:
        """Note the status, or add a part of the body."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
        else:
            self.body += message.get("body", b"")


async def _receive_empty_body() -> Message:
    """Return the only message of a request without a body."""
    return {"type": "http.request", "body": b"", "more_body": False}
