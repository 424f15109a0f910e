"""The rows of jobs: every change of state is one statement that checks the move itself, and leaves an event behind.

Times come from the clock of the process that writes. A worker's right to a job is its number of attempt: whoever
comes with an older one changes nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID, uuid4

import sqlalchemy as sa
from msgspec import Struct
from sqlalchemy.exc import IntegrityError

from touchstone.core.errors import IdempotencyConflict, JobNotFinal, JobNotFound, TooManyJobs
from touchstone.core.identity import parse_uuid
from touchstone.core.metrics import JOBS
from touchstone.database.engine import Database, Reader, Writer, skip_locked
from touchstone.database.tables import job_artifacts, job_events, jobs
from touchstone.database.versions import bump
from touchstone.jobs.states import FINAL, HELD, JobState, sources

Json = dict[str, Any]
Row = sa.RowMapping
MAX_LOSSES: Final = 3
CLAIMS: Final = "claims"
EVENTS_AT_ONCE: Final = 1000
START: Final[Json] = {"percent": 0.0, "phase": "queued", "step": 0, "total_steps": 0, "message": "waiting"}
# Everything but the result, which may be megabytes: what lists show.
_SUMMARY: Final = tuple(c for c in jobs.c if c.name not in ("result", "source"))


class NewJob(Struct, frozen=True, kw_only=True):
    """A job as it is accepted. `digest` is of the request; `source` is for the worker, `inputs` for the owner."""

    kind: str
    owner: UUID
    request: Json
    digest: str
    idempotency_key: str | None = None
    name: str | None = None
    project_id: UUID | None = None
    parent_job_id: UUID | None = None
    dataset_id: int | None = None
    inputs: Json | None = None
    source: Json | None = None


class Claim(Struct, frozen=True):
    """A worker's right to one attempt at a job."""

    id: UUID
    attempt: int


class Error(Struct, frozen=True, kw_only=True):
    """Why a job failed: a code of `core.messages`, the phase it happened in, and the facts of its sentence."""

    code: str
    phase: str
    facts: Json = {}


class KeptFile(Struct, frozen=True, kw_only=True):
    """An artefact that is in its place: `path` is relative to the artefacts folder, `sha256` of its bytes."""

    name: str
    media_type: str
    bytes: int
    sha256: str
    path: str


class Filter(Struct, frozen=True, kw_only=True):
    """Which of an owner's jobs are listed."""

    owner: UUID
    kinds: tuple[str, ...]
    status: JobState | None = None
    project_id: UUID | None = None


def now() -> datetime:
    """The time, with its zone."""
    return datetime.now(UTC)


async def enqueue(database: Database, new: NewJob, *, most_waiting: int | None = None) -> tuple[UUID, bool]:
    """Keep a new job, or find the one that the same key made before; says whether it is new.

    Raises:
        IdempotencyConflict: the key was used for another request.
        TooManyJobs: `most_waiting` jobs of the owner wait already.
    """
    known = await same_key(database, new)
    if known is not None:
        return known, False
    try:
        async with database.writing() as rows:
            if most_waiting is not None and await _waiting(rows, new.owner) >= most_waiting:
                raise TooManyJobs(limit=most_waiting)
            return await _insert(rows, new), True
    except IntegrityError:  # the same key, at the same moment
        known = await same_key(database, new)
        if known is None:
            raise
        return known, False


async def same_key(database: Database, new: NewJob) -> UUID | None:
    """The job that this owner's key made before, if any.

    Raises:
        IdempotencyConflict: the key was used for another request.
    """
    if new.idempotency_key is None:
        return None
    query = sa.select(jobs.c.id, jobs.c.request_digest).where(
        jobs.c.owner == new.owner, jobs.c.kind == new.kind, jobs.c.idempotency_key == new.idempotency_key
    )
    async with database.reading() as rows:
        found = await rows.first(query)
    if found is None:
        return None
    if found["request_digest"] != new.digest:
        raise IdempotencyConflict
    job_id: UUID = found["id"]
    return job_id


async def _insert(rows: Writer, new: NewJob) -> UUID:
    moment, job_id = now(), uuid4()
    values: Json = {name: getattr(new, name) for name in new.__struct_fields__ if name != "digest"}
    values |= {"id": job_id, "request_digest": new.digest, "status": JobState.QUEUED, "progress": START}
    values |= {"attempt": 0, "losses": 0, "created_at": moment, "updated_at": moment}
    await rows.execute(sa.insert(jobs).values(**values))
    await _note(rows, [Claim(job_id, 0)], JobState.QUEUED)
    return job_id


async def _waiting(rows: Reader, owner: UUID) -> int:
    """Return how many jobs of an owner wait for a worker."""
    waiting = sa.select(sa.func.count()).select_from(jobs)
    return int(await rows.scalar(waiting.where(jobs.c.owner == owner, jobs.c.status == JobState.QUEUED)))


async def claim(
    database: Database, kinds: Sequence[str], *, worker: str, lease_seconds: float, per_user: int
) -> Row | None:
    """Take the next job for a worker; None when none may run.

    It is the oldest one of the user who has the fewest running, and among those of who has waited longest since a job
    of theirs was last started: with one worker nobody has any running when it asks.
    """
    async with database.reading() as reading:
        waiting = sa.select(jobs.c.id).where(jobs.c.status == JobState.QUEUED, jobs.c.kind.in_(kinds))
        if await reading.first(waiting.limit(1)) is None:
            return None
    moment = now()
    async with database.writing() as rows:
        # Claims go one by one, so that two workers never count the same user's running jobs at the same time.
        await bump(rows, CLAIMS)
        found = await rows.returning(
            sa.update(jobs)
            .where(jobs.c.id == _next(kinds, per_user), jobs.c.status == JobState.QUEUED)
            .values(
                status=JobState.RUNNING,
                attempt=jobs.c.attempt + 1,
                worker=worker,
                lease_until=moment + timedelta(seconds=lease_seconds),
                started_at=sa.func.coalesce(jobs.c.started_at, sa.bindparam("moment", moment, jobs.c.started_at.type)),
                updated_at=moment,
                progress=START | {"phase": "starting", "message": "starting"},
            )
            .returning(*jobs.c)
        )
        if found is not None:
            await _note(rows, [Claim(found["id"], found["attempt"])], JobState.RUNNING)
    return found


def _next(kinds: Sequence[str], per_user: int) -> sa.ScalarSelect[Any]:
    waiting, held, begun = jobs.alias("waiting"), jobs.alias("held"), jobs.alias("begun")
    running = (
        sa.select(sa.func.count())
        .select_from(held)
        .where(held.c.owner == waiting.c.owner, held.c.status.in_(HELD))
        .correlate(waiting)
        .scalar_subquery()
    )
    last_turn = (
        sa.select(sa.func.max(begun.c.started_at))
        .where(begun.c.owner == waiting.c.owner)
        .correlate(waiting)
        .scalar_subquery()
    )
    query = sa.select(waiting.c.id).where(
        waiting.c.status == JobState.QUEUED, waiting.c.kind.in_(kinds), running < per_user
    )
    order = (running, last_turn.nulls_first(), waiting.c.created_at, waiting.c.id)
    return skip_locked(query.order_by(*order).limit(1)).scalar_subquery()


async def renew(
    database: Database, worker: str, job_ids: Sequence[UUID], lease_seconds: float
) -> dict[Claim, JobState]:
    """Prolong a worker's leases; the jobs that it still holds, and whether they are to be cancelled.

    Only the jobs that it knows of: one that was claimed for it without its learning of it must not be kept for ever.
    """
    moment = now()
    statement = (
        sa.update(jobs)
        .where(jobs.c.worker == worker, jobs.c.id.in_(job_ids), jobs.c.status.in_(HELD))
        .values(lease_until=moment + timedelta(seconds=lease_seconds))
        .returning(jobs.c.id, jobs.c.attempt, jobs.c.status)
    )
    async with database.writing(essential=True) as rows:
        found = (await rows.execute(statement)).mappings().all()
    return {Claim(row["id"], row["attempt"]): JobState(row["status"]) for row in found}


async def held(database: Database, worker: str) -> dict[Claim, JobState]:
    """The jobs that a worker holds, and whether they are to be cancelled."""
    query = sa.select(jobs.c.id, jobs.c.attempt, jobs.c.status).where(jobs.c.worker == worker, jobs.c.status.in_(HELD))
    async with database.reading() as rows:
        return {Claim(row["id"], row["attempt"]): JobState(row["status"]) for row in await rows.all(query)}


async def under_way(database: Database) -> set[Claim]:
    """The attempts that any worker is at."""
    async with database.reading() as rows:
        found = await rows.all(sa.select(jobs.c.id, jobs.c.attempt).where(jobs.c.status.in_(HELD)))
    return {Claim(row["id"], row["attempt"]) for row in found}


async def report(database: Database, progress: Mapping[Claim, Json]) -> None:
    """Note how far attempts are; one that is no longer the job's own changes nothing."""
    async with database.writing(essential=True) as rows:
        for mine, state in progress.items():
            statement = sa.update(jobs).where(*_fence(mine), jobs.c.status == JobState.RUNNING)
            done = await rows.execute(statement.values(progress=state, updated_at=now()))
            if done.rowcount:
                await _event(rows, [mine], "progress", state)


async def succeed(database: Database, mine: Claim, result: Any, files: Sequence[KeptFile]) -> bool:
    """Keep the result and the artefacts of an attempt; False when the job is no longer this attempt's."""
    progress = {"percent": 100.0, "phase": "done", "step": 1, "total_steps": 1, "message": "done"}
    async with database.writing(essential=True) as rows:
        kept = await _move(rows, JobState.SUCCEEDED, *_fence(mine), result=result, progress=progress)
        if kept and files:
            await rows.execute(
                sa.insert(job_artifacts),
                [{"job_id": mine.id} | {n: getattr(f, n) for n in f.__struct_fields__} for f in files],
            )
        return bool(kept)


async def fail(database: Database, mine: Claim, error: Error) -> bool:
    """End a job with a reason; False when it is no longer this attempt's."""
    async with database.writing(essential=True) as rows:
        return bool(await _fail(rows, error, *_fence(mine)))


async def cancelled(database: Database, mine: Claim) -> bool:
    """Note that a job which was to be cancelled has been ended by its worker."""
    async with database.writing(essential=True) as rows:
        return bool(await _move(rows, JobState.CANCELLED, *_fence(mine), jobs.c.status == JobState.CANCELLING))


async def give_back(database: Database, mine: Claim, *, lost: Error | None) -> None:
    """Queue a job again: after a stop in good order (`lost` None), or after its worker died, at most three times."""
    async with database.writing(essential=True) as rows:
        await _move(rows, JobState.CANCELLED, *_fence(mine), jobs.c.status == JobState.CANCELLING)
        if lost is None:
            await _move(rows, JobState.QUEUED, *_fence(mine))
        else:
            await _after_loss(rows, lost, *_fence(mine))


async def reap(database: Database, lost: Error) -> int:
    """Take the jobs whose lease has run out from their workers; how many there were."""
    silent = jobs.c.lease_until < now()
    async with database.reading() as reading:
        if await reading.first(sa.select(jobs.c.id).where(silent, jobs.c.status.in_(HELD)).limit(1)) is None:
            return 0
    async with database.writing(essential=True) as rows:
        ended = await _move(rows, JobState.CANCELLED, silent, jobs.c.status == JobState.CANCELLING)
        return len(ended) + await _after_loss(rows, lost, silent)


async def cancel(database: Database, job_id: UUID) -> None:
    """Cancel a job: at once when it waits, through its worker when it runs, not at all when it has ended."""
    async with database.writing(essential=True) as rows:
        await _move(rows, JobState.CANCELLED, jobs.c.id == job_id, jobs.c.status == JobState.QUEUED)
        await _move(rows, JobState.CANCELLING, jobs.c.id == job_id)


async def delete(database: Database, job_id: UUID) -> None:
    """Delete a job that has ended, with its events and artefacts' rows.

    Raises:
        JobNotFinal: it has not ended.
    """
    async with database.writing(essential=True) as rows:
        done = await rows.execute(sa.delete(jobs).where(jobs.c.id == job_id, jobs.c.status.in_(FINAL)))
        if not done.rowcount:
            raise JobNotFinal


async def owned(rows: Reader, job_id: str, owner: UUID, kinds: Sequence[str]) -> Row:
    """One of the owner's jobs, whole.

    Raises:
        JobNotFound: there is none, it is someone else's, or the id is malformed.
    """
    known = parse_uuid(job_id)
    query = sa.select(jobs).where(jobs.c.id == known, jobs.c.owner == owner, jobs.c.kind.in_(kinds))
    found = None if known is None else await rows.first(query)
    if found is None:
        raise JobNotFound
    return found


async def listed(rows: Reader, wanted: Filter, *, skip: int, limit: int) -> Sequence[Row]:
    """An owner's jobs without their results, newest first."""
    query = sa.select(*_SUMMARY).where(*_matching(wanted))
    return await rows.all(query.order_by(jobs.c.created_at.desc(), jobs.c.id).offset(skip).limit(limit))


async def counted(rows: Reader, wanted: Filter) -> int:
    """How many jobs `listed` would give without its window."""
    return int(await rows.scalar(sa.select(sa.func.count()).select_from(jobs).where(*_matching(wanted))))


async def artifacts(rows: Reader, job_ids: Iterable[UUID]) -> dict[UUID, list[Row]]:
    """The artefacts of each of the jobs, by name."""
    wanted = list(job_ids)
    found: dict[UUID, list[Row]] = {job_id: [] for job_id in wanted}
    query = sa.select(job_artifacts).where(job_artifacts.c.job_id.in_(wanted)).order_by(job_artifacts.c.name)
    for row in await rows.all(query) if wanted else ():
        found[row["job_id"]].append(row)
    return found


async def status(rows: Reader, job_id: UUID) -> JobState | None:
    """Where a job stands; None when there is no such job any more."""
    found = await rows.first(sa.select(jobs.c.status).where(jobs.c.id == job_id))
    return None if found is None else JobState(found["status"])


async def events_after(rows: Reader, job_id: UUID, last: int) -> Sequence[Row]:
    """Return a job's events after its event number `last`, in order: at most `EVENTS_AT_ONCE`.

    Events are numbered 1, 2, 3 ... within their job. Nothing else is told to callers: the ids of the rows count the
    events of everybody. A job's row is locked by whoever adds an event to it, so the numbers never change.
    """
    query = sa.select(job_events).where(job_events.c.job_id == job_id)
    return await rows.all(query.order_by(job_events.c.id).offset(last).limit(EVENTS_AT_ONCE))


def _matching(wanted: Filter) -> list[sa.ColumnElement[bool]]:
    found = [jobs.c.owner == wanted.owner, jobs.c.kind.in_(wanted.kinds)]
    if wanted.status is not None:
        found.append(jobs.c.status == wanted.status)
    if wanted.project_id is not None:
        found.append(jobs.c.project_id == wanted.project_id)
    return found


def _fence(mine: Claim) -> tuple[sa.ColumnElement[bool], ...]:
    return jobs.c.id == mine.id, jobs.c.attempt == mine.attempt


async def _after_loss(rows: Writer, lost: Error, *where: sa.ColumnElement[bool]) -> int:
    spent = jobs.c.losses + 1 >= MAX_LOSSES
    failed = await _fail(rows, lost, *where, spent, losses=jobs.c.losses + 1)
    queued = await _move(rows, JobState.QUEUED, *where, losses=jobs.c.losses + 1)
    return len(failed) + len(queued)


async def _fail(rows: Writer, error: Error, *where: sa.ColumnElement[bool], **values: Any) -> list[Claim]:
    told = {"code": error.code, "phase": error.phase, "facts": error.facts}
    return await _move(rows, JobState.FAILED, *where, error=told, **values)


async def _move(rows: Writer, target: JobState, *where: sa.ColumnElement[bool], **values: Any) -> list[Claim]:
    """Move whatever matches `where` and may move to `target`; the jobs that moved."""
    moment = now()
    values |= {"status": target, "updated_at": moment}
    if target in FINAL:
        values |= {"finished_at": moment}
    if target not in HELD:
        values |= {"worker": None, "lease_until": None}
    if target is JobState.QUEUED:
        values |= {"progress": START}
    statement = sa.update(jobs).where(*where, jobs.c.status.in_(sources(target))).values(**values)
    found = (await rows.execute(statement.returning(jobs.c.id, jobs.c.attempt))).mappings().all()
    moved = [Claim(row["id"], row["attempt"]) for row in found]
    await _note(rows, moved, target)
    return moved


async def _note(rows: Writer, moved: Sequence[Claim], target: JobState) -> None:
    JOBS.labels(target).inc(len(moved))
    await _event(rows, moved, target, None)


async def _event(rows: Writer, moved: Sequence[Claim], event: str, data: Json | None) -> None:
    moment = now()
    values = [{"job_id": m.id, "event": event, "attempt": m.attempt, "data": data, "at": moment} for m in moved]
    if values:
        await rows.execute(sa.insert(job_events), values)
