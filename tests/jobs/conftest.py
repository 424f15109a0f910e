"""A dispatcher and an executor with tiny tasks, and jobs that are queued directly."""

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
from touchstone.jobs import queue_store, store
from touchstone.jobs.artifact_store import ArtifactStore
from touchstone.jobs.dispatcher import Dispatcher
from touchstone.jobs.execution.local import ProcessExecutor
from touchstone.jobs.records import JobEventRecord, NewJob
from touchstone.jobs.states import FINAL, JobState

TINY = (sys.executable, str(Path(__file__).parent / "tiny_worker.py"))
Row = sa.RowMapping
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
        self.artifact_store = ArtifactStore(settings.artifacts_dir)

    async def enqueue(self, kind: str, owner: UUID | None = None, **order: Any) -> UUID:
        job_id, _ = await queue_store.enqueue(self.database, new_job(kind, owner, **order))
        return job_id

    async def row(self, job_id: UUID) -> Row:
        async with self.database.reading() as rows:
            row = await rows.first(sa.select(jobs).where(jobs.c.id == job_id))
        assert row is not None
        return row

    async def events(self, job_id: UUID) -> list[JobEventRecord]:
        async with self.database.reading() as rows:
            return await store.events_after(rows, job_id, 0)

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
        dispatcher = Dispatcher(self.database, executor, self.artifact_store, kinds=KINDS, settings=settings)
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
