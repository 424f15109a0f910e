"""The state of one request and its response while the outermost middleware handles them, and the request's id."""

import os
import re
import time
from collections.abc import Callable
from typing import Any, Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from touchstone.core.errors import MethodNotAllowed, ServiceError
from touchstone.http.admission import Place
from touchstone.http.request_bodies import resume

REQUEST_ID: Final = b"x-request-id"
NOSNIFF: Final = (b"x-content-type-options", b"nosniff")
_REQUEST_ID_FORMAT: Final = re.compile(rb"[A-Za-z0-9._-]{8,64}")
_EVENT_STREAM: Final = b"text/event-stream"
ErrorResponder = Callable[[ServiceError, Scope], ASGIApp]  # returns the response that reports an error


class TrackedRequest:
    """One request, with its id and the progress of its response.

    Applications see a HEAD request as a GET: they return the same headers for both, and the body is dropped here.

    Attributes:
        scope: the scope for the application, which contains the request id.
        headers: the headers of the request by name; of a repeated header, the last one.
        status: the status of the response, or 0 before the response has begun.
        is_complete: whether the response to a HEAD request has been sent.
        is_abandoned: whether the client disconnected before the response began.
        place: the request's place among those that the server works on, if it needs one.
    """

    def __init__(self, scope: Scope, send: Send, respond_to_error: ErrorResponder) -> None:
        """Begin to track a request that has just arrived, and choose its id.

        The response is sent with `send`. `respond_to_error` makes the response if handling the request fails.
        """
        self.started_at = time.perf_counter()
        self.status = 0
        self.is_complete = False
        self.is_abandoned = False
        self.place: Place | None = None
        self._send = send
        self._respond_to_error = respond_to_error

        headers = scope["headers"]
        self.method: str = scope["method"]
        self.headers: dict[bytes, bytes] = dict(headers)
        self.has_body = b"transfer-encoding" in self.headers or self.headers.get(b"content-length", b"0") != b"0"

        client_id = self.headers.get(REQUEST_ID)
        self.id = choose_request_id(client_id)
        if client_id is not None:
            headers = [(name, value) for name, value in headers if name != REQUEST_ID]

        self.scope = {
            **scope,
            "method": "GET" if self.method == "HEAD" else self.method,
            "headers": [*headers, (REQUEST_ID, self.id.encode())],
        }

    def watch_disconnect(self, receive: Receive) -> Receive:
        """Return a `receive` function that notes when the client disconnects before the response has begun."""

        async def receive_and_watch() -> Message:
            message = await receive()
            if message["type"] == "http.disconnect" and self.status == 0:
                self.is_abandoned = True
            return message

        return receive_and_watch

    async def send(self, message: Message) -> None:
        """Pass a message of the response on to the server, adding our headers when the response starts.

        Messages that the client cannot get any more, and the body of the response to a HEAD request, are dropped.
        """
        if self.is_complete or self.is_abandoned:
            return

        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = self._complete_headers(list(message.get("headers", ())))
            message = {**message, "headers": headers}
        await self._deliver(message)

        if self.method == "HEAD":
            self.is_complete = True
            await self._send({"type": "http.response.body", "body": b""})

    def _complete_headers(self, headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
        """Return the headers of a response with the request id and a header against content sniffing added.

        If the headers announce an event stream, the place of the request is released: a stream lives long and does
        little, and must not keep other requests from being worked on.
        """
        values = dict(headers)

        # Applications do not know of HEAD, which every address that supports GET supports as well.
        if self.status == MethodNotAllowed.status:
            headers = [(name, _allow_head(value) if name == b"allow" else value) for name, value in headers]

        is_event_stream = values.get(b"content-type", b"").startswith(_EVENT_STREAM)
        if is_event_stream and self.place is not None:
            self.place.release()

        if REQUEST_ID not in values:
            headers.append((REQUEST_ID, self.id.encode()))
        nosniff_name, _ = NOSNIFF
        if nosniff_name not in values:
            headers.append(NOSNIFF)
        return headers

    async def _deliver(self, message: Message) -> None:
        """Send a message, and release the place of the request if its client reads too slowly to take it at once."""
        sending = self._send(message).__await__()
        try:
            awaited = next(sending)
        except StopIteration:
            return  # the server took the message without waiting for the client

        if self.place is not None:
            self.place.release()
        await resume(awaited, sending)

    async def send_error(self, error: ServiceError) -> None:
        """Send an error response, unless a response has begun."""
        if self.status == 0:
            response = self._respond_to_error(error, self.scope)
            await response(self.scope, receive_disconnect, self.send)


def choose_request_id(client_id: bytes | None) -> str:
    """Return the request id that the client sent if it is well-formed, or a new one."""
    if client_id and _REQUEST_ID_FORMAT.fullmatch(client_id):
        return client_id.decode()
    return os.urandom(16).hex()


def _allow_head(allow: bytes) -> bytes:
    """Return the value of an `Allow` header with HEAD added to its methods if GET is among them."""
    methods = {method.strip() for method in allow.split(b",")}
    if b"GET" in methods:
        methods.add(b"HEAD")
    return b", ".join(sorted(methods))


async def receive_disconnect() -> dict[str, Any]:
    """Return the message that the client has disconnected, for responses that do not read the request."""
    return {"type": "http.disconnect"}
