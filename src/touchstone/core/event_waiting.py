"""Waiting for an event for a limited time."""

import asyncio
import contextlib


async def is_set_within(event: asyncio.Event, timeout_seconds: float) -> bool:
    """Wait until the event is set, but no longer than `timeout_seconds`, and return whether it is set.

    A task that waits here can always be cancelled. `asyncio.wait_for` of Python 3.11 loses the cancellation if the
    event is set at the same moment, so that a loop around it would never end.
    """
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(timeout_seconds):
            await event.wait()
    return event.is_set()
