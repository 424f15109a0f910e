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
from touchstone.jobs.records import QUEUED_PROGRESS, Claim, JobFailure, JobProgress, Json
from touchstone.jobs.states import FINAL, HELD, JobState, predecessors


def utc_now() -> datetime:
    """Return the current time in UTC."""
    return datetime.now(UTC)


def is_current_attempt(claim: Claim) -> sa.ColumnElement[bool]:
    """Return the SQL condition that a job is still at the claimed attempt.

    Every write on behalf of a worker contains it: a worker that has lost its job must not change the next attempt.
    """
    return sa.and_(jobs.c.id == claim.job_id, jobs.c.attempt == claim.attempt)


async def move_jobs(
    rows: Writer, target: JobState, *conditions: sa.ColumnElement[bool], **column_values: Any
) -> list[Claim]:
    """Move every job that matches the conditions, and may move there, to the state `target`.

    `column_values` are further columns to set. Returns the current attempts of the jobs that moved; jobs whose state
    does not permit the move stay as they are.
    """
    all_values = {**_columns_set_by_state(target, utc_now()), **column_values}
    statement = (
        sa.update(jobs)
        .where(*conditions, jobs.c.status.in_(predecessors(target)))
        .values(**all_values)
        .returning(jobs.c.id, jobs.c.attempt)
    )
    result = await rows.execute(statement)
    moved_claims = [Claim(row["id"], row["attempt"]) for row in result.mappings().all()]

    await record_new_state(rows, moved_claims, target)
    return moved_claims


def _columns_set_by_state(state: JobState, now: datetime) -> Json:
    """Return the columns, with their values, that a job gets whenever it enters the state."""
    values: Json = {"status": state, "updated_at": now}
    if state in FINAL:
        values["finished_at"] = now
    if state not in HELD:
        values["worker"] = None
        values["lease_until"] = None
    if state is JobState.QUEUED:
        values["progress"] = msgspec.to_builtins(QUEUED_PROGRESS)
    return values


async def fail_jobs(
    rows: Writer, failure: JobFailure, *conditions: sa.ColumnElement[bool], **column_values: Any
) -> list[Claim]:
    """Fail every running job that matches the conditions, and return the attempts that failed."""
    error = msgspec.to_builtins(failure)
    return await move_jobs(rows, JobState.FAILED, *conditions, error=error, **column_values)


async def record_new_state(rows: Writer, claims: Sequence[Claim], state: JobState) -> None:
    """Append an event to each of the jobs that have entered a state, and count them in the metrics."""
    JOB_MOVES.labels(state).inc(len(claims))
    await append_events(rows, claims, state)


async def append_events(rows: Writer, claims: Sequence[Claim], event: str, progress: JobProgress | None = None) -> None:
    """Append the same event to each of the jobs; the event of a progress report contains the progress."""
    if not claims:
        return

    now = utc_now()
    data = msgspec.to_builtins(progress)
    event_rows = [
        {"job_id": claim.job_id, "event": event, "attempt": claim.attempt, "data": data, "at": now} for claim in claims
    ]
    await rows.execute(sa.insert(job_events), event_rows)
