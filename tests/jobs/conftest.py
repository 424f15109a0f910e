"""The machinery with tiny tasks: a dispatcher, its executor, and jobs put into the rows directly."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
import sqlalchemy as sa

from touchstone.core.settings import MIB, Settings
from touchstone.database.engine import Database
from touchstone.database.tables import jobs
from touchstone.jobs import store
from touchstone.jobs.artifact_store import Shelf
from touchstone.jobs.dispatcher import Dispatcher
from touchstone.jobs.execution.local import ProcessExecutor
from touchstone.jobs.states import FINAL, JobState
from touchstone.jobs.store import NewJob, Row

TINY = (sys.executable, str(Path(__file__).parent / "tiny_worker.py"))
KINDS = (
    "noop",
    "sleep",
    "write",
    "read",
    "claim_missing_file",
    "eat_memory",
    "fill_disk",
    "segfault",
    "kill_itself",
    "refuse",
    "stumble",
    "answer_nonsense",
    "go_back",
    "environment",
)


def new_job(kind: str, owner: UUID | None = None, **order: Any) -> NewJob:
    return NewJob(kind=kind, owner=owner or uuid4(), request=order, digest="d")


class Machine:
    """A database, an executor and dispatchers on it."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self.database = database
        self.settings = settings
        self.shelf = Shelf(settings.artifacts_dir)

    async def enqueue(self, kind: str, owner: UUID | None = None, **order: Any) -> UUID:
        job_id, _ = await store.enqueue(self.database, new_job(kind, owner, **order))
        return job_id

    async def row(self, job_id: UUID) -> Row:
        async with self.database.reading() as rows:
            found = await rows.first(sa.select(jobs).where(jobs.c.id == job_id))
        assert found is not None
        return found

    async def events(self, job_id: UUID) -> list[Row]:
        async with self.database.reading() as rows:
            return list(await store.events_after(rows, job_id, 0))

    async def until(self, job_id: UUID, condition: Callable[[Row], bool]) -> Row:
        for _ in range(6000):
            row = await self.row(job_id)
            if condition(row):
                return row
            await asyncio.sleep(0.01)
        raise AssertionError(f"the job stayed {row['status']}: {dict(row)}")

    async def end_of(self, job_id: UUID) -> Row:
        return await self.until(job_id, lambda row: row["status"] in FINAL)

    async def running(self, job_id: UUID) -> Row:
        return await self.until(job_id, lambda row: row["status"] == JobState.RUNNING)

    @asynccontextmanager
    async def dispatching(self, **changes: Any) -> AsyncIterator[Dispatcher]:
        settings = self.settings.model_copy(update=changes)
        executor = ProcessExecutor(TINY)
        dispatcher = Dispatcher(self.database, executor, self.shelf, kinds=KINDS, settings=settings)
        dispatcher.start()
        try:
            yield dispatcher
        finally:
            await dispatcher.close()
            await executor.close()


@pytest.fixture
def machine(database: Database, settings: Settings) -> Machine:
    quick = {"job_lease_seconds": 1.0, "job_memory_bytes": 512 * MIB, "job_seconds": 60, "job_workers": 2}
    return Machine(database, settings.model_copy(update=quick))
