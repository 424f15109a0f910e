"""The HTTP server: serve an application until a signal, then finish the requests that have begun."""

import asyncio
import contextlib
import functools
import gc
import signal
import socket
import sys
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AbstractAsyncContextManager
from typing import Any, Final

import structlog
import uvicorn
import uvloop
from prometheus_client import start_http_server
from starlette.types import ASGIApp

from touchstone.core.metrics import REGISTRY
from touchstone.core.settings import Settings
from touchstone.http.connection import ConnectionProtocol, QuickRefusal
from touchstone.http.connection_deadlines import KEEP_ALIVE_SECONDS
from touchstone.http.connection_limits import ConnectionLimits, raise_descriptor_limit
from touchstone.http.listener import listener_address, open_listener
from touchstone.http.stop_event import STOP_EVENT_KEY
from touchstone.http.tcp_sockets import refuse_new_connections, waiting_connections

LAST_RESPONSE_SECONDS: Final = 3.0
ACCEPT_SECONDS: Final = 5.0
HANDSHAKE_SECONDS: Final = 0.05
POLL_SECONDS: Final = 0.02
_COLLECTION_THRESHOLDS: Final = (50_000, 20, 100)  # new objects, and collections of each younger generation
# How long a thread that computes may hold the lock of the interpreter before the event loop gets it back, each time
# that the loop has released it for a system call or for NumPy. With Python's 5 ms, a search in the names of a million
# new records, which takes a tenth of a second in a thread, delays a write that happens meanwhile by as much.
_SWITCH_SECONDS: Final = 0.0005
_MIN_DRAIN_SECONDS: Final = 1  # running requests get at least this time, however long the rest of a shutdown takes
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
log = structlog.get_logger("touchstone.http.server")


def run(main: Coroutine[Any, Any, None]) -> None:
    """Run a server's coroutine in uvloop until it ends; the process is expected to end with it."""
    sys.setswitchinterval(_SWITCH_SECONDS)
    uvloop.run(main)

    # A repeated signal must not turn a clean exit into a killed process.
    for signal_number in _SIGNALS:
        signal.signal(signal_number, signal.SIG_IGN)


async def serve(
    open_app: AbstractAsyncContextManager[ASGIApp], settings: Settings, *, ready: Callable[[str], Any]
) -> None:
    """Serve the application that `open_app` provides until SIGINT or SIGTERM.

    After the signal, the requests that have begun are finished, and then `open_app` is closed. `ready` is called with
    the address of the server once it accepts requests.

    Raises:
        SettingsError: it is not possible to listen on the address in the settings.
    """
    # Listening comes first, so that clients that connect while the application opens wait instead of failing.
    listener = open_listener(settings)
    _start_metrics_listener(settings)

    async with open_app as app:
        freeze_startup_objects()

        # Half of the file descriptors are left for what requests need: each may open a file or another connection.
        max_connections = raise_descriptor_limit() // 2
        limits = ConnectionLimits.of(settings, total=max_connections)

        config = server_config(app, drain_seconds=settings.drain_seconds, limits=limits)
        server = _Server(config, on_ready=lambda: ready(listener_address(listener)))
        await server.serve(sockets=[listener])


def freeze_startup_objects() -> None:
    """Exempt all objects that exist now from garbage collection, because they stay until the process ends.

    A full collection visits every other object, and all requests wait for it. The modules alone make it take a fifth of
    a second. Later objects are collected less often than by default, because most of them are freed without it: a bulk
    import would otherwise spend a quarter of its time on collections.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_COLLECTION_THRESHOLDS)


def server_config(app: ASGIApp, *, drain_seconds: float, limits: ConnectionLimits | None = None) -> uvicorn.Config:
    """Return the uvicorn configuration for serving an application.

    Args:
        app: the application. If it has a method `refusal_at_once`, each connection asks this method first whether to
            refuse a request, which costs less than calling the application.
        drain_seconds: how much time running requests have to finish when the server stops.
        limits: the limits on connections; by default, those of `ConnectionLimits()`.
    """
    # Each connection is an object of our own class, which enforces the limits.
    refuse: QuickRefusal = getattr(app, "refusal_at_once", _refuse_nothing)
    create_protocol: Any = functools.partial(ConnectionProtocol, limits=limits or ConnectionLimits(), refuse=refuse)

    whole_drain_seconds = max(_MIN_DRAIN_SECONDS, round(drain_seconds))
    return uvicorn.Config(
        app,
        http=create_protocol,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=whole_drain_seconds,
        # What follows is switched off, because the application does it in its own way or not at all.
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
    )


def _refuse_nothing(_scope: Any) -> None:
    """Return None, so that the application is called for every request."""


class _Server(uvicorn.Server):
    """uvicorn's server with a callback when it is ready and a shutdown that loses no request."""

    def __init__(self, config: uvicorn.Config, *, on_ready: Callable[[], Any]) -> None:
        super().__init__(config)
        self._on_ready = on_ready
        self._stop_event = asyncio.Event()
        self._drain_deadline = 0.0  # monotonic time at which the requests that still run are cancelled

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start listening, then call `on_ready`."""
        self.lifespan.state[STOP_EVENT_KEY] = self._stop_event
        await super().startup(sockets)
        self._on_ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop the server without losing a request that a client has sent.

        The configured time for a shutdown includes all of its steps.
        """
        drain_seconds = self.config.timeout_graceful_shutdown or 0
        self._drain_deadline = time.monotonic() + drain_seconds

        # Health checks report from now on that the server stops, and event streams end.
        self._stop_event.set()

        # Clients learn from a last response that they should connect anew, which another server may accept.
        await self._close_after_next_response()
        await _stop_accepting(sockets or [])

        # uvicorn waits for the requests that have begun, by calling `_wait_tasks_to_complete`.
        await super().shutdown(sockets)

    async def _wait_tasks_to_complete(self) -> None:
        """Wait until the running requests are finished, for as long as the shutdown has time left.

        Raises:
            TimeoutError: some are still running; uvicorn, which calls this method, then cancels them.
        """
        remaining_seconds = self._drain_deadline - time.monotonic()
        async with asyncio.timeout(max(_MIN_DRAIN_SECONDS, remaining_seconds)):
            await super()._wait_tasks_to_complete()

    async def _close_after_next_response(self) -> None:
        """Ask each connection to close after its next response, and wait for up to three seconds until they have."""
        connections: list[Any] = list(self.server_state.connections)
        for connection in connections:
            connection.close_after_next_response()

        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LAST_RESPONSE_SECONDS):
                while any(connection.is_reusable for connection in connections):  # noqa: ASYNC110 - there is no event
                    await asyncio.sleep(POLL_SECONDS)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Treat signals as the wish to stop, however often they come.

        uvicorn raises a signal again after its last response, which would end the process before everything is closed.
        """
        for signal_number in _SIGNALS:
            signal.signal(signal_number, self.handle_exit)
        yield


async def _stop_accepting(listeners: list[socket.socket]) -> None:
    """Refuse new connections, and wait for up to five seconds until those that clients have opened are accepted.

    Otherwise closing the listeners would reset the connections that still wait in the kernel's queues, although their
    clients may have sent a request.
    """
    for listener in listeners:
        with contextlib.suppress(OSError):  # only Linux can do this; elsewhere a few connections are lost
            refuse_new_connections(listener)

    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(ACCEPT_SECONDS):
            # A client may be about to complete its handshake, which puts its connection into the queue.
            await asyncio.sleep(HANDSHAKE_SECONDS)
            while any(waiting_connections(listener) > 0 for listener in listeners):  # noqa: ASYNC110 - the kernel has no event for this
                await asyncio.sleep(POLL_SECONDS)


def _start_metrics_listener(settings: Settings) -> None:
    """Serve the metrics, or log a warning if their port is taken, because the service matters more."""
    if not settings.metrics_port:
        return
    try:
        start_http_server(settings.metrics_port, settings.metrics_host, REGISTRY)
    except OSError as error:
        log.warning("no metrics listener", port=settings.metrics_port, problem=error.strerror)
