"""The state of a request and its response in the outermost middleware, including the request id."""

import random
import re
import time
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Final
from uuid import UUID

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from touchstone.core.errors import MethodNotAllowed, ServiceError
from touchstone.http.admission import Ticket
from touchstone.http.header_checks import has_body
from touchstone.http.started_awaitable import StartedAwaitable

REQUEST_ID: Final = b"x-request-id"
NOSNIFF_NAME: Final = b"x-content-type-options"
NOSNIFF: Final = (NOSNIFF_NAME, b"nosniff")
_REQUEST_ID_FORMAT: Final = re.compile(rb"[A-Za-z0-9._-]{8,64}")
_EVENT_STREAM: Final = b"text/event-stream"
_CURRENT_REQUEST: Final[ContextVar["TrackedRequest"]] = ContextVar("request")
ErrorResponder = Callable[[ServiceError, Scope], ASGIApp]  # returns the response that reports an error


class TrackedRequest:
    """One request, with its id and the progress of its response.

    Applications see a HEAD request as a GET request, and the body of their response is dropped here.

    Attributes:
        scope: the scope for the application, which contains the request id.
        headers: the request headers by name. The last one wins if a header is repeated.
        status: the status of the response, or 0 before the response has begun.
        is_complete: whether the response to a HEAD request has been sent.
        is_abandoned: whether the client disconnected before the response began.
        ticket: the admission ticket, or None while the request is not subject to admission control.
        user_id: the user who sends the request, or None before the user is known.
    """

    def __init__(self, scope: Scope, send: Send, respond_to_error: ErrorResponder) -> None:
        """Begin to track a request that has just arrived, and choose its id.

        Args:
            scope: the scope from the server.
            send: the ASGI function that sends the response to the client.
            respond_to_error: returns the response if handling the request fails.
        """
        self.started_at = time.perf_counter()
        self.status = 0
        self.is_complete = False
        self.is_abandoned = False
        self.ticket: Ticket | None = None
        self.user_id: UUID | None = None
        self._send = send
        self._respond_to_error = respond_to_error

        headers = scope["headers"]
        self.method: str = scope["method"]
        self.headers: dict[bytes, bytes] = dict(headers)
        self.has_body = has_body(self.headers)

        client_id = self.headers.get(REQUEST_ID)
        self.id = choose_request_id(client_id)
        if client_id is not None:
            headers = [(name, value) for name, value in headers if name != REQUEST_ID]

        self.scope = {
            **scope,
            "method": "GET" if self.method == "HEAD" else self.method,
            "headers": [*headers, (REQUEST_ID, self.id.encode())],
        }

        # The API requests of a page run in the same context, so they identify the user of the page.
        _CURRENT_REQUEST.set(self)

    @property
    def has_begun(self) -> bool:
        """Whether the response has begun."""
        return self.status != 0

    def watch_disconnect(self, receive: Receive) -> Receive:
        """Wrap `receive` to set `is_abandoned` if the client disconnects before the response begins."""

        async def receive_and_watch() -> Message:
            message = await receive()
            if message["type"] == "http.disconnect" and not self.has_begun:
                self.is_abandoned = True
            return message

        return receive_and_watch

    async def send(self, message: Message) -> None:
        """Send a message of the application's response, with the headers common to all responses.

        Messages for a client that has disconnected, and the body of a response to a HEAD request, are dropped.
        """
        if self.is_complete or self.is_abandoned:
            return

        if message["type"] == "http.response.start":
            message = self._begin_response(message)

        sending = StartedAwaitable(self._send(message))
        if not sending.is_done:
            # Another request may run while this one waits for its client to read the response.
            self._release_ticket()
            await sending.wait()

        if self.method == "HEAD":
            # The response ends with its headers. What the application sends as its body is dropped.
            self.is_complete = True
            await self._send({"type": "http.response.body", "body": b""})

    def _begin_response(self, message: Message) -> Message:
        """Record the status of the response, and return its first message with additional headers."""
        self.status = message["status"]
        headers = list(message.get("headers", ()))
        values_by_name = dict(headers)

        # An event stream stays open for long but does little work, so it must not keep other requests from running.
        is_event_stream = values_by_name.get(b"content-type", b"").startswith(_EVENT_STREAM)
        if is_event_stream:
            self._release_ticket()

        if self.status == MethodNotAllowed.status:
            headers = [_add_allowed_head(header) for header in headers]
        if REQUEST_ID not in values_by_name:
            headers.append((REQUEST_ID, self.id.encode()))
        if NOSNIFF_NAME not in values_by_name:
            headers.append(NOSNIFF)
        return {**message, "headers": headers}

    def _release_ticket(self) -> None:
        """Stop counting this request as running, so that another one may start."""
        if self.ticket is not None:
            self.ticket.release()

    async def send_error(self, error: ServiceError) -> None:
        """Send an error response, unless a response has begun."""
        if not self.has_begun:
            response = self._respond_to_error(error, self.scope)
            await response(self.scope, receive_disconnect, self.send)


def identify_user(user_id: UUID) -> None:
    """Record the user who sends the current request, for the access log."""
    request = _CURRENT_REQUEST.get(None)
    if request is not None:
        request.user_id = user_id


def choose_request_id(client_id: bytes | None) -> str:
    """Return the request id sent by the client if it is well-formed, or a new one otherwise."""
    if client_id and _REQUEST_ID_FORMAT.fullmatch(client_id):
        return client_id.decode()
    # The id need not be unpredictable, and this is faster than asking the operating system for random bytes.
    return f"{random.getrandbits(128):032x}"


def _add_allowed_head(header: tuple[bytes, bytes]) -> tuple[bytes, bytes]:
    """Add HEAD to an `Allow` header that lists GET, and return any other header unchanged.

    Applications do not list HEAD themselves, because they see HEAD requests as GET requests.
    """
    name, value = header
    if name != b"allow":
        return header

    methods = {method.strip() for method in value.split(b",")}
    if b"GET" in methods:
        methods.add(b"HEAD")
    return name, b", ".join(sorted(methods))


async def receive_disconnect() -> dict[str, Any]:
    """Return the ASGI message for a disconnected client, for responses that do not read the request."""
    return {"type": "http.disconnect"}
