"""Short tasks that a request waits for, which run in the same kind of isolated process as jobs."""

import asyncio
import os
import resource
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, Final

import structlog

from touchstone.core.errors import InternalError, InvalidJobRequest, Overloaded, ServiceError
from touchstone.core.settings import Settings
from touchstone.jobs.execution.idle_workers import MAX_BUSY_SECONDS
from touchstone.jobs.execution.protocol import (
    ExecutionOutcome,
    Executor,
    ProcessDied,
    ResourceLimits,
    TaskFailed,
    WorkItem,
)
from touchstone.jobs.job_kinds import DRAW_TASK, PREDICT_TASK
from touchstone.jobs.job_records import JobProgress, JobSource, Json

MAX_RUNNING: Final = 2  # per queue
MAX_UNFINISHED: Final = 64  # per queue, including running tasks
TASK_SECONDS: Final = 20.0
TOTAL_SECONDS: Final = 25.0  # including the wait for a slot, and less than the gateway's timeout for a backend
TASKS_THAT_KEEP_PROCESS: Final = (PREDICT_TASK,)  # Loading a model takes longer than predicting with it.
log = structlog.get_logger("touchstone.jobs")


@dataclass(slots=True)
class _TaskQueue:
    """A queue of tasks that share the same slots."""

    slots: asyncio.Semaphore
    unfinished_count: int = 0


class SynchronousTasks:
    """Runs short tasks that a request waits for, at most `MAX_RUNNING` per queue at a time.

    Tasks that keep their process take milliseconds. They have a separate queue, so that they do not have to wait for
    the other tasks, which take seconds.
    """

    def __init__(self, executor: Executor, settings: Settings) -> None:
        self._executor = executor
        self._memory_bytes = settings.job_memory_bytes
        self._quick_task_queue = _TaskQueue(asyncio.Semaphore(MAX_RUNNING))
        self._slow_task_queue = _TaskQueue(asyncio.Semaphore(MAX_RUNNING))

    async def run(self, task: str, request: Json, *, source: JobSource, files_by_role: Mapping[str, BinaryIO]) -> Any:
        """Run a task and return its result.

        Raises:
            InvalidJobRequest: the task rejects its input, or needs too much memory or time for the file.
            Overloaded: too many tasks are waiting, or the workers are still loading their libraries.
            InternalError: the task has a defect.
        """
        random_suffix = os.urandom(8).hex()
        work_item = WorkItem(
            name=f"{task}-{random_suffix}",
            task=task,
            request=request,
            source=source,
            file_roles=tuple(files_by_role),
            scratch_folder=tempfile.gettempdir(),
            limits=self._resource_limits(task),
            keeps_process=task in TASKS_THAT_KEEP_PROCESS,
        )
        outcome = await self._run_when_slot_is_free(work_item, list(files_by_role.values()))

        if isinstance(outcome, ProcessDied):
            log.warning("a synchronous task died", task=task, status=outcome.status)
            raise InvalidJobRequest("file_not_readable_safely")
        if isinstance(outcome, TaskFailed):
            raise _to_service_error(outcome)
        return outcome.result

    async def _run_when_slot_is_free(self, work_item: WorkItem, files: Sequence[BinaryIO]) -> ExecutionOutcome:
        """Wait for a free slot of the queue, and run a task.

        Raises:
            Overloaded: too many tasks are already unfinished, or this task was not finished in time.
        """
        queue = self._quick_task_queue if work_item.keeps_process else self._slow_task_queue
        if queue.unfinished_count >= MAX_UNFINISHED:
            raise Overloaded(retry_after=2)

        queue.unfinished_count += 1
        try:
            async with asyncio.timeout(TOTAL_SECONDS), queue.slots:
                return await self._executor.run(
                    work_item, files, on_progress=_ignore_progress, timeout_seconds=TASK_SECONDS
                )
        except TimeoutError as error:
            raise Overloaded(retry_after=5) from error
        finally:
            queue.unfinished_count -= 1

    def _resource_limits(self, task: str) -> ResourceLimits:
        """Return the limits of the process for a task, which must not write any files."""
        # The chart renderer reserves far more address space than it uses. It is safe, because it only draws our charts.
        memory_bytes = resource.RLIM_INFINITY if task == DRAW_TASK else self._memory_bytes
        core_count = os.cpu_count() or 1
        seconds = int(TASK_SECONDS)
        if task in TASKS_THAT_KEEP_PROCESS:
            seconds += int(MAX_BUSY_SECONDS)  # for the earlier tasks in the same process
        return ResourceLimits(memory_bytes=memory_bytes, file_bytes=0, cpu_seconds=seconds * core_count)


def _to_service_error(failure: TaskFailed) -> ServiceError:
    """Convert the failure of a task to the error for the response.

    A defect of the task is only logged, and the caller receives an internal error without details.
    """
    if failure.code == "work_failed":
        log.error("a synchronous task failed", detail=failure.detail)
        return InternalError()
    if failure.code in ("out_of_time", "out_of_memory"):
        return InvalidJobRequest("file_not_readable_safely")

    # All other failures are due to the input. One of the facts may be the invalid field.
    field = failure.facts.get("field", "")
    other_facts = {name: fact for name, fact in failure.facts.items() if name != "field"}
    return InvalidJobRequest(failure.code, field=field, facts=other_facts)


def _ignore_progress(_progress: JobProgress) -> None:
    """Do nothing, because a task that a request waits for is too short for progress reports."""
