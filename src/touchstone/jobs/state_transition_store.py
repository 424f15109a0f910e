"""The SQL statements that move jobs between states, which the other stores use.

Each move is one UPDATE with a condition on the current state, so that two processes can never both make it. Each move
also appends an event to the job. Timestamps come from the clock of the writing process.
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
    """Return the SQL condition that an attempt is still the latest attempt at its job.

    Every write on behalf of a worker includes it, so that a worker that has lost its job cannot affect the next worker.
    """
    return sa.and_(jobs.c.id == attempt_id.job_id, jobs.c.attempt == attempt_id.number)


async def move_jobs(
    transaction: Writer, target: JobState, *conditions: sa.ColumnElement[bool], **column_values: Any
) -> list[AttemptId]:
    """Move all jobs that match the conditions to the state `target`, and append an event to each of them.

    Jobs whose current state does not permit the move stay unchanged.

    Args:
        transaction: the transaction to write in.
        target: the new state.
        conditions: the SQL conditions on the jobs.
        column_values: the values of additional columns to set.

    Returns:
        the current attempts of the jobs that were moved.
    """
    state_values = _state_column_values(target, utc_now())
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


def _state_column_values(state: JobState, now: datetime) -> Json:
    """Return the values of the columns that change when a job enters a state.

    A final state sets the end time, a state without a worker clears the worker and the lease, and the queued state
    resets the progress.
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
    """Fail all running jobs that match the conditions, and return their attempts (see `move_jobs`)."""
    error = msgspec.to_builtins(failure)
    return await move_jobs(transaction, JobState.FAILED, *conditions, error=error, **column_values)


async def finish_cancelling_jobs(transaction: Writer, *conditions: sa.ColumnElement[bool]) -> list[AttemptId]:
    """Mark the matching jobs that are being cancelled as cancelled, and return their attempts (see `move_jobs`)."""
    return await move_jobs(transaction, JobState.CANCELLED, *conditions, jobs.c.status == JobState.CANCELLING)


async def record_new_state(transaction: Writer, attempt_ids: Sequence[AttemptId], state: JobState) -> None:
    """Append an event for a new state to each job, and count the moves in the metrics."""
    JOB_MOVES.labels(state).inc(len(attempt_ids))
    await append_events(transaction, attempt_ids, state)


async def append_events(
    transaction: Writer, attempt_ids: Sequence[AttemptId], event: str, progress: JobProgress | None = None
) -> None:
    """Append the same event to several jobs, for the clients that follow them.

    Args:
        transaction: the transaction to write in.
        attempt_ids: the current attempts of the jobs.
        event: the name of the event.
        progress: the progress, if the event reports progress.
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
