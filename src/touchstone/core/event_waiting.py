"""Waiting for an event for a limited time."""

import asyncio
import contextlib


async def wait_until_set(event: asyncio.Event, timeout_seconds: float) -> bool:
    """Wait until an event is set, and return True, or return False after `timeout_seconds`.

    Unlike `asyncio.wait_for` in Python 3.11, this function never loses a cancellation. `wait_for` does so if the event
    is set at the same time, and a loop around it would then never end.
    """
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(timeout_seconds):
            await event.wait()
    return event.is_set()
