"""Errands: small work that a request waits for, in processes as closed off as those of jobs."""

import asyncio
import os
import resource
import tempfile
from collections.abc import Mapping
from typing import Any, BinaryIO, Final

import structlog

from touchstone.core.errors import InternalError, InvalidJobRequest, Overloaded
from touchstone.core.settings import Settings
from touchstone.jobs.execution.protocol import Died, Executor, Json, Limits, Progress, Refused, Work
from touchstone.jobs.kinds import DRAW

AT_ONCE: Final = 2
WAITING: Final = 64
SECONDS: Final = 25.0  # less than a gateway waits for a backend
WORK_SECONDS: Final = 20.0
log = structlog.get_logger("touchstone.jobs")


class Errands:
    """Runs errands, two at once; a few more may wait."""

    def __init__(self, executor: Executor, settings: Settings) -> None:
        self._executor = executor
        self._memory_bytes = settings.job_memory_bytes
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._waiting = 0

    async def run(self, task: str, order: Json, *, source: Json, files: Mapping[str, BinaryIO]) -> Any:
        """Do an errand and return its result.

        Raises:
            InvalidJobRequest: the work refuses, or the file asks for too much memory or time.
            Overloaded: too many are waiting, or the workers are still loading their libraries.
        """
        if self._waiting >= WAITING:
            raise Overloaded(retry_after=2)
        self._waiting += 1
        try:
            async with asyncio.timeout(SECONDS), self._slots:
                return await self._run(task, order, source, files)
        except TimeoutError as problem:
            raise Overloaded(retry_after=5) from problem
        finally:
            self._waiting -= 1

    async def _run(self, task: str, order: Json, source: Json, files: Mapping[str, BinaryIO]) -> Any:
        work = Work(
            name=f"{task}-{os.urandom(8).hex()}",
            task=task,
            order=order,
            source=source,
            files=tuple(files),
            scratch=tempfile.gettempdir(),
            limits=self._limits(task),
        )
        ending = await self._executor.run(work, list(files.values()), listen=_nobody, seconds=WORK_SECONDS)
        if isinstance(ending, Died):
            log.warning("an errand died", task=task, status=ending.status)
            raise InvalidJobRequest("file_not_readable_safely")
        if isinstance(ending, Refused):
            raise _refusal(ending)
        return ending.result

    def _limits(self, task: str) -> Limits:
        # The drawing engine reserves far more address space than it uses, and draws our own charts only.
        memory = resource.RLIM_INFINITY if task == DRAW else self._memory_bytes
        cpu = int(WORK_SECONDS) * (os.cpu_count() or 1)
        return Limits(memory_bytes=memory, file_bytes=0, cpu_seconds=cpu)


def _refusal(ending: Refused) -> InvalidJobRequest | InternalError:
    if ending.code == "work_failed":
        log.error("an errand failed", detail=ending.detail)
        return InternalError()
    if ending.code in ("out_of_time", "out_of_memory"):
        return InvalidJobRequest("file_not_readable_safely")
    facts = dict(ending.facts)
    return InvalidJobRequest(ending.code, field=facts.pop("field", ""), facts=facts)


def _nobody(_: Progress) -> None:
    return None
