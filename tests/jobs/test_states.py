"""The rows of jobs: which moves exist, who may make them, and that nobody else can."""

import asyncio
from itertools import product
from uuid import uuid4

import pytest
import sqlalchemy as sa

from touchstone.core.errors import IdempotencyConflict, JobNotFinal, JobNotFound
from touchstone.database.engine import Database
from touchstone.database.tables import jobs
from touchstone.jobs import lease_store, queue_store, store
from touchstone.jobs.records import Claim, JobFailure, JobProgress, NewJob
from touchstone.jobs.states import FINAL, HELD, MOVES, JobState

pytestmark = pytest.mark.anyio
WHY = JobFailure(code="worker_lost", phase="running")
LATE = JobProgress(percent=99, phase="late", step=0, total_steps=1, message="preparing_data")


def new_job(owner=None, **changes):
    return NewJob(**{"kind": "train", "owner": owner or uuid4(), "request": {}, "digest": "d"} | changes)


async def claim(database, worker="w", lease=30.0, per_user=5):
    job = await queue_store.claim_next(database, ["train"], worker=worker, lease_seconds=lease, per_user=per_user)
    return None if job is None else job.claim


async def status(database, job_id):
    async with database.reading() as rows:
        return JobState(await rows.scalar(sa.select(jobs.c.status).where(jobs.c.id == job_id)))


async def put_in(database: Database, state: JobState) -> Claim:
    """A job in a state, held by the worker `w` at its first attempt."""
    job_id, _ = await queue_store.enqueue(database, new_job())
    mine = await claim(database)
    async with database.writing() as rows:
        worker = "w" if state in HELD else None
        await rows.execute(sa.update(jobs).where(jobs.c.id == job_id).values(status=state, worker=worker))
    assert mine is not None
    return mine


ACTIONS = {
    "claim": lambda db, _: claim(db),
    "succeed": lambda db, mine: store.succeed(db, mine, {}, ()),
    "fail": lambda db, mine: store.fail(db, mine, WHY),
    "ended": store.finish_cancelling,
    "cancel": lambda db, mine: store.cancel(db, mine.id),
    "stop": lease_store.requeue_stopped,
    "die": lambda db, mine: lease_store.requeue_lost(db, mine, WHY),
}
S = JobState
REACHED = {
    ("claim", S.QUEUED): S.RUNNING,
    ("succeed", S.RUNNING): S.SUCCEEDED,
    ("fail", S.RUNNING): S.FAILED,
    ("ended", S.CANCELLING): S.CANCELLED,
    ("cancel", S.QUEUED): S.CANCELLED,
    ("cancel", S.RUNNING): S.CANCELLING,
    ("stop", S.RUNNING): S.QUEUED,
    ("stop", S.CANCELLING): S.CANCELLED,
    ("die", S.RUNNING): S.QUEUED,
    ("die", S.CANCELLING): S.CANCELLED,
}


async def test_every_action_in_every_state(database):
    """Each action makes exactly the moves of the table, and changes nothing in every other state."""
    for action, state in product(ACTIONS, JobState):
        mine = await put_in(database, state)
        await ACTIONS[action](database, mine)
        reached = await status(database, mine.id)
        assert reached == REACHED.get((action, state), state), (action, state)
        assert reached == state or reached in MOVES[state]
        async with database.writing() as rows:
            await rows.execute(sa.delete(jobs))


def test_final_states_have_no_way_out():
    """Succeeded, failed and cancelled are final, and every other state can reach a final one."""
    assert {S.SUCCEEDED, S.FAILED, S.CANCELLED} == FINAL
    for state in set(JobState) - FINAL:
        assert MOVES[state]


async def test_older_attempt_changes_nothing(database):
    """A worker that was paused and lost its lease cannot report on, finish, fail or give back the next attempt."""
    await queue_store.enqueue(database, new_job())
    old = await claim(database, "paused", lease=-1)
    assert await lease_store.reap_expired(database, WHY) == 1
    fresh = await claim(database, "fresh")
    assert fresh == Claim(old.id, 2)
    assert await lease_store.renew_leases(database, "paused", [old.id], 30) == {}
    assert not await store.succeed(database, old, {"stale": True}, ())
    assert not await store.fail(database, old, WHY)
    await lease_store.requeue_lost(database, old, WHY)
    await store.record_progress(database, {old: LATE})
    assert await status(database, old.id) is S.RUNNING
    assert await store.succeed(database, fresh, {"stale": False}, ())
    async with database.reading() as rows:
        assert await rows.scalar(sa.select(jobs.c.result)) == {"stale": False}
        told = [event.event for event in await store.events_after(rows, old.id, 0)]
    assert told == ["queued", "running", "queued", "running", "succeeded"]


async def test_third_loss_is_the_last(database):
    """A job whose workers are lost three times fails with the reason."""
    job_id, _ = await queue_store.enqueue(database, new_job())
    for number in range(3):
        assert await status(database, job_id) is S.QUEUED
        assert await claim(database, lease=-1) == Claim(job_id, number + 1)
        await lease_store.reap_expired(database, WHY)
    assert await status(database, job_id) is S.FAILED


async def test_reaping_ends_a_cancelling_job(database):
    """A job that was to be cancelled when its worker was lost is cancelled, not queued again."""
    await queue_store.enqueue(database, new_job())
    mine = await claim(database, lease=-1)
    await store.cancel(database, mine.id)
    assert await lease_store.reap_expired(database, WHY) == 1
    assert await status(database, mine.id) is S.CANCELLED


async def test_claims_at_once_never_share_a_job(database):
    """Many workers that claim at once get each job exactly once."""
    expected = {(await queue_store.enqueue(database, new_job()))[0] for _ in range(12)}
    found = await asyncio.gather(*(claim(database, f"w{n}") for n in range(30)))
    taken = [mine.id for mine in found if mine]
    assert len(taken) == len(set(taken))
    while mine := await claim(database):
        taken.append(mine.id)
    assert sorted(taken) == sorted(expected)


async def test_claims_at_once_respect_the_limit_of_a_user(database):
    """Many workers that claim at once never run more of one user's jobs than allowed."""
    owner = uuid4()
    for _ in range(8):
        await queue_store.enqueue(database, new_job(owner))
    found = await asyncio.gather(*(claim(database, f"w{n}", per_user=2) for n in range(10)))
    assert len([mine for mine in found if mine]) == 2


async def test_users_take_turns(database):
    """A user with many waiting jobs does not keep others waiting: who has the fewest running comes first."""
    busy, other = uuid4(), uuid4()
    for _ in range(3):
        await queue_store.enqueue(database, new_job(busy))
    late, _ = await queue_store.enqueue(database, new_job(other))
    await claim(database)
    assert (await claim(database)).id == late


async def test_users_take_turns_at_one_worker(database):
    """Where nobody has a job running, who waits longest since a start of theirs comes next, with their oldest job."""
    busy, other = uuid4(), uuid4()
    queued = [(await queue_store.enqueue(database, new_job(busy)))[0] for _ in range(6)]
    late = [(await queue_store.enqueue(database, new_job(other)))[0] for _ in range(2)]
    taken = []
    for _ in range(8):
        mine = await claim(database)
        taken.append(mine.id)
        assert await store.succeed(database, mine, {}, [])
    assert taken == [queued[0], late[0], queued[1], late[1], *queued[2:]]


async def test_same_key_at_once_makes_one_job(database):
    """Fifty starts with one key at the same moment make one job; another request under that key is refused."""
    wanted = new_job(idempotency_key="k")
    found = await asyncio.gather(*(queue_store.enqueue(database, wanted) for _ in range(50)))
    assert len({job_id for job_id, _ in found}) == 1
    assert sum(made for _, made in found) == 1
    with pytest.raises(IdempotencyConflict):
        await queue_store.enqueue(database, new_job(wanted.owner, idempotency_key="k", digest="other"))
    again, made = await queue_store.enqueue(database, new_job(idempotency_key="k"))
    assert made, "a key belongs to its owner alone"
    assert again != found[0][0]


async def test_foreign_and_malformed_ids_are_missing(database):
    """A job is found by its owner alone, under its own kind and the one spelling of its id."""
    owner = uuid4()
    job_id, _ = await queue_store.enqueue(database, new_job(owner))
    async with database.reading() as rows:
        assert (await store.load_owned_job(rows, str(job_id), owner, ["train"])).id == job_id
        for wrong in (
            (str(job_id), uuid4(), ["train"]),
            (str(job_id), owner, ["explain"]),
            (job_id.hex, owner, ["train"]),
            ("x", owner, ["train"]),
        ):
            with pytest.raises(JobNotFound):
                await store.load_owned_job(rows, *wrong)


async def test_only_ended_jobs_are_deleted(database):
    """Deleting takes an ended job with its events, and refuses any other."""
    for state in FINAL:
        mine = await put_in(database, state)
        await store.delete(database, mine.id)
        async with database.reading() as rows:
            assert await rows.first(sa.select(jobs)) is None
            assert await store.events_after(rows, mine.id, 0) == []
    for state in set(JobState) - FINAL:
        mine = await put_in(database, state)
        with pytest.raises(JobNotFinal):
            await store.delete(database, mine.id)
        async with database.writing() as rows:
            await rows.execute(sa.delete(jobs))
