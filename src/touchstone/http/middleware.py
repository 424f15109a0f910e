"""The outermost middleware of every listener: request ids, limits, admission, error responses, metrics and the log."""

import asyncio
import functools
import itertools
import logging
import math
import time
from collections.abc import Callable, Collection, Hashable
from typing import Final

import structlog
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from touchstone.core.client_address import address_block
from touchstone.core.errors import (
    CLIENT_DISCONNECTED,
    BadRequest,
    HeadersTooLarge,
    InternalError,
    Overloaded,
    ServiceError,
)
from touchstone.core.metrics import REQUESTS, SECONDS
from touchstone.core.settings import Settings
from touchstone.http.admission import Admission
from touchstone.http.error_responses import error_response
from touchstone.http.exchange import (
    NOSNIFF,
    REQUEST_ID,
    ErrorResponder,
    Exchange,
    choose_request_id,
    receive_disconnect,
)
from touchstone.http.request_bodies import BodyMemory, LimitedBody, UploadSlots
from touchstone.http.request_costs import RequestCosts, RequestKind, kind_of

MAX_HEADERS: Final = 100
MAX_HEADER_BYTES: Final = 32 * 1024
OVERLOAD_LOG_SECONDS: Final = 1.0
_OVERLOADED: Final = Overloaded(retry_after=1)
_OVERLOADED_CLOSING: Final = Overloaded(retry_after=1, headers={"Connection": "close"})
_HTTP_VERSIONS: Final = frozenset({"1.0", "1.1"})
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
log = structlog.get_logger("touchstone.access")
CallerOf = Callable[[Scope], Hashable]

_request_counter: Final = functools.cache(REQUESTS.labels)


def client_address(scope: Scope) -> Hashable:
    """Return the address of the client, by which requests are attributed if the user is unknown."""
    client = scope.get("client")
    return address_block(client[0]) if client else None


class EdgeMiddleware:
    """The outermost layer of a listener.

    It gives each request an id and, behind a trusted proxy, the address of its client; refuses headers and bodies over
    the limits (uploads, at the paths in `large_bodies`, have limits of their own); admits requests fairly between
    callers; and turns unexpected exceptions into an error response without a traceback. `respond_to_error` makes the
    error responses, and `caller_of` returns the user or address that a request is attributed to.
    """

    def __init__(
        self,
        app: ASGIApp,
        settings: Settings,
        *,
        large_bodies: Collection[str] = (),
        respond_to_error: ErrorResponder = error_response,
        caller_of: CallerOf = client_address,
    ) -> None:
        self.app = app
        self.settings = settings
        self.large_bodies = large_bodies
        self.respond_to_error = respond_to_error
        self.proxies = settings.proxies
        self._caller_of = caller_of

        self._costs = RequestCosts()
        self._admission = Admission(limit=settings.max_concurrency, wait_seconds=settings.queue_seconds)
        self._uploads = UploadSlots(settings)
        self._memory = BodyMemory(settings.max_concurrency * settings.body_max_bytes)

        self._access_log: structlog.typing.FilteringBoundLogger = log.bind()  # binding it for each request costs more
        self._is_logged = self._access_log.is_enabled_for(logging.INFO)
        self._refused_since_log = 0
        self._overload_logged_at = -math.inf

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request; lifespan messages pass through, and websockets are refused."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1000})
            return

        scope = self.proxies.resolve(scope)
        kind = kind_of(scope["method"], scope["path"], scope.get("query_string", b""))
        if self._must_refuse(scope, kind):
            await self._send_refusal(scope, receive, send)
            return

        exchange = Exchange(scope, send, self.respond_to_error)
        try:
            _check_headers(scope)
            await self._handle(exchange, receive, kind)
        except ServiceError as error:
            await exchange.send_error(error)
        except asyncio.CancelledError:
            raise
        except Exception:
            # An application that waits for the rest of a body fails when its client disconnects, which is no defect.
            if not exchange.is_abandoned:
                log.exception("request failed", request_id=exchange.id)
                await exchange.send_error(InternalError())
        finally:
            self._record(exchange)

    def refusal_at_once(self, scope: Scope) -> Response | None:
        """Return the response to a request that would have to wait too long, or None to call the application.

        Refusals are most of the work under overload. A server that calls this first needs no task for them.
        """
        started_at = time.perf_counter()
        scope = self.proxies.resolve(scope)
        kind = kind_of(scope["method"], scope["path"], scope["query_string"])
        if not self._must_refuse(scope, kind):
            return None

        response = self.respond_to_error(_OVERLOADED, scope)
        if not isinstance(response, Response):
            return None
        response.raw_headers += _refusal_headers(scope)
        self._record_refusal(scope, started_at)
        return response

    async def _handle(self, exchange: Exchange, receive: Receive, kind: RequestKind) -> None:
        """Call the application: for an upload in its slot while it is received, else once the body is complete."""
        if _is_health_check(exchange.scope):
            await self.app(exchange.scope, receive, exchange.send)
            return

        body = self._limit_body(exchange, receive)
        body.check_declared_length(exchange.headers.get(b"content-length"))
        if self._is_upload(exchange):
            with self._uploads.slot(exchange.scope):
                await self.app(exchange.scope, body, exchange.send)
        elif exchange.has_body:
            with self._memory.buffer(body) as buffered:
                await buffered.receive_all()
                if not exchange.is_abandoned:
                    await self._admit(exchange, buffered, kind)
        else:
            await self._admit(exchange, body, kind)

    async def _admit(self, exchange: Exchange, receive: Receive, kind: RequestKind) -> None:
        """Call the application when it is the request's turn, and learn what the request costs."""
        cost = self._costs.expected(kind)
        place = self._admission.enter_at_once(cost)
        if place is None:  # only now is it worth identifying the caller
            place = await self._admission.enter(self._caller_of(exchange.scope), cost)

        exchange.place = place
        try:
            await place.run(self.app(exchange.scope, receive, exchange.send))
            if exchange.status < 400:  # errors are cheap and say nothing about the cost of successful requests
                self._costs.learn(kind, place.used)
        finally:
            place.release()

    def _must_refuse(self, scope: Scope, kind: RequestKind) -> bool:
        """Return whether a request would have to wait too long for its turn."""
        cost = self._costs.expected(kind)
        if self._admission.has_room(cost) or _is_health_check(scope):
            return False
        return self._admission.refuses(self._caller_of(scope), cost)

    async def _send_refusal(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request before anything else is done for it, and close its connection."""
        started_at = time.perf_counter()

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], *_refusal_headers(scope)]}
            await send(message)

        response = self.respond_to_error(_OVERLOADED_CLOSING, scope)
        await response(scope, receive_disconnect, send_with_headers)
        self._record_refusal(scope, started_at)

    def _record_refusal(self, scope: Scope, started_at: float) -> None:
        """Count a request that was refused at once; such requests are logged together, once a second."""
        _request_counter(_method_label(scope["method"]), _OVERLOADED.status).inc()
        SECONDS.observe(time.perf_counter() - started_at)

        self._refused_since_log += 1
        if started_at - self._overload_logged_at >= OVERLOAD_LOG_SECONDS:
            log.warning("overloaded", refused=self._refused_since_log, working=self._admission.running)
            self._refused_since_log = 0
            self._overload_logged_at = started_at

    def _is_upload(self, exchange: Exchange) -> bool:
        return exchange.has_body and exchange.scope["path"].rstrip("/") in self.large_bodies

    def _limit_body(self, exchange: Exchange, receive: Receive) -> LimitedBody:
        is_upload = self._is_upload(exchange)
        settings = self.settings
        return LimitedBody(
            exchange.watch_disconnect(receive),
            max_bytes=settings.upload_max_bytes if is_upload else settings.body_max_bytes,
            minimum_rate=settings.minimum_rate_bytes,
            deadline_seconds=math.inf if is_upload else settings.receive_timeout_seconds,
        )

    def _record(self, exchange: Exchange) -> None:
        """Count and log the request, without the query of its URL, which may hold personal data."""
        seconds = time.perf_counter() - exchange.started_at
        scope = exchange.scope
        status = CLIENT_DISCONNECTED if exchange.is_abandoned else exchange.status

        _request_counter(_method_label(exchange.method), status).inc()
        SECONDS.observe(seconds)
        if not self._is_logged:
            return
        self._access_log.info(
            "request",
            request_id=exchange.id,
            method=exchange.method[:16],
            path=scope["path"][:300],
            client=scope["client"][0] if scope.get("client") else None,
            status=status,
            ms=round(seconds * 1000, 2),
        )


def _check_headers(scope: Scope) -> None:
    """Refuse headers that are too large, or that another server on the way could read differently (RFC 9112).

    An HTTP/1.0 request may lack a `Host` header; every other request has exactly one. `chunked` is the only transfer
    coding, because no application here decodes another one.

    Raises:
        HeadersTooLarge: there are too many headers, or too long ones.
        BadRequest: the headers are ambiguous.
    """
    headers: list[tuple[bytes, bytes]] = scope["headers"]
    if len(headers) > MAX_HEADERS or sum(map(len, itertools.chain.from_iterable(headers))) > MAX_HEADER_BYTES:
        raise HeadersTooLarge

    version = scope["http_version"]
    host_count = sum(name == b"host" for name, _ in headers)
    codings = [value.strip().lower() for name, value in headers if name == b"transfer-encoding"]

    has_valid_host = host_count == 1 or (host_count == 0 and version == "1.0")
    has_valid_coding = codings in ([], [b"chunked"])
    if version not in _HTTP_VERSIONS or not has_valid_host or not has_valid_coding:
        raise BadRequest(headers={"Connection": "close"})


def _method_label(method: str) -> str:
    """Return the method for the metrics, in which clients must not be able to create labels."""
    return method if method in _METHODS else "OTHER"


def _is_health_check(scope: Scope) -> bool:
    path: str = scope["path"]
    return path.startswith("/health/")


def _refusal_headers(scope: Scope) -> list[tuple[bytes, bytes]]:
    """Return the headers that `Exchange` adds to other responses."""
    client_id = next((value for name, value in scope["headers"] if name == REQUEST_ID), None)
    return [(REQUEST_ID, choose_request_id(client_id).encode()), NOSNIFF]
