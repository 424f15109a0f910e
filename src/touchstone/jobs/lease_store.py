"""The leases by which workers hold jobs, and what becomes of jobs whose worker stopped, died or fell silent.

A worker holds a job until its lease expires, and has to renew the lease before that. A job whose worker is lost is
queued again, until it has lost `MAX_LOSSES` workers.
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
from touchstone.jobs.state_transition_store import fail_jobs, is_current_attempt, move_jobs, utc_now

MAX_LOSSES: Final = 3


async def renew_leases(
    database: Database, worker: str, job_ids: Sequence[UUID], lease_seconds: float
) -> dict[AttemptId, JobState]:
    """Let a worker keep its running jobs for another `lease_seconds`, and return those that it still holds.

    A worker may only work on a job until its lease, a deadline in the row of the job, has passed; then another worker
    may take the job over. The result therefore lacks jobs that were not renewed in time. It maps each attempt to the
    state of its job, from which the worker learns that the owner has cancelled the job.
    """
    async with database.writing(even_if_disk_full=True) as transaction:
        # Taken after the wait for other writers, which would otherwise use up part of the new lease.
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
    """Return the attempts that a worker is making, with the states of their jobs.

    The worker polls this to learn which of its jobs their owners have cancelled, and which it has lost.
    """
    query = sa.select(jobs.c.id, jobs.c.attempt, jobs.c.status).where(
        jobs.c.worker == worker, jobs.c.status.in_(HELD_STATES)
    )
    async with database.reading() as connection:
        held_jobs = await connection.all(query)

    return _states_by_attempt(held_jobs)


async def load_held_attempts(database: Database) -> set[AttemptId]:
    """Return the attempts that are being made by any worker, in this process or another."""
    query = sa.select(jobs.c.id, jobs.c.attempt).where(jobs.c.status.in_(HELD_STATES))
    async with database.reading() as connection:
        held_jobs = await connection.all(query)

    return {AttemptId(job["id"], job["attempt"]) for job in held_jobs}


async def requeue_after_shutdown(database: Database, attempt_id: AttemptId) -> None:
    """Return a job to the queue because its worker shuts down; a job that its owner has cancelled is cancelled.

    This does not count as a loss of the worker, so it may happen any number of times.
    """
    is_current = is_current_attempt(attempt_id)
    async with database.writing(even_if_disk_full=True) as transaction:
        await _finish_cancelling(transaction, is_current)
        await move_jobs(transaction, JobState.QUEUED, is_current)


async def requeue_after_death(database: Database, attempt_id: AttemptId, failure: JobFailure) -> None:
    """Queue a job again because its worker process died; a job that its owner has cancelled is cancelled.

    A job that has lost `MAX_LOSSES` workers fails instead, with `failure` as the reason.
    """
    is_current = is_current_attempt(attempt_id)
    async with database.writing(even_if_disk_full=True) as transaction:
        await _finish_cancelling(transaction, is_current)
        await _requeue_or_fail(transaction, failure, is_current)


async def reap_expired(database: Database, failure: JobFailure, *, running_attempts: Collection[AttemptId] = ()) -> int:
    """Take back the jobs of workers that have stopped responding, and return how many there were.

    A worker has stopped responding if it has not extended its lease on a job, which is a deadline in the row of the
    job. Such a job is queued again. It is cancelled if its owner has asked for that, and it fails with `failure` if it
    has lost too many workers already.

    The `running_attempts` are those of the calling process itself, and are never taken back: if the process was
    suspended or delayed for longer than a lease, it renews its leases late, unless another process has taken the jobs
    over. The process must not claim a job in the meantime, which would be missing from them.
    """
    running_keys = [(attempt.job_id, attempt.number) for attempt in running_attempts]
    is_running_here = sa.tuple_(jobs.c.id, jobs.c.attempt).in_(running_keys)
    is_expired = sa.and_(jobs.c.lease_until < utc_now(), sa.not_(is_running_here))

    async with database.reading() as connection:
        # Every process asks this every few seconds, so the usual answer must not take a write transaction.
        if not await _exists_held_job(connection, is_expired):
            return 0

    async with database.writing(even_if_disk_full=True) as transaction:
        cancelled_attempts = await _finish_cancelling(transaction, is_expired)
        requeued_or_failed_count = await _requeue_or_fail(transaction, failure, is_expired)

    return len(cancelled_attempts) + requeued_or_failed_count


async def _exists_held_job(connection: Reader, condition: sa.ColumnElement[bool]) -> bool:
    """Return whether any worker holds a job that matches the condition."""
    query = sa.select(jobs.c.id).where(condition, jobs.c.status.in_(HELD_STATES)).limit(1)
    return await connection.first(query) is not None


async def _finish_cancelling(transaction: Writer, condition: sa.ColumnElement[bool]) -> list[AttemptId]:
    """Mark the matching jobs that their owners have cancelled as cancelled, and return their attempts."""
    return await move_jobs(transaction, JobState.CANCELLED, condition, jobs.c.status == JobState.CANCELLING)


async def _requeue_or_fail(transaction: Writer, failure: JobFailure, condition: sa.ColumnElement[bool]) -> int:
    """Record that the matching jobs have lost their worker, and return how many they are.

    A job that has lost `MAX_LOSSES` workers by now fails with `failure`. The others are queued again.
    """
    loss_count = jobs.c.losses + 1
    failed_attempts = await fail_jobs(transaction, failure, condition, loss_count >= MAX_LOSSES, losses=loss_count)
    requeued_attempts = await move_jobs(transaction, JobState.QUEUED, condition, losses=loss_count)
    return len(failed_attempts) + len(requeued_attempts)


def _states_by_attempt(rows: Iterable[Mapping[Any, Any]]) -> dict[AttemptId, JobState]:
    """Return the states in rows with the columns `id`, `attempt` and `status`, by the attempt of each row."""
    return {AttemptId(row["id"], row["attempt"]): JobState(row["status"]) for row in rows}
