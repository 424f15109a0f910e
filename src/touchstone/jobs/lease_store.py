"""The leases of workers on jobs, and the recovery of jobs whose worker was lost.

A worker holds a job until its lease expires, and has to renew the lease before that. A job that has lost its worker
returns to the queue, but fails once it has lost `MAX_LOSSES` workers.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa

from touchstone.database.engine import Database, Reader, Writer
from touchstone.database.tables import jobs
from touchstone.jobs.job_records import AttemptId, JobFailure
from touchstone.jobs.job_states import HELD_STATES, JobState
from touchstone.jobs.state_transition_store import (
    fail_jobs,
    finish_cancelling_jobs,
    is_current_attempt,
    move_jobs,
    utc_now,
)

MAX_LOSSES: Final = 3


async def renew_leases(
    database: Database, worker: str, job_ids: Sequence[UUID], lease_seconds: float
) -> dict[AttemptId, JobState]:
    """Extend the leases of a worker on its jobs to `lease_seconds` from now.

    Returns:
        the attempts of the jobs that the worker still holds, with the states of the jobs, which show whether the owner
        has cancelled a job. Jobs that another worker has taken over are missing.
    """
    async with database.writing(may_use_reserve=True) as transaction:
        # Read the clock inside the transaction, because waiting for other writers would shorten the new lease.
        new_deadline = utc_now() + timedelta(seconds=lease_seconds)
        statement = (
            sa.update(jobs)
            .where(jobs.c.id.in_(job_ids), jobs.c.worker == worker, jobs.c.status.in_(HELD_STATES))
            .values(lease_until=new_deadline)
            .returning(jobs.c.id, jobs.c.attempt, jobs.c.status)
        )
        result = await transaction.execute(statement)
        renewed_jobs = result.mappings().all()

    return _states_by_attempt(renewed_jobs)


async def load_states_held_by(database: Database, worker: str) -> dict[AttemptId, JobState]:
    """Return the attempts of a worker, with the states of their jobs.

    The worker polls this to detect jobs that were cancelled or that it has lost.
    """
    query = sa.select(jobs.c.id, jobs.c.attempt, jobs.c.status).where(
        jobs.c.worker == worker, jobs.c.status.in_(HELD_STATES)
    )
    async with database.reading() as connection:
        held_jobs = await connection.all(query)

    return _states_by_attempt(held_jobs)


async def load_held_attempts(database: Database) -> set[AttemptId]:
    """Return the running attempts of all workers, in this process or another."""
    query = sa.select(jobs.c.id, jobs.c.attempt).where(jobs.c.status.in_(HELD_STATES))
    async with database.reading() as connection:
        held_jobs = await connection.all(query)

    return {AttemptId(job["id"], job["attempt"]) for job in held_jobs}


async def requeue_after_shutdown(database: Database, attempt_id: AttemptId) -> None:
    """Return a job to the queue because its worker shuts down, or finish its cancellation.

    This does not count as a lost worker, so it may happen any number of times.
    """
    current_condition = is_current_attempt(attempt_id)
    async with database.writing(may_use_reserve=True) as transaction:
        await finish_cancelling_jobs(transaction, current_condition)
        await move_jobs(transaction, JobState.QUEUED, current_condition)


async def requeue_after_death(database: Database, attempt_id: AttemptId, failure: JobFailure) -> None:
    """Return a job to the queue because its worker process died, or finish its cancellation.

    A job that has lost `MAX_LOSSES` workers fails instead, with `failure` as the reason.
    """
    current_condition = is_current_attempt(attempt_id)
    async with database.writing(may_use_reserve=True) as transaction:
        await finish_cancelling_jobs(transaction, current_condition)
        await _requeue_or_fail(transaction, failure, current_condition)


async def reap_expired(database: Database, failure: JobFailure, *, running_attempts: Collection[AttemptId] = ()) -> int:
    """Reap the jobs whose lease has expired, and return their number.

    A reaped job returns to the queue. However, it becomes cancelled if its owner has requested that, and it fails with
    `failure` if it has lost too many workers.

    Args:
        database: the database that contains the jobs.
        failure: the reason for failing a job.
        running_attempts: the attempts of the calling process, which are not reaped. If the process was suspended for
            longer than a lease, it may still renew its leases late. The process must not claim jobs during this call,
            because their attempts would be missing here.
    """
    running_keys = [(attempt.job_id, attempt.number) for attempt in running_attempts]
    running_here_condition = sa.tuple_(jobs.c.id, jobs.c.attempt).in_(running_keys)
    expired_condition = sa.and_(jobs.c.lease_until < utc_now(), sa.not_(running_here_condition))

    async with database.reading() as connection:
        # Every process calls this every few seconds, so it must not need a write transaction if there is nothing to do.
        if not await _has_held_job(connection, expired_condition):
            return 0

    async with database.writing(may_use_reserve=True) as transaction:
        cancelled_attempts = await finish_cancelling_jobs(transaction, expired_condition)
        requeued_or_failed_count = await _requeue_or_fail(transaction, failure, expired_condition)

    return len(cancelled_attempts) + requeued_or_failed_count


async def _has_held_job(connection: Reader, condition: sa.ColumnElement[bool]) -> bool:
    """Return whether any worker holds a job that matches the condition."""
    query = sa.select(jobs.c.id).where(condition, jobs.c.status.in_(HELD_STATES)).limit(1)
    return await connection.first(query) is not None


async def _requeue_or_fail(transaction: Writer, failure: JobFailure, condition: sa.ColumnElement[bool]) -> int:
    """Record that the matching jobs have lost their worker, and return their number.

    Jobs that have now lost `MAX_LOSSES` workers fail with `failure`. The others return to the queue.
    """
    loss_count = jobs.c.losses + 1
    failed_attempts = await fail_jobs(transaction, failure, condition, loss_count >= MAX_LOSSES, losses=loss_count)
    requeued_attempts = await move_jobs(transaction, JobState.QUEUED, condition, losses=loss_count)
    return len(failed_attempts) + len(requeued_attempts)


def _states_by_attempt(rows: Iterable[Mapping[Any, Any]]) -> dict[AttemptId, JobState]:
    """Return the state in each row by attempt, from rows with the columns `id`, `attempt` and `status`."""
    return {AttemptId(row["id"], row["attempt"]): JobState(row["status"]) for row in rows}
