"""Jobs that are dispatched to real processes, on both databases."""

import asyncio
import os
from pathlib import Path
from uuid import uuid4

import pytest

from touchstone.core.settings import MIB
from touchstone.jobs import queue_store, store
from touchstone.jobs.records import Claim, JobSource, NewJob
from touchstone.jobs.states import JobState

pytestmark = pytest.mark.anyio


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"


async def pids(trace: Path) -> list[int]:
    while not trace.exists() or len(trace.read_text().split()) < 2:
        await asyncio.sleep(0.01)
    return [int(pid) for pid in trace.read_text().split()]


async def until_gone(*numbers: int) -> None:
    for _ in range(400):
        if not any(alive(pid) for pid in numbers):
            return
        await asyncio.sleep(0.01)
    raise AssertionError("a process lives on")


async def test_job_runs_to_its_end(machine):
    """A job is claimed, worked on in another process, and its result kept; each move leaves one event."""
    async with machine.dispatching():
        job = await machine.enqueue("noop", answer=42)
        row = await machine.end_of(job)
    assert row["status"] == JobState.SUCCEEDED
    assert row["result"] == {"order": {"answer": 42}}
    assert row["progress"]["percent"] == 100
    assert (row["attempt"], row["losses"], row["worker"], row["lease_until"]) == (1, 0, None, None)
    assert row["created_at"] <= row["started_at"] <= row["finished_at"]
    assert [event.event for event in await machine.events(job)] == ["queued", "running", "succeeded"]


async def test_artifacts_are_in_place_with_their_digests(machine):
    """A succeeded job's artefacts stand where its rows say, with the digests of their bytes, and nothing else does."""
    async with machine.dispatching():
        job = await machine.enqueue("write", texts={"b.txt": "two", "a.txt": "one"})
        row = await machine.end_of(job)
    assert row["status"] == JobState.SUCCEEDED
    async with machine.database.reading() as rows:
        kept = (await store.load_artifacts(rows, [job]))[job]
    assert [(f.name, f.bytes, f.media_type) for f in kept] == [
        ("a.txt", 3, "text/plain"),
        ("b.txt", 3, "text/plain"),
    ]
    assert kept[0].sha256 == "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed"
    assert kept[0].path == f"{job}/1/a.txt"
    found = sorted(
        str(p.relative_to(machine.artifact_store.folder))
        for p in machine.artifact_store.folder.rglob("*")
        if p.is_file()
    )
    assert found == [f"{job}/1/a.txt", f"{job}/1/b.txt"]


@pytest.mark.parametrize("name", ["missing.txt", "../outside", "a/b", ".hidden", ""])
async def test_artifact_that_is_not_there_fails_the_job(machine, name):
    """Work that names a file which it did not write, or may not name, has failed."""
    async with machine.dispatching():
        row = await machine.end_of(await machine.enqueue("claim_missing_file", name=name))
    assert (row["status"], row["error"]["code"]) == (JobState.FAILED, "storage_failed")


async def test_data_file_reaches_the_work_opened(machine, tmp_path):
    """The worker gets the data file opened, and a path outside the data folders fails the job."""
    (tmp_path / "roots").mkdir()
    (tmp_path / "roots/table.csv").write_text("a,b")
    (tmp_path / "secret.csv").write_text("secret")
    async with machine.dispatching(data_roots=(tmp_path / "roots",)):
        found = []
        for path in ("table.csv", "../secret.csv"):
            wanted = NewJob(kind="read", owner=uuid4(), request={}, digest="", source=JobSource(file_path=path))
            found.append(await machine.end_of((await queue_store.enqueue(machine.database, wanted))[0]))
    assert found[0]["result"] == {"data": "a,b"}
    assert (found[1]["status"], found[1]["error"]["code"]) == (JobState.FAILED, "data_file_unreadable")


@pytest.mark.parametrize(
    ("kind", "code", "attempts"),
    [
        ("refuse", "target_not_found", 1),
        ("stumble", "work_failed", 1),
        ("answer_nonsense", "work_failed", 1),
        ("eat_memory", "out_of_memory", 1),
        ("segfault", "worker_died", 3),
        ("kill_itself", "worker_died", 3),
    ],
)
async def test_work_that_cannot_succeed_fails_with_a_reason(machine, kind, code, attempts):
    """A refusal fails at once, a death after three attempts; a job beside it never notices."""
    async with machine.dispatching(jobs_per_user=1):
        other = await machine.enqueue("sleep", seconds=1)
        row = await machine.end_of(await machine.enqueue(kind))
        beside = await machine.end_of(other)
    assert (row["status"], row["error"]["code"]) == (JobState.FAILED, code)
    assert row["attempt"] == attempts
    assert "secret" not in str(row["error"])
    assert (beside["status"], beside["attempt"]) == (JobState.SUCCEEDED, 1)


async def test_refusal_keeps_its_facts(machine):
    """What a sentence needs of a refusal is kept in the row."""
    async with machine.dispatching():
        row = await machine.end_of(await machine.enqueue("refuse"))
    assert row["error"]["facts"] == {"name": "price", "nearest": "prize", "field": "target"}
    assert row["error"]["phase"] == "checking"


async def test_too_slow_work_is_ended(machine, tmp_path):
    """Work that outlasts its time is ended, with the processes that it started, and fails."""
    async with machine.dispatching(job_seconds=1):
        trace = tmp_path / "trace"
        job = await machine.enqueue("sleep", seconds=30, trace=str(trace))
        numbers = await pids(trace)
        row = await machine.end_of(job)
        await until_gone(*numbers)
    assert (row["status"], row["error"]["code"]) == (JobState.FAILED, "out_of_time")


async def test_worker_lost_once_is_replaced(machine):
    """A job whose process dies is tried again, and succeeds at the second attempt."""
    async with machine.dispatching():
        job = await machine.enqueue("kill_itself", until_attempt=2)
        row = await machine.end_of(job)
    assert (row["status"], row["attempt"], row["losses"]) == (JobState.SUCCEEDED, 2, 1)
    assert [event.event for event in await machine.events(job)] == [
        "queued",
        "running",
        "queued",
        "running",
        "succeeded",
    ]


async def test_cancel_ends_the_processes(machine, tmp_path):
    """Cancelling a running job ends its process and what that has started; nothing is left aside."""
    async with machine.dispatching() as dispatcher:
        trace = tmp_path / "trace"
        job = await machine.enqueue("sleep", seconds=30, trace=str(trace))
        numbers = await pids(trace)
        await store.cancel(machine.database, job)
        dispatcher.wake()
        row = await machine.end_of(job)
        await until_gone(*numbers)
    assert row["status"] == JobState.CANCELLED
    assert row["result"] is None
    assert not list((machine.artifact_store.folder / ".scratch").iterdir())
    assert [e.event for e in await machine.events(job)][-2:] == ["cancelling", "cancelled"]


async def test_stop_gives_jobs_back_at_once(machine, tmp_path):
    """A process that stops gives its jobs back without counting a loss; another one takes them up."""
    async with machine.dispatching():
        trace = tmp_path / "trace"
        job = await machine.enqueue("sleep", seconds=0.5, trace=str(trace))
        numbers = await pids(trace)
    await until_gone(*numbers)
    row = await machine.row(job)
    assert (row["status"], row["attempt"], row["losses"], row["worker"]) == (JobState.QUEUED, 1, 0, None)
    async with machine.dispatching():
        row = await machine.end_of(job)
    assert (row["status"], row["attempt"], row["losses"]) == (JobState.SUCCEEDED, 2, 0)


async def test_silent_worker_loses_its_job(machine, tmp_path):
    """A dispatcher that is gone without a word has its jobs taken over when the lease has run out."""
    wanted = await machine.enqueue("sleep", seconds=0.2)
    taken = await queue_store.claim_next(machine.database, ["sleep"], worker="gone", lease_seconds=0.5, per_user=9)
    assert taken is not None
    async with machine.dispatching():
        row = await machine.end_of(wanted)
    assert (row["status"], row["attempt"], row["losses"]) == (JobState.SUCCEEDED, 2, 1)


async def test_what_lost_attempts_left_aside_is_removed(machine):
    """At its start and at every look for lost jobs a dispatcher clears what no attempt needs, and nothing else."""
    elsewhere, lost = await machine.enqueue("sleep", seconds=1), await machine.enqueue("sleep", seconds=0.1)
    for worker, lease in (("elsewhere", 60), ("gone", 0.3)):
        await queue_store.claim_next(machine.database, ["sleep"], worker=worker, lease_seconds=lease, per_user=9)
    folders = [await machine.artifact_store.create_scratch(Claim(job, 1)) for job in (uuid4(), lost, elsewhere)]
    async with machine.dispatching(job_lease_seconds=0.5):
        await machine.end_of(lost)
        while any(folder.exists() for folder in folders[:2]):
            await asyncio.sleep(0.01)
    assert list((machine.artifact_store.folder / ".scratch").iterdir()) == [folders[2]]
    await machine.artifact_store.delete_job(elsewhere)
    assert not folders[2].exists()


async def test_progress_never_goes_back(machine):
    """Within an attempt the percentage only grows, whatever the work reports."""
    async with machine.dispatching():
        job = await machine.enqueue("go_back")
        await machine.end_of(job)
    told = [event.data.percent for event in await machine.events(job) if event.event == "progress"]
    assert told == sorted(told)
    assert {10, 50, 90} <= set(told)


async def test_one_users_jobs_wait_for_each_other(machine):
    """Beyond the limit of one user jobs wait, and another user's job overtakes them."""
    owner = uuid4()
    async with machine.dispatching(jobs_per_user=1, job_workers=2):
        first, second = [await machine.enqueue("sleep", owner, seconds=0.6) for _ in range(2)]
        other = await machine.enqueue("sleep", seconds=0.6)
        ends = [await machine.end_of(job) for job in (first, second, other)]
    assert ends[1]["started_at"] >= ends[0]["finished_at"]
    assert ends[2]["started_at"] < ends[0]["finished_at"]


async def test_limits_and_environment_of_the_work(machine, monkeypatch):
    """The work sees no secret of the service but the kernels it is to use, and leads its own process group."""
    monkeypatch.setenv("TOUCHSTONE_SIGNING_KEY", "s" * 40)
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Haswell")
    async with machine.dispatching():
        row = await machine.end_of(await machine.enqueue("environment"))
    assert "TOUCHSTONE_SIGNING_KEY" not in row["result"]["environment"]
    assert "OPENBLAS_CORETYPE" in row["result"]["environment"]
    assert row["result"]["group"] == row["result"]["pid"]


async def test_dead_fork_server_is_replaced(machine, tmp_path):
    """When the fork server itself is killed, its jobs are tried again in a new one."""
    trace = tmp_path / "pids"
    async with machine.dispatching() as dispatcher:
        job = await machine.enqueue("sleep", seconds=3, trace=str(trace))
        while not trace.exists():  # the row runs a moment before the work does
            await asyncio.sleep(0.02)
        fork_server = await dispatcher.runner.executor._running_server()
        fork_server._process.kill()
        row = await machine.end_of(job)
    assert row["status"] == JobState.SUCCEEDED
    assert row["attempt"] == 2


async def test_memory_bound_leaves_room_for_small_work(machine):
    """A job within its memory succeeds while one beyond it fails."""
    async with machine.dispatching(job_memory_bytes=512 * MIB):
        eater, small = await machine.enqueue("eat_memory"), await machine.enqueue("noop")
        assert (await machine.end_of(small))["status"] == JobState.SUCCEEDED
        assert (await machine.end_of(eater))["error"]["code"] == "out_of_memory"
