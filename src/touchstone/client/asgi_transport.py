"""An asynchronous transport to an application in the same process that streams requests and responses."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from typing import Any, Final

import httpx2

Message = MutableMapping[str, Any]
App = Callable[[Message, Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]], Awaitable[None]]
CLIENT: Final = ("127.0.0.1", 0)
AHEAD: Final = 16  # messages that the app may be ahead of its reader


class InProcess(httpx2.AsyncBaseTransport):
    """A transport that calls an ASGI application; the request extension `client` sets the client's host and port."""

    def __init__(self, app: App) -> None:
        self.app = app

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Start the application on the request and return once its response begins."""
        exchange = _Exchange(request)
        exchange.task = asyncio.create_task(_run(self.app, _scope(request), exchange))
        try:
            start = await exchange.begin()
        except BaseException:  # a caller that stops waiting: the app must not go on alone
            await exchange.aclose()
            raise
        return httpx2.Response(start["status"], headers=start.get("headers", []), stream=exchange)


class _Exchange(httpx2.AsyncByteStream):
    """One request and its response, exchanged message by message."""

    task: asyncio.Task[None]

    def __init__(self, request: httpx2.Request) -> None:
        assert isinstance(request.stream, httpx2.AsyncByteStream)
        self._chunks = aiter(request.stream)
        self._sent: asyncio.Queue[Message | None] = asyncio.Queue(AHEAD)
        self._closed = asyncio.Event()
        self._received = False

    async def receive(self) -> Message:
        """Return the next part of the request; after its end, wait until the client disconnects."""
        if self._received:
            await self._closed.wait()
            return {"type": "http.disconnect"}
        chunk = await anext(self._chunks, None)
        self._received = chunk is None
        return {"type": "http.request", "body": chunk or b"", "more_body": chunk is not None}

    async def send(self, message: Message | None) -> None:
        """Accept a message of the response; None marks its end."""
        if not self._closed.is_set():  # nobody empties the queue any more
            await self._sent.put(message)

    async def begin(self) -> Message:
        """Return the message that starts the response.

        Raises:
            httpx2.RemoteProtocolError: the app ended without an answer.
        """
        start = await self._sent.get()
        if start is None:
            await self.task
            raise httpx2.RemoteProtocolError("the app ended without an answer")
        return start

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while (message := await self._sent.get()) is not None:
            yield message.get("body", b"")
        await self.task

    async def aclose(self) -> None:
        """Tell the application that the client has disconnected."""
        self._closed.set()
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)


async def _run(app: App, scope: Message, exchange: _Exchange) -> None:
    try:
        await app(scope, exchange.receive, exchange.send)
    finally:
        await exchange.send(None)


def _scope(request: httpx2.Request) -> Message:
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": request.url.scheme,
        "path": request.url.path,
        "raw_path": request.url.raw_path.split(b"?")[0],
        "root_path": "",
        "query_string": request.url.query,
        "headers": [(name.lower(), value) for name, value in request.headers.raw],
        "server": (request.url.host, request.url.port),
        "client": request.extensions.get("client", CLIENT),
    }
