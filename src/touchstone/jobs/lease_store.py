"""The leases by which workers hold jobs, and what becomes of jobs whose worker stopped, died or fell silent.

A worker holds a job until its lease expires, and has to renew the lease before that. A job whose worker is lost is
queued again, until it has lost `MAX_LOSSES` workers.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final
from uuid import UUID

import sqlalchemy as sa

from touchstone.database.engine import Database, Writer
from touchstone.database.tables import jobs
from touchstone.jobs.records import Claim, JobFailure
from touchstone.jobs.state_transition_store import fail_jobs, is_current_attempt, move_jobs, utc_now
from touchstone.jobs.states import HELD, JobState

MAX_LOSSES: Final = 3


async def renew_leases(
    database: Database, worker: str, job_ids: Sequence[UUID], lease_seconds: float
) -> dict[Claim, JobState]:
    """Extend a worker's leases on these jobs, and return the state of each job that the worker still holds.

    The worker names the jobs that it knows of. If it claimed another job but never received the reply, the lease of
    that job is left to expire.
    """
    statement = (
        sa.update(jobs)
        .where(jobs.c.worker == worker, jobs.c.id.in_(job_ids), jobs.c.status.in_(HELD))
        .values(lease_until=utc_now() + timedelta(seconds=lease_seconds))
        .returning(jobs.c.id, jobs.c.attempt, jobs.c.status)
    )
    async with database.writing(even_if_disk_full=True) as rows:
        result = await rows.execute(statement)
        renewed_rows = result.mappings().all()
    return {Claim(row["id"], row["attempt"]): JobState(row["status"]) for row in renewed_rows}


async def load_states_held_by(database: Database, worker: str) -> dict[Claim, JobState]:
    """Return the attempts that a worker holds, with the states of their jobs."""
    query = sa.select(jobs.c.id, jobs.c.attempt, jobs.c.status).where(jobs.c.worker == worker, jobs.c.status.in_(HELD))
    async with database.reading() as rows:
        held_rows = await rows.all(query)
    return {Claim(row["id"], row["attempt"]): JobState(row["status"]) for row in held_rows}


async def load_held_claims(database: Database) -> set[Claim]:
    """Return the attempts that any worker, in this process or another, holds."""
    query = sa.select(jobs.c.id, jobs.c.attempt).where(jobs.c.status.in_(HELD))
    async with database.reading() as rows:
        held_rows = await rows.all(query)
    return {Claim(row["id"], row["attempt"]) for row in held_rows}


async def requeue_after_shutdown(database: Database, claim: Claim) -> None:
    """Return a job to the queue because its worker shuts down in good order, which does not count as a loss."""
    is_mine = is_current_attempt(claim)
    async with database.writing(even_if_disk_full=True) as rows:
        await _finish_cancelling(rows, is_mine)
        await move_jobs(rows, JobState.QUEUED, is_mine)


async def requeue_after_death(database: Database, claim: Claim, failure: JobFailure) -> None:
    """Queue a job again whose worker process died, or fail it with `failure` if that was its last permitted loss."""
    is_mine = is_current_attempt(claim)
    async with database.writing(even_if_disk_full=True) as rows:
        await _finish_cancelling(rows, is_mine)
        await _requeue_or_fail(rows, failure, is_mine)


async def reap_expired(database: Database, failure: JobFailure) -> int:
    """Take jobs whose lease has expired from their workers, and return how many there were.

    Jobs that were being cancelled are cancelled. The others are queued again, or fail with `failure` if that was their
    last permitted loss.
    """
    is_expired = jobs.c.lease_until < utc_now()

    # Every dispatcher calls this every few seconds, so look first: a transaction would make other writers wait.
    query = sa.select(jobs.c.id).where(is_expired, jobs.c.status.in_(HELD)).limit(1)
    async with database.reading() as reader:
        if await reader.first(query) is None:
            return 0

    async with database.writing(even_if_disk_full=True) as rows:
        cancelled_claims = await _finish_cancelling(rows, is_expired)
        requeued_or_failed_count = await _requeue_or_fail(rows, failure, is_expired)
    return len(cancelled_claims) + requeued_or_failed_count


async def _finish_cancelling(rows: Writer, condition: sa.ColumnElement[bool]) -> list[Claim]:
    """Mark the matching jobs that their owners have cancelled as cancelled, and return their attempts."""
    return await move_jobs(rows, JobState.CANCELLED, condition, jobs.c.status == JobState.CANCELLING)


async def _requeue_or_fail(rows: Writer, failure: JobFailure, condition: sa.ColumnElement[bool]) -> int:
    """Count a lost worker for every matching job, then fail it if that was the last one, or queue it again.

    Returns the number of jobs.
    """
    losses = jobs.c.losses + 1
    failed_claims = await fail_jobs(rows, failure, condition, losses >= MAX_LOSSES, losses=losses)
    requeued_claims = await move_jobs(rows, JobState.QUEUED, condition, losses=losses)
    return len(failed_claims) + len(requeued_claims)
