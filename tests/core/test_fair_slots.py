"""Slots are shared fairly between users."""

import asyncio
from uuid import UUID

import pytest

from touchstone.core.errors import Overloaded
from touchstone.core.fair_slots import FairSlots

pytestmark = pytest.mark.anyio
ADA, BOB = UUID(int=1), UUID(int=2)


class Tasks:
    """Tasks in slots, which end when a test says so."""

    def __init__(self, slots: FairSlots) -> None:
        self._slots = slots
        self._ends: dict[str, asyncio.Event] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self.running: list[str] = []

    async def begin(self, name: str, owner: UUID) -> None:
        """Begin a task, which may have to wait for a slot."""
        self._ends[name] = asyncio.Event()
        self._tasks[name] = asyncio.create_task(self._run(name, owner))
        await asyncio.sleep(0)

    async def end(self, name: str) -> None:
        """Let a running task end, and let the next one begin."""
        self._ends[name].set()
        await self._tasks[name]
        await asyncio.sleep(0)

    async def cancel(self, *names: str) -> None:
        """Cancel tasks, whether they are running or waiting."""
        for name in names:
            self._tasks[name].cancel()
        await asyncio.gather(*(self._tasks[name] for name in names), return_exceptions=True)
        await asyncio.sleep(0)

    async def _run(self, name: str, owner: UUID) -> None:
        async with self._slots.occupy(owner):
            self.running.append(name)
            try:
                await self._ends[name].wait()
            finally:
                self.running.remove(name)


async def test_a_user_alone_has_all_slots() -> None:
    tasks = Tasks(FairSlots(2))
    for name in ("a1", "a2", "a3"):
        await tasks.begin(name, ADA)
    assert tasks.running == ["a1", "a2"]
    await tasks.end("a1")
    assert tasks.running == ["a2", "a3"]
    await tasks.cancel("a2", "a3")


async def test_the_next_slot_belongs_to_another_user_who_waits() -> None:
    """Whoever has many tasks delays mainly their own, also those that have waited longer."""
    tasks = Tasks(FairSlots(2))
    for name in ("a1", "a2", "a3", "a4"):
        await tasks.begin(name, ADA)
    for name in ("b1", "b2"):
        await tasks.begin(name, BOB)
    await tasks.end("a1")
    assert tasks.running == ["a2", "b1"]
    await tasks.end("b1")
    assert tasks.running == ["a2", "b2"]
    await tasks.end("b2")
    assert tasks.running == ["a2", "a3"]
    await tasks.cancel("a2", "a3", "a4")


async def test_cancelled_tasks_leave_no_trace() -> None:
    """A waiting task that is cancelled gets no slot, and a running one returns its own."""
    tasks = Tasks(FairSlots(1))
    for name in ("a1", "a2", "a3"):
        await tasks.begin(name, ADA)
    await tasks.cancel("a2")
    assert tasks.running == ["a1"]
    await tasks.cancel("a1")
    assert tasks.running == ["a3"]
    await tasks.cancel("a3")
    await tasks.begin("b1", BOB)
    assert tasks.running == ["b1"]
    await tasks.cancel("b1")


async def test_a_task_that_waits_too_long_is_refused() -> None:
    """The refused task no longer waits, so that the slot goes to the next one."""
    slots = FairSlots(1, max_wait_seconds=0.05)
    slot = await slots.acquire(ADA)
    with pytest.raises(Overloaded):
        await slots.acquire(BOB)
    slot.release()
    async with slots.occupy(None), asyncio.timeout(5):
        with pytest.raises(Overloaded):
            await slots.acquire(BOB)
    (await slots.acquire(BOB)).release()


async def test_a_task_that_is_cancelled_as_it_gets_a_slot_returns_it() -> None:
    """The slot has been assigned, but the task has not continued yet."""
    slots = FairSlots(1)
    slot = await slots.acquire(ADA)
    waiting_task = asyncio.create_task(slots.acquire(BOB))
    await asyncio.sleep(0)

    slot.release()
    waiting_task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting_task

    async with asyncio.timeout(5):
        (await slots.acquire(ADA)).release()


async def test_a_task_that_fails_returns_its_slot() -> None:
    slots = FairSlots(1)
    with pytest.raises(ZeroDivisionError):
        async with slots.occupy(ADA):
            raise ZeroDivisionError
    async with asyncio.timeout(5), slots.occupy(ADA):
        pass
