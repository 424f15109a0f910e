"""Threads for long computations that the end of the process does not wait for.

Building an index over millions of records takes minutes and cannot be interrupted. Python waits for the threads of
`asyncio.to_thread` before the process ends, so that a server would be killed before it has stopped.
"""

import asyncio
import contextlib
import os
import sys
from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread
from typing import Any, Final, TypeVar

Result = TypeVar("Result")
THREAD_NAME: Final = "detached"

_running_threads: Final[set[Thread]] = set()


async def run_detached(compute: Callable[..., Result], *arguments: Any) -> Result:
    """Call a function in a detached thread, and return its result or raise its exception.

    If the caller is cancelled, the thread goes on, but its result is dropped. The function must leave everything in
    order if the process ends in between, as after a crash.
    """
    future: Future[Result] = Future()

    def fulfil_future() -> None:
        try:
            future.set_result(compute(*arguments))
        except BaseException as error:  # noqa: BLE001 - the exception is raised by `run_detached`
            future.set_exception(error)
        finally:
            _running_threads.discard(thread)

    thread = Thread(target=fulfil_future, name=THREAD_NAME, daemon=True)
    _running_threads.add(thread)
    future.set_running_or_notify_cancel()  # From now on, a cancellation of the caller leaves the future alone.
    thread.start()
    return await asyncio.wrap_future(future)


def exit_if_threads_are_running() -> None:
    """End the process immediately if a detached thread is still running.

    Python's own end of the process would wait for the threads of a pool that a detached thread uses. The caller must
    have closed all files and connections.
    """
    if not _running_threads:
        return

    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):  # nobody reads the stream any more
            stream.flush()
    os._exit(0)
