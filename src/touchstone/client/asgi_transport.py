"""A streaming transport for calls to an ASGI application in the same process."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from typing import Any, Final

import httpx2

Message = MutableMapping[str, Any]
App = Callable[[Message, Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]], Awaitable[None]]

DEFAULT_CLIENT_ADDRESS: Final = ("127.0.0.1", 0)
MAX_QUEUED_MESSAGES: Final = 16  # the application waits when the client has not read so many messages


class InProcess(httpx2.AsyncBaseTransport):
    """A transport that calls an ASGI application in the same process.

    The request extension `client` contains the host and the port of the client, as a tuple, for the application to see.
    """

    def __init__(self, app: App) -> None:
        self.app = app

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Call the application with a request, and return its response as soon as it has started.

        The application continues in a separate task while the caller reads the body. The task is cancelled if the
        response is closed early, or if the caller is cancelled before the response starts.
        """
        running_app = _RunningApp(self.app, request)
        try:
            start_message = await running_app.wait_for_start()
        except BaseException:
            # The response would never be read, so the application must not continue in the background.
            await running_app.aclose()
            raise

        status = start_message["status"]
        headers = start_message.get("headers", [])
        return httpx2.Response(status, headers=headers, stream=running_app)


class _RunningApp(httpx2.AsyncByteStream):
    """The running call of an application for one request, which is also the stream of its response body."""

    def __init__(self, app: App, request: httpx2.Request) -> None:
        """Start the application in a new task."""
        assert isinstance(request.stream, httpx2.AsyncByteStream)
        self._request_chunks = aiter(request.stream)
        self._request_ended = False
        self._response_messages: asyncio.Queue[Message | None] = asyncio.Queue(MAX_QUEUED_MESSAGES)
        self._client_disconnected = asyncio.Event()
        self._task = asyncio.create_task(self._run(app, _build_scope(request)))

    async def wait_for_start(self) -> Message:
        """Wait for the first message of the response, which contains its status and headers, and return it.

        An exception that the application raises before this message is raised here.

        Raises:
            httpx2.RemoteProtocolError: the application ended without a response.
        """
        start_message = await self._response_messages.get()
        if start_message is None:
            await self._task  # raises the exception of the application, if there is one
            raise httpx2.RemoteProtocolError("the application ended without a response")
        return start_message

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield the chunks of the response body, and raise any exception of the application."""
        while True:
            message = await self._response_messages.get()
            if message is None:
                break
            yield message.get("body", b"")

        await self._task

    async def aclose(self) -> None:
        """Report to the application that the client has disconnected, cancel it, and wait until it has ended."""
        self._client_disconnected.set()
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self, app: App, scope: Message) -> None:
        try:
            await app(scope, self._receive, self._send)
        finally:
            await self._send(None)

    async def _receive(self) -> Message:
        """Return the next chunk of the request body as an ASGI message.

        After the end of the body, wait until the client closes the response, and return `http.disconnect` as a server
        would.
        """
        if self._request_ended:
            await self._client_disconnected.wait()
            return {"type": "http.disconnect"}

        chunk = await anext(self._request_chunks, None)
        if chunk is None:
            self._request_ended = True
            return {"type": "http.request", "body": b"", "more_body": False}
        return {"type": "http.request", "body": chunk, "more_body": True}

    async def _send(self, message: Message | None) -> None:
        """Queue a message of the response, or None to mark its end; wait while the queue is full."""
        if self._client_disconnected.is_set():
            return  # The queue is no longer read, so waiting for space in it would never end.
        await self._response_messages.put(message)


def _build_scope(request: httpx2.Request) -> Message:
    """Return the ASGI connection scope of a request, as a server would build it."""
    url = request.url
    path_without_query = url.raw_path.split(b"?")[0]
    lower_case_headers = [(name.lower(), value) for name, value in request.headers.raw]

    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": url.scheme,
        "path": url.path,
        "raw_path": path_without_query,
        "root_path": "",
        "query_string": url.query,
        "headers": lower_case_headers,
        "server": (url.host, url.port),
        "client": request.extensions.get("client", DEFAULT_CLIENT_ADDRESS),
    }
