"""An application behind a real HTTP server on loopback."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from touchstone.http.connection_limits import ConnectionLimits
from touchstone.http.server import server_config


@asynccontextmanager
async def listening(app: ASGIApp, *, limits: ConnectionLimits | None = None) -> AsyncIterator[str]:
    """Run an application behind a real HTTP server on a free loopback port, and return its address."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    server = uvicorn.Server(server_config(app, drain_seconds=5, limits=limits))
    server.capture_signals = _no_signals  # type: ignore[method-assign]
    serving_task = asyncio.ensure_future(server.serve(sockets=[listener]))
    while not server.started:
        await asyncio.sleep(0.005)
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    server.should_exit = True
    await serving_task


def _no_signals() -> Any:
    """Replace uvicorn's signal handlers, which would interfere with the test runner."""
    return nullcontext()
