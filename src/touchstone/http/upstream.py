"""The one seam between the gateway and a backend: its own ASGI app in this process, or a streaming hop to another."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable
from typing import Final, Protocol
from urllib.parse import quote

import aiohttp
from starlette.types import ASGIApp, Receive, Scope, Send
from yarl import URL

from touchstone.core.errors import BackendUnavailable, UpstreamTimeout
from touchstone.http.shutdown import stop_event

CONNECT_SECONDS: Final = 2.0
# Shorter than the backend's 75 s: a connection that the backend is about to close is never picked up.
KEEP_ALIVE_SECONDS: Final = 15.0
PATH_SAFE: Final = "/-._~!$&'()*+,;=:@"
# Bound to one connection (RFC 9110, section 7.6.1), or written anew by our own server.
_DROPPED: Final = frozenset({b"connection", b"keep-alive", b"transfer-encoding", b"date", b"server", b"te", b"upgrade"})
_BODILESS: Final = frozenset({"GET", "HEAD", "OPTIONS", "DELETE"})


class Upstream(Protocol):
    """A backend as the gateway sees it: called like an ASGI app, with a scope that the gateway has rebuilt."""

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Answer the request."""

    async def ping(self) -> None:
        """Return when the backend is ready; raise when it is not."""


class InProcessBackend:
    """The backend's own app: same receive, same send, nothing copied."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Hand the request to the app."""
        return self.app(scope, receive, send)

    async def ping(self) -> None:
        """Always there; its resources are asked by the part that opened them."""


class AbsentBackend:
    """A backend that is not part of this installation."""

    def __init__(self, name: str) -> None:
        self.name = name

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse with 503."""
        raise BackendUnavailable(backend=self.name, retry_after=60)

    async def ping(self) -> None:
        """Nothing to wait for: an absent backend does not make the rest unready."""


class RemoteBackend:
    """A backend in another process, over HTTP, streamed both ways."""

    def __init__(self, name: str, url: str, *, timeout: float) -> None:
        self.name = name
        self.url = url.rstrip("/")
        self.timeout = timeout
        self._session: aiohttp.ClientSession | None = None

    def _client(self) -> aiohttp.ClientSession:
        if self._session is None:
            connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=KEEP_ALIVE_SECONDS)
            if self.url.startswith("unix:"):
                connector = aiohttp.UnixConnector(  # type: ignore[assignment]
                    path=self.url.removeprefix("unix:"), limit=0, keepalive_timeout=KEEP_ALIVE_SECONDS
                )
            self._session = aiohttp.ClientSession(
                connector=connector,
                timeout=aiohttp.ClientTimeout(sock_connect=CONNECT_SECONDS),
                auto_decompress=False,
                cookie_jar=aiohttp.DummyCookieJar(),
                skip_auto_headers=("User-Agent", "Content-Type", "Accept", "Accept-Encoding"),
            )
        return self._session

    def _address(self, scope: Scope) -> str:
        base = "http://backend" if self.url.startswith("unix:") else self.url
        path = quote(scope["path"], safe=PATH_SAFE)
        query = scope["query_string"].decode("latin-1")
        return f"{base}{path}?{query}" if query else f"{base}{path}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the request on and stream the answer back.

        Raises:
            BackendUnavailable: it cannot be reached, or broke off before its answer began.
            UpstreamTimeout: its answer did not begin in time.
        """
        from_client = _Body(receive)
        bodiless = scope["method"] in _BODILESS and not _has_body(scope)
        call = self._client().request(
            scope["method"],
            URL(self._address(scope), encoded=True),
            headers=[(n.decode("latin-1"), v.decode("latin-1")) for n, v in scope["headers"]],
            data=None if bodiless else from_client.chunks(),
            allow_redirects=False,
        )
        try:
            answer = await asyncio.wait_for(call, self.timeout)
        except TimeoutError as problem:
            raise UpstreamTimeout(backend=self.name) from problem
        except (aiohttp.ClientError, OSError) as problem:
            if from_client.problem:
                raise from_client.problem from None
            raise BackendUnavailable(backend=self.name) from problem
        async with answer:
            await _stream_back(answer, from_client, send, stop_event(scope))

    async def ping(self) -> None:
        """Ask the backend whether it is ready; raises when it is not."""
        async with self._client().get(
            URL(("http://backend" if self.url.startswith("unix:") else self.url) + "/health/ready")
        ) as answer:
            if answer.status != 200:
                raise BackendUnavailable(backend=self.name)

    async def close(self) -> None:
        """Close the pooled connections."""
        if self._session is not None:
            await self._session.close()


class _Body:
    """The client's body as a stream for the hop, keeping the refusal that cut it short."""

    def __init__(self, receive: Receive) -> None:
        self.receive = receive
        self.complete = False
        self.problem: Exception | None = None

    async def chunks(self) -> AsyncIterator[bytes]:
        try:
            while not self.complete:
                message = await self.receive()
                if message["type"] == "http.disconnect":
                    raise ConnectionResetError("the client went away")
                self.complete = not message.get("more_body", False)
                if chunk := message.get("body", b""):
                    yield chunk
        except Exception as problem:
            self.problem = problem
            raise

    async def gone(self) -> None:
        """Return when the client has gone away."""
        while (await self.receive())["type"] != "http.disconnect":
            pass


async def _stream_back(answer: aiohttp.ClientResponse, client: _Body, send: Send, stop: asyncio.Event | None) -> None:
    headers = [(n.lower(), v) for n, v in answer.raw_headers if n.lower() not in _DROPPED]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    # An event stream may stay silent for long: the backend must learn that nobody listens any more, or may.
    streaming = answer.content_type == "text/event-stream"
    ends = [client.gone(), *([stop.wait()] if stop else [])] if streaming else []
    watches = [asyncio.ensure_future(end) for end in ends]
    for watch in watches:
        watch.add_done_callback(lambda _: answer.close())
    try:
        with contextlib.suppress(aiohttp.ClientConnectionError) if streaming else contextlib.nullcontext():
            async for chunk in answer.content.iter_any():
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
    finally:
        for watch in watches:
            watch.cancel()
    await send({"type": "http.response.body", "body": b"", "more_body": False})


def _has_body(scope: Scope) -> bool:
    headers = dict(scope["headers"])
    return b"transfer-encoding" in headers or headers.get(b"content-length", b"0") != b"0"
