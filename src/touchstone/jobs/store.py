"""Jobs in the database: what their owners read, cancel and delete, and what their workers record.

`queue_store` queues and claims jobs, `lease_store` renews leases and retries, `transition_store` moves jobs between
states.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final
from uuid import UUID

import msgspec
import sqlalchemy as sa

from touchstone.core.errors import JobNotFinal, JobNotFound
from touchstone.core.identity import parse_uuid
from touchstone.database.engine import Database, Reader
from touchstone.database.tables import job_artifacts, job_events, jobs
from touchstone.jobs.records import (
    DONE_PROGRESS,
    ArtifactRecord,
    Claim,
    JobEventRecord,
    JobFailure,
    JobFilter,
    JobProgress,
    JobRecord,
    JobSummaryRecord,
)
from touchstone.jobs.states import FINAL, JobState
from touchstone.jobs.transition_store import append_events, fail_jobs, is_attempt, move_jobs, utc_now

EVENTS_AT_ONCE: Final = 1000
PROGRESS_EVENT: Final = "progress"
_SUMMARY_COLUMNS: Final = tuple(jobs.c[name] for name in JobSummaryRecord.__struct_fields__)


async def load_owned_job(rows: Reader, job_id: str, owner: UUID, kinds: Sequence[str]) -> JobRecord:
    """Return one of the owner's jobs.

    Raises:
        JobNotFound: there is none, it is someone else's, or the id is malformed.
    """
    job_uuid = parse_uuid(job_id)
    if job_uuid is None:
        raise JobNotFound

    query = sa.select(jobs).where(jobs.c.id == job_uuid, jobs.c.owner == owner, jobs.c.kind.in_(kinds))
    row = await rows.first(query)
    if row is None:
        raise JobNotFound
    return JobRecord.from_row(row)


async def list_jobs(rows: Reader, filters: JobFilter, *, skip: int, limit: int) -> list[JobSummaryRecord]:
    """Return an owner's jobs without their results, newest first."""
    query = sa.select(*_SUMMARY_COLUMNS).where(*_conditions(filters))
    newest_first = query.order_by(jobs.c.created_at.desc(), jobs.c.id)
    return [JobSummaryRecord.from_row(row) for row in await rows.all(newest_first.offset(skip).limit(limit))]


async def count_jobs(rows: Reader, filters: JobFilter) -> int:
    """Return how many jobs match the filters."""
    return int(await rows.scalar(sa.select(sa.func.count()).select_from(jobs).where(*_conditions(filters))))


def _conditions(filters: JobFilter) -> list[sa.ColumnElement[bool]]:
    conditions = [jobs.c.owner == filters.owner, jobs.c.kind.in_(filters.kinds)]
    if filters.status is not None:
        conditions.append(jobs.c.status == filters.status)
    if filters.project_id is not None:
        conditions.append(jobs.c.project_id == filters.project_id)
    return conditions


async def load_artifacts(rows: Reader, job_ids: Iterable[UUID]) -> dict[UUID, list[ArtifactRecord]]:
    """Return the artifacts of each of the jobs, sorted by name."""
    artifacts: dict[UUID, list[ArtifactRecord]] = {job_id: [] for job_id in job_ids}
    if not artifacts:
        return artifacts

    query = sa.select(job_artifacts).where(job_artifacts.c.job_id.in_(artifacts)).order_by(job_artifacts.c.name)
    for row in await rows.all(query):
        artifacts[row["job_id"]].append(ArtifactRecord.from_row(row))
    return artifacts


async def load_status(rows: Reader, job_id: UUID) -> JobState | None:
    """Return the state of a job, or None if it no longer exists."""
    row = await rows.first(sa.select(jobs.c.status).where(jobs.c.id == job_id))
    return None if row is None else JobState(row["status"])


async def events_after(rows: Reader, job_id: UUID, number: int) -> list[JobEventRecord]:
    """Return a job's events after its event `number`, in order: at most `EVENTS_AT_ONCE`.

    Events are numbered 1, 2, 3 ... within their job. Callers never see the ids of the rows, which count the events of
    all users. Whoever adds an event has locked the job's row, so the numbers never change.
    """
    query = sa.select(job_events).where(job_events.c.job_id == job_id).order_by(job_events.c.id)
    page = await rows.all(query.offset(number).limit(EVENTS_AT_ONCE))
    return [JobEventRecord.from_row(row) for row in page]


async def cancel(database: Database, job_id: UUID) -> None:
    """Cancel a job: at once if it waits, through its worker if it runs, and not at all if it has ended."""
    async with database.writing(essential=True) as rows:
        await move_jobs(rows, JobState.CANCELLED, jobs.c.id == job_id, jobs.c.status == JobState.QUEUED)
        await move_jobs(rows, JobState.CANCELLING, jobs.c.id == job_id)


async def delete(database: Database, job_id: UUID) -> None:
    """Delete a job that has ended, with its events and the records of its artifacts.

    Raises:
        JobNotFinal: it has not ended.
    """
    async with database.writing(essential=True) as rows:
        deletion = await rows.execute(sa.delete(jobs).where(jobs.c.id == job_id, jobs.c.status.in_(FINAL)))
        if not deletion.rowcount:
            raise JobNotFinal


async def record_progress(database: Database, progress: Mapping[Claim, JobProgress]) -> None:
    """Record the progress of attempts; an attempt that no longer holds its job changes nothing."""
    async with database.writing(essential=True) as rows:
        for claim, latest in progress.items():
            statement = sa.update(jobs).where(is_attempt(claim), jobs.c.status == JobState.RUNNING)
            update = await rows.execute(statement.values(progress=msgspec.to_builtins(latest), updated_at=utc_now()))
            if update.rowcount:
                await append_events(rows, [claim], PROGRESS_EVENT, latest)


async def succeed(database: Database, claim: Claim, result: Any, artifacts: Sequence[ArtifactRecord]) -> bool:
    """Store the result and the artifacts of an attempt; return False if it no longer holds the job."""
    progress = msgspec.to_builtins(DONE_PROGRESS)
    async with database.writing(essential=True) as rows:
        moved = await move_jobs(rows, JobState.SUCCEEDED, is_attempt(claim), result=result, progress=progress)
        if moved and artifacts:
            values = [{"job_id": claim.id, **msgspec.structs.asdict(artifact)} for artifact in artifacts]
            await rows.execute(sa.insert(job_artifacts), values)
        return bool(moved)


async def fail(database: Database, claim: Claim, failure: JobFailure) -> bool:
    """Fail a job; return False if the attempt no longer holds it."""
    async with database.writing(essential=True) as rows:
        return bool(await fail_jobs(rows, failure, is_attempt(claim)))


async def finish_cancelling(database: Database, claim: Claim) -> bool:
    """Record that a worker has ended a job which was being cancelled; return False if it was not."""
    async with database.writing(essential=True) as rows:
        is_cancelling = jobs.c.status == JobState.CANCELLING
        return bool(await move_jobs(rows, JobState.CANCELLED, is_attempt(claim), is_cancelling))
