"""Recording the outcome of attempts in the rows of their jobs.

Each function does nothing if the attempt no longer holds its job, because another worker may have claimed the job after
the lease expired.
"""

from collections.abc import Sequence
from typing import Any

import msgspec
import sqlalchemy as sa

from touchstone.database.engine import Database
from touchstone.database.tables import job_artifacts
from touchstone.jobs.job_records import DONE_PROGRESS, ArtifactRecord, AttemptId, JobFailure
from touchstone.jobs.job_states import JobState
from touchstone.jobs.state_transition_store import fail_jobs, finish_cancelling_jobs, is_current_attempt, move_jobs


async def record_success(
    database: Database, attempt_id: AttemptId, result: Any, artifacts: Sequence[ArtifactRecord]
) -> bool:
    """Store the result of a job and the records of its artifacts, and mark the job as succeeded.

    Returns:
        False if the job was cancelled, or taken over by another worker. In this case, nothing is stored, and the caller
        must remove the files.
    """
    progress = msgspec.to_builtins(DONE_PROGRESS)

    async with database.writing(may_use_reserve=True) as transaction:
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
        False if the job was cancelled, or taken over by another worker.
    """
    async with database.writing(may_use_reserve=True) as transaction:
        failed_attempts = await fail_jobs(transaction, failure, is_current_attempt(attempt_id))

    return len(failed_attempts) > 0


async def finish_cancelling(database: Database, attempt_id: AttemptId) -> None:
    """Mark a job as cancelled if it is being cancelled. Its worker must have stopped already."""
    async with database.writing(may_use_reserve=True) as transaction:
        await finish_cancelling_jobs(transaction, is_current_attempt(attempt_id))
