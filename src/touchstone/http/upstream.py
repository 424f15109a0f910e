"""The interface between the gateway and its backends, in this process or over HTTP."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, Protocol
from urllib.parse import quote

import aiohttp
from starlette.types import ASGIApp, Receive, Scope, Send
from yarl import URL

from touchstone.core.errors import BackendUnavailable, CatalogLoading, UpstreamTimeout
from touchstone.http.header_checks import has_body
from touchstone.http.stop_event import stop_event

CONNECT_SECONDS: Final = 2.0
# Shorter than the 75 s of the backend, so that the gateway never reuses a connection that is being closed.
KEEP_ALIVE_SECONDS: Final = 15.0
PATH_SAFE: Final = "/-._~!$&'()*+,;=:@"
UNIX_PREFIX: Final = "unix:"
# Headers that only concern one connection (RFC 9110, section 7.6.1), and headers that our own server writes.
_HOP_HEADERS: Final = frozenset(
    {b"connection", b"keep-alive", b"transfer-encoding", b"date", b"server", b"te", b"upgrade"}
)
_METHODS_WITHOUT_BODY: Final = frozenset({"GET", "HEAD", "OPTIONS", "DELETE"})


class Upstream(Protocol):
    """A backend as the gateway sees it: an ASGI app that receives scopes rebuilt by the gateway."""

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Handle the request."""

    async def ping(self) -> None:
        """Return normally if the backend is ready, and raise an exception otherwise."""


class InProcessBackend:
    """A backend in this process, called without copying requests and responses."""

    def __init__(self, app: ASGIApp, check_ready: Callable[[], None] | None = None) -> None:
        """Create the interface to an app.

        Args:
            app: the backend's ASGI app.
            check_ready: raises an exception while the backend is not ready, or None if it is always ready.
        """
        self.app = app
        self._check_ready = check_ready

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Call the backend's app."""
        return self.app(scope, receive, send)

    async def ping(self) -> None:
        """Check that the backend is ready, apart from the resources that this process has, too."""
        if self._check_ready is not None:
            self._check_ready()


class AbsentBackend:
    """A backend that is not part of this installation."""

    def __init__(self, name: str) -> None:
        self.name = name

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse the request with status 503."""
        raise BackendUnavailable(backend=self.name, retry_after=60)

    async def ping(self) -> None:
        """Do nothing, because the installation is ready without this backend."""


class RemoteBackend:
    """A backend in another process, called over HTTP with streamed requests and responses."""

    def __init__(self, name: str, url: str, *, timeout: float) -> None:
        self.name = name
        self.url = url.rstrip("/")
        self.timeout = timeout  # in seconds, from the last chunk of the request to the beginning of the response
        self._is_unix_socket = url.startswith(UNIX_PREFIX)
        self._base_url = "http://backend" if self._is_unix_socket else self.url
        self._lazy_session: aiohttp.ClientSession | None = None

    @property
    def _session(self) -> aiohttp.ClientSession:
        """The HTTP client, created on first use because it needs a running event loop."""
        if self._lazy_session is None:
            self._lazy_session = self._open_session()
        return self._lazy_session

    def _open_session(self) -> aiohttp.ClientSession:
        """Return a new HTTP client for the backend, which forwards headers, cookies and bodies unchanged."""
        unlimited = 0  # for aiohttp, zero means that the number of connections is not limited

        connector: aiohttp.BaseConnector
        if self._is_unix_socket:
            socket_path = self.url.removeprefix(UNIX_PREFIX)
            connector = aiohttp.UnixConnector(socket_path, limit=unlimited, keepalive_timeout=KEEP_ALIVE_SECONDS)
        else:
            connector = aiohttp.TCPConnector(limit=unlimited, keepalive_timeout=KEEP_ALIVE_SECONDS)

        return aiohttp.ClientSession(
            connector=connector,
            timeout=aiohttp.ClientTimeout(sock_connect=CONNECT_SECONDS),
            auto_decompress=False,
            cookie_jar=aiohttp.DummyCookieJar(),
            skip_auto_headers=("User-Agent", "Content-Type", "Accept", "Accept-Encoding"),
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a request to the backend and stream its response back to the client.

        Raises:
            BackendUnavailable: the backend cannot be reached, or closed the connection before the end of its response.
            UpstreamTimeout: the response did not begin in time after the last chunk of the request.
        """
        headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]]
        request_body = _RequestBody(receive, is_complete=not _may_have_body(scope))
        chunks = None if request_body.is_complete else request_body.chunks()
        pending_response = self._session.request(
            scope["method"], self._target_url(scope), headers=headers, data=chunks, allow_redirects=False
        )

        try:
            async with asyncio.timeout(self.timeout) as deadline:
                with request_body.extending_deadline(deadline, self.timeout):
                    response = await pending_response
        except TimeoutError as error:
            raise UpstreamTimeout(backend=self.name) from error
        except (aiohttp.ClientError, OSError) as error:
            # If the request body could not be read, the error was caused by the client and not by the backend.
            if request_body.error:
                raise request_body.error from None
            raise BackendUnavailable(backend=self.name) from error

        async with response:
            try:
                await _stream_response(response, request_body, send, stop_event(scope))
            except aiohttp.ClientError as error:
                raise BackendUnavailable(backend=self.name) from error

    def _target_url(self, scope: Scope) -> URL:
        """Return the URL for forwarding a request to the backend."""
        path = quote(scope["path"], safe=PATH_SAFE)
        query = scope["query_string"].decode("latin-1")

        url = f"{self._base_url}{path}?{query}" if query else f"{self._base_url}{path}"
        return URL(url, encoded=True)

    async def ping(self) -> None:
        """Check that the backend is ready.

        Raises:
            CatalogLoading: it is still loading the catalog.
            BackendUnavailable: it is not ready for another reason.
        """
        async with self._session.get(URL(f"{self._base_url}/health/ready")) as response:
            if response.status == 200:
                return

            health = await response.json()
            if health["status"] == "loading":
                raise CatalogLoading(records=health["records"], total_records=health["total_records"])
            raise BackendUnavailable(backend=self.name)

    async def close(self) -> None:
        """Close the pooled connections."""
        if self._lazy_session is not None:
            await self._lazy_session.close()


class _RequestBody:
    """The body of the client's request as a stream for the backend.

    Attributes:
        is_complete: whether the whole body has been received.
        error: the exception if reading the body failed, or None. The HTTP client does not report it.
    """

    def __init__(self, receive: Receive, *, is_complete: bool) -> None:
        self.receive = receive
        self.is_complete = is_complete
        self.error: Exception | None = None
        self._deadline: asyncio.Timeout | None = None
        self._extension_seconds = 0.0

    @contextmanager
    def extending_deadline(self, deadline: asyncio.Timeout, seconds: float) -> Iterator[None]:
        """Move a deadline to `seconds` from now whenever a chunk of the body arrives during the `with` block."""
        self._deadline = deadline
        self._extension_seconds = seconds
        try:
            yield
        finally:
            self._deadline = None

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield the chunks of the body as they arrive, and store the exception in `error` if that fails.

        Raises:
            ConnectionResetError: the client disconnected before the body was complete.
            ServiceError: the body exceeds one of our limits.
        """
        try:
            while not self.is_complete:
                message = await self.receive()
                if message["type"] == "http.disconnect":
                    raise ConnectionResetError("the client disconnected")

                self.is_complete = not message.get("more_body", False)
                self._extend_deadline()
                chunk = message.get("body", b"")
                if chunk:
                    yield chunk
        except Exception as error:
            self.error = error
            raise

    def _extend_deadline(self) -> None:
        """Restart the deadline, if there is one that has not passed."""
        if self._deadline is not None and not self._deadline.expired():
            self._deadline.reschedule(asyncio.get_running_loop().time() + self._extension_seconds)

    async def wait_for_disconnect(self) -> None:
        """Wait until the client has disconnected, and discard everything that it sends until then."""
        message = await self.receive()
        while message["type"] != "http.disconnect":
            message = await self.receive()


async def _stream_response(
    response: aiohttp.ClientResponse, request_body: _RequestBody, send: Send, server_stop: asyncio.Event | None
) -> None:
    """Stream the backend's response to the client.

    Headers that only concern the connection to the backend are omitted. If the client disconnects, event streams and
    responses of unknown length end early. If the server stops, event streams end, too.
    """
    headers = [(name.lower(), value) for name, value in response.raw_headers if name.lower() not in _HOP_HEADERS]
    await send({"type": "http.response.start", "status": response.status, "headers": headers})

    is_event_stream = response.content_type == "text/event-stream"
    has_unknown_length = response.content_length is None

    # Watching for a disconnect consumes all messages, so it must wait until the whole request has been received.
    if is_event_stream:
        await _stream_while_needed(response, request_body, send, server_stop)
    elif has_unknown_length and request_body.is_complete:
        await _stream_while_needed(response, request_body, send, server_stop=None)
    else:
        await _stream_chunks(response, send)

    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _stream_while_needed(
    response: aiohttp.ClientResponse, request_body: _RequestBody, send: Send, server_stop: asyncio.Event | None
) -> None:
    """Send a response until the backend ends it, the client disconnects or `server_stop` is set.

    An event stream may be silent for a long time, so a disconnect must be noticed even while no event arrives. An
    export may have gigabytes, so the backend must not continue to compute it for a client that has disconnected.
    """
    # The stream ends early when one of these tasks is done.
    watchers: list[asyncio.Future[Any]] = [asyncio.ensure_future(request_body.wait_for_disconnect())]
    if server_stop is not None:
        watchers.append(asyncio.ensure_future(server_stop.wait()))
    for watcher in watchers:
        watcher.add_done_callback(lambda _watcher: response.close())

    try:
        await _stream_chunks(response, send)
    except aiohttp.ClientConnectionError:
        # Reading fails after a watcher has closed the response. Any other failure must not look like a complete body.
        is_ended_early = any(watcher.done() for watcher in watchers)
        if not is_ended_early:
            raise
    finally:
        for watcher in watchers:
            watcher.cancel()


async def _stream_chunks(response: aiohttp.ClientResponse, send: Send) -> None:
    """Send the chunks of a response body to the client as they arrive from the backend."""
    async for chunk in response.content.iter_any():
        await send({"type": "http.response.body", "body": chunk, "more_body": True})


def _may_have_body(scope: Scope) -> bool:
    """Return whether a request has a body, or its method usually has one."""
    if scope["method"] not in _METHODS_WITHOUT_BODY:
        return True

    return has_body(dict(scope["headers"]))
