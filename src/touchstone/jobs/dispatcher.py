"""The loop of a process that executes jobs: it claims them, has them worked on, and settles their ends.

A stop in good order gives the running jobs back to the queue at once, and does not count as a lost attempt: the
limit on lost attempts is there for work that kills its worker, not for deployments.
"""

import asyncio
import contextlib
import os
from collections.abc import Awaitable, Callable, Sequence
from enum import Enum, auto
from time import monotonic
from typing import Any, Final
from uuid import uuid4

import structlog

from touchstone.core.errors import DataFileUnreadable, ModelGone, ServiceError
from touchstone.core.settings import Settings
from touchstone.database.engine import Database
from touchstone.jobs import store
from touchstone.jobs.artifact_store import BrokenArtifact, Shelf
from touchstone.jobs.execution.protocol import Died, Done, Ending, Executor, Limits, Progress, Refused, Work
from touchstone.jobs.job_inputs import Inputs
from touchstone.jobs.states import JobState
from touchstone.jobs.store import Claim, Error, Json, Row

TICK_SECONDS: Final = 0.5
RETRY_SECONDS: Final = 1.0
MAX_FILE_BYTES: Final = 2 * 2**30
LOST: Final = Error(code="worker_lost", phase="running")
log = structlog.get_logger("touchstone.jobs")


class Why(Enum):
    """Why work is ended before its own end."""

    CANCELLED = auto()  # its owner asked for it
    FENCED = auto()  # the lease has run out, and the job is no longer ours
    STOPPING = auto()  # this process stops


class _Held:
    """One attempt that this process works on."""

    def __init__(self) -> None:
        self.why: asyncio.Future[Why] = asyncio.get_running_loop().create_future()
        self.progress: Json | None = None
        self.phase = "starting"

    def listen(self, told: Progress) -> None:
        """Remember the latest progress; the next tick writes it down."""
        self.phase = told.phase
        self.progress = {name: getattr(told, name) for name in told.__struct_fields__}

    def end(self, why: Why) -> None:
        """End the work, for the first reason that is given."""
        if not self.why.done():
            self.why.set_result(why)


class Dispatcher:
    """Executes the jobs of some kinds, `settings.job_workers` at once."""

    def __init__(
        self, database: Database, executor: Executor, shelf: Shelf, *, kinds: Sequence[str], settings: Settings
    ) -> None:
        self.worker = f"{os.uname().nodename}-{os.getpid()}-{uuid4().hex[:8]}"
        self._database = database
        self._executor = executor
        self._shelf = shelf
        self._inputs = Inputs(settings, shelf)
        self._kinds = tuple(kinds)
        self._settings = settings
        self._held: dict[Claim, _Held] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._claim_now = asyncio.Event()
        self._look_now = asyncio.Event()
        self._renewed = self._reaped = 0.0
        self._loops: list[asyncio.Task[None]] = []
        self._closing = False

    def start(self) -> None:
        """Begin to claim jobs."""
        steps = ((self._claim_all, self._claim_now), (self._look, self._look_now))
        self._loops = [asyncio.ensure_future(self._repeat(step, event)) for step, event in steps]

    def wake(self) -> None:
        """Look for a job to claim, and for jobs to cancel, without waiting for the next tick."""
        self._claim_now.set()
        self._look_now.set()

    async def close(self) -> None:
        """Give the running jobs back and stop."""
        self._closing = True
        self.wake()
        # Their steps are short; a transaction that is cut off half-way would cost its connection.
        await asyncio.gather(*self._loops)
        for held in self._held.values():
            held.end(Why.STOPPING)
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _claim_all(self) -> None:
        while len(self._held) < self._settings.job_workers and not self._closing:
            row = await store.claim(
                self._database,
                self._kinds,
                worker=self.worker,
                lease_seconds=self._settings.job_lease_seconds,
                per_user=self._settings.jobs_per_user,
            )
            if row is None:
                return
            mine = Claim(row["id"], row["attempt"])
            self._held[mine] = _Held()
            task = asyncio.ensure_future(self._work(mine, row))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _look(self) -> None:
        """Write progress down, keep the leases, end what is to be ended, and take over what others have lost."""
        ours = dict(self._held)  # before asking: what is claimed meanwhile is not missing from the answer
        if told := {mine: held.progress for mine, held in ours.items() if held.progress}:
            for mine in told:
                ours[mine].progress = None
            await store.report(self._database, told)
        if ours:
            states = await self._states()
            for mine, held in ours.items():
                if mine not in states:
                    held.end(Why.FENCED)
                elif states[mine] is JobState.CANCELLING:
                    held.end(Why.CANCELLED)
        if monotonic() - self._reaped > self._settings.job_lease_seconds / 2:
            self._reaped = monotonic()
            if await store.reap(self._database, LOST):
                self._claim_now.set()
            await self._sweep()

    async def _sweep(self) -> None:
        """Remove what was left aside by attempts whose dispatcher was lost, here or in another process."""
        # Listed before asking: whoever claims a job makes its folder afterwards, so that none of theirs is missed.
        if left := await self._shelf.aside():
            for lost in set(left) - await store.under_way(self._database):
                await self._shelf.clear(lost)

    async def _states(self) -> dict[Claim, JobState]:
        if monotonic() - self._renewed < self._settings.job_lease_seconds / 3:
            return await store.held(self._database, self.worker)
        ids = [mine.id for mine in self._held]
        found = await store.renew(self._database, self.worker, ids, self._settings.job_lease_seconds)
        self._renewed = monotonic()
        return found

    async def _work(self, mine: Claim, row: Row) -> None:
        held = self._held[mine]
        run = asyncio.ensure_future(self._ending(mine, row, held))
        try:
            either: list[asyncio.Future[Any]] = [run, held.why]
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            run.cancel()
            await asyncio.wait({run})  # until the process is gone
            if run.cancelled():
                await self._until_kept(lambda: self._ended(mine, held.why.result()))
            else:
                await self._settle(mine, run.result(), held)
        except Exception:
            log.exception("a job could not be settled; its lease will run out", job_id=str(mine.id))
        finally:
            del self._held[mine]
            self._claim_now.set()

    async def _ending(self, mine: Claim, row: Row, held: _Held) -> Ending:
        settings = self._settings
        source = row["source"] or {}
        try:
            with self._inputs.opened(source) as files:
                work = Work(
                    name=f"job-{mine.id}",
                    task=row["kind"],
                    order=row["request"],
                    source=source,
                    files=tuple(files),
                    scratch=str(await self._shelf.scratch(mine)),
                    limits=Limits(
                        memory_bytes=settings.job_memory_bytes,
                        file_bytes=MAX_FILE_BYTES,
                        cpu_seconds=settings.job_seconds * (os.cpu_count() or 1),
                    ),
                )
                streams = list(files.values())
                return await self._executor.run(work, streams, listen=held.listen, seconds=settings.job_seconds)
        except (DataFileUnreadable, ModelGone) as problem:
            return Refused(code=problem.code, phase="reading")
        except OSError as problem:
            return Refused(code="storage_failed", phase="starting", detail=repr(problem))

    async def _ended(self, mine: Claim, why: Why) -> None:
        """Settle work that was ended from here."""
        if why is Why.CANCELLED:
            await store.cancelled(self._database, mine)
        elif why is Why.STOPPING:
            await store.give_back(self._database, mine, lost=None)
        await self._shelf.clear(mine)

    async def _settle(self, mine: Claim, ending: Ending, held: _Held) -> None:
        """Settle work that came to its own end."""
        if held.progress:
            told, held.progress = {mine: held.progress}, None
            await self._until_kept(lambda: store.report(self._database, told))
        if isinstance(ending, Done):
            ending = await self._succeed(mine, ending) or ending
        if isinstance(ending, Refused):
            log.info("job failed", job_id=str(mine.id), code=ending.code, detail=ending.detail)
            error = Error(code=ending.code, phase=ending.phase, facts=ending.facts)
            await self._until_kept(lambda: store.fail(self._database, mine, error))
        elif isinstance(ending, Died):
            log.warning("a worker died", job_id=str(mine.id), status=ending.status)
            lost = Error(code="worker_died", phase=held.phase, facts={"status": ending.status})
            await self._until_kept(lambda: store.give_back(self._database, mine, lost=lost))
        # Whatever the end: a job that its owner wanted cancelled meanwhile is cancelled.
        await self._until_kept(lambda: store.cancelled(self._database, mine))
        await self._shelf.clear(mine)

    async def _succeed(self, mine: Claim, done: Done) -> Refused | None:
        try:
            files = await self._shelf.keep(mine, done.files)
        except (BrokenArtifact, OSError) as problem:
            return Refused(code="storage_failed", phase="writing", detail=repr(problem))
        if not await self._until_kept(lambda: store.succeed(self._database, mine, done.result, files)):
            await self._shelf.drop(mine)
        return None

    async def _until_kept(self, write: Callable[[], Awaitable[bool | None]]) -> bool | None:
        """Write again and again while the database is away or full: an end that was reached is not thrown away."""
        while True:
            try:
                return await write()
            except ServiceError:  # the database has logged it
                if self._closing:
                    raise
                await asyncio.sleep(RETRY_SECONDS)

    async def _repeat(self, step: Callable[[], Awaitable[None]], event: asyncio.Event) -> None:
        while not self._closing:
            event.clear()
            try:
                await step()
            except ServiceError:
                pass  # the database has logged it
            except Exception:
                log.exception("a step of the dispatcher failed")
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(event.wait(), TICK_SECONDS)
