"""Tasks that requests wait for are refused if one user has too many of them, or if the fork server is lost."""

import asyncio
from typing import Any
from uuid import UUID

import pytest

from tests.jobs.conftest import TINY_WORKER_COMMAND
from touchstone.core.errors import Overloaded, Unavailable
from touchstone.core.settings import Settings
from touchstone.jobs.execution.process_executor import ProcessExecutor
from touchstone.jobs.execution.synchronous_tasks import MAX_UNFINISHED_OF_USER, SynchronousTasks
from touchstone.jobs.job_records import JobSource

pytestmark = pytest.mark.anyio
ADA, BOB = UUID(int=1), UUID(int=2)


async def test_one_user_cannot_fill_the_queue(settings: Settings) -> None:
    """Too many tasks of one user are refused, while others can still wait for a slot."""
    executor = ProcessExecutor(TINY_WORKER_COMMAND)
    synchronous_tasks = SynchronousTasks(executor, settings)

    async def run(owner: UUID) -> Any:
        return await synchronous_tasks.run("sleep", {"seconds": 60}, owner=owner, source=JobSource(), files_by_role={})

    tasks = [asyncio.create_task(run(ADA)) for _ in range(MAX_UNFINISHED_OF_USER)]
    await asyncio.sleep(0)
    try:
        # A task that waited for a slot in vain would be refused as well, but much later.
        async with asyncio.timeout(5):
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


async def test_a_lost_fork_server_is_not_the_fault_of_the_file(settings: Settings) -> None:
    """If the fork server is killed while a request waits for its task, the request may be sent again."""
    executor = ProcessExecutor(TINY_WORKER_COMMAND)
    synchronous_tasks = SynchronousTasks(executor, settings)

    async def run(**request: Any) -> Any:
        return await synchronous_tasks.run("sleep", request, owner=ADA, source=JobSource(), files_by_role={})

    try:
        task = asyncio.create_task(run(seconds=60))
        fork_server = await executor._running_server()
        while not fork_server._exit_statuses:  # until the process of the task has been forked
            await asyncio.sleep(0.02)
        fork_server._process.kill()

        with pytest.raises(Unavailable):
            await task
        assert await run(seconds=0.1) == {"slept": 0.1}
    finally:
        await executor.close()
