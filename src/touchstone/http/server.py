"""The HTTP server around an application: bind, say where, answer, and at a stop finish what was begun."""

import asyncio
import contextlib
import functools
import random
import signal
import socket
import struct
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Final

import structlog
import uvicorn
import uvloop
from prometheus_client import start_http_server
from starlette.responses import Response
from starlette.types import ASGIApp, Scope
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from touchstone.core.errors import BadRequest, Overloaded, ServiceError
from touchstone.core.metrics import CLOSED, REGISTRY
from touchstone.core.settings import Settings, SettingsError
from touchstone.http.connection_limits import (
    SLOW_BYTES,
    ConnectionLimits,
    Pace,
    Progress,
    has_input,
    refuse_new_connections,
    waiting_connections,
)
from touchstone.http.error_rendering import render_error
from touchstone.http.responses import JsonResponse
from touchstone.http.shutdown import STOP_EVENT_KEY
from touchstone.messages.locales import DEFAULT_LOCALE

# Longer than our client side keeps an idle connection (15 s), so a hop never picks one that is being closed.
KEEP_ALIVE_SECONDS: Final = 75
HEADER_SECONDS: Final = 5.0
LOOK_SECONDS: Final = 1.0
# While the server stops: how long connections may take to ask once more, and be told that this was the last time.
STOPPING_IDLE_SECONDS: Final = 2.0
# A connection whose last request was refused may rest for this long: its client was told to come back after a second.
REFUSED_IDLE_SECONDS: Final = 5.0
RETRY_SECONDS: Final = (1.0, 2.0)
LINGER_SECONDS: Final = 3.0
ACCEPTING_SECONDS: Final = 5.0
# What the kernel takes of an answer beyond what the client has room for: a client that never reads costs little.
UNSENT_BYTES: Final = 128 * 1024
# The kernel ends a connection whose client does not acknowledge anything for so long, even when it is closed for us.
UNACKNOWLEDGED_SECONDS: Final = 10
BACKLOG: Final = 2048
# libuv takes one connection from a listener in each iteration of the loop: a crowd of them would make others wait for
# as many iterations. So it gets the same listener several times.
ACCEPTED_AT_ONCE: Final = 16
_ABORTING: Final = frozenset({"unread", "unsent", "too_many_slow"})
Refuse = Callable[[Any], Response | None]  # the answer to a request that is refused before the application is called
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
log = structlog.get_logger("touchstone.http.server")


def _answer(status: int, headers: Iterable[tuple[bytes, bytes]], body: bytes | memoryview) -> bytes:
    """Return the bytes of a whole answer."""
    fields = [b"%b: %b\r\n" % field for field in headers]
    return b"".join((STATUS_LINE[status], *fields, b"\r\n", body))


def _last_answer(problem: ServiceError) -> bytes:
    """Return a whole answer that refuses a connection and ends it."""
    response = JsonResponse(
        render_error(problem, DEFAULT_LOCALE), problem.status, {**problem.headers, "Connection": "close"}
    )
    return _answer(problem.status, response.raw_headers, response.body)


_NOT_HTTP: Final = _last_answer(BadRequest())
_TOO_MANY: Final = _last_answer(Overloaded(retry_after=1))


class DeadlineProtocol(HttpToolsProtocol):
    """uvicorn's protocol with deadlines, limits per client address, and refusals in the contract's shape.

    Once a second each connection looks at itself. It is closed when the headers of a request are late, when a client
    neither reads its answer nor sends the rest of a refused body at the minimum rate, and when it has been idle for
    long. Bodies that somebody waits for are limited in `http/request_bodies.py`, where they can be refused. uvicorn's
    own timer is given up at the next byte, so that half a request would hold its connection for ever.

    Requests that `refuse` answers never reach the application. Where that takes too much of the time, the connections
    concerned are not read until their clients may come back, so that those who ask again at once cost next to nothing.
    """

    def __init__(self, *arguments: Any, limits: ConnectionLimits, refuse: Refuse, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._limits = limits
        self._refuse = refuse
        self._is_refused = False
        self._resting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Count the connection, refuse it where there are too many, and begin to look at it."""
        super().connection_made(transport)
        now = self.loop.time()
        self._rested_at = now
        self._begun_at: float | None = now  # the first request is due at once
        self._has_headers = False
        self._progress: Progress | None = None
        self._reading, self._writing = Pace(self._limits.minimum_rate), Pace(self._limits.minimum_rate)
        self._is_slow = False
        self._key = self._limits.key(self.client)
        self._is_counted = self._limits.open(self._key)
        self._look = self.loop.call_later(LOOK_SECONDS, self._look_at_itself)
        if not self._is_counted:
            CLOSED.labels("too_many").inc()
            transport.write(_TOO_MANY)
            transport.close()

    def on_message_begin(self) -> None:
        """Note when a request begins: it has to be complete in time."""
        self._begun_at = self._begun_at or self.loop.time()
        self._has_headers = False
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Start the request; while the server stops, its answer is the last one on this connection."""
        self._has_headers = True
        super().on_headers_complete()
        if self._is_stopping:
            self.cycle.keep_alive = False

    def on_message_complete(self) -> None:
        """Note that nothing more of this request is due."""
        self._begun_at = None
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Go on with the next request if it has come already: as uvicorn does, but without a timer."""
        self._rested_at = self.loop.time()
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            return
        self.flow.resume_reading()
        if self.pipeline:
            self._start_asgi_task(*self.pipeline.pop())

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        """Start the application, unless the request can be refused here and the connection can go on after it."""
        started = time.perf_counter()
        is_plain = cycle.keep_alive and cycle.scope["method"] != "HEAD" and not self._is_stopping
        # What follows on the same connection without waiting for an answer goes the long way, which ends with closing.
        has_more = bool(self.pipeline) or self._resting is not None
        response = self._refuse(cycle.scope) if is_plain and not has_more else None
        # A client that came back before it was told to pays for it, and nobody else.
        ignores_retry_after = self._is_refused and self.loop.time() - self._rested_at < RETRY_SECONDS[0]
        self._is_refused = response is not None
        if response is None:
            super()._start_asgi_task(cycle, app)
            return

        self.transport.write(
            _answer(response.status_code, [*cycle.default_headers, *response.raw_headers], response.body)
        )
        cycle.response_started = cycle.response_complete = True
        self.on_response_complete()
        is_affordable = self._limits.refusals.use(self.loop.time(), time.perf_counter() - started)
        if ignores_retry_after and not is_affordable and self._key is not None:
            self.flow.pause_reading()
            pause = random.uniform(*RETRY_SECONDS)  # noqa: S311 - spread, so that not all of them come back at once
            self._resting = self.loop.call_later(pause, self._read_on)

    def _read_on(self) -> None:
        self._resting = None
        self._rested_at = self.loop.time()
        if not self.transport.is_closing():
            self.flow.resume_reading()

    def announce_end(self) -> None:
        """Make the next answer the last one, if it has not begun; who is idle may ask once more for a little while."""
        if self.is_idle:
            self._rested_at = self.loop.time()
        elif not self.cycle.response_started:
            self.cycle.keep_alive = False

    def shutdown(self) -> None:
        """Close the connection where nobody has announced the end; else it ends with its answer, or a little later."""
        if not self._is_stopping:
            super().shutdown()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP, before there is a request that an application could refuse."""
        if not self.pipeline and (self.is_idle or not self.cycle.response_started):
            self.transport.write(_NOT_HTTP)
        if self.cycle is not None:
            self.cycle.disconnected = True
        self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._look.cancel()
        if self._resting is not None:
            self._resting.cancel()
        self._set_slow(False)
        if self._is_counted:
            self._limits.close(self._key)
        super().connection_lost(exc)

    @property
    def is_idle(self) -> bool:
        """Whether no request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    @property
    def is_reusable(self) -> bool:
        """Whether the client may believe that it can send another request."""
        return not self.transport.is_closing() and (self.is_idle or self.cycle.keep_alive)

    @property
    def _is_stopping(self) -> bool:
        stopping: asyncio.Event | None = self.app_state.get(STOP_EVENT_KEY)
        return stopping is not None and stopping.is_set()

    def _look_at_itself(self) -> None:
        reason = self._reason_to_abort() or self._reason_to_close()
        if reason in _ABORTING:
            self._abort(reason)
            return
        if reason and not self.transport.is_closing():
            CLOSED.labels(reason).inc()
            self.transport.close()  # what is still to be sent is sent first, and watched
        self._look = self.loop.call_later(LOOK_SECONDS, self._look_at_itself)

    def _reason_to_abort(self) -> str | None:
        before, progress = self._progress, Progress.of(self.transport.get_extra_info("socket"))
        self._progress = progress
        if progress is None:
            return None

        now = self.loop.time()
        unsent = progress.unsent + self.transport.get_write_buffer_size()
        # A body that an application waits for is its own affair; the rest of one that was refused is read and dropped.
        unwanted = self._begun_at is not None and self._has_headers and self.is_idle
        if self._writing.is_too_slow(now, progress.acknowledged, unsent):
            return "unread"
        if self._reading.is_too_slow(now, progress.received, SLOW_BYTES if unwanted else 0):
            return "unsent"

        moved = 0 if before is None else progress.acknowledged + progress.received
        moved -= 0 if before is None else before.acknowledged + before.received
        is_sending = self._begun_at is not None and not self.flow.read_paused
        is_due = before is not None and (unsent > 0 or is_sending)
        return None if self._set_slow(is_due and moved < SLOW_BYTES) else "too_many_slow"

    def _reason_to_close(self) -> str | None:
        if not self.is_idle or has_input(self.transport.get_extra_info("socket")):
            return None
        idle_limit = STOPPING_IDLE_SECONDS if self._is_stopping else KEEP_ALIVE_SECONDS
        is_begun = self._begun_at is not None and not (self._is_stopping and self.scope is None)
        if self._is_refused and self._key is not None:
            idle_limit = min(idle_limit, REFUSED_IDLE_SECONDS)
        reason, limit = "idle", idle_limit
        if is_begun and not self._has_headers:
            reason, limit = "headers", min(HEADER_SECONDS, KEEP_ALIVE_SECONDS)
        since = max(self._rested_at, self._begun_at or 0.0) if is_begun else self._rested_at
        return reason if self.loop.time() - since >= limit else None

    def _set_slow(self, is_slow: bool) -> bool:
        """Count this connection among the slow ones or no more; whether it may stay."""
        if is_slow == self._is_slow:
            return True
        self._is_slow = is_slow
        if is_slow:
            return self._limits.slow_down(self._key)
        self._limits.speed_up(self._key)
        return True

    def _abort(self, reason: str) -> None:
        """Close at once: what has been written for a client that does not read it would stay in memory."""
        CLOSED.labels(reason).inc()
        connection = self.transport.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()


def _refuse_nothing(_: Scope) -> None:
    return None


def run(serving: Coroutine[Any, Any, None]) -> None:
    """Run a server's coroutine in the fast event loop, until it ends; the process is expected to end with it."""
    uvloop.run(serving)
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)  # a repeated one would turn a good end into a death


async def serve(
    opening: AbstractAsyncContextManager[ASGIApp], settings: Settings, *, ready: Callable[[str], Any]
) -> None:
    """Serve until SIGINT or SIGTERM; `ready(address)` is called once requests are answered.

    At the signal event streams are asked to end, requests are drained, and `opening` closes what it has opened.

    Raises:
        SettingsError: the address cannot be listened on.
    """
    listener = _listen(settings)
    _serve_metrics(settings)
    async with opening as app:
        config = configured(app, drain_seconds=settings.drain_seconds, limits=ConnectionLimits.of(settings))
        server = _Server(config, lambda: ready(address(listener)))
        await server.serve(sockets=[listener, *(listener.dup() for _ in range(ACCEPTED_AT_ONCE - 1))])


def configured(app: ASGIApp, *, drain_seconds: float, limits: ConnectionLimits | None = None) -> uvicorn.Config:
    """Return how uvicorn serves our applications."""
    refuse: Refuse = getattr(app, "refusal_at_once", _refuse_nothing)
    protocol: Any = functools.partial(DeadlineProtocol, limits=limits or ConnectionLimits(), refuse=refuse)
    return uvicorn.Config(
        app,
        http=protocol,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=max(1, round(drain_seconds)),
    )


class _Server(uvicorn.Server):
    """uvicorn's server, telling when it answers, and those who answer for long when it stops."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], Any]) -> None:
        super().__init__(config)
        self._ready = ready
        self._stopping = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then tell."""
        self.lifespan.state[STOP_EVENT_KEY] = self._stopping
        await super().startup(sockets)
        self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop in four steps: not ready, a last answer on each connection, no new connections, and finish."""
        begun = time.monotonic()
        self._stopping.set()
        await self._announce_end()
        await _stop_accepting(sockets or [])

        remaining = self.config.timeout_graceful_shutdown or 0
        self.config.timeout_graceful_shutdown = max(1, remaining - round(time.monotonic() - begun))
        await super().shutdown(sockets)

    async def _announce_end(self) -> None:
        connections: list[Any] = list(self.server_state.connections)
        for connection in connections:
            connection.announce_end()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LINGER_SECONDS):
                while any(connection.is_reusable for connection in connections):  # noqa: ASYNC110 - they tell nobody
                    await asyncio.sleep(0.02)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take the signals as the wish to stop, until all is closed; a repeated one does not cut that off.

        uvicorn raises a signal again after its last answer, which ends the process before what is open is closed.
        """
        for number in _SIGNALS:
            signal.signal(number, self.handle_exit)
        yield


async def _stop_accepting(listeners: list[socket.socket]) -> None:
    """Let no further connection begin, then take those that the kernel has accepted already.

    Closing a listener resets the connections that wait in its queue, whose clients may have sent a request. Outside
    Linux, which alone has such a filter, a few of them remain.
    """
    for listener in listeners:
        with contextlib.suppress(OSError):
            refuse_new_connections(listener)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(ACCEPTING_SECONDS):
            # The last step of a handshake may be on its way: the queue is looked at again after a moment.
            await asyncio.sleep(0.05)
            while any(map(waiting_connections, listeners)):  # noqa: ASYNC110 - the kernel tells nobody
                await asyncio.sleep(0.02)


def address(listener: socket.socket) -> str:
    """The address of a listener, as a person opens it."""
    if listener.family == socket.AF_UNIX:
        return f"unix:{listener.getsockname()}"
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _listen(settings: Settings) -> socket.socket:
    try:
        if settings.host.startswith("unix:"):
            return _listen_unix(Path(settings.host.removeprefix("unix:")))
        family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
        plain = socket.create_server((settings.host, settings.port), family=family, backlog=BACKLOG)
        _limit_unread(plain)
        # Event loops switch Nagle's delay off only where the socket names its protocol: without it a small answer
        # in two writes waits 40 ms for the client's acknowledgement.
        return socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP, fileno=plain.detach())
    except OSError as problem:
        where = f"{settings.host}:{settings.port}"
        raise SettingsError(f"TOUCHSTONE_HOST, TOUCHSTONE_PORT: cannot listen on {where}: {problem.strerror}") from None


def _limit_unread(listener: socket.socket) -> None:
    """Limit what the kernel keeps for clients that do not read; accepted connections inherit it."""
    for name, value in (("TCP_NOTSENT_LOWAT", UNSENT_BYTES), ("TCP_USER_TIMEOUT", UNACKNOWLEDGED_SECONDS * 1000)):
        option = getattr(socket, name, None)
        if option is not None:
            listener.setsockopt(socket.IPPROTO_TCP, option, value)


def _listen_unix(path: Path) -> socket.socket:
    with contextlib.suppress(FileNotFoundError):
        path.unlink()
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(path))
    path.chmod(0o600)
    listener.listen(BACKLOG)
    return listener


def _serve_metrics(settings: Settings) -> None:
    if settings.metrics_port:
        try:
            start_http_server(settings.metrics_port, settings.metrics_host, REGISTRY)
        except OSError as problem:
            # The service matters more than its counters: a second one on this machine must start all the same.
            log.warning("no metrics listener", port=settings.metrics_port, problem=problem.strerror)
