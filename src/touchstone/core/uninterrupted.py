"""Steps of background tasks that a cancellation must not interrupt, such as queries."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


async def run_uninterrupted(step: Coroutine[Any, Any, Result]) -> Result:
    """Run a step to its end and return its result; a cancellation that comes meanwhile is raised only after that.

    A query that is interrupted costs its connection, and the thread or the server that works on it may outlive the
    event loop.
    """
    task = asyncio.ensure_future(step)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        # Errors of the step are dropped, because its result is no longer needed.
        await asyncio.gather(task, return_exceptions=True)
        raise
