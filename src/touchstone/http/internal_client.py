"""The client for calls between the parts of the service on behalf of a user."""

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
    """The status and the decoded JSON body of a response. The value is None if the body is empty."""

    status: int
    value: Any


def identity_headers(caller: Caller | None, tokens: InternalTokens | None) -> Headers:
    """Return the headers that identify the caller to a backend.

    If the parts of the service share an internal key, they include a signed token, which proves their origin.
    """
    headers: Headers = [] if caller is None else list(_user_headers(caller))
    if tokens is not None:
        headers.append((INTERNAL_HEADER, tokens.sign(caller)))
    return headers


@functools.lru_cache(maxsize=10_000)
def _user_headers(caller: Caller) -> tuple[tuple[bytes, bytes], ...]:
    """Return the headers with the id of a user and, if known, the percent-encoded e-mail address."""
    id_header = (USER_ID_HEADER, str(caller.id).encode())
    if not caller.email:
        return (id_header,)

    email_header = (USER_EMAIL_HEADER, quote(caller.email, safe=_EMAIL_SAFE).encode())
    return id_header, email_header


class InternalClient:
    """A client that reads from a backend, which runs in this process or in another one."""

    def __init__(self, upstream: Upstream, tokens: InternalTokens | None) -> None:
        self.upstream = upstream
        self.tokens = tokens

    async def get(self, path: str, caller: Caller | None, *, query: str = "", locale: str = "fr") -> InternalResponse:
        """Send a GET request to the backend on behalf of a user, and return its response.

        Args:
            path: the decoded path. Its variable parts must have been validated.
            caller: the user, or None for a request without a user.
            query: the query string of the URL.
            locale: the preferred language of messages in the response.

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
            # A backend in this process uses this entry instead of the identity headers.
            CALLER: caller,
        }

        collector = _ResponseCollector()
        await self.upstream(scope, _receive_empty_body, collector.send)

        value = msgspec.json.decode(collector.body) if collector.body else None
        return InternalResponse(collector.status, value)


class _ResponseCollector:
    """Collects a response in memory."""

    def __init__(self) -> None:
        self.status = 0
        self.body = b""

    async def send(self, message: Message) -> None:
        """Store the status, or append a chunk of the body."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
        else:
            self.body += message.get("body", b"")


async def _receive_empty_body() -> Message:
    """Return the only message of a request without a body."""
    return {"type": "http.request", "body": b"", "more_body": False}
