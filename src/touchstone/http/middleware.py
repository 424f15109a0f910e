"""The outermost middleware of every listener: request ids, limits, admission and error responses."""

import sys
import time
from collections.abc import Callable, Collection, Hashable
from typing import Final, NamedTuple

import structlog
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from touchstone.core.client_address import rate_limit_key
from touchstone.core.errors import (
    InternalError,
    Overloaded,
    ServiceError,
)
from touchstone.core.settings import Settings
from touchstone.http.access_log import AccessLog
from touchstone.http.admission import Admission
from touchstone.http.error_responses import error_response
from touchstone.http.header_checks import check_content_coding, check_headers
from touchstone.http.request_bodies import BodyLimits, BodyMemory, BufferedBody, LimitedBody, UploadSlots
from touchstone.http.request_costs import RequestCosts, RequestKind, classify_request
from touchstone.http.request_tracking import (
    NOSNIFF,
    REQUEST_ID,
    ErrorResponder,
    TrackedRequest,
    choose_request_id,
    receive_disconnect,
)

_OVERLOADED: Final = Overloaded(retry_after=1)
_OVERLOADED_CLOSING: Final = Overloaded(retry_after=1, headers={"Connection": "close"})
log = structlog.get_logger("touchstone.access")
CallerOf = Callable[[Scope], Hashable]  # returns the user or address that a request is attributed to


def client_address(scope: Scope) -> Hashable:
    """Return the key that identifies a client by its network address, or None if it has no address.

    Addresses that one client can choose freely, such as those of an IPv6 network, have the same key.
    """
    client = scope.get("client")
    if not client:
        return None

    client_host, _port = client
    return rate_limit_key(client_host)


class BodyPaths(NamedTuple):
    """Paths, without a trailing slash, for which the application reads the request body while it arrives.

    Attributes:
        uploads: paths that accept bodies up to the size limit for uploads.
        streams: paths that accept bodies of any length, because the application does not keep them in memory.
    """

    uploads: Collection[str] = ()
    streams: Collection[str] = ()


class EdgeMiddleware:
    """The outermost middleware of a listener.

    It assigns request ids, determines the client address behind a trusted proxy, enforces the limits on headers and
    bodies, admits requests fairly between callers, and turns unexpected exceptions into error responses without a
    traceback.

    Attributes:
        respond_to_error: returns the response that reports an error.
        caller_of: returns the user or address that a request is attributed to.
    """

    def __init__(
        self,
        app: ASGIApp,
        settings: Settings,
        *,
        body_paths: BodyPaths = BodyPaths(),  # noqa: B008 - an immutable value
        respond_to_error: ErrorResponder = error_response,
        caller_of: CallerOf = client_address,
    ) -> None:
        """Wrap an application.

        Args:
            app: the application.
            settings: the limits on requests and their bodies, and the trusted proxies.
            body_paths: the paths with special limits on request bodies.
            respond_to_error: returns the response that reports an error.
            caller_of: returns the user or address that a request is attributed to. Callers get equal shares of a busy
                server.
        """
        self.app = app
        self.respond_to_error = respond_to_error
        self.caller_of = caller_of
        self.proxies = settings.proxies

        self._costs = RequestCosts()
        self._admission = Admission(limit=settings.max_concurrency, wait_seconds=settings.queue_seconds)
        self._upload_slots = UploadSlots(settings)
        self._body_memory = BodyMemory(settings.max_concurrency * settings.body_max_bytes)
        self._limits_by_path = _body_limits_by_path(settings, body_paths)
        self._default_limits = BodyLimits(
            settings.body_max_bytes, settings.minimum_rate_bytes, settings.receive_timeout_seconds
        )
        self._access_log = AccessLog()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle an HTTP request, send its response, and log it.

        Every exception raised by the application becomes an error response, so that clients see neither tracebacks nor
        broken connections. Lifespan messages are passed on, and websockets are refused.
        """
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1000})
            return

        scope = self.proxies.apply_forwarded_headers(scope)
        kind = classify_request(scope["method"], scope["path"], scope.get("query_string", b""))
        if self._must_refuse(scope, kind):
            await self._send_refusal(scope, receive, send)
            return

        request = TrackedRequest(scope, send, self.respond_to_error)
        try:
            check_headers(scope)
            await self._handle(request, receive, kind)
        except ServiceError as error:
            if request.has_begun:
                log.error("response cut off", request_id=request.id, problem=error.code)
            await request.send_error(error)
        except Exception:
            # An application may fail because its client disconnects before the end of the body, which is not a defect.
            if not request.is_abandoned:
                log.exception("request failed", request_id=request.id)
                await request.send_error(InternalError())
        finally:
            self._access_log.record(request)

    def quick_refusal(self, scope: Scope) -> Response | None:
        """Return the response that refuses a request for lack of capacity, or None if it may run.

        The server calls this before it starts a task for the request, so that refusals cost little under overload. A
        refusal is counted and logged.
        """
        started_at = time.perf_counter()
        scope = self.proxies.apply_forwarded_headers(scope)
        kind = classify_request(scope["method"], scope["path"], scope["query_string"])
        if not self._must_refuse(scope, kind):
            return None

        response = self.respond_to_error(_OVERLOADED, scope)
        if not isinstance(response, Response):
            return None  # any other ASGI app can only be run in a task

        response.raw_headers += _refusal_headers(scope)
        self._access_log.record_refusal(scope, started_at, running_count=self._admission.running_count)
        return response

    async def _handle(self, request: TrackedRequest, receive: Receive, kind: RequestKind) -> None:
        """Call the application as soon as the limits on bodies, uploads and running requests permit."""
        # If health checks had to wait, an overloaded server would be mistaken for a dead one.
        if _is_health_check(request.scope):
            await self.app(request.scope, receive, request.send)
            return

        limits = self._limits_by_path.get(request.scope["path"].rstrip("/"), self._default_limits)
        body = LimitedBody(request.watch_disconnect(receive), limits)
        body.check_declared_length(request.headers.get(b"content-length"))

        if not request.has_body:
            await self._admit(request, body, kind)
            return

        check_content_coding(request.scope)
        if limits.is_buffered:
            await self._receive_and_admit(request, body, kind)
        else:
            # The application reads the body while it arrives, because it may not fit into memory.
            with self._upload_slots.acquire(request.scope):
                await self.app(request.scope, body, request.send)

    async def _receive_and_admit(self, request: TrackedRequest, body: LimitedBody, kind: RequestKind) -> None:
        """Receive the whole body before admitting the request, so that a slow client does not delay others."""
        buffered_body = BufferedBody(body, self._body_memory)
        try:
            await buffered_body.receive_all()
            if not request.is_abandoned:
                await self._admit(request, buffered_body, kind)
        finally:
            buffered_body.release()

    async def _admit(self, request: TrackedRequest, receive: Receive, kind: RequestKind) -> None:
        """Call the application once the request is admitted, and record the cost of the request.

        Raises:
            Overloaded: the request would have to wait too long, or has waited too long.
        """
        expected_seconds = self._costs.expected_seconds(kind)
        ticket = self._admission.try_enter(expected_seconds)
        if ticket is None:
            # Identifying the caller takes time, and is only necessary if the request may have to wait.
            caller = self.caller_of(request.scope)
            ticket = await self._admission.enter(caller, expected_seconds)

        request.ticket = ticket
        try:
            await ticket.run(self.app(request.scope, receive, request.send))

            # Error responses are cheap, so they do not predict the cost of successful requests.
            is_successful = request.status < 400
            if is_successful:
                self._costs.record(kind, ticket.used_seconds)
        finally:
            ticket.release()

    def _must_refuse(self, scope: Scope, kind: RequestKind) -> bool:
        """Return whether a request would have to wait too long for admission."""
        expected_seconds = self._costs.expected_seconds(kind)
        if self._admission.has_room(expected_seconds) or _is_health_check(scope):
            return False

        return self._admission.would_refuse(self.caller_of(scope), expected_seconds)

    async def _send_refusal(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request for lack of capacity, and close its connection."""
        started_at = time.perf_counter()

        async def send_with_refusal_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = [*message["headers"], *_refusal_headers(scope)]
                message = {**message, "headers": headers}
            await send(message)

        response = self.respond_to_error(_OVERLOADED_CLOSING, scope)
        await response(scope, receive_disconnect, send_with_refusal_headers)
        self._access_log.record_refusal(scope, started_at, running_count=self._admission.running_count)


def _body_limits_by_path(settings: Settings, body_paths: BodyPaths) -> dict[str, BodyLimits]:
    """Return the limits for each path with streamed request bodies.

    These limits have no deadline, because a large body over a slow connection may take long. The minimum rate applies.
    """
    upload_limits = BodyLimits(settings.upload_max_bytes, settings.minimum_rate_bytes, is_buffered=False)
    stream_limits = BodyLimits(sys.maxsize, settings.minimum_rate_bytes, is_buffered=False)
    return {**dict.fromkeys(body_paths.streams, stream_limits), **dict.fromkeys(body_paths.uploads, upload_limits)}


def _is_health_check(scope: Scope) -> bool:
    """Return whether a request is a health check, which must be answered under overload as well."""
    path: str = scope["path"]
    return path.startswith("/health/")


def _refusal_headers(scope: Scope) -> list[tuple[bytes, bytes]]:
    """Return the headers that `TrackedRequest` adds to all other responses."""
    client_id = next((value for name, value in scope["headers"] if name == REQUEST_ID), None)
    request_id = choose_request_id(client_id)
    return [(REQUEST_ID, request_id.encode()), NOSNIFF]
