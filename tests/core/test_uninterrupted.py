"""A background task that is cancelled finishes the step that it is making, and no other."""

import asyncio

import pytest

from touchstone.core.uninterrupted import run_uninterrupted


async def test_a_cancelled_task_ends_after_its_step() -> None:
    """The cancellation is raised only after the step has ended, even if the step fails then."""
    may_end = asyncio.Event()
    ended_steps = []

    async def step(name: str) -> None:
        await may_end.wait()
        ended_steps.append(name)
        if name == "fails":
            raise OSError

    for name in ("succeeds", "fails"):
        may_end.clear()
        task = asyncio.ensure_future(run_uninterrupted(step(name)))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.sleep(0)
        assert not task.done()

        may_end.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert ended_steps[-1] == name


async def test_an_error_of_the_step_is_raised() -> None:
    """Without a cancellation, the step behaves as if it were awaited directly."""

    async def fail() -> None:
        raise OSError("full")

    with pytest.raises(OSError, match="full"):
        await run_uninterrupted(fail())
