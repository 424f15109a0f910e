"""Recording the outcome of attempts in the rows of their jobs.

Each function does nothing if the attempt no longer holds its job, because another worker may have claimed the job after
the lease expired.
"""

from collections.abc import Sequence
from typing import Any

import msgspec
import sqlalchemy as sa

from touchstone.database.engine import Database
from touchstone.database.tables import job_artifacts, jobs
from touchstone.jobs.job_records import DONE_PROGRESS, ArtifactRecord, AttemptId, JobFailure
from touchstone.jobs.job_states import JobState
from touchstone.jobs.state_transition_store import fail_jobs, is_current_attempt, move_jobs


async def record_success(
    database: Database, attempt_id: AttemptId, result: Any, artifacts: Sequence[ArtifactRecord]
) -> bool:
    """Store the result of a job and the records of its artifacts, and mark the job as succeeded.

    Returns:
        False if the job was cancelled or taken over by another worker in the meantime. Nothing is changed then, and the
        caller has to remove the files.
    """
    progress = msgspec.to_builtins(DONE_PROGRESS)

    async with database.writing(even_if_disk_full=True) as transaction:
        moved_attempts = await move_jobs(
            transaction, JobState.SUCCEEDED, is_current_attempt(attempt_id), result=result, progress=progress
        )
        still_holds_job = len(moved_attempts) > 0
        if not still_holds_job:
            return False

        if artifacts:
            artifact_rows = [
                {"job_id": attempt_id.job_id, **msgspec.structs.asdict(artifact)} for artifact in artifacts
            ]
            await transaction.execute(sa.insert(job_artifacts), artifact_rows)

    return True


async def record_failure(database: Database, attempt_id: AttemptId, failure: JobFailure) -> bool:
    """Mark a job as failed.

    Returns:
        False if the job was cancelled or taken over by another worker in the meantime.
    """
    async with database.writing(even_if_disk_full=True) as transaction:
        failed_attempts = await fail_jobs(transaction, failure, is_current_attempt(attempt_id))

    return len(failed_attempts) > 0


async def finish_cancelling(database: Database, attempt_id: AttemptId) -> bool:
    """Mark a job that is being cancelled as cancelled, and return whether that was the case.

    Call it after the worker has stopped.
    """
    is_cancelling = jobs.c.status == JobState.CANCELLING
    async with database.writing(even_if_disk_full=True) as transaction:
        cancelled_attempts = await move_jobs(
            transaction, JobState.CANCELLED, is_current_attempt(attempt_id), is_cancelling
        )

    return len(cancelled_attempts) > 0
