"""Steps of background tasks that must not be interrupted by a cancellation, such as queries."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

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
