"""Steps of background tasks that must not be interrupted by a cancellation, such as queries."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from structlog.typing import FilteringBoundLogger

from touchstone.core.errors import ServiceError

Result = TypeVar("Result")


async def run_uninterrupted(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Await a coroutine. A cancellation of the caller takes effect only after the coroutine has ended.

    Interrupting a query would close its connection while a thread or the server still executes it, possibly until after
    the event loop has been closed.
    """
    task = asyncio.ensure_future(coroutine)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        # Errors of the coroutine are dropped, because its result is no longer needed.
        await asyncio.gather(task, return_exceptions=True)
        raise


async def repeat_uninterrupted(
    step: Callable[[], Coroutine[Any, Any, object]], interval_seconds: float, log: FilteringBoundLogger, failure: str
) -> None:
    """Run a step now and at regular intervals, until cancelled.

    After an error, the next round tries again.

    Args:
        step: the step to repeat.
        interval_seconds: the time between the end of a round and the beginning of the next one.
        log: the log for unexpected errors.
        failure: the message to log for them.
    """
    while True:
        try:
            await run_uninterrupted(step())
        except ServiceError:
            pass  # the database layer has logged it
        except Exception as error:  # noqa: BLE001 - a background task must not end before its process does
            log.warning(failure, problem=type(error).__name__)
        await asyncio.sleep(interval_seconds)
