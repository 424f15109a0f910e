"""Recording the progress of running jobs in their rows and as events."""

from collections.abc import Mapping
from typing import Final

import msgspec
import sqlalchemy as sa

from touchstone.database.engine import Database
from touchstone.database.tables import jobs
from touchstone.jobs.job_records import AttemptId, JobProgress
from touchstone.jobs.job_states import JobState
from touchstone.jobs.state_transition_store import append_events, is_current_attempt, utc_now

PROGRESS_EVENT: Final = "progress"


async def record_progress(database: Database, progress_by_attempt: Mapping[AttemptId, JobProgress]) -> None:
    """Record the progress of several running jobs in one transaction, with an event for each of them.

    The progress of a job that is no longer running, or was taken over by another worker, is dropped.
    """
    async with database.writing(may_use_reserve=True) as transaction:
        for attempt_id, progress in progress_by_attempt.items():
            statement = (
                sa.update(jobs)
                .where(is_current_attempt(attempt_id), jobs.c.status == JobState.RUNNING)
                .values(progress=msgspec.to_builtins(progress), updated_at=utc_now())
            )
            update = await transaction.execute(statement)

            is_still_running = update.rowcount > 0
            if is_still_running:
                await append_events(transaction, [attempt_id], PROGRESS_EVENT, progress)
