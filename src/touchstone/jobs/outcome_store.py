"""The progress and the outcome of attempts, as workers record them in the rows of their jobs.

Each function does nothing if the attempt no longer holds its job, because its lease has expired and another worker
may have claimed the job since.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec
import sqlalchemy as sa

from touchstone.database.engine import Database
from touchstone.database.tables import job_artifacts, jobs
from touchstone.jobs.records import DONE_PROGRESS, ArtifactRecord, Claim, JobFailure, JobProgress
from touchstone.jobs.state_transition_store import append_events, fail_jobs, is_current_attempt, move_jobs, utc_now
from touchstone.jobs.states import JobState

PROGRESS_EVENT: Final = "progress"


async def record_progress(database: Database, progress_by_claim: Mapping[Claim, JobProgress]) -> None:
    """Record the latest progress of several attempts in one transaction, with an event for each."""
    async with database.writing(even_if_disk_full=True) as rows:
        for claim, progress in progress_by_claim.items():
            statement = (
                sa.update(jobs)
                .where(is_current_attempt(claim), jobs.c.status == JobState.RUNNING)
                .values(progress=msgspec.to_builtins(progress), updated_at=utc_now())
            )
            update = await rows.execute(statement)
            if update.rowcount > 0:
                await append_events(rows, [claim], PROGRESS_EVENT, progress)


async def record_success(database: Database, claim: Claim, result: Any, artifacts: Sequence[ArtifactRecord]) -> bool:
    """Store the result and the artifacts of an attempt, and mark its job as succeeded.

    Returns False if the attempt no longer holds the job; the caller then has to remove the files of the artifacts.
    """
    progress = msgspec.to_builtins(DONE_PROGRESS)
    async with database.writing(even_if_disk_full=True) as rows:
        moved_claims = await move_jobs(
            rows, JobState.SUCCEEDED, is_current_attempt(claim), result=result, progress=progress
        )
        if not moved_claims:
            return False

        if artifacts:
            artifact_rows = [{"job_id": claim.job_id, **msgspec.structs.asdict(artifact)} for artifact in artifacts]
            await rows.execute(sa.insert(job_artifacts), artifact_rows)
        return True


async def record_failure(database: Database, claim: Claim, failure: JobFailure) -> bool:
    """Mark the job of an attempt as failed; return False if the attempt no longer holds it."""
    async with database.writing(even_if_disk_full=True) as rows:
        failed_claims = await fail_jobs(rows, failure, is_current_attempt(claim))
        return bool(failed_claims)


async def finish_cancelling(database: Database, claim: Claim) -> bool:
    """Mark a job as cancelled after its worker has ended it; return False if its owner had not cancelled it."""
    is_cancelling = jobs.c.status == JobState.CANCELLING
    async with database.writing(even_if_disk_full=True) as rows:
        cancelled_claims = await move_jobs(rows, JobState.CANCELLED, is_current_attempt(claim), is_cancelling)
        return bool(cancelled_claims)
