"""Synchronous tasks: short work that a request waits for, in processes as isolated as those of jobs."""

import asyncio
import os
import resource
import tempfile
from collections.abc import Mapping
from typing import Any, BinaryIO, Final

import structlog

from touchstone.core.errors import InternalError, InvalidJobRequest, Overloaded, ServiceError
from touchstone.core.settings import Settings
from touchstone.jobs.execution.protocol import Executor, ProcessDied, ResourceLimits, TaskFailed, WorkItem
from touchstone.jobs.kinds import DRAW_TASK
from touchstone.jobs.records import JobProgress, JobSource, Json

MAX_RUNNING: Final = 2
MAX_WAITING: Final = 64
TASK_SECONDS: Final = 20.0
TOTAL_SECONDS: Final = 25.0  # waiting included; less than a gateway waits for a backend
log = structlog.get_logger("touchstone.jobs")


class SynchronousTasks:
    """Runs short tasks that a request waits for, at most two at a time."""

    def __init__(self, executor: Executor, settings: Settings) -> None:
        self._executor = executor
        self._memory_bytes = settings.job_memory_bytes
        self._slots = asyncio.Semaphore(MAX_RUNNING)
        self._waiting = 0

    async def run(self, task: str, request: Json, *, source: JobSource, files: Mapping[str, BinaryIO]) -> Any:
        """Run a task and return its result.

        Raises:
            InvalidJobRequest: the task rejects its input, or the file takes too much memory or time.
            Overloaded: too many tasks wait, or the workers are still loading their libraries.
        """
        if self._waiting >= MAX_WAITING:
            raise Overloaded(retry_after=2)

        item = WorkItem(
            name=f"{task}-{os.urandom(8).hex()}",
            task=task,
            request=request,
            source=source,
            files=tuple(files),
            scratch=tempfile.gettempdir(),
            limits=self._limits(task),
        )
        self._waiting += 1
        try:
            async with asyncio.timeout(TOTAL_SECONDS), self._slots:
                outcome = await self._executor.run(
                    item, list(files.values()), listener=_ignore_progress, seconds=TASK_SECONDS
                )
        except TimeoutError as error:
            raise Overloaded(retry_after=5) from error
        finally:
            self._waiting -= 1

        if isinstance(outcome, ProcessDied):
            log.warning("a synchronous task died", task=task, status=outcome.status)
            raise InvalidJobRequest("file_not_readable_safely")
        if isinstance(outcome, TaskFailed):
            raise _error_of(outcome)
        return outcome.result

    def _limits(self, task: str) -> ResourceLimits:
        # The chart renderer reserves far more address space than it uses, and draws only our own charts.
        memory_bytes = resource.RLIM_INFINITY if task == DRAW_TASK else self._memory_bytes
        cpu_seconds = int(TASK_SECONDS) * (os.cpu_count() or 1)
        return ResourceLimits(memory_bytes=memory_bytes, file_bytes=0, cpu_seconds=cpu_seconds)


def _error_of(failure: TaskFailed) -> ServiceError:
    """Return the error that tells the caller why a task has failed."""
    if failure.code == "work_failed":
        log.error("a synchronous task failed", detail=failure.detail)
        return InternalError()
    if failure.code in ("out_of_time", "out_of_memory"):
        return InvalidJobRequest("file_not_readable_safely")

    facts = {name: fact for name, fact in failure.facts.items() if name != "field"}
    return InvalidJobRequest(failure.code, field=failure.facts.get("field", ""), facts=facts)


def _ignore_progress(_: JobProgress) -> None:
    return None
