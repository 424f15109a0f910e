"""Errands: small work that a request waits for, in processes as closed off as those of jobs."""

import asyncio
import os
import resource
import tempfile
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, BinaryIO, Final, TypeVar

import structlog
from msgspec import Struct

from touchstone.core.errors import InternalError, InvalidJobRequest, Overloaded
from touchstone.core.settings import Settings
from touchstone.jobs.kinds import DRAW, INSPECT
from touchstone.jobs.work import Died, Executor, Json, Limits, Progress, Refused, Work

AT_ONCE: Final = 2
WAITING: Final = 16
SECONDS: Final = 25.0  # less than a gateway waits for a backend
WORK_SECONDS: Final = 20.0
KEPT: Final = 256
T = TypeVar("T")
log = structlog.get_logger("touchstone.jobs")


class TableFacts(Struct, frozen=True):
    """What a data file holds: column names, rows, digest, and the number of different values of each column."""

    columns: list[str]
    rows: int
    sha256: str
    distinct: dict[str, int]


class Errands:
    """Runs errands, two at once; a few more may wait."""

    def __init__(self, executor: Executor, settings: Settings) -> None:
        self._executor = executor
        self._memory_bytes = settings.job_memory_bytes
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._waiting = 0
        self._tables: Remembered[TableFacts] = Remembered()

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

    async def inspect(self, file: BinaryIO, file_type: str) -> TableFacts:
        """What an opened data file holds; a file that has not changed is read once.

        Raises:
            InvalidJobRequest: it is not a table that can be learned from.
        """
        status = os.fstat(file.fileno())
        known_as = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, file_type)

        async def read() -> TableFacts:
            return TableFacts(**await self.run(INSPECT, {}, source={"file_type": file_type}, files={"data": file}))

        return await self._tables.get_or_make(known_as, read)

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
            raise InvalidJobRequest(reason="file_not_readable_safely")
        if isinstance(ending, Refused):
            raise _refusal(ending)
        return ending.result

    def _limits(self, task: str) -> Limits:
        # The drawing engine reserves far more address space than it uses, and draws our own charts only.
        memory = resource.RLIM_INFINITY if task == DRAW else self._memory_bytes
        cpu = int(WORK_SECONDS) * (os.cpu_count() or 1)
        return Limits(memory_bytes=memory, file_bytes=0, cpu_seconds=cpu)


class Remembered(OrderedDict[Any, "asyncio.Future[T]"]):
    """The latest answers by key; whoever asks while an answer is being made waits for that one."""

    async def get_or_make(self, key: Any, make: Callable[[], Awaitable[T]]) -> T:
        """The answer for `key`."""
        if key not in self:
            self[key] = asyncio.ensure_future(make())
            while len(self) > KEPT:
                self.popitem(last=False)
        answer = self[key]
        try:
            return await asyncio.shield(answer)
        except Exception:
            # A refusal is cheap to find again, and may have had a cause that passes.
            self.pop(key, None)
            raise


def _refusal(ending: Refused) -> InvalidJobRequest | InternalError:
    if ending.code == "work_failed":
        log.error("an errand failed", detail=ending.detail)
        return InternalError()
    if ending.code in ("out_of_time", "out_of_memory"):
        return InvalidJobRequest(reason="file_not_readable_safely")
    facts = dict(ending.facts)
    return InvalidJobRequest(reason=ending.code, where=facts.pop("field", ""), **facts)


def _nobody(_: Progress) -> None:
    return None
