"""Leases: renewing them, and retrying or failing the jobs whose worker stopped, died or fell silent.

A worker holds a job until its lease runs out, and every write on its behalf names the attempt that it claimed. A job
whose worker is lost is queued again until it has lost `MAX_LOSSES` workers.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final
from uuid import UUID

import sqlalchemy as sa

from touchstone.database.engine import Database, Writer
from touchstone.database.tables import jobs
from touchstone.jobs.records import Claim, JobFailure
from touchstone.jobs.states import HELD, JobState
from touchstone.jobs.transition_store import fail_jobs, is_attempt, move_jobs, utc_now

MAX_LOSSES: Final = 3


async def renew_leases(
    database: Database, worker: str, job_ids: Sequence[UUID], lease_seconds: float
) -> dict[Claim, JobState]:
    """Renew a worker's leases on these jobs, and return the ones that it still holds with their states.

    Only jobs that the worker knows of are renewed: a job that it claimed without ever learning of it must expire.
    """
    statement = (
        sa.update(jobs)
        .where(jobs.c.worker == worker, jobs.c.id.in_(job_ids), jobs.c.status.in_(HELD))
        .values(lease_until=utc_now() + timedelta(seconds=lease_seconds))
        .returning(jobs.c.id, jobs.c.attempt, jobs.c.status)
    )
    async with database.writing(essential=True) as rows:
        renewed = (await rows.execute(statement)).mappings().all()
    return {Claim(row["id"], row["attempt"]): JobState(row["status"]) for row in renewed}


async def held_by(database: Database, worker: str) -> dict[Claim, JobState]:
    """Return the jobs that a worker holds, with their states."""
    query = sa.select(jobs.c.id, jobs.c.attempt, jobs.c.status).where(jobs.c.worker == worker, jobs.c.status.in_(HELD))
    async with database.reading() as rows:
        return {Claim(row["id"], row["attempt"]): JobState(row["status"]) for row in await rows.all(query)}


async def held_claims(database: Database) -> set[Claim]:
    """Return the attempts that any worker holds."""
    query = sa.select(jobs.c.id, jobs.c.attempt).where(jobs.c.status.in_(HELD))
    async with database.reading() as rows:
        return {Claim(row["id"], row["attempt"]) for row in await rows.all(query)}


async def requeue_stopped(database: Database, claim: Claim) -> None:
    """Return a job to the queue because its worker stops in good order; this does not count as a loss."""
    async with database.writing(essential=True) as rows:
        await _finish_cancelling(rows, is_attempt(claim))
        await move_jobs(rows, JobState.QUEUED, is_attempt(claim))


async def requeue_lost(database: Database, claim: Claim, failure: JobFailure) -> None:
    """Queue a job whose worker died again, or fail it after its last permitted loss."""
    async with database.writing(essential=True) as rows:
        await _finish_cancelling(rows, is_attempt(claim))
        await _retry_or_fail(rows, failure, is_attempt(claim))


async def reap_expired(database: Database, failure: JobFailure) -> int:
    """Take the jobs whose lease has run out from their workers, and return how many there were."""
    is_expired = jobs.c.lease_until < utc_now()
    query = sa.select(jobs.c.id).where(is_expired, jobs.c.status.in_(HELD)).limit(1)
    async with database.reading() as reader:
        if await reader.first(query) is None:
            return 0

    async with database.writing(essential=True) as rows:
        cancelled = await _finish_cancelling(rows, is_expired)
        return len(cancelled) + await _retry_or_fail(rows, failure, is_expired)


async def _finish_cancelling(rows: Writer, condition: sa.ColumnElement[bool]) -> list[Claim]:
    return await move_jobs(rows, JobState.CANCELLED, condition, jobs.c.status == JobState.CANCELLING)


async def _retry_or_fail(rows: Writer, failure: JobFailure, condition: sa.ColumnElement[bool]) -> int:
    """Count a loss for every matching job, fail those that had their last one, and queue the others again."""
    losses = jobs.c.losses + 1
    failed = await fail_jobs(rows, failure, condition, losses >= MAX_LOSSES, losses=losses)
    queued = await move_jobs(rows, JobState.QUEUED, condition, losses=losses)
    return len(failed) + len(queued)
