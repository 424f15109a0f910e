"""What every listener does before an application sees a request: identify, limit, admit, time out, log."""

import asyncio
import functools
import itertools
import logging
import math
import os
import re
import time
from collections.abc import Callable, Collection, Hashable
from typing import Any, Final

import structlog
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from touchstone.core.client_address import address_block
from touchstone.core.errors import (
    CLIENT_DISCONNECTED,
    BadRequest,
    HeadersTooLarge,
    InternalError,
    MethodNotAllowed,
    Overloaded,
    ServiceError,
)
from touchstone.core.metrics import REQUESTS, SECONDS
from touchstone.core.settings import Settings
from touchstone.http.admission import Admission, Place
from touchstone.http.error_responses import error_response
from touchstone.http.request_bodies import BodyMemory, LimitedBody, UploadSlots, resumed
from touchstone.http.request_costs import Costs, Kind, kind_of

MAX_HEADERS: Final = 100
MAX_HEADER_BYTES: Final = 32 * 1024
REQUEST_ID: Final = b"x-request-id"
_REQUEST_ID_FORM: Final = re.compile(rb"[A-Za-z0-9._-]{8,64}")
_EVENT_STREAM: Final = b"text/event-stream"
_NOSNIFF: Final = (b"x-content-type-options", b"nosniff")
_OVERLOADED: Final = Overloaded(retry_after=1)
_OVERLOADED_LAST: Final = Overloaded(retry_after=1, headers={"Connection": "close"})
log = structlog.get_logger("touchstone.access")
Refusing = Callable[[ServiceError, Scope], ASGIApp]  # the answer that carries a refusal
CallerOf = Callable[[Scope], Hashable]


def client_address(scope: Scope) -> Hashable:
    """Return the address that a request comes from: its caller, where nothing better is known."""
    client = scope.get("client")
    return address_block(client[0]) if client else None


class Edge:
    """The outermost layer of a listener.

    Gives each request an id and, behind a trusted proxy, the address of its client; refuses headers and bodies over
    the limits (uploads have their own, at the paths in `large_bodies` only), admits requests fairly between callers,
    and turns whatever escapes an application into an answer without a trace. `refusing` makes the answers that carry
    refusals; `caller_of` says whose a request is.
    """

    def __init__(
        self,
        app: ASGIApp,
        settings: Settings,
        *,
        large_bodies: Collection[str] = (),
        refusing: Refusing = error_response,
        caller_of: CallerOf = client_address,
    ) -> None:
        self.app = app
        self.settings = settings
        self.large_bodies = large_bodies
        self.refusing = refusing
        self.proxies = settings.proxies
        self._access: structlog.typing.FilteringBoundLogger = log.bind()  # finding it anew each time costs more
        self._is_logged = self._access.is_enabled_for(logging.INFO)
        self._caller_of = caller_of
        self._costs = Costs()
        self._admission = Admission(limit=settings.max_concurrency, wait_seconds=settings.queue_seconds)
        self._refused = 0
        self._refused_logged = -math.inf
        self._uploads = UploadSlots(settings)
        self._memory = BodyMemory(settings.max_concurrency * settings.body_max_bytes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Work on one request; lifespans pass through."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1000})
            return
        scope = self.proxies.resolve(scope)
        kind = kind_of(scope["method"], scope["path"], scope.get("query_string", b""))
        if self._is_refused_at_once(scope, kind):
            await self._refuse_at_once(scope, receive, send)
            return
        exchange = _Exchange(scope, send, self.refusing)
        try:
            _check_head(scope)
            await self._answer(exchange, receive, kind)
        except ServiceError as problem:
            await exchange.refuse(problem)
        except asyncio.CancelledError:
            raise
        except Exception:
            # An application that waits for the rest of a body fails when its client goes away: nothing is wrong here.
            if not exchange.is_abandoned:
                log.exception("request failed", request_id=exchange.id)
                await exchange.refuse(InternalError())
        finally:
            self._record(exchange)

    def refusal_at_once(self, scope: Scope) -> Response | None:
        """Return the answer to a request that would have to wait too long; None where the application is to be called.

        Under overload this is most of what is done: a server that asks here first needs no task for it.
        """
        started = time.perf_counter()
        scope = self.proxies.resolve(scope)
        kind = kind_of(scope["method"], scope["path"], scope["query_string"])
        if not self._is_refused_at_once(scope, kind):
            return None

        response = self.refusing(_OVERLOADED, scope)
        if not isinstance(response, Response):
            return None
        response.raw_headers += _identifying(scope)
        self._count_refusal(scope, started)
        return response

    async def _answer(self, exchange: "_Exchange", receive: Receive, kind: Kind) -> None:
        """Work on a request once it is complete; on an upload, which has a slot of its own, while it is received."""
        if _is_health(exchange.scope):
            await self.app(exchange.scope, receive, exchange.send)
            return

        body = self._limited_body(exchange, receive)
        body.check_length(exchange.given.get(b"content-length"))
        if self._is_upload(exchange):
            with self._uploads.slot(exchange.scope):
                await self.app(exchange.scope, body, exchange.send)
        elif exchange.has_body:
            with self._memory.received(body) as whole:
                await whole.receive_all()
                if not exchange.is_abandoned:
                    await self._admitted(exchange, whole, kind)
        else:
            await self._admitted(exchange, body, kind)

    async def _admitted(self, exchange: "_Exchange", receive: Receive, kind: Kind) -> None:
        cost = self._costs.expected(kind)
        place = self._admission.enter_at_once(cost)
        if place is None:  # only then is it worth knowing whose it is
            place = await self._admission.enter(self._caller_of(exchange.scope), cost)
        exchange.place = place
        try:
            await place.run(self.app(exchange.scope, receive, exchange.send))
            if exchange.status < 400:  # what is refused is cheap, and says nothing about the rest
                self._costs.learn(kind, place.used)
        finally:
            place.release()

    def _is_refused_at_once(self, scope: Scope, kind: Kind) -> bool:
        admission, cost = self._admission, self._costs.expected(kind)
        if admission.has_room(cost) or _is_health(scope):
            return False
        return admission.refuses(self._caller_of(scope), cost)

    async def _refuse_at_once(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request before anything else is done for it, and close its connection."""
        started = time.perf_counter()

        async def identified(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], *_identifying(scope)]}
            await send(message)

        await self.refusing(_OVERLOADED_LAST, scope)(scope, _no_body, identified)
        self._count_refusal(scope, started)

    def _count_refusal(self, scope: Scope, started: float) -> None:
        """Count a request that was refused at once; such requests are logged together, once a second."""
        _counter(scope["method"] if scope["method"] in _METHODS else "OTHER", _OVERLOADED.status).inc()
        SECONDS.observe(time.perf_counter() - started)
        self._refused += 1
        if started - self._refused_logged >= 1:
            log.warning("overloaded", refused=self._refused, working=self._admission.working)
            self._refused, self._refused_logged = 0, started

    def _is_upload(self, exchange: "_Exchange") -> bool:
        return exchange.has_body and exchange.scope["path"].rstrip("/") in self.large_bodies

    def _limited_body(self, exchange: "_Exchange", receive: Receive) -> LimitedBody:
        is_upload, settings = self._is_upload(exchange), self.settings
        return LimitedBody(
            exchange.watched(receive),
            max_bytes=settings.upload_max_bytes if is_upload else settings.body_max_bytes,
            minimum_rate=settings.minimum_rate_bytes,
            deadline_seconds=math.inf if is_upload else settings.receive_timeout_seconds,
        )

    def _record(self, exchange: "_Exchange") -> None:
        """Count and log the request; its path is logged without its query, which may hold personal data."""
        seconds, scope = time.perf_counter() - exchange.started, exchange.scope
        status = CLIENT_DISCONNECTED if exchange.is_abandoned else exchange.status
        _counter(exchange.method if exchange.method in _METHODS else "OTHER", status).inc()
        SECONDS.observe(seconds)
        if not self._is_logged:
            return
        self._access.info(
            "request",
            request_id=exchange.id,
            method=exchange.method[:16],
            path=scope["path"][:300],
            client=scope["client"][0] if scope.get("client") else None,
            status=status,
            ms=round(seconds * 1000, 2),
        )


class _Exchange:
    """One request and what has been answered to it so far.

    Applications see a HEAD request as a GET: they answer both with the same headers, and the body is dropped here.
    """

    def __init__(self, scope: Scope, send: Send, refusing: Refusing) -> None:
        self.started = time.perf_counter()
        self.status = 0
        self.method: str = scope["method"]
        self.is_complete = False
        self.is_abandoned = False
        self.place: Place | None = None
        self._send = send
        self._refusing = refusing
        headers = scope["headers"]
        self.given: dict[bytes, bytes] = dict(headers)
        self.has_body = b"transfer-encoding" in self.given or self.given.get(b"content-length", b"0") != b"0"
        given = self.given.get(REQUEST_ID)
        if given is not None:
            headers = [(n, v) for n, v in headers if n != REQUEST_ID]
        self.id = _request_id(given)
        method = "GET" if self.method == "HEAD" else self.method
        self.scope = {**scope, "method": method, "headers": [*headers, (REQUEST_ID, self.id.encode())]}

    def watched(self, receive: Receive) -> Receive:
        """Return the receive channel that notices when the client goes away before it has been answered."""

        async def noticing() -> Message:
            message = await receive()
            if message["type"] == "http.disconnect" and self.status == 0:
                self.is_abandoned = True
            return message

        return noticing

    async def send(self, message: Message) -> None:
        """Pass a message on to the server; the first one gets the request id."""
        if self.is_complete or self.is_abandoned:
            return
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = list(message.get("headers", ()))
            named = dict(headers)
            if self.status == MethodNotAllowed.status:
                headers = [(n, _with_head(v) if n == b"allow" else v) for n, v in headers]
            # An event stream lives long and does little: it must not hold a place that work could use.
            if self.place is not None and named.get(b"content-type", b"").startswith(_EVENT_STREAM):
                self.place.release()
            if REQUEST_ID not in named:
                headers.append((REQUEST_ID, self.id.encode()))
            if b"x-content-type-options" not in named:
                headers.append(_NOSNIFF)
            message = {**message, "headers": headers}
        await self._deliver(message)
        if self.method == "HEAD":
            self.is_complete = True
            await self._send({"type": "http.response.body", "body": b""})

    async def _deliver(self, message: Message) -> None:
        steps = self._send(message).__await__()
        try:
            first = next(steps)
        except StopIteration:
            return
        # The client reads more slowly than the answer is made: waiting for it is no work, and needs no place.
        if self.place is not None:
            self.place.release()
        await resumed(first, steps)

    async def refuse(self, problem: ServiceError) -> None:
        """Answer with a refusal, unless an answer has begun."""
        if self.status == 0:
            await self._refusing(problem, self.scope)(self.scope, _no_body, self.send)


_VERSIONS: Final = frozenset({"1.0", "1.1"})
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


_counter: Final = functools.cache(REQUESTS.labels)


def _check_head(scope: Scope) -> None:
    """Refuse a head that is too large, or that another server on the way could read differently (RFC 9112).

    A sender of HTTP/1.0 need not know the Host header; every other request has exactly one. `chunked` is the only
    transfer coding: no application here undoes another one.
    """
    headers: list[tuple[bytes, bytes]] = scope["headers"]
    if len(headers) > MAX_HEADERS or sum(map(len, itertools.chain.from_iterable(headers))) > MAX_HEADER_BYTES:
        raise HeadersTooLarge

    version = scope["http_version"]
    hosts = sum(name == b"host" for name, _ in headers)
    codings = [value.strip().lower() for name, value in headers if name == b"transfer-encoding"]
    if version not in _VERSIONS or hosts > 1 or (hosts == 0 and version != "1.0") or codings not in ([], [b"chunked"]):
        raise BadRequest(headers={"Connection": "close"})


def _with_head(allow: bytes) -> bytes:
    """Return an `Allow` header in which HEAD stands wherever GET does."""
    methods = {method.strip() for method in allow.split(b",")}
    return b", ".join(sorted(methods | {b"HEAD"} if b"GET" in methods else methods))


def _is_health(scope: Scope) -> bool:
    path: str = scope["path"]
    return path.startswith("/health/")


def _identifying(scope: Scope) -> list[tuple[bytes, bytes]]:
    """Return the headers that a refusal gets here rather than from an application."""
    given = next((value for name, value in scope["headers"] if name == REQUEST_ID), None)
    return [(REQUEST_ID, _request_id(given).encode()), _NOSNIFF]


def _request_id(given: bytes | None) -> str:
    """Return the request id that the client gave, or a new one."""
    return given.decode() if given and _REQUEST_ID_FORM.fullmatch(given) else os.urandom(16).hex()


async def _no_body() -> dict[str, Any]:
    return {"type": "http.disconnect"}
