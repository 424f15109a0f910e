"""Threads for long computations that the end of the process does not wait for.

Building an index over millions of records takes minutes and cannot be interrupted. Python waits for the threads of
`asyncio.to_thread` before the process ends, so that a server would be killed before it has stopped.
"""

import asyncio
import contextlib
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Final, NoReturn, ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
THREAD_NAME: Final = "detached"


async def run_detached(
    compute: Callable[Parameters, Result], *arguments: Parameters.args, **options: Parameters.kwargs
) -> Result:
    """Call a function in a detached thread, and return its result or raise its exception.

    If the caller is cancelled, the thread goes on, but its result is dropped. The function must leave everything in
    order if the process ends in between, as after a crash.
    """
    future: Future[Result] = Future()

    def fulfil_future() -> None:
        try:
            future.set_result(compute(*arguments, **options))
        except BaseException as error:  # noqa: BLE001 - the exception is raised by `run_detached`
            future.set_exception(error)

    future.set_running_or_notify_cancel()  # From now on, a cancellation of the caller leaves the future alone.
    threading.Thread(target=fulfil_future, name=THREAD_NAME, daemon=True).start()
    return await asyncio.wrap_future(future)


def exit_if_threads_are_running() -> None:
    """End the process immediately and with success if a detached thread is still running.

    Python's own end of the process would wait for the threads of a pool that a detached thread uses. The caller must
    have closed all files and connections.
    """
    if any(thread.name == THREAD_NAME for thread in threading.enumerate()):
        exit_immediately()


def exit_immediately() -> NoReturn:
    """End the process with success, without waiting for anything but its output."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):  # nobody reads the stream any more
            stream.flush()
    os._exit(0)
