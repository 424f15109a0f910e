"""Short tasks that a request waits for, which run in the same kind of isolated process as jobs."""

import asyncio
import os
import resource
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Final
from uuid import UUID

import structlog

from touchstone.core.errors import InternalError, InvalidJobRequest, Overloaded, ServiceError, Unavailable
from touchstone.core.fair_slots import FairSlots
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
MAX_UNFINISHED_OF_USER: Final = 32  # per queue, so that others can still wait
TASK_SECONDS: Final = 20.0
TOTAL_SECONDS: Final = 25.0  # including the wait for a slot, and less than the gateway's timeout for a backend
TASKS_THAT_KEEP_PROCESS: Final = (PREDICT_TASK,)  # Loading a model takes longer than predicting with it.
log = structlog.get_logger("touchstone.jobs")


@dataclass(slots=True)
class _TaskQueue:
    """A queue of tasks that share the same slots, with the number of each user's unfinished tasks."""

    slots: FairSlots = field(default_factory=lambda: FairSlots(MAX_RUNNING))
    unfinished_counts: Counter[UUID] = field(default_factory=Counter)

    @contextmanager
    def admit(self, owner: UUID) -> Iterator[None]:
        """Admit a task of a user, and count it of a user as unfinished for the body of the `with` statement.

        Raises:
            Overloaded: too many tasks are unfinished already.
        """
        is_full = self.unfinished_counts.total() >= MAX_UNFINISHED
        if is_full or self.unfinished_counts[owner] >= MAX_UNFINISHED_OF_USER:
            raise Overloaded(retry_after=2)

        self.unfinished_counts[owner] += 1
        try:
            yield
        finally:
            self.unfinished_counts -= Counter([owner])


class SynchronousTasks:
    """Runs short tasks that a request waits for, at most `MAX_RUNNING` per queue at a time, fairly between users.

    Tasks that keep their process take milliseconds. They have a separate queue, so that they do not have to wait for
    the other tasks, which take seconds.
    """

    def __init__(self, executor: Executor, settings: Settings) -> None:
        self._executor = executor
        self._memory_bytes = settings.job_memory_bytes
        self._quick_task_queue = _TaskQueue()
        self._slow_task_queue = _TaskQueue()

    async def run(
        self, task: str, request: Json, *, owner: UUID, source: JobSource, files_by_role: Mapping[str, BinaryIO]
    ) -> Any:
        """Run a task for the user `owner`, and return its result.

        Raises:
            InvalidJobRequest: the task rejects its input, or needs too much memory or time for the file.
            Overloaded: too many tasks are waiting, or the workers are still loading their libraries.
            Unavailable: the fork server of the workers was lost; another one starts with the next task.
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
        outcome = await self._run_when_slot_is_free(work_item, list(files_by_role.values()), owner)

        if isinstance(outcome, ProcessDied):
            log.warning("a synchronous task died", task=task, status=outcome.status)
            if outcome.is_server_lost:
                raise Unavailable
            raise InvalidJobRequest("file_not_readable_safely")
        if isinstance(outcome, TaskFailed):
            raise _to_service_error(outcome)
        return outcome.result

    async def _run_when_slot_is_free(
        self, work_item: WorkItem, files: Sequence[BinaryIO], owner: UUID
    ) -> ExecutionOutcome:
        """Wait for a free slot of the queue, and run a task.

        Raises:
            Overloaded: too many tasks are already unfinished, or this task was not finished in time.
        """
        queue = self._quick_task_queue if work_item.keeps_process else self._slow_task_queue
        with queue.admit(owner):
            try:
                async with asyncio.timeout(TOTAL_SECONDS), queue.slots.occupy(owner):
                    return await self._executor.run(
                        work_item, files, on_progress=_ignore_progress, timeout_seconds=TASK_SECONDS
                    )
            except TimeoutError as error:
                raise Overloaded(retry_after=5) from error

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
