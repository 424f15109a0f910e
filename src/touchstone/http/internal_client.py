"""How one part asks another on behalf of a caller: through the same seam as the gateway's requests."""

import functools
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

import msgspec
from starlette.types import Message, Scope

from touchstone.core.identity import INTERNAL_HEADER, USER_EMAIL_HEADER, USER_ID_HEADER, Caller, Headers, InternalTokens
from touchstone.http.backend_auth import CALLER
from touchstone.http.upstream import PATH_SAFE, Upstream

_HTTP: Final = {"type": "http", "asgi": {"version": "3.0", "spec_version": "2.3"}, "http_version": "1.1"}


@dataclass(frozen=True, slots=True)
class InternalResponse:
    """What another part answered: its status and its JSON value (None when the body is empty)."""

    status: int
    value: Any


def identity_headers(caller: Caller | None, tokens: InternalTokens | None) -> Headers:
    """The headers that tell a backend who is calling, and prove it when there is a key."""
    headers: Headers = [] if caller is None else [*_naming(caller)]
    if tokens is not None:
        headers.append((INTERNAL_HEADER, tokens.sign(caller)))
    return headers


@functools.lru_cache(maxsize=10_000)
def _naming(caller: Caller) -> tuple[tuple[bytes, bytes], ...]:
    named = ((USER_ID_HEADER, str(caller.id).encode()),)
    if not caller.email:
        return named
    return (*named, (USER_EMAIL_HEADER, quote(caller.email, safe="@+!#$&'*/=?^`{|}~").encode()))


class InternalClient:
    """Asks one backend as a given caller."""

    def __init__(self, upstream: Upstream, tokens: InternalTokens | None) -> None:
        self.upstream = upstream
        self.tokens = tokens

    async def get(self, path: str, caller: Caller | None, *, query: str = "", locale: str = "fr") -> InternalResponse:
        """GET `path` (already a path of the backend; values in it have been validated).

        Raises:
            BackendUnavailable, UpstreamTimeout: the backend cannot be asked now.
        """
        scope: Scope = {
            **_HTTP,
            "method": "GET",
            "scheme": "http",
            "path": path,
            "raw_path": quote(path, safe=PATH_SAFE).encode(),
            "root_path": "",
            "query_string": query.encode(),
            "headers": [(b"accept-language", locale.encode()), *identity_headers(caller, self.tokens)],
            "client": None,
            "server": None,
            CALLER: caller,
        }
        collected = _Collected()
        await self.upstream(scope, _empty_body, collected.send)
        return InternalResponse(collected.status, msgspec.json.decode(collected.body) if collected.body else None)


class _Collected:
    def __init__(self) -> None:
        self.status = 0
        self.body = b""

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
        else:
            self.body += message.get("body", b"")


async def _empty_body() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}
