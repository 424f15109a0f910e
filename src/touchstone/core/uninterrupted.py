"""Steps of background tasks that a cancellation must not interrupt, such as queries."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


async def run_uninterrupted(step: Coroutine[Any, Any, Result]) -> Result:
    """Await a step, such as a database query, without letting a cancellation of the caller interrupt it.

    If the caller is cancelled in the meantime, `CancelledError` is raised once the step has ended. An interrupted query
    would cost its connection, and the thread or server that works on it might outlive the event loop.
    """
    task = asyncio.ensure_future(step)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        # Errors of the step are dropped, because its result is no longer needed.
        await asyncio.gather(task, return_exceptions=True)
        raise
