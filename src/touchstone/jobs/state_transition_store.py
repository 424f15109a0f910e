"""The SQL statements that move jobs from state to state; the other stores of jobs are built on them.

Each move is one UPDATE whose condition contains the states from which it may start, so that two processes can never
both make it. Each move also appends an event to the job. Times come from the clock of the process that writes.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec
import sqlalchemy as sa

from touchstone.core.metrics import JOB_MOVES
from touchstone.database.engine import Writer
from touchstone.database.tables import job_events, jobs
from touchstone.jobs.job_records import QUEUED_PROGRESS, AttemptId, JobFailure, JobProgress, Json
from touchstone.jobs.job_states import FINAL_STATES, HELD_STATES, JobState, predecessors


def utc_now() -> datetime:
    """Return the current time in UTC."""
    return datetime.now(UTC)


def is_current_attempt(attempt_id: AttemptId) -> sa.ColumnElement[bool]:
    """Return the SQL condition that a job has not been started again since this attempt.

    Every write on behalf of a worker contains it: a worker that has lost its job must not disturb the next worker.
    """
    return sa.and_(jobs.c.id == attempt_id.job_id, jobs.c.attempt == attempt_id.number)


async def move_jobs(
    transaction: Writer, target: JobState, *conditions: sa.ColumnElement[bool], **column_values: Any
) -> list[AttemptId]:
    """Move all jobs that match the conditions to the state `target`, and append an event to each of them.

    Jobs whose current state does not permit the move stay as they are. `column_values` are further columns to set.
    Returns the current attempts of the jobs that moved.
    """
    state_values = _columns_set_by_state(target, utc_now())
    statement = (
        sa.update(jobs)
        .where(*conditions, jobs.c.status.in_(predecessors(target)))
        .values(**{**state_values, **column_values})
        .returning(jobs.c.id, jobs.c.attempt)
    )
    result = await transaction.execute(statement)
    moved_attempts = [AttemptId(row["id"], row["attempt"]) for row in result.mappings().all()]

    await record_new_state(transaction, moved_attempts, target)
    return moved_attempts


def _columns_set_by_state(state: JobState, now: datetime) -> Json:
    """Return the values of the columns that change whenever a job enters the state.

    A job that ends gets the time of its end. A job that no worker holds any longer loses its worker and its lease. A
    job that is queued again loses its progress.
    """
    values: Json = {"status": state, "updated_at": now}
    if state in FINAL_STATES:
        values["finished_at"] = now
    if state not in HELD_STATES:
        values["worker"] = None
        values["lease_until"] = None
    if state is JobState.QUEUED:
        values["progress"] = msgspec.to_builtins(QUEUED_PROGRESS)
    return values


async def fail_jobs(
    transaction: Writer, failure: JobFailure, *conditions: sa.ColumnElement[bool], **column_values: Any
) -> list[AttemptId]:
    """Fail all running jobs that match the conditions, for the reason in `failure`.

    `column_values` are further columns to set. Returns the attempts that failed.
    """
    error = msgspec.to_builtins(failure)
    return await move_jobs(transaction, JobState.FAILED, *conditions, error=error, **column_values)


async def record_new_state(transaction: Writer, attempt_ids: Sequence[AttemptId], state: JobState) -> None:
    """Append an event to each of the jobs that have entered a state, and count them in the metrics."""
    JOB_MOVES.labels(state).inc(len(attempt_ids))
    await append_events(transaction, attempt_ids, state)


async def append_events(
    transaction: Writer, attempt_ids: Sequence[AttemptId], event: str, progress: JobProgress | None = None
) -> None:
    """Append the same event to several jobs, for the clients who follow these jobs.

    `event` is the name of the event. `progress` is given if the event reports progress.
    """
    if not attempt_ids:
        return

    now = utc_now()
    data = msgspec.to_builtins(progress)
    event_rows = [
        {"job_id": attempt_id.job_id, "event": event, "attempt": attempt_id.number, "data": data, "at": now}
        for attempt_id in attempt_ids
    ]
    await transaction.execute(sa.insert(job_events), event_rows)
