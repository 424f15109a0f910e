"""One request and its response, as the outermost middleware follows them."""

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


class Exchange:
    """One request and the progress of its response.

    Applications see a HEAD request as a GET: they return the same headers for both, and the body is dropped here.
    """

    def __init__(self, scope: Scope, send: Send, respond_to_error: ErrorResponder) -> None:
        self.started_at = time.perf_counter()
        self.status = 0
        self.method: str = scope["method"]
        self.is_complete = False
        self.is_abandoned = False
        self.place: Place | None = None
        self._send = send
        self._respond_to_error = respond_to_error

        headers = scope["headers"]
        self.headers: dict[bytes, bytes] = dict(headers)
        self.has_body = b"transfer-encoding" in self.headers or self.headers.get(b"content-length", b"0") != b"0"

        client_id = self.headers.get(REQUEST_ID)
        if client_id is not None:
            headers = [(name, value) for name, value in headers if name != REQUEST_ID]
        self.id = choose_request_id(client_id)
        method = "GET" if self.method == "HEAD" else self.method
        self.scope = {**scope, "method": method, "headers": [*headers, (REQUEST_ID, self.id.encode())]}

    def watch_disconnect(self, receive: Receive) -> Receive:
        """Return a `receive` function that notes when the client disconnects before the response has begun."""

        async def watch() -> Message:
            message = await receive()
            if message["type"] == "http.disconnect" and self.status == 0:
                self.is_abandoned = True
            return message

        return watch

    async def send(self, message: Message) -> None:
        """Pass a message on to the server, with our headers if it starts the response."""
        if self.is_complete or self.is_abandoned:
            return

        if message["type"] == "http.response.start":
            self.status = message["status"]
            message = {**message, "headers": self._complete_headers(list(message.get("headers", ())))}
        await self._deliver(message)

        if self.method == "HEAD":
            self.is_complete = True
            await self._send({"type": "http.response.body", "body": b""})

    def _complete_headers(self, headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
        """Return the headers of a response with the request id and the protection against content sniffing."""
        values = dict(headers)
        if self.status == MethodNotAllowed.status:
            headers = [(name, _allow_head(value) if name == b"allow" else value) for name, value in headers]

        # An event stream lives long and does little, so it must not occupy a place that others could work in.
        if self.place is not None and values.get(b"content-type", b"").startswith(_EVENT_STREAM):
            self.place.release()

        if REQUEST_ID not in values:
            headers.append((REQUEST_ID, self.id.encode()))
        if NOSNIFF[0] not in values:
            headers.append(NOSNIFF)
        return headers

    async def _deliver(self, message: Message) -> None:
        """Send a message; if the client reads too slowly to take it at once, release the place before waiting."""
        steps = self._send(message).__await__()
        try:
            first_step = next(steps)
        except StopIteration:
            return

        if self.place is not None:
            self.place.release()
        await resume(first_step, steps)

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
    """Return an `Allow` header to which HEAD is added if it contains GET."""
    methods = {method.strip() for method in allow.split(b",")}
    if b"GET" in methods:
        methods.add(b"HEAD")
    return b", ".join(sorted(methods))


async def receive_disconnect() -> dict[str, Any]:
    """Return the message that the client has disconnected, for responses that do not read the request."""
    return {"type": "http.disconnect"}
