"""The queue of jobs in the database, with idempotent submission and a fair order between users."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final, NamedTuple
from uuid import UUID, uuid4

import msgspec
import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from touchstone.core.errors import IdempotencyConflict, TooManyJobs
from touchstone.database.change_counters import increment_version
from touchstone.database.engine import Database, Writer, skip_locked
from touchstone.database.tables import jobs
from touchstone.jobs.job_records import QUEUED_PROGRESS, STARTING_PROGRESS, AttemptId, JobRecord, NewJob
from touchstone.jobs.job_states import HELD_STATES, JobState
from touchstone.jobs.state_transition_store import record_new_state, utc_now

CLAIM_COUNTER: Final = "claims"  # the version counter that every claim increments, which serializes claims
# Every submission increments this counter, so that the limit of queued jobs is checked for one submission at a time.
SUBMISSION_COUNTER: Final = "submissions"


class QueuedJob(NamedTuple):
    """The id of a job. `is_new` is false if an earlier request has queued it with the same idempotency key."""

    id: UUID
    is_new: bool


async def enqueue(database: Database, new_job: NewJob, *, waiting_limit: int | None = None) -> QueuedJob:
    """Add a job to the queue, or return the job that was queued earlier with the same idempotency key.

    Raises:
        IdempotencyConflict: the key was used for a different request.
        TooManyJobs: the owner already has `waiting_limit` queued jobs.
    """
    existing_id = await find_by_idempotency_key(database, new_job)
    if existing_id is not None:
        return QueuedJob(existing_id, is_new=False)

    try:
        async with database.writing() as transaction:
            if waiting_limit is not None:
                await require_room_in_queue(transaction, new_job.owner, waiting_limit)
            job_id = await insert_job(transaction, new_job)
        return QueuedJob(job_id, is_new=True)
    except (IntegrityError, TooManyJobs):
        # Another request may have used the same key since the query above, and its job may be the last one that fits
        # into the queue. A constraint of the database makes the key unique.
        existing_id = await find_by_idempotency_key(database, new_job)
        if existing_id is None:
            raise
        return QueuedJob(existing_id, is_new=False)


async def find_by_idempotency_key(database: Database, new_job: NewJob) -> UUID | None:
    """Return the id of the job queued by an earlier, identical request, or None if there is none.

    A client sends the same idempotency key when it repeats a request, so that only one job is started.

    Raises:
        IdempotencyConflict: the key was used for a different request.
    """
    if new_job.idempotency_key is None:
        return None

    query = sa.select(jobs.c.id, jobs.c.request_digest).where(
        jobs.c.owner == new_job.owner,
        jobs.c.kind == new_job.kind,
        jobs.c.idempotency_key == new_job.idempotency_key,
    )
    async with database.reading() as connection:
        existing_job = await connection.first(query)

    if existing_job is None:
        return None
    if existing_job["request_digest"] != new_job.digest:
        raise IdempotencyConflict

    job_id: UUID = existing_job["id"]
    return job_id


async def require_room_in_queue(
    transaction: Writer, owner: UUID, waiting_limit: int, *, new_job_count: int = 1
) -> None:
    """Raise TooManyJobs if the new jobs would exceed the owner's limit of queued jobs.

    No other transaction can pass this check until this one ends.
    """
    await increment_version(transaction, SUBMISSION_COUNTER)

    query = sa.select(sa.func.count()).select_from(jobs).where(jobs.c.owner == owner, jobs.c.status == JobState.QUEUED)
    waiting_count = int(await transaction.scalar(query))
    if waiting_count + new_job_count > waiting_limit:
        raise TooManyJobs(limit=waiting_limit)


async def insert_job(transaction: Writer, new_job: NewJob) -> UUID:
    """Insert a new job into the queue, record its first event, and return its id.

    Raises:
        IntegrityError: the owner has another job of this kind with the same idempotency key.
    """
    job_id = uuid4()
    now = utc_now()
    statement = sa.insert(jobs).values(
        id=job_id,
        kind=new_job.kind,
        owner=new_job.owner,
        status=JobState.QUEUED,
        name=new_job.name,
        project_id=new_job.project_id,
        parent_job_id=new_job.parent_job_id,
        dataset_id=new_job.dataset_id,
        idempotency_key=new_job.idempotency_key,
        request=new_job.request,
        request_digest=new_job.digest,
        source=msgspec.to_builtins(new_job.source),
        inputs=msgspec.to_builtins(new_job.inputs),
        progress=msgspec.to_builtins(QUEUED_PROGRESS),
        attempt=0,
        losses=0,
        created_at=now,
        updated_at=now,
    )
    await transaction.execute(statement)
    await record_new_state(transaction, [AttemptId(job_id, number=0)], JobState.QUEUED)
    return job_id


async def claim_next(
    database: Database, kinds: Sequence[str], *, worker: str, lease_seconds: float, max_running_per_user: int
) -> JobRecord | None:
    """Claim the next job of these kinds for a worker, and return it, or None if no job may start.

    The next job belongs to the user with the fewest running jobs. Ties go to the user whose last job started longest
    ago. The jobs of one user start in the order in which they were queued.
    """
    if not await _has_queued_job(database, kinds):
        return None

    async with database.writing() as transaction:
        # This serializes claims, so that two workers never count a user's running jobs at the same time.
        await increment_version(transaction, CLAIM_COUNTER)

        # Read the clock only now, because the line above may wait for another claim. Otherwise a job could seem to have
        # started before the claim that it waited for.
        now = utc_now()
        current_time = sa.bindparam("now", now, jobs.c.started_at.type)
        statement = (
            sa.update(jobs)
            .where(jobs.c.id == _next_job_id(kinds, max_running_per_user), jobs.c.status == JobState.QUEUED)
            .values(
                status=JobState.RUNNING,
                attempt=jobs.c.attempt + 1,
                worker=worker,
                lease_until=now + timedelta(seconds=lease_seconds),
                # A further attempt does not change the time of the first start.
                started_at=sa.func.coalesce(jobs.c.started_at, current_time),
                updated_at=now,
                progress=msgspec.to_builtins(STARTING_PROGRESS),
            )
            .returning(*jobs.c)
        )
        row = await transaction.fetch_returned_row(statement)
        if row is None:
            return None

        job = JobRecord.from_row(row)
        await record_new_state(transaction, [job.attempt_id], JobState.RUNNING)

    return job


async def _has_queued_job(database: Database, kinds: Sequence[str]) -> bool:
    """Return whether any job of these kinds is queued, so that idle workers need no write transaction."""
    query = sa.select(jobs.c.id).where(jobs.c.status == JobState.QUEUED, jobs.c.kind.in_(kinds)).limit(1)
    async with database.reading() as connection:
        return await connection.first(query) is not None


def _next_job_id(kinds: Sequence[str], max_running_per_user: int) -> sa.ScalarSelect[Any]:
    """Return an SQL subquery for the id of the job that `claim_next` should start.

    Users with `max_running_per_user` running jobs have to wait.
    """
    queued_job = jobs.alias("queued_job")
    running_job = jobs.alias("running_job")
    started_job = jobs.alias("started_job")

    running_count_of_owner = (
        sa.select(sa.func.count())
        .select_from(running_job)
        .where(running_job.c.owner == queued_job.c.owner, running_job.c.status.in_(HELD_STATES))
        .correlate(queued_job)
        .scalar_subquery()
    )
    last_start_of_owner = (
        sa.select(sa.func.max(started_job.c.started_at))
        .where(started_job.c.owner == queued_job.c.owner)
        .correlate(queued_job)
        .scalar_subquery()
    )

    query = (
        sa.select(queued_job.c.id)
        .where(queued_job.c.status == JobState.QUEUED, queued_job.c.kind.in_(kinds))
        .where(running_count_of_owner < max_running_per_user)
        .order_by(
            running_count_of_owner,
            last_start_of_owner.nulls_first(),
            queued_job.c.created_at,
            queued_job.c.id,
        )
        .limit(1)
    )
    return skip_locked(query).scalar_subquery()
