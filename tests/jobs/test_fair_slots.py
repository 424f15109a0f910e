"""Tasks that requests wait for share their slots fairly between users."""

import asyncio
from typing import Any
from uuid import UUID

import pytest

from tests.jobs.conftest import TINY_WORKER_COMMAND
from touchstone.core.errors import Overloaded
from touchstone.core.settings import Settings
from touchstone.jobs.execution.fair_slots import FairSlots
from touchstone.jobs.execution.process_executor import ProcessExecutor
from touchstone.jobs.execution.synchronous_tasks import MAX_UNFINISHED_OF_USER, SynchronousTasks
from touchstone.jobs.job_records import JobSource

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


async def test_one_user_cannot_fill_the_queue(settings: Settings) -> None:
    """Too many tasks of one user are refused, while others can still wait for a slot."""
    executor = ProcessExecutor(TINY_WORKER_COMMAND)
    synchronous_tasks = SynchronousTasks(executor, settings)

    async def run(owner: UUID) -> Any:
        return await synchronous_tasks.run("sleep", {"seconds": 60}, owner=owner, source=JobSource(), files_by_role={})

    tasks = [asyncio.create_task(run(ADA)) for _ in range(MAX_UNFINISHED_OF_USER)]
    await asyncio.sleep(0)
    try:
        with pytest.raises(Overloaded):
            await run(ADA)
        tasks.append(asyncio.create_task(run(BOB)))

        # A task that ends leaves room for another one of the same user.
        tasks[0].cancel()
        await asyncio.wait(tasks[:1])
        tasks.append(asyncio.create_task(run(ADA)))
        await asyncio.sleep(0)
        assert not any(task.done() for task in tasks[1:])
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        await executor.close()
