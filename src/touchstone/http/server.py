"""The HTTP server, which serves an application until a signal and then finishes the running requests."""

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

from touchstone.core import detached_threads
from touchstone.core.metrics import REGISTRY
from touchstone.core.settings import Settings
from touchstone.http.connection import ConnectionProtocol, QuickRefusal
from touchstone.http.connection_deadlines import KEEP_ALIVE_SECONDS
from touchstone.http.connection_limits import ConnectionLimits, raise_descriptor_limit
from touchstone.http.listener import listener_address, open_listener
from touchstone.http.stop_event import STOP_EVENT_KEY
from touchstone.http.tcp_sockets import count_waiting_connections, refuse_new_connections

LAST_RESPONSE_SECONDS: Final = 3.0  # during a shutdown, connections have this time to send their last response
ACCEPT_SECONDS: Final = 5.0  # during a shutdown, waiting connections are accepted for up to this time
HANDSHAKE_SECONDS: Final = 0.05  # during a shutdown, clients have this time to complete the TCP handshake
# After the last response, the application has this time to close. Otherwise, a query that the database does not answer,
# because it waits for a lock for example, would keep the process from ending.
CLOSE_SECONDS: Final = 30.0
POLL_SECONDS: Final = 0.02
COLLECTION_THRESHOLDS: Final = (50_000, 20, 100)  # arguments for `gc.set_threshold`
# Whenever the event loop has released the interpreter lock for a system call or for NumPy, another thread may hold the
# lock for this time before the loop gets it back. With Python's default of 5 ms, a search of 0.1 s in another thread
# would delay a concurrent write by the same time.
_SWITCH_SECONDS: Final = 0.0005
_MIN_DRAIN_SECONDS: Final = 1  # running requests always get this time to finish, even if a shutdown takes too long
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
log = structlog.get_logger("touchstone.http.server")


def run(main: Coroutine[Any, Any, None]) -> None:
    """Run a server's coroutine in uvloop until it ends, after which the process should exit."""
    sys.setswitchinterval(_SWITCH_SECONDS)
    uvloop.run(main)

    # Ignore repeated signals, which would kill the process during its clean exit.
    for signal_number in _SIGNALS:
        signal.signal(signal_number, signal.SIG_IGN)
    detached_threads.exit_if_threads_are_running()


async def serve(
    open_app: AbstractAsyncContextManager[ASGIApp], settings: Settings, *, ready: Callable[[str], Any]
) -> None:
    """Serve an application until SIGINT or SIGTERM, and then finish the running requests.

    If the application then does not close in time, the process ends without it, as after a crash.

    Args:
        open_app: the context manager that opens and closes the application.
        settings: the addresses to listen on, and the limits on connections.
        ready: called with the address of the server as soon as it accepts requests.

    Raises:
        SettingsError: the address in the settings cannot be used.
    """
    # Listening first lets clients that connect while the application is being opened wait instead of failing.
    listener = open_listener(settings)
    _start_metrics_listener(settings)

    async with open_app as app:
        freeze_startup_objects()

        # The other half of the file descriptors is reserved for the files and connections that requests open.
        max_connections = raise_descriptor_limit() // 2
        limits = ConnectionLimits.from_settings(settings, max_total=max_connections)

        config = server_config(app, drain_seconds=settings.drain_seconds, limits=limits)
        server = _Server(config, on_ready=lambda: ready(listener_address(listener)))
        await server.serve(sockets=[listener])
        deadline = asyncio.get_running_loop().call_later(CLOSE_SECONDS, _give_up_closing)
    deadline.cancel()


def _give_up_closing() -> None:
    """End the process, although the application is still closing."""
    log.error("not closed in time, because the database or a job does not answer")
    detached_threads.exit_immediately()


def freeze_startup_objects() -> None:
    """Exempt all existing objects from garbage collection, and collect later objects less often.

    All requests wait during a full collection, which would take 0.2 s for the objects of the imported modules alone.
    These objects live until the process ends anyway. Later collections are less frequent than by default, because a
    bulk import would otherwise spend a quarter of its time on them.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*COLLECTION_THRESHOLDS)


def server_config(app: ASGIApp, *, drain_seconds: float, limits: ConnectionLimits | None = None) -> uvicorn.Config:
    """Return the uvicorn configuration for serving an application.

    Args:
        app: the application. If it has a method `quick_refusal`, each connection calls this method before it starts a
            task for a request.
        drain_seconds: the time for running requests to finish when the server stops.
        limits: the limits on connections, or None for the defaults of `ConnectionLimits`.
    """
    refuse: QuickRefusal = getattr(app, "quick_refusal", _refuse_nothing)
    # uvicorn only calls the protocol, but its type annotation demands a class.
    create_protocol: Any = functools.partial(ConnectionProtocol, limits=limits or ConnectionLimits(), refuse=refuse)

    # uvicorn's type annotation demands whole seconds.
    whole_drain_seconds = max(_MIN_DRAIN_SECONDS, round(drain_seconds))
    return uvicorn.Config(
        app,
        http=create_protocol,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=whole_drain_seconds,
        # The application has no websockets, and `serve` opens and closes it.
        ws="none",
        lifespan="off",
        # The application writes the access log, and applies the headers of trusted proxies.
        access_log=False,
        proxy_headers=False,
        # The logs have the format of the whole service, and clients need not know the software of the server.
        log_config=None,
        server_header=False,
    )


def _refuse_nothing(_scope: Any) -> None:
    """Return None, so that no request is refused."""


class _Server(uvicorn.Server):
    """uvicorn's server with an `on_ready` callback and a shutdown that loses no requests."""

    def __init__(self, config: uvicorn.Config, *, on_ready: Callable[[], Any]) -> None:
        super().__init__(config)
        self._on_ready = on_ready
        self._stop_event = asyncio.Event()
        self._drain_deadline = 0.0  # the monotonic time when requests that are still running are cancelled

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start listening, then call `on_ready`."""
        self.lifespan.state[STOP_EVENT_KEY] = self._stop_event
        await super().startup(sockets)
        self._on_ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop the server without losing a request.

        The configured time for a shutdown applies to all of its steps together.
        """
        drain_seconds = self.config.timeout_graceful_shutdown or 0
        self._drain_deadline = time.monotonic() + drain_seconds

        # This ends event streams, and makes the health check report that the server is stopping.
        self._stop_event.set()

        # A last response with `Connection: close` tells clients to reconnect, possibly to another server.
        await self._close_after_next_response()
        await _stop_accepting(sockets or [])

        # uvicorn calls `_wait_tasks_to_complete`, which waits for the running requests.
        await super().shutdown(sockets)

    async def _wait_tasks_to_complete(self) -> None:
        """Wait for the running requests within the remaining time for the shutdown.

        Raises:
            TimeoutError: some requests are still running. uvicorn, which calls this method, then cancels them.
        """
        remaining_seconds = self._drain_deadline - time.monotonic()
        async with asyncio.timeout(max(_MIN_DRAIN_SECONDS, remaining_seconds)):
            await super()._wait_tasks_to_complete()

    async def _close_after_next_response(self) -> None:
        """Ask each connection to close after its next response, and wait for up to `LAST_RESPONSE_SECONDS`."""
        connections: list[Any] = list(self.server_state.connections)
        for connection in connections:
            connection.close_after_next_response()

        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LAST_RESPONSE_SECONDS):
                while any(connection.is_reusable for connection in connections):  # noqa: ASYNC110 - there is no event
                    await asyncio.sleep(POLL_SECONDS)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop the server on a signal, even if it is repeated.

        uvicorn's own implementation raises the signal again after the last response, which would end the process before
        the application is closed.
        """
        for signal_number in _SIGNALS:
            signal.signal(signal_number, self.handle_exit)
        yield


async def _stop_accepting(listeners: list[socket.socket]) -> None:
    """Refuse new connections, and wait until all waiting connections are accepted.

    Otherwise closing the listeners would reset the connections in the kernel's queues, although their clients may
    already have sent a request.
    """
    for listener in listeners:
        with contextlib.suppress(OSError):  # only Linux supports this, so other systems may lose a few connections
            refuse_new_connections(listener)

    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(ACCEPT_SECONDS):
            # Clients that are completing their handshake have yet to appear in the queue.
            await asyncio.sleep(HANDSHAKE_SECONDS)
            while any(count_waiting_connections(listener) > 0 for listener in listeners):  # noqa: ASYNC110 - the kernel has no event for this
                await asyncio.sleep(POLL_SECONDS)


def _start_metrics_listener(settings: Settings) -> None:
    """Serve the metrics, or log a warning if their port is taken."""
    if not settings.metrics_port:
        return
    try:
        start_http_server(settings.metrics_port, settings.metrics_host, REGISTRY)
    except OSError as error:
        log.warning("no metrics listener", port=settings.metrics_port, problem=error.strerror)
