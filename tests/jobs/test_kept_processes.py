"""Processes that are kept for further tasks, as those that predict are."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import pytest

from tests.jobs.conftest import TINY_WORKER_COMMAND
from tests.jobs.test_executing import wait_until_gone
from touchstone.core.settings import MIB, Settings
from touchstone.jobs.execution.process_executor import ProcessExecutor
from touchstone.jobs.execution.protocol import ExecutionOutcome, ResourceLimits, TaskFailed, TaskSucceeded, WorkItem
from touchstone.jobs.execution.synchronous_tasks import MAX_RUNNING, SynchronousTasks
from touchstone.jobs.job_kinds import PREDICT_TASK
from touchstone.jobs.job_records import JobProgress, JobSource

pytestmark = pytest.mark.anyio
ADA = UUID(int=1)
RESOURCE_LIMITS = ResourceLimits(memory_bytes=512 * MIB, file_bytes=0, cpu_seconds=60)


def ignore_progress(_progress: JobProgress) -> None:
    pass


class TaskRunner:
    """An executor of tiny tasks, with a short way to run one."""

    def __init__(self, executor: ProcessExecutor) -> None:
        self.executor = executor

    async def run(self, task: str, *, keeps_process: bool = True, **request: Any) -> ExecutionOutcome:
        """Run a task and return its outcome."""
        work_item = WorkItem(
            name=task,
            task=task,
            request=request,
            source=JobSource(),
            file_roles=(),
            scratch_folder=tempfile.gettempdir(),
            limits=RESOURCE_LIMITS,
            keeps_process=keeps_process,
        )
        return await self.executor.run(work_item, [], on_progress=ignore_progress, timeout_seconds=5)

    async def process_id(self, *, keeps_process: bool = True) -> int:
        """Run a task that succeeds, and return the id of the process in which it ran."""
        outcome = await self.run("environment", keeps_process=keeps_process)
        assert isinstance(outcome, TaskSucceeded)
        pid: int = outcome.result["pid"]
        return pid


@pytest.fixture
async def tasks() -> AsyncIterator[TaskRunner]:
    executor = ProcessExecutor(TINY_WORKER_COMMAND)
    try:
        yield TaskRunner(executor)
    finally:
        await executor.close()


async def test_next_task_finds_the_process(tasks: TaskRunner) -> None:
    """Tasks that keep their process run one after the other in the same one, even after an invalid request."""
    first_pid = await tasks.process_id()
    assert isinstance(await tasks.run("refuse"), TaskFailed)
    assert await tasks.process_id() == first_pid

    # Other tasks have a process of their own, which ends with them.
    other_pid = await tasks.process_id(keeps_process=False)
    assert other_pid != first_pid
    await wait_until_gone(other_pid)


@pytest.mark.parametrize("task", ["fail_unexpectedly", "segfault", "kill_itself"])
async def test_process_is_not_used_after_a_defect(tasks: TaskRunner, task: str) -> None:
    """A process whose task fails without a reason or dies is replaced by a fresh one."""
    first_pid = await tasks.process_id()
    assert not isinstance(await tasks.run(task), TaskSucceeded)
    await wait_until_gone(first_pid)
    assert await tasks.process_id() != first_pid


async def test_task_that_exceeds_its_time_ends_the_process(tasks: TaskRunner) -> None:
    """A kept process is ended, too, if a task takes longer than its caller waits."""
    pid = await tasks.process_id()
    outcome = await tasks.run("sleep", seconds=60)
    assert isinstance(outcome, TaskFailed)
    assert outcome.code == "out_of_time"
    await wait_until_gone(pid)


async def test_kept_processes_end_with_the_executor() -> None:
    """Closing the executor ends the processes that wait for further tasks."""
    executor = ProcessExecutor(TINY_WORKER_COMMAND)
    pid = await TaskRunner(executor).process_id()
    await executor.close()
    await wait_until_gone(pid)


async def test_predictions_do_not_wait_for_longer_tasks(tasks: TaskRunner, settings: Settings) -> None:
    """A prediction is answered while as many other tasks run as may run at the same time."""
    synchronous_tasks = SynchronousTasks(tasks.executor, settings)

    async def run_sleep_task() -> None:
        await synchronous_tasks.run("sleep", {"seconds": 60}, owner=ADA, source=JobSource(), files_by_role={})

    sleeping_tasks = [asyncio.create_task(run_sleep_task()) for _ in range(MAX_RUNNING)]
    await asyncio.sleep(0)  # Let them take their slots.
    try:
        with tempfile.TemporaryFile() as model:
            prediction = await synchronous_tasks.run(
                PREDICT_TASK, {"rows": [{}]}, owner=ADA, source=JobSource(), files_by_role={"model": model}
            )
        assert prediction["predictions"] == [{"prediction": ""}]
        assert not any(task.done() for task in sleeping_tasks)
    finally:
        for task in sleeping_tasks:
            task.cancel()
        await asyncio.gather(*sleeping_tasks, return_exceptions=True)
