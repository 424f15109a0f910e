"""Waiting for an event for a limited time."""

import asyncio

import pytest

from touchstone.core.event_waiting import wait_until_set


async def test_the_wait_ends_with_the_event_or_the_time() -> None:
    """The result says whether the event is set."""
    event = asyncio.Event()
    assert not await wait_until_set(event, 0.01)
    event.set()
    assert await wait_until_set(event, 60)


async def test_a_loop_is_cancelled_even_if_the_event_is_set_at_the_same_moment() -> None:
    """Otherwise a server that stops right after a write would wait for ever for its background tasks."""
    event = asyncio.Event()

    async def work_for_each_event() -> None:
        while True:
            await wait_until_set(event, 60)
            event.clear()

    task = asyncio.ensure_future(work_for_each_event())
    await asyncio.sleep(0.01)
    event.set()
    # The waiting coroutine has been woken, but the task does not know it yet.
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 5)
