"""The rows of jobs: which moves between states exist, who may make them, and that nobody else can."""

import asyncio
from collections.abc import Awaitable, Callable
from itertools import product
from uuid import UUID, uuid4

import pytest
import sqlalchemy as sa

from touchstone.core.errors import IdempotencyConflict, JobNotFinal, JobNotFound
from touchstone.database.engine import Database
from touchstone.database.tables import jobs
from touchstone.jobs import job_store, lease_store, outcome_store, progress_store, queue_store
from touchstone.jobs.job_records import AttemptId, JobFailure, JobProgress, NewJob
from touchstone.jobs.job_states import FINAL_STATES, HELD_STATES, MOVES, JobState

pytestmark = pytest.mark.anyio
FAILURE = JobFailure(code="worker_lost", phase="running")
LATE_PROGRESS = JobProgress(percent=99, phase="late", step=0, total_steps=1, message="preparing_data")


def new_job(owner: UUID | None = None, *, digest: str = "d", idempotency_key: str | None = None) -> NewJob:
    """Return a job to be queued, of a new user unless an owner is given."""
    return NewJob(kind="train", owner=owner or uuid4(), request={}, digest=digest, idempotency_key=idempotency_key)


async def enqueue(database: Database, owner: UUID | None = None) -> UUID:
    """Queue a job and return its id."""
    queued_job = await queue_store.enqueue(database, new_job(owner))
    return queued_job.id


async def claim_job(
    database: Database, worker: str = "w", lease_seconds: float = 30.0, max_running_per_user: int = 5
) -> AttemptId | None:
    """Claim the next job for a worker, and return the attempt, or None if no job may start."""
    job = await queue_store.claim_next(
        database,
        ["train"],
        worker=worker,
        lease_seconds=lease_seconds,
        max_running_per_user=max_running_per_user,
    )
    return None if job is None else job.attempt_id


async def claim_waiting_job(database: Database, worker: str = "w", lease_seconds: float = 30.0) -> AttemptId:
    """Claim the next job for a worker, which there has to be, and return the attempt."""
    claim = await claim_job(database, worker, lease_seconds)
    assert claim is not None
    return claim


async def load_state(database: Database, job_id: UUID) -> JobState:
    """Return the state of a job."""
    async with database.reading() as rows:
        return JobState(await rows.scalar(sa.select(jobs.c.status).where(jobs.c.id == job_id)))


async def create_job_in_state(database: Database, state: JobState) -> AttemptId:
    """Create a job in a state, held by the worker `w` at its first attempt, and return the worker's claim."""
    job_id = await enqueue(database)
    claim = await claim_waiting_job(database)
    async with database.writing() as rows:
        worker = "w" if state in HELD_STATES else None
        await rows.execute(sa.update(jobs).where(jobs.c.id == job_id).values(status=state, worker=worker))
    return claim


ACTIONS: dict[str, Callable[[Database, AttemptId], Awaitable[object]]] = {
    "claim": lambda database, _: claim_job(database),
    "succeed": lambda database, claim: outcome_store.record_success(database, claim, {}, ()),
    "fail": lambda database, claim: outcome_store.record_failure(database, claim, FAILURE),
    "finish cancelling": outcome_store.finish_cancelling,
    "cancel": lambda database, claim: job_store.cancel_job(database, claim.job_id),
    "shut down": lease_store.requeue_after_shutdown,
    "die": lambda database, claim: lease_store.requeue_after_death(database, claim, FAILURE),
}
STATE_AFTER_ACTION = {
    ("claim", JobState.QUEUED): JobState.RUNNING,
    ("succeed", JobState.RUNNING): JobState.SUCCEEDED,
    ("fail", JobState.RUNNING): JobState.FAILED,
    ("finish cancelling", JobState.CANCELLING): JobState.CANCELLED,
    ("cancel", JobState.QUEUED): JobState.CANCELLED,
    ("cancel", JobState.RUNNING): JobState.CANCELLING,
    ("shut down", JobState.RUNNING): JobState.QUEUED,
    ("shut down", JobState.CANCELLING): JobState.CANCELLED,
    ("die", JobState.RUNNING): JobState.QUEUED,
    ("die", JobState.CANCELLING): JobState.CANCELLED,
}


async def test_every_action_in_every_state(database: Database) -> None:
    """Each action makes exactly the moves of the table above, and changes nothing in every other state."""
    for action, state in product(ACTIONS, JobState):
        claim = await create_job_in_state(database, state)
        await ACTIONS[action](database, claim)
        state_after = await load_state(database, claim.job_id)
        assert state_after == STATE_AFTER_ACTION.get((action, state), state), (action, state)
        assert state_after == state or state_after in MOVES[state]

        async with database.writing() as rows:
            await rows.execute(sa.delete(jobs))


def test_final_states_have_no_way_out() -> None:
    """Succeeded, failed and cancelled are the final states, and every other state can be left."""
    assert {JobState.SUCCEEDED, JobState.FAILED, JobState.CANCELLED} == FINAL_STATES
    for state in set(JobState) - FINAL_STATES:
        assert MOVES[state]


async def test_worker_without_lease_changes_nothing(database: Database) -> None:
    """A worker that has lost its lease cannot report on, finish, fail or requeue the next attempt."""
    await enqueue(database)
    old_claim = await claim_waiting_job(database, "paused", lease_seconds=-1)
    assert await lease_store.reap_expired(database, FAILURE) == 1
    current_claim = await claim_waiting_job(database, "fresh")
    assert current_claim == AttemptId(old_claim.job_id, 2)

    assert await lease_store.renew_leases(database, "paused", [old_claim.job_id], 30) == {}
    assert not await outcome_store.record_success(database, old_claim, {"stale": True}, ())
    assert not await outcome_store.record_failure(database, old_claim, FAILURE)
    await lease_store.requeue_after_death(database, old_claim, FAILURE)
    await progress_store.record_progress(database, {old_claim: LATE_PROGRESS})
    assert await load_state(database, old_claim.job_id) is JobState.RUNNING

    assert await outcome_store.record_success(database, current_claim, {"stale": False}, ())
    async with database.reading() as rows:
        assert await rows.scalar(sa.select(jobs.c.result)) == {"stale": False}
        events = await job_store.load_events_after(rows, old_claim.job_id, 0)
    assert [event.name for event in events] == ["queued", "running", "queued", "running", "succeeded"]


async def test_process_does_not_take_back_its_own_attempts(database: Database) -> None:
    """A job whose lease was renewed late stays with the process that is making the attempt; other jobs are queued."""
    kept_job_id, lost_job_id = await enqueue(database), await enqueue(database)
    claims = {claim.job_id: claim for claim in [await claim_waiting_job(database, lease_seconds=-1) for _ in range(2)]}
    assert await lease_store.reap_expired(database, FAILURE, running_attempts=[claims[kept_job_id]]) == 1
    assert await load_state(database, kept_job_id) is JobState.RUNNING
    assert await load_state(database, lost_job_id) is JobState.QUEUED


async def test_job_fails_with_its_third_lost_worker(database: Database) -> None:
    """A job that loses its worker three times fails with the reason."""
    job_id = await enqueue(database)
    for attempt in range(1, 4):
        assert await load_state(database, job_id) is JobState.QUEUED
        assert await claim_job(database, lease_seconds=-1) == AttemptId(job_id, attempt)
        await lease_store.reap_expired(database, FAILURE)
    assert await load_state(database, job_id) is JobState.FAILED


async def test_reaping_ends_a_cancelling_job(database: Database) -> None:
    """A job that was being cancelled when its worker was lost is cancelled, and not queued again."""
    await enqueue(database)
    claim = await claim_waiting_job(database, lease_seconds=-1)
    await job_store.cancel_job(database, claim.job_id)
    assert await lease_store.reap_expired(database, FAILURE) == 1
    assert await load_state(database, claim.job_id) is JobState.CANCELLED


async def test_claims_at_once_never_share_a_job(database: Database) -> None:
    """Many workers that claim at the same moment get each job exactly once."""
    job_ids = {await enqueue(database) for _ in range(12)}
    claims = await asyncio.gather(*(claim_job(database, f"w{number}") for number in range(30)))
    claimed_job_ids = [claim.job_id for claim in claims if claim]
    assert len(claimed_job_ids) == len(set(claimed_job_ids))

    while claim := await claim_job(database):
        claimed_job_ids.append(claim.job_id)
    assert sorted(claimed_job_ids) == sorted(job_ids)


async def test_claims_at_once_respect_the_limit_of_a_user(database: Database) -> None:
    """Many workers that claim at the same moment never run more of one user's jobs than allowed."""
    owner = uuid4()
    for _ in range(8):
        await enqueue(database, owner)

    claims = await asyncio.gather(*(claim_job(database, f"w{number}", max_running_per_user=2) for number in range(10)))
    assert len([claim for claim in claims if claim]) == 2


async def test_users_take_turns(database: Database) -> None:
    """A user with many queued jobs does not hold up others: the user with the fewest running jobs comes first."""
    busy_user, other_user = uuid4(), uuid4()
    for _ in range(3):
        await enqueue(database, busy_user)
    other_user_job_id = await enqueue(database, other_user)

    await claim_job(database)
    assert (await claim_waiting_job(database)).job_id == other_user_job_id


async def test_users_take_turns_at_one_worker(database: Database) -> None:
    """If nobody has a job running, the user whose last job started longest ago comes next, with the oldest job."""
    busy_user, other_user = uuid4(), uuid4()
    busy_user_job_ids = [await enqueue(database, busy_user) for _ in range(6)]
    other_user_job_ids = [await enqueue(database, other_user) for _ in range(2)]

    claimed_job_ids = []
    for _ in range(8):
        claim = await claim_waiting_job(database)
        claimed_job_ids.append(claim.job_id)
        assert await outcome_store.record_success(database, claim, {}, [])
    assert claimed_job_ids == [
        busy_user_job_ids[0],
        other_user_job_ids[0],
        busy_user_job_ids[1],
        other_user_job_ids[1],
        *busy_user_job_ids[2:],
    ]


async def test_jobs_that_are_queued_at_once_stay_within_the_limit(database: Database) -> None:
    """Each request counts the jobs of the others, but a repeated request gets its job even if the queue is full."""
    owner = uuid4()
    requests = [queue_store.enqueue(database, new_job(owner), waiting_limit=3) for _ in range(12)]
    results = await asyncio.gather(*requests, return_exceptions=True)
    assert sorted(type(result).__name__ for result in results) == ["QueuedJob"] * 3 + ["TooManyJobs"] * 9

    keyed_job = new_job(idempotency_key="k")
    repeated_requests = [queue_store.enqueue(database, keyed_job, waiting_limit=1) for _ in range(12)]
    assert len({job.id for job in await asyncio.gather(*repeated_requests)}) == 1


async def test_one_idempotency_key_queues_one_job(database: Database) -> None:
    """Fifty requests with one idempotency key at the same moment queue one job; the key rejects a different request."""
    keyed_job = new_job(idempotency_key="k")
    queued_jobs = await asyncio.gather(*(queue_store.enqueue(database, keyed_job) for _ in range(50)))
    assert len({queued_job.id for queued_job in queued_jobs}) == 1
    assert sum(queued_job.is_new for queued_job in queued_jobs) == 1

    with pytest.raises(IdempotencyConflict):
        await queue_store.enqueue(database, new_job(keyed_job.owner, idempotency_key="k", digest="other"))

    other_owners_job = await queue_store.enqueue(database, new_job(idempotency_key="k"))
    assert other_owners_job.is_new, "a key belongs to its owner alone"
    assert other_owners_job.id != queued_jobs[0].id


async def test_foreign_and_malformed_ids_are_missing(database: Database) -> None:
    """A job is found by its owner alone, under its own kind, and by the one spelling of its id."""
    owner = uuid4()
    job_id = await enqueue(database, owner)
    async with database.reading() as rows:
        assert (await job_store.load_owned_job(rows, str(job_id), owner, ["train"])).id == job_id
        for wrong_id, wrong_owner, wrong_kinds in (
            (str(job_id), uuid4(), ["train"]),
            (str(job_id), owner, ["explain"]),
            (job_id.hex, owner, ["train"]),
            ("x", owner, ["train"]),
        ):
            with pytest.raises(JobNotFound):
                await job_store.load_owned_job(rows, wrong_id, wrong_owner, wrong_kinds)


async def test_only_ended_jobs_are_deleted(database: Database) -> None:
    """A job that has ended is deleted with its events; one that has not ended cannot be deleted."""
    for state in FINAL_STATES:
        claim = await create_job_in_state(database, state)
        await job_store.delete_job(database, claim.job_id)
        async with database.reading() as rows:
            assert await rows.first(sa.select(jobs)) is None
            assert await job_store.load_events_after(rows, claim.job_id, 0) == []

    for state in set(JobState) - FINAL_STATES:
        claim = await create_job_in_state(database, state)
        with pytest.raises(JobNotFinal):
            await job_store.delete_job(database, claim.job_id)
        async with database.writing() as rows:
            await rows.execute(sa.delete(jobs))
