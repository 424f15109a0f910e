"""The state of one request and its response while the outermost middleware handles them, and the request's id."""

import random
import re
import time
from collections.abc import Callable
from typing import Any, Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from touchstone.core.errors import MethodNotAllowed, ServiceError
from touchstone.http.admission import Place
from touchstone.http.started_awaitable import StartedAwaitable

REQUEST_ID: Final = b"x-request-id"
NOSNIFF_NAME: Final = b"x-content-type-options"
NOSNIFF: Final = (NOSNIFF_NAME, b"nosniff")
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
        place: counts the request among those that run at once, if it is subject to that limit.
    """

    def __init__(self, scope: Scope, send: Send, respond_to_error: ErrorResponder) -> None:
        """Begin to track a request that has just arrived, and choose its id.

        Args:
            scope: the scope from the server.
            send: the function with which the response is sent.
            respond_to_error: returns the response if handling the request fails.
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
        """Send a message of the application's response to the client, with our headers added.

        Nothing more is sent to a client that has disconnected, and no body in response to a HEAD request.
        """
        if self.is_complete or self.is_abandoned:
            return

        if message["type"] == "http.response.start":
            message = self._begin_response(message)

        sending = StartedAwaitable(self._send(message))
        if not sending.is_done:
            # While this response waits until its client reads, another request may run.
            self._let_others_run()
            await sending.wait()

        if self.method == "HEAD":
            self.is_complete = True
            await self._send({"type": "http.response.body", "body": b""})

    def _begin_response(self, message: Message) -> Message:
        """Record the status of the response, and return its first message with the headers that every response has."""
        self.status = message["status"]
        headers = list(message.get("headers", ()))
        values_by_name = dict(headers)

        # An event stream lives long and does little, so it must not keep other requests from running.
        is_event_stream = values_by_name.get(b"content-type", b"").startswith(_EVENT_STREAM)
        if is_event_stream:
            self._let_others_run()

        if self.status == MethodNotAllowed.status:
            headers = [_add_allowed_head(header) for header in headers]
        if REQUEST_ID not in values_by_name:
            headers.append((REQUEST_ID, self.id.encode()))
        if NOSNIFF_NAME not in values_by_name:
            headers.append(NOSNIFF)
        return {**message, "headers": headers}

    def _let_others_run(self) -> None:
        """Stop counting this request among those that run at once, so that another one may start."""
        if self.place is not None:
            self.place.release()

    async def send_error(self, error: ServiceError) -> None:
        """Send an error response, unless a response has begun."""
        if self.status == 0:
            response = self._respond_to_error(error, self.scope)
            await response(self.scope, receive_disconnect, self.send)


def choose_request_id(client_id: bytes | None) -> str:
    """Return the request id that the client sent if it is well-formed, or a new one."""
    if client_id and _REQUEST_ID_FORMAT.fullmatch(client_id):
        return client_id.decode()
    # An id is no secret, and asking the system for random bytes would take longer.
    return f"{random.getrandbits(128):032x}"


def _add_allowed_head(header: tuple[bytes, bytes]) -> tuple[bytes, bytes]:
    """Add HEAD to the methods in an `Allow` header if GET is among them; return any other header unchanged.

    Applications do not list HEAD themselves, because they see such a request as a GET.
    """
    name, value = header
    if name != b"allow":
        return header

    methods = {method.strip() for method in value.split(b",")}
    if b"GET" in methods:
        methods.add(b"HEAD")
    return name, b", ".join(sorted(methods))


async def receive_disconnect() -> dict[str, Any]:
    """Return the message that the client has disconnected, for responses that do not read the request."""
    return {"type": "http.disconnect"}
