"""Steps of background tasks that must not be interrupted by a cancellation, such as queries."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


async def run_uninterrupted(step: Coroutine[Any, Any, Result]) -> Result:
    """Await a step, and delay a cancellation of the caller until the step has ended.

    Interrupting a query would close its connection, and the thread or server that executes it might outlive the event
    loop.
    """
    task = asyncio.ensure_future(step)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        # Errors of the step are dropped, because its result is no longer needed.
        await asyncio.gather(task, return_exceptions=True)
        raise
