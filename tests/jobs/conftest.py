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
from touchstone.database.engine import Database, Row
from touchstone.database.tables import jobs
from touchstone.jobs import job_store, queue_store
from touchstone.jobs.artifact_files import ArtifactStore
from touchstone.jobs.dispatcher import Dispatcher
from touchstone.jobs.execution.process_executor import ProcessExecutor
from touchstone.jobs.job_records import JobEventRecord, NewJob
from touchstone.jobs.job_states import FINAL_STATES

TINY_WORKER_COMMAND = (sys.executable, str(Path(__file__).parent / "tiny_worker.py"))
POLL_SECONDS = 0.01
MAX_POLLS = 6000
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
    "fail_unexpectedly",
    "return_unencodable_result",
    "report_decreasing_progress",
    "environment",
)


def new_job(kind: str, owner: UUID | None = None, **request: Any) -> NewJob:
    """Return a job to be queued, of a new user unless an owner is given."""
    return NewJob(kind=kind, owner=owner or uuid4(), request=request, digest="d")


class JobHarness:
    """A database with jobs, and dispatchers that execute them with tiny tasks."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self.database = database
        self.settings = settings
        self.artifact_store = ArtifactStore(settings.artifacts_dir)

    async def enqueue(self, kind: str, owner: UUID | None = None, **request: Any) -> UUID:
        """Queue a job and return its id."""
        queued_job = await queue_store.enqueue(self.database, new_job(kind, owner, **request))
        return queued_job.id

    async def load_row(self, job_id: UUID) -> Row:
        """Return the row of a job."""
        async with self.database.reading() as rows:
            row = await rows.first(sa.select(jobs).where(jobs.c.id == job_id))
        assert row is not None
        return row

    async def load_events(self, job_id: UUID) -> list[JobEventRecord]:
        """Return all events of a job."""
        async with self.database.reading() as rows:
            return await job_store.load_events_after(rows, job_id, 0)

    async def wait_until(self, job_id: UUID, condition: Callable[[Row], bool]) -> Row:
        """Wait until the row of a job fulfils a condition, and return the row."""
        for _ in range(MAX_POLLS):
            row = await self.load_row(job_id)
            if condition(row):
                return row
            await asyncio.sleep(POLL_SECONDS)
        raise AssertionError(f"the job stayed {row['status']}: {dict(row)}")

    async def wait_for_end(self, job_id: UUID) -> Row:
        """Wait until a job has ended, and return its row."""
        return await self.wait_until(job_id, lambda row: row["status"] in FINAL_STATES)

    @asynccontextmanager
    async def run_dispatcher(self, **changed_settings: Any) -> AsyncIterator[Dispatcher]:
        """Run a dispatcher with an executor of its own during the block."""
        settings = self.settings.model_copy(update=changed_settings)
        executor = ProcessExecutor(TINY_WORKER_COMMAND)
        dispatcher = Dispatcher(self.database, executor, self.artifact_store, kinds=KINDS, settings=settings)
        dispatcher.start()
        try:
            yield dispatcher
        finally:
            await dispatcher.close()
            await executor.close()


@pytest.fixture
def harness(database: Database, settings: Settings) -> JobHarness:
    """Return a harness whose leases are short and whose jobs get little memory and time."""
    small_limits = {"job_lease_seconds": 1.0, "job_memory_bytes": 512 * MIB, "job_seconds": 60, "job_workers": 2}
    return JobHarness(database, settings.model_copy(update=small_limits))
