"""The HTTP server around an application: bind, say where, answer, and at a stop finish what was begun."""

import asyncio
import contextlib
import signal
import socket
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Final

import msgspec
import structlog
import uvicorn
import uvloop
from prometheus_client import start_http_server
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from touchstone.core.errors import BadRequest
from touchstone.core.messages import DEFAULT_LOCALE
from touchstone.core.metrics import REGISTRY
from touchstone.core.settings import Settings, SettingsError
from touchstone.core.stopping import STOPPING

# Longer than our client side keeps an idle connection (15 s), so a hop never picks one that is being closed.
KEEP_ALIVE_SECONDS: Final = 75
HEADER_SECONDS: Final = 5.0
BACKLOG: Final = 2048
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
log = structlog.get_logger("touchstone.server")


_NOT_HTTP: Final = msgspec.json.encode(BadRequest().body(DEFAULT_LOCALE))
_NOT_HTTP_HEAD: Final = (
    b"HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\n"
    b"content-length: %d\r\nconnection: close\r\n\r\n" % len(_NOT_HTTP)
)


class DeadlineProtocol(HttpToolsProtocol):
    """uvicorn's protocol with a deadline for the first request's headers, and refusals in the contract's shape.

    Idle connections are found by one timer a connection. uvicorn makes one for each answer and gives it up at the next
    byte, so that a later request which stops half way through its headers would hold its connection for ever.
    """

    def connection_made(self, transport: Any) -> None:
        """Start the deadline."""
        super().connection_made(transport)
        self._answered = 0.0
        self._deadline = self.loop.call_later(HEADER_SECONDS, transport.close)

    def on_headers_complete(self) -> None:
        """The headers arrived; those of the first request did in time."""
        if not self._answered:
            self._answered = self.loop.time()
            self._deadline.cancel()
            self._deadline = self.loop.call_later(KEEP_ALIVE_SECONDS, self._close_when_idle)
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        """Go on with the next request if it has come already: as uvicorn does, but without a timer."""
        self._answered = self.loop.time()
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            return
        self.flow.resume_reading()
        if self.pipeline:
            self._start_asgi_task(*self.pipeline.pop())

    def _close_when_idle(self) -> None:
        rest = self._answered + KEEP_ALIVE_SECONDS - self.loop.time() if self.cycle.response_complete else 1.0
        if rest <= 0:
            self.transport.close()
        else:
            self._deadline = self.loop.call_later(rest, self._close_when_idle)

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP, before there is a request that an application could refuse."""
        self.transport.write(_NOT_HTTP_HEAD + _NOT_HTTP)
        self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the deadline."""
        self._deadline.cancel()
        super().connection_lost(exc)


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
        server = _Server(configured(app, drain_seconds=settings.drain_seconds), lambda: ready(address(listener)))
        await server.serve(sockets=[listener])


def configured(app: ASGIApp, *, drain_seconds: float) -> uvicorn.Config:
    """How uvicorn serves our applications."""
    return uvicorn.Config(
        app,
        http=DeadlineProtocol,
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
        self.lifespan.state[STOPPING] = self._stopping
        await super().startup(sockets)
        self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Tell, then stop."""
        self._stopping.set()
        await super().shutdown(sockets)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take the signals as the wish to stop, until all is closed; a repeated one does not cut that off.

        uvicorn raises a signal again after its last answer, which ends the process before what is open is closed.
        """
        for number in _SIGNALS:
            signal.signal(number, self.handle_exit)
        yield


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
        # Event loops switch Nagle's delay off only where the socket names its protocol: without it a small answer
        # in two writes waits 40 ms for the client's acknowledgement.
        return socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP, fileno=plain.detach())
    except OSError as problem:
        where = f"{settings.host}:{settings.port}"
        raise SettingsError(f"TOUCHSTONE_HOST, TOUCHSTONE_PORT: cannot listen on {where}: {problem.strerror}") from None


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
