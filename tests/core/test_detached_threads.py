"""Long computations, and what else a stopping process does not wait for."""

import asyncio
import subprocess
import sys
from pathlib import Path
from threading import Event

import pytest

from touchstone.core.detached_threads import run_detached

# The server ends while its thread would still sleep for ten minutes.
STOPPING_SERVER = """
import asyncio, sys, time
from touchstone.core.detached_threads import run_detached
from touchstone.http import server

async def main():
    computation = asyncio.create_task(run_detached(time.sleep, 600))
    await asyncio.sleep(0.1)
    computation.cancel()
    await asyncio.wait([computation])
    print("closed")

server.run(main())
"""

# The application waits for an answer that never comes when it closes.
SERVER_THAT_CANNOT_CLOSE = """
import asyncio, os, signal, sys
from contextlib import asynccontextmanager
from touchstone.core.settings import Settings
from touchstone.http import server

server.CLOSE_SECONDS = 0.5

@asynccontextmanager
async def open_app():
    yield None
    print("closing")
    await asyncio.Event().wait()

settings = Settings.load({"TOUCHSTONE_DATA_DIR": sys.argv[1], "TOUCHSTONE_PORT": "0", "TOUCHSTONE_METRICS_PORT": "0"})
server.run(server.serve(open_app(), settings, ready=lambda address: os.kill(os.getpid(), signal.SIGTERM)))
"""


async def test_the_result_is_returned() -> None:
    """The caller gets the result of the function."""
    assert await run_detached(sum, [1, 2, 3]) == 6


async def test_an_exception_is_raised() -> None:
    """The caller gets the exception of the function."""
    with pytest.raises(ZeroDivisionError):
        await run_detached(lambda: 1 / 0)


async def test_a_cancelled_caller_does_not_wait() -> None:
    """After a cancellation, the function goes on, and other computations are not disturbed."""
    may_end, has_ended = Event(), Event()

    def wait() -> None:
        may_end.wait()
        has_ended.set()

    computation = asyncio.create_task(run_detached(wait))
    await asyncio.sleep(0.01)
    computation.cancel()
    with pytest.raises(asyncio.CancelledError):
        await computation
    assert not has_ended.is_set()

    may_end.set()
    assert await run_detached(has_ended.wait, 30.0)


def test_a_server_ends_while_a_computation_goes_on() -> None:
    """A stopped server exits with success and complete output instead of waiting for its threads."""
    stopped_server = subprocess.run(
        [sys.executable, "-c", STOPPING_SERVER], capture_output=True, text=True, timeout=60, check=False
    )
    assert (stopped_server.returncode, stopped_server.stdout, stopped_server.stderr) == (0, "closed\n", "")


def test_a_server_ends_although_its_application_does_not_close(tmp_path: Path) -> None:
    """A database that does not answer a query must not keep a stopped server from ending."""
    stopped_server = subprocess.run(
        [sys.executable, "-c", SERVER_THAT_CANNOT_CLOSE, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (stopped_server.returncode, stopped_server.stderr) == (0, "")
    assert "closing" in stopped_server.stdout
    assert "not closed in time" in stopped_server.stdout
