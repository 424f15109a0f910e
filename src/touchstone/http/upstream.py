"""The interface between the gateway and a backend, which is an ASGI app in this process or an HTTP server elsewhere."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable
from typing import Any, Final, Protocol
from urllib.parse import quote

import aiohttp
from starlette.types import ASGIApp, Receive, Scope, Send
from yarl import URL

from touchstone.core.errors import BackendUnavailable, UpstreamTimeout
from touchstone.http.shutdown import stop_event

CONNECT_SECONDS: Final = 2.0
# Shorter than the 75 s of the backend, so that a connection which the backend is about to close is never reused.
KEEP_ALIVE_SECONDS: Final = 15.0
PATH_SAFE: Final = "/-._~!$&'()*+,;=:@"
UNIX_PREFIX: Final = "unix:"
# Headers that belong to one connection (RFC 9110, section 7.6.1), and headers that our own server writes.
_HOP_HEADERS: Final = frozenset(
    {b"connection", b"keep-alive", b"transfer-encoding", b"date", b"server", b"te", b"upgrade"}
)
_METHODS_WITHOUT_BODY: Final = frozenset({"GET", "HEAD", "OPTIONS", "DELETE"})


class Upstream(Protocol):
    """A backend as the gateway sees it: an ASGI app that receives scopes rebuilt by the gateway."""

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Handle the request."""

    async def ping(self) -> None:
        """Return if the backend is ready, and raise if it is not."""


class InProcessBackend:
    """A backend in this process; requests and responses pass through without being copied."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Call the backend's app."""
        return self.app(scope, receive, send)

    async def ping(self) -> None:
        """Do nothing: the part that opened the backend's resources checks them."""


class AbsentBackend:
    """A backend that is not part of this installation."""

    def __init__(self, name: str) -> None:
        self.name = name

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse the request with status 503."""
        raise BackendUnavailable(backend=self.name, retry_after=60)

    async def ping(self) -> None:
        """Do nothing: an absent backend does not keep the rest from being ready."""


class RemoteBackend:
    """A backend in another process, called over HTTP; requests and responses are streamed."""

    def __init__(self, name: str, url: str, *, timeout: float) -> None:
        self.name = name
        self.url = url.rstrip("/")
        self.timeout = timeout
        self._is_unix_socket = url.startswith(UNIX_PREFIX)
        self._base_url = "http://backend" if self._is_unix_socket else self.url
        self._lazy_session: aiohttp.ClientSession | None = None

    @property
    def _session(self) -> aiohttp.ClientSession:
        """The pooled client, opened by the first request because it needs the running event loop."""
        if self._lazy_session is None:
            connector: aiohttp.BaseConnector
            if self._is_unix_socket:
                socket_path = self.url.removeprefix(UNIX_PREFIX)
                connector = aiohttp.UnixConnector(socket_path, limit=0, keepalive_timeout=KEEP_ALIVE_SECONDS)
            else:
                connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=KEEP_ALIVE_SECONDS)

            self._lazy_session = aiohttp.ClientSession(
                connector=connector,
                timeout=aiohttp.ClientTimeout(sock_connect=CONNECT_SECONDS),
                auto_decompress=False,
                cookie_jar=aiohttp.DummyCookieJar(),
                skip_auto_headers=("User-Agent", "Content-Type", "Accept", "Accept-Encoding"),
            )
        return self._lazy_session

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward the request and stream the response back.

        Raises:
            BackendUnavailable: the backend cannot be reached, or closed the connection before its response began.
            UpstreamTimeout: the response did not begin in time.
        """
        body = _RequestBody(receive)
        is_bodiless = scope["method"] in _METHODS_WITHOUT_BODY and not _has_body(scope)
        request = self._session.request(
            scope["method"],
            self._target_url(scope),
            headers=[(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]],
            data=None if is_bodiless else body.chunks(),
            allow_redirects=False,
        )

        try:
            response = await asyncio.wait_for(request, self.timeout)
        except TimeoutError as error:
            raise UpstreamTimeout(backend=self.name) from error
        except (aiohttp.ClientError, OSError) as error:
            if body.error:
                raise body.error from None
            raise BackendUnavailable(backend=self.name) from error

        async with response:
            await _stream_response(response, body, send, stop_event(scope))

    def _target_url(self, scope: Scope) -> URL:
        path = quote(scope["path"], safe=PATH_SAFE)
        query = scope["query_string"].decode("latin-1")
        url = f"{self._base_url}{path}?{query}" if query else f"{self._base_url}{path}"
        return URL(url, encoded=True)

    async def ping(self) -> None:
        """Ask the backend whether it is ready.

        Raises:
            BackendUnavailable: it says that it is not.
        """
        async with self._session.get(URL(f"{self._base_url}/health/ready")) as response:
            if response.status != 200:
                raise BackendUnavailable(backend=self.name)

    async def close(self) -> None:
        """Close the pooled connections."""
        if self._lazy_session is not None:
            await self._lazy_session.close()


class _RequestBody:
    """The client's body as a stream, which keeps the error that ended it early."""

    def __init__(self, receive: Receive) -> None:
        self.receive = receive
        self.is_complete = False
        self.error: Exception | None = None

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield the body as it arrives."""
        try:
            while not self.is_complete:
                message = await self.receive()
                if message["type"] == "http.disconnect":
                    raise ConnectionResetError("the client disconnected")
                self.is_complete = not message.get("more_body", False)
                if chunk := message.get("body", b""):
                    yield chunk
        except Exception as error:
            self.error = error
            raise

    async def wait_for_disconnect(self) -> None:
        """Return once the client has disconnected."""
        while (await self.receive())["type"] != "http.disconnect":
            pass


async def _stream_response(
    response: aiohttp.ClientResponse, body: _RequestBody, send: Send, stop: asyncio.Event | None
) -> None:
    headers = [(name.lower(), value) for name, value in response.raw_headers if name.lower() not in _HOP_HEADERS]
    await send({"type": "http.response.start", "status": response.status, "headers": headers})

    if response.content_type == "text/event-stream":
        await _stream_events(response, body, send, stop)
    else:
        await _stream_chunks(response, send)
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _stream_events(
    response: aiohttp.ClientResponse, body: _RequestBody, send: Send, stop: asyncio.Event | None
) -> None:
    """Stream events until the stream ends, the client disconnects or the server stops.

    An event stream may be silent for long, so the backend would not notice by itself that nobody listens any more.
    """
    watchers: list[asyncio.Future[Any]] = [asyncio.ensure_future(body.wait_for_disconnect())]
    if stop is not None:
        watchers.append(asyncio.ensure_future(stop.wait()))
    for watcher in watchers:
        watcher.add_done_callback(lambda _: response.close())

    try:
        with contextlib.suppress(aiohttp.ClientConnectionError):
            await _stream_chunks(response, send)
    finally:
        for watcher in watchers:
            watcher.cancel()


async def _stream_chunks(response: aiohttp.ClientResponse, send: Send) -> None:
    async for chunk in response.content.iter_any():
        await send({"type": "http.response.body", "body": chunk, "more_body": True})


def _has_body(scope: Scope) -> bool:
    headers = dict(scope["headers"])
    return b"transfer-encoding" in headers or headers.get(b"content-length", b"0") != b"0"
