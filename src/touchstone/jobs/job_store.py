"""Reading, cancelling and deleting the rows of jobs on behalf of their owners.

The statements for workers are in `queue_store`, `lease_store`, `progress_store` and `outcome_store`.
"""

from collections.abc import Iterable, Sequence
from typing import Final
from uuid import UUID

import sqlalchemy as sa

from touchstone.core.errors import JobNotFinal, JobNotFound
from touchstone.core.identity import parse_uuid
from touchstone.database.engine import Database, Reader
from touchstone.database.tables import job_artifacts, job_events, jobs
from touchstone.jobs.job_records import ArtifactRecord, JobEventRecord, JobFilter, JobRecord, JobSummaryRecord
from touchstone.jobs.job_states import FINAL_STATES, JobState
from touchstone.jobs.state_transition_store import move_jobs

MAX_EVENTS_PER_QUERY: Final = 1000
_SUMMARY_COLUMNS: Final = tuple(jobs.c[name] for name in JobSummaryRecord.__struct_fields__)


async def load_owned_job(connection: Reader, job_id: str, owner: UUID, kinds: Sequence[str]) -> JobRecord:
    """Return the owner's job with this id and one of these kinds.

    A job of another owner is reported as missing, so that the response does not reveal which ids exist.

    Raises:
        JobNotFound: the owner has no such job, or the id is malformed.
    """
    job_uuid = parse_uuid(job_id)
    if job_uuid is None:
        raise JobNotFound

    query = sa.select(jobs).where(jobs.c.id == job_uuid, jobs.c.owner == owner, jobs.c.kind.in_(kinds))
    row = await connection.first(query)
    if row is None:
        raise JobNotFound
    return JobRecord.from_row(row)


async def list_jobs(connection: Reader, filters: JobFilter, *, skip: int, limit: int) -> list[JobSummaryRecord]:
    """Return the jobs that match the filter, newest first and without their results."""
    query = (
        sa.select(*_SUMMARY_COLUMNS)
        .where(*_filter_conditions(filters))
        .order_by(jobs.c.created_at.desc(), jobs.c.id)
        .offset(skip)
        .limit(limit)
    )
    return [JobSummaryRecord.from_row(row) for row in await connection.all(query)]


async def count_jobs(connection: Reader, filters: JobFilter) -> int:
    """Return the number of jobs that match the filter."""
    query = sa.select(sa.func.count()).select_from(jobs).where(*_filter_conditions(filters))
    return int(await connection.scalar(query))


def _filter_conditions(filters: JobFilter) -> list[sa.ColumnElement[bool]]:
    """Return the SQL conditions of a filter, which always restrict the jobs to their owner."""
    conditions = [jobs.c.owner == filters.owner, jobs.c.kind.in_(filters.kinds)]
    if filters.status is not None:
        conditions.append(jobs.c.status == filters.status)
    if filters.project_id is not None:
        conditions.append(jobs.c.project_id == filters.project_id)
    if filters.dataset_id is not None:
        conditions.append(jobs.c.dataset_id == filters.dataset_id)
    return conditions


async def load_artifacts(connection: Reader, job_ids: Iterable[UUID]) -> dict[UUID, list[ArtifactRecord]]:
    """Return the artifacts of each job, sorted by name. A job without artifacts has an empty list."""
    artifacts_by_job: dict[UUID, list[ArtifactRecord]] = {job_id: [] for job_id in job_ids}
    if not artifacts_by_job:
        return {}

    query = sa.select(job_artifacts).where(job_artifacts.c.job_id.in_(artifacts_by_job)).order_by(job_artifacts.c.name)
    rows = await connection.all(query)
    for row in rows:
        artifacts_by_job[row["job_id"]].append(ArtifactRecord.from_row(row))
    return artifacts_by_job


async def load_state(connection: Reader, job_id: UUID) -> JobState | None:
    """Return the state of a job, or None if the job no longer exists."""
    row = await connection.first(sa.select(jobs.c.status).where(jobs.c.id == job_id))
    return None if row is None else JobState(row["status"])


async def load_events_after(connection: Reader, job_id: UUID, event_number: int) -> list[JobEventRecord]:
    """Return the next events of a job after its first `event_number` events.

    At most `MAX_EVENTS_PER_QUERY` events are returned. Clients identify an event by its position in the job, because
    the id of its row would reveal the number of events of all users.
    """
    # The positions are stable: events of a job are only appended, because each writer has locked the row of the job.
    query = (
        sa.select(job_events)
        .where(job_events.c.job_id == job_id)
        .order_by(job_events.c.id)
        .offset(event_number)
        .limit(MAX_EVENTS_PER_QUERY)
    )
    return [JobEventRecord.from_row(row) for row in await connection.all(query)]


async def cancel_job(database: Database, job_id: UUID) -> None:
    """Cancel a job on behalf of its owner.

    A queued job is cancelled immediately. A running job is marked as being cancelled, and its worker stops it. Any
    other job stays unchanged.
    """
    async with database.writing(may_use_reserve=True) as transaction:
        await move_jobs(transaction, JobState.CANCELLED, jobs.c.id == job_id, jobs.c.status == JobState.QUEUED)
        await move_jobs(transaction, JobState.CANCELLING, jobs.c.id == job_id)


async def delete_job(database: Database, job_id: UUID) -> None:
    """Delete the row of a job that has ended, with its events and the records of its artifacts.

    Raises:
        JobNotFinal: the job has not ended.
    """
    statement = sa.delete(jobs).where(jobs.c.id == job_id, jobs.c.status.in_(FINAL_STATES))
    async with database.writing(may_use_reserve=True) as transaction:
        deletion = await transaction.execute(statement)
        if deletion.rowcount == 0:
            raise JobNotFinal
