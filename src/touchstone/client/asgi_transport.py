"""An asynchronous transport to an application in the same process that streams requests and responses."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from typing import Any, Final

import httpx2

Message = MutableMapping[str, Any]
App = Callable[[Message, Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]], Awaitable[None]]

DEFAULT_CLIENT_ADDRESS: Final = ("127.0.0.1", 0)
MAX_QUEUED_MESSAGES: Final = 16  # messages of a response that the application may send before they are read


class InProcess(httpx2.AsyncBaseTransport):
    """A transport that calls an ASGI application; the request extension `client` sets the client's host and port."""

    def __init__(self, app: App) -> None:
        self.app = app

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Call the application with a request, and return its response as soon as the response has started.

        The body of the response is streamed: the application goes on in a task of its own while the caller reads. It
        is cancelled if the response is closed early, or if the caller is cancelled before the response starts.
        """
        running_app = _RunningApp(self.app, request)
        try:
            start_message = await running_app.wait_for_start()
        except BaseException:
            # Nobody would read the response, and the application must not go on in the background.
            await running_app.aclose()
            raise

        status = start_message["status"]
        headers = start_message.get("headers", [])
        return httpx2.Response(status, headers=headers, stream=running_app)


class _RunningApp(httpx2.AsyncByteStream):
    """An application while it handles one request, and at the same time the body of its response."""

    def __init__(self, app: App, request: httpx2.Request) -> None:
        """Start the application in a new task."""
        assert isinstance(request.stream, httpx2.AsyncByteStream)
        self._request_chunks = aiter(request.stream)
        self._request_has_ended = False
        self._response_messages: asyncio.Queue[Message | None] = asyncio.Queue(MAX_QUEUED_MESSAGES)
        self._client_has_left = asyncio.Event()
        self._task = asyncio.create_task(self._run(app, _build_scope(request)))

    async def wait_for_start(self) -> Message:
        """Wait until the application starts its response, and return the message with its status and headers.

        If the application raises an exception before that, it is raised here.

        Raises:
            httpx2.RemoteProtocolError: The application ended without a response.
        """
        start_message = await self._response_messages.get()
        if start_message is None:
            await self._task  # raises the exception of the application, if there is one
            raise httpx2.RemoteProtocolError("the app ended without an answer")
        return start_message

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield the body of the response, and raise the exception of the application if it fails meanwhile."""
        while True:
            message = await self._response_messages.get()
            if message is None:
                break
            yield message.get("body", b"")

        await self._task

    async def aclose(self) -> None:
        """Tell the application that the client has left, cancel it, and wait until it has ended."""
        self._client_has_left.set()
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self, app: App, scope: Message) -> None:
        try:
            await app(scope, self._receive, self._send)
        finally:
            await self._send(None)

    async def _receive(self) -> Message:
        """Return the next ASGI message about the request to the application: the next chunk of its body.

        After the end of the body, wait until the client closes the response, and return `http.disconnect`, as a server
        does.
        """
        if self._request_has_ended:
            await self._client_has_left.wait()
            return {"type": "http.disconnect"}

        chunk = await anext(self._request_chunks, None)
        if chunk is None:
            self._request_has_ended = True
            return {"type": "http.request", "body": b"", "more_body": False}
        return {"type": "http.request", "body": chunk, "more_body": True}

    async def _send(self, message: Message | None) -> None:
        """Queue a message of the response, or None to mark its end; wait while the queue is full."""
        if self._client_has_left.is_set():
            return  # Nobody reads the queue any more, and waiting for space in it would never end.
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
