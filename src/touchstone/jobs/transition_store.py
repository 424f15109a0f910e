"""The statements that move jobs from state to state, and the events that they leave behind.

Each move is one UPDATE whose condition contains the states it may start from, so two processes can never both make
it. Times come from the clock of the process that writes.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec
import sqlalchemy as sa

from touchstone.core.metrics import JOBS
from touchstone.database.engine import Writer
from touchstone.database.tables import job_events, jobs
from touchstone.jobs.records import QUEUED_PROGRESS, Claim, JobFailure, JobProgress
from touchstone.jobs.states import FINAL, HELD, JobState, predecessors


def utc_now() -> datetime:
    """Return the current time in UTC."""
    return datetime.now(UTC)


def is_attempt(claim: Claim) -> sa.ColumnElement[bool]:
    """Return the condition that a job is still at the claimed attempt: an older attempt may not change it."""
    return sa.and_(jobs.c.id == claim.id, jobs.c.attempt == claim.attempt)


async def move_jobs(rows: Writer, target: JobState, *conditions: sa.ColumnElement[bool], **values: Any) -> list[Claim]:
    """Move every job that matches the conditions and may move to `target`; return the jobs that moved.

    `values` are further columns to set.
    """
    now = utc_now()
    values = {**_values_of_state(target, now), **values}
    statement = sa.update(jobs).where(*conditions, jobs.c.status.in_(predecessors(target))).values(**values)

    moved_rows = (await rows.execute(statement.returning(jobs.c.id, jobs.c.attempt))).mappings().all()
    moved = [Claim(row["id"], row["attempt"]) for row in moved_rows]

    await record_state(rows, moved, target)
    return moved


def _values_of_state(state: JobState, now: datetime) -> Mapping[str, Any]:
    """Return the columns that entering a state always sets."""
    values: dict[str, Any] = {"status": state, "updated_at": now}
    if state in FINAL:
        values["finished_at"] = now
    if state not in HELD:
        values["worker"] = None
        values["lease_until"] = None
    if state is JobState.QUEUED:
        values["progress"] = msgspec.to_builtins(QUEUED_PROGRESS)
    return values


async def fail_jobs(
    rows: Writer, failure: JobFailure, *conditions: sa.ColumnElement[bool], **values: Any
) -> list[Claim]:
    """Fail every job that matches the conditions and is running; return the jobs that failed."""
    return await move_jobs(rows, JobState.FAILED, *conditions, error=msgspec.to_builtins(failure), **values)


async def record_state(rows: Writer, claims: Sequence[Claim], state: JobState) -> None:
    """Count the jobs that have entered a state, and append an event for each."""
    JOBS.labels(state).inc(len(claims))
    await append_events(rows, claims, state)


async def append_events(rows: Writer, claims: Sequence[Claim], event: str, progress: JobProgress | None = None) -> None:
    """Append one event to each of the jobs."""
    now = utc_now()
    data = msgspec.to_builtins(progress)
    events = [
        {"job_id": claim.id, "event": event, "attempt": claim.attempt, "data": data, "at": now} for claim in claims
    ]
    if events:
        await rows.execute(sa.insert(job_events), events)
