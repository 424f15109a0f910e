"""The outermost middleware of every listener: request ids, limits, admission and error responses."""

import sys
import time
from collections.abc import Callable, Collection, Hashable
from typing import Final, NamedTuple

import structlog
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from touchstone.core.client_address import address_block
from touchstone.core.errors import (
    InternalError,
    Overloaded,
    ServiceError,
)
from touchstone.core.settings import Settings
from touchstone.http.access_log import AccessLog
from touchstone.http.admission import Admission
from touchstone.http.error_responses import error_response
from touchstone.http.header_checks import check_headers
from touchstone.http.request_bodies import BodyLimits, BodyMemory, BufferedBody, LimitedBody, UploadSlots
from touchstone.http.request_costs import RequestCosts, RequestKind, kind_of
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
CallerOf = Callable[[Scope], Hashable]


def client_address(scope: Scope) -> Hashable:
    """Return the address of a client, to which requests without a known user are attributed; None if it has none.

    Addresses that one client can choose freely, such as those of an IPv6 network, are returned as the same one.
    """
    client = scope.get("client")
    if not client:
        return None

    client_host, _port = client
    return address_block(client_host)


class BodyPaths(NamedTuple):
    """Paths without a trailing slash whose bodies the application reads while they arrive.

    Attributes:
        uploads: paths at which a body may be as large as an upload.
        streams: paths at which a body may be of any length, because it is processed while it arrives.
    """

    uploads: Collection[str] = ()
    streams: Collection[str] = ()


class EdgeMiddleware:
    """The outermost middleware of a listener.

    It gives each request an id and, behind a trusted proxy, the address of its client; refuses headers and bodies over
    the limits; admits requests fairly between callers; and turns unexpected exceptions into an error response without a
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
        """Prepare to handle the requests to an application.

        Args:
            app: the application.
            settings: the limits on requests and their bodies, and the trusted proxies.
            body_paths: the paths whose request bodies have limits of their own.
            respond_to_error: returns the response that reports an error.
            caller_of: returns who has sent a request, so that callers get equal shares of a busy server.
        """
        self.app = app
        self.respond_to_error = respond_to_error
        self.caller_of = caller_of
        self.proxies = settings.proxies

        self._costs = RequestCosts()
        self._admission = Admission(limit=settings.max_concurrency, wait_seconds=settings.queue_seconds)
        self._upload_slots = UploadSlots(settings)
        self._body_memory = BodyMemory(settings.max_concurrency * settings.body_max_bytes)
        self._limits_by_path = _limits_by_path(settings, body_paths)
        self._default_limits = BodyLimits(
            settings.body_max_bytes, settings.minimum_rate_bytes, settings.receive_timeout_seconds
        )
        self._access_log = AccessLog()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle an HTTP request until its response has been sent and logged.

        Every exception of the application becomes an error response, so that no client sees a traceback or a broken
        connection. Lifespan messages are passed on, and websockets are refused.
        """
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1000})
            return

        scope = self.proxies.apply_forwarded_headers(scope)
        kind = kind_of(scope["method"], scope["path"], scope.get("query_string", b""))
        if self._must_refuse(scope, kind):
            await self._send_refusal(scope, receive, send)
            return

        request = TrackedRequest(scope, send, self.respond_to_error)
        try:
            check_headers(scope)
            await self._handle(request, receive, kind)
        except ServiceError as error:
            await request.send_error(error)
        except Exception:
            # An application also fails if its client disconnects before the end of the body, which is no defect.
            if not request.is_abandoned:
                log.exception("request failed", request_id=request.id)
                await request.send_error(InternalError())
        finally:
            self._access_log.record(request)

    def refusal_at_once(self, scope: Scope) -> Response | None:
        """Refuse a request for lack of capacity: count and log it, and return the response, or None if it may run.

        The server calls this before it starts a task for the request, so that refusals cost little under overload.
        """
        started_at = time.perf_counter()
        scope = self.proxies.apply_forwarded_headers(scope)
        kind = kind_of(scope["method"], scope["path"], scope["query_string"])
        if not self._must_refuse(scope, kind):
            return None

        response = self.respond_to_error(_OVERLOADED, scope)
        if not isinstance(response, Response):
            return None  # only a complete response can be sent without calling the application

        response.raw_headers += _refusal_headers(scope)
        self._access_log.record_refusal(scope, started_at, running_count=self._admission.running)
        return response

    async def _handle(self, request: TrackedRequest, receive: Receive, kind: RequestKind) -> None:
        """Call the application once the limits on running requests, uploads and the size of bodies allow it."""
        # Health checks must not wait, or an overloaded server would be taken for a dead one.
        if _is_health_check(request.scope):
            await self.app(request.scope, receive, request.send)
            return

        limits = self._limits_by_path.get(request.scope["path"].rstrip("/"), self._default_limits)
        body = LimitedBody(request.watch_disconnect(receive), limits)
        body.check_declared_length(request.headers.get(b"content-length"))

        if not request.has_body:
            await self._admit(request, body, kind)
        elif limits.is_buffered:
            await self._receive_and_admit(request, body, kind)
        else:
            # The application reads the body while it arrives, because it may be too large for the memory.
            with self._upload_slots.slot(request.scope):
                await self.app(request.scope, body, request.send)

    async def _receive_and_admit(self, request: TrackedRequest, body: LimitedBody, kind: RequestKind) -> None:
        """Receive a body before its request may run, so that a slow client does not hold up others."""
        buffered_body = BufferedBody(body, self._body_memory)
        try:
            await buffered_body.receive_all()
            if not request.is_abandoned:
                await self._admit(request, buffered_body, kind)
        finally:
            buffered_body.release()

    async def _admit(self, request: TrackedRequest, receive: Receive, kind: RequestKind) -> None:
        """Call the application once it is the request's turn, and remember how much time such requests take.

        Raises:
            Overloaded: the request would have to wait too long, or has waited too long.
        """
        expected_seconds = self._costs.expected(kind)
        place = self._admission.enter_at_once(expected_seconds)
        if place is None:
            # Only callers with waiting requests need to be told apart, and identifying a caller takes time.
            caller = self.caller_of(request.scope)
            place = await self._admission.enter(caller, expected_seconds)

        request.place = place
        try:
            await place.run(self.app(request.scope, receive, request.send))

            # Errors are cheap, and say nothing about the cost of successful requests.
            is_successful = request.status < 400
            if is_successful:
                self._costs.learn(kind, place.used_seconds)
        finally:
            place.release()

    def _must_refuse(self, scope: Scope, kind: RequestKind) -> bool:
        """Return whether a request would have to wait too long for its turn."""
        expected_seconds = self._costs.expected(kind)
        if self._admission.has_room(expected_seconds) or _is_health_check(scope):
            return False

        return self._admission.would_refuse(self.caller_of(scope), expected_seconds)

    async def _send_refusal(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the response to a request that is refused for lack of capacity, and close its connection."""
        started_at = time.perf_counter()

        async def send_with_refusal_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = [*message["headers"], *_refusal_headers(scope)]
                message = {**message, "headers": headers}
            await send(message)

        response = self.respond_to_error(_OVERLOADED_CLOSING, scope)
        await response(scope, receive_disconnect, send_with_refusal_headers)
        self._access_log.record_refusal(scope, started_at, running_count=self._admission.running)


def _limits_by_path(settings: Settings, body_paths: BodyPaths) -> dict[str, BodyLimits]:
    """Return the limits on the bodies that applications read while they arrive, by their paths.

    A large body over a slow line may take long, as long as it makes progress.
    """
    upload_limits = BodyLimits(settings.upload_max_bytes, settings.minimum_rate_bytes, is_buffered=False)
    stream_limits = BodyLimits(sys.maxsize, settings.minimum_rate_bytes, is_buffered=False)
    return {**dict.fromkeys(body_paths.streams, stream_limits), **dict.fromkeys(body_paths.uploads, upload_limits)}


def _is_health_check(scope: Scope) -> bool:
    """Return whether a request asks for the health of this process, which must be known under overload as well."""
    path: str = scope["path"]
    return path.startswith("/health/")


def _refusal_headers(scope: Scope) -> list[tuple[bytes, bytes]]:
    """Return the headers of a refusal that `TrackedRequest` would have added to any other response."""
    client_id = None
    for name, value in scope["headers"]:
        if name == REQUEST_ID:
            client_id = value
            break

    request_id = choose_request_id(client_id)
    return [(REQUEST_ID, request_id.encode()), NOSNIFF]
