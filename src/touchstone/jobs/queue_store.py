"""The queue of jobs: accepting them, once per idempotency key, and claiming the next one fairly between users."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final, NamedTuple
from uuid import UUID, uuid4

import msgspec
import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from touchstone.core.errors import IdempotencyConflict, TooManyJobs
from touchstone.database.engine import Database, Reader, Writer, skip_locked
from touchstone.database.tables import jobs
from touchstone.database.versions import bump
from touchstone.jobs.records import QUEUED_PROGRESS, STARTING_PROGRESS, Claim, JobRecord, NewJob
from touchstone.jobs.states import HELD, JobState
from touchstone.jobs.transition_store import record_state, utc_now

CLAIMS: Final = "claims"  # the counter that serialises claims


class QueuedJob(NamedTuple):
    """The id of a job, and whether it is new or was queued before with the same idempotency key."""

    id: UUID
    is_new: bool


async def enqueue(database: Database, new: NewJob, *, waiting_limit: int | None = None) -> QueuedJob:
    """Queue a job, unless the same idempotency key has queued one before.

    Raises:
        IdempotencyConflict: the key was used for another request.
        TooManyJobs: the owner has `waiting_limit` waiting jobs already.
    """
    existing = await find_by_idempotency_key(database, new)
    if existing is not None:
        return QueuedJob(existing, is_new=False)

    try:
        async with database.writing() as rows:
            if waiting_limit is not None and await _count_waiting(rows, new.owner) >= waiting_limit:
                raise TooManyJobs(limit=waiting_limit)
            return QueuedJob(await _insert(rows, new), is_new=True)
    except IntegrityError:  # Another request used the same key at the same moment.
        existing = await find_by_idempotency_key(database, new)
        if existing is None:
            raise
        return QueuedJob(existing, is_new=False)


async def find_by_idempotency_key(database: Database, new: NewJob) -> UUID | None:
    """Return the job that the owner queued before with the same idempotency key, if any.

    Raises:
        IdempotencyConflict: the key was used for another request.
    """
    if new.idempotency_key is None:
        return None

    query = sa.select(jobs.c.id, jobs.c.request_digest).where(
        jobs.c.owner == new.owner, jobs.c.kind == new.kind, jobs.c.idempotency_key == new.idempotency_key
    )
    async with database.reading() as rows:
        row = await rows.first(query)

    if row is None:
        return None
    if row["request_digest"] != new.digest:
        raise IdempotencyConflict
    job_id: UUID = row["id"]
    return job_id


async def _count_waiting(rows: Reader, owner: UUID) -> int:
    is_waiting = sa.and_(jobs.c.owner == owner, jobs.c.status == JobState.QUEUED)
    return int(await rows.scalar(sa.select(sa.func.count()).select_from(jobs).where(is_waiting)))


async def _insert(rows: Writer, new: NewJob) -> UUID:
    job_id, now = uuid4(), utc_now()
    statement = sa.insert(jobs).values(
        id=job_id,
        kind=new.kind,
        owner=new.owner,
        status=JobState.QUEUED,
        name=new.name,
        project_id=new.project_id,
        parent_job_id=new.parent_job_id,
        dataset_id=new.dataset_id,
        idempotency_key=new.idempotency_key,
        request=new.request,
        request_digest=new.digest,
        source=msgspec.to_builtins(new.source),
        inputs=msgspec.to_builtins(new.inputs),
        progress=msgspec.to_builtins(QUEUED_PROGRESS),
        attempt=0,
        losses=0,
        created_at=now,
        updated_at=now,
    )
    await rows.execute(statement)
    await record_state(rows, [Claim(job_id, 0)], JobState.QUEUED)
    return job_id


async def claim_next(
    database: Database, kinds: Sequence[str], *, worker: str, lease_seconds: float, per_user: int
) -> JobRecord | None:
    """Claim the next job for a worker, or return None if no job may start.

    The next job belongs to the user with the fewest running jobs. Between users with equally many, it is the turn of
    the one whose last job started longest ago. Within a user, the oldest job comes first.
    """
    if not await _has_waiting_job(database, kinds):
        return None

    now = utc_now()
    statement = (
        sa.update(jobs)
        .where(jobs.c.id == _next_job_id(kinds, per_user), jobs.c.status == JobState.QUEUED)
        .values(
            status=JobState.RUNNING,
            attempt=jobs.c.attempt + 1,
            worker=worker,
            lease_until=now + timedelta(seconds=lease_seconds),
            started_at=sa.func.coalesce(jobs.c.started_at, sa.bindparam("now", now, jobs.c.started_at.type)),
            updated_at=now,
            progress=msgspec.to_builtins(STARTING_PROGRESS),
        )
        .returning(*jobs.c)
    )
    async with database.writing() as rows:
        # Claims wait for each other here, so that two workers never count a user's running jobs at the same time.
        await bump(rows, CLAIMS)
        row = await rows.returning(statement)
        if row is None:
            return None
        job = JobRecord.from_row(row)
        await record_state(rows, [job.claim], JobState.RUNNING)
    return job


async def _has_waiting_job(database: Database, kinds: Sequence[str]) -> bool:
    """Return whether any job waits: a cheap query that spares idle workers a write transaction."""
    query = sa.select(jobs.c.id).where(jobs.c.status == JobState.QUEUED, jobs.c.kind.in_(kinds))
    async with database.reading() as rows:
        return await rows.first(query.limit(1)) is not None


def _next_job_id(kinds: Sequence[str], per_user: int) -> sa.ScalarSelect[Any]:
    """Return the subquery for the next job to start, in the order that `claim_next` describes."""
    waiting, held, started = jobs.alias("waiting"), jobs.alias("held"), jobs.alias("started")

    running_count = (
        sa.select(sa.func.count())
        .select_from(held)
        .where(held.c.owner == waiting.c.owner, held.c.status.in_(HELD))
        .correlate(waiting)
        .scalar_subquery()
    )
    last_start = (
        sa.select(sa.func.max(started.c.started_at))
        .where(started.c.owner == waiting.c.owner)
        .correlate(waiting)
        .scalar_subquery()
    )
    query = (
        sa.select(waiting.c.id)
        .where(waiting.c.status == JobState.QUEUED, waiting.c.kind.in_(kinds), running_count < per_user)
        .order_by(running_count, last_start.nulls_first(), waiting.c.created_at, waiting.c.id)
        .limit(1)
    )
    return skip_locked(query).scalar_subquery()
