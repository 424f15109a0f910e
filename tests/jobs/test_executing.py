"""Jobs that are dispatched to real processes, on both databases."""

import asyncio
import os
import signal
from pathlib import Path
from uuid import uuid4

import pytest
import uvloop

from tests.jobs.conftest import JobHarness
from touchstone.core.settings import MIB
from touchstone.jobs import job_store, queue_store
from touchstone.jobs.execution.process_executor import ProcessExecutor
from touchstone.jobs.execution.protocol import ExecutionOutcome, ProcessDied, ResourceLimits, WorkItem
from touchstone.jobs.job_records import AttemptId, JobEventRecord, JobSource, NewJob
from touchstone.jobs.job_states import JobState

pytestmark = pytest.mark.anyio


def is_alive(pid: int) -> bool:
    """Return whether a process exists and is not a zombie."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False

    # The name of the program, in parentheses, may contain spaces; the state is the first field after it.
    fields_after_name = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return fields_after_name[0] != "Z"


async def read_pids(pid_file: Path) -> list[int]:
    """Wait until the task `sleep` has written its process id and that of its child, and return both."""
    while not pid_file.exists() or len(pid_file.read_text().split()) < 2:
        await asyncio.sleep(0.01)
    return [int(pid) for pid in pid_file.read_text().split()]


async def wait_until_gone(*pids: int) -> None:
    """Wait until none of these processes is alive."""
    for _ in range(400):
        if not any(is_alive(pid) for pid in pids):
            return
        await asyncio.sleep(0.01)
    raise AssertionError("a process is still alive")


def percent_of(event: JobEventRecord) -> float:
    """Return the percentage of an event that reports progress."""
    assert event.data is not None
    return event.data.percent


async def test_job_runs_to_its_end(harness: JobHarness) -> None:
    """A job is claimed and executed in another process, its result is stored, and each move leaves one event."""
    async with harness.run_dispatcher():
        job_id = await harness.enqueue("noop", answer=42)
        row = await harness.wait_for_end(job_id)

    assert row["status"] == JobState.SUCCEEDED
    assert row["result"] == {"order": {"answer": 42}}
    assert row["progress"]["percent"] == 100
    assert (row["attempt"], row["losses"], row["worker"], row["lease_until"]) == (1, 0, None, None)
    assert row["created_at"] <= row["started_at"] <= row["finished_at"]
    assert [event.name for event in await harness.load_events(job_id)] == ["queued", "running", "succeeded"]


async def test_artifacts_are_in_place_with_their_digests(harness: JobHarness) -> None:
    """The artifacts of a job that succeeded are where their records say, with the right digests, and no other files."""
    async with harness.run_dispatcher():
        job_id = await harness.enqueue("write", texts={"b.txt": "two", "a.txt": "one"})
        row = await harness.wait_for_end(job_id)
    assert row["status"] == JobState.SUCCEEDED

    async with harness.database.reading() as rows:
        artifacts = (await job_store.load_artifacts(rows, [job_id]))[job_id]
    assert [(artifact.name, artifact.bytes, artifact.media_type) for artifact in artifacts] == [
        ("a.txt", 3, "text/plain"),
        ("b.txt", 3, "text/plain"),
    ]
    assert artifacts[0].sha256 == "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed"
    assert artifacts[0].path == f"{job_id}/1/a.txt"

    artifacts_folder = harness.artifact_store.folder
    file_paths = sorted(
        str(path.relative_to(artifacts_folder)) for path in artifacts_folder.rglob("*") if path.is_file()
    )
    assert file_paths == [f"{job_id}/1/a.txt", f"{job_id}/1/b.txt"]


@pytest.mark.parametrize("name", ["missing.txt", "../outside", "a/b", ".hidden", ""])
async def test_missing_or_badly_named_artifact_fails_the_job(harness: JobHarness, name: str) -> None:
    """A job fails whose task names a file that it did not write, or that has a forbidden name."""
    async with harness.run_dispatcher():
        row = await harness.wait_for_end(await harness.enqueue("claim_missing_file", name=name))
    assert (row["status"], row["error"]["code"]) == (JobState.FAILED, "storage_failed")


async def test_worker_receives_its_data_file_opened(harness: JobHarness, tmp_path: Path) -> None:
    """The worker receives its data file opened, and a path outside the data folders fails the job."""
    (tmp_path / "roots").mkdir()
    (tmp_path / "roots/table.csv").write_text("a,b")
    (tmp_path / "secret.csv").write_text("secret")

    async with harness.run_dispatcher(data_roots=(tmp_path / "roots",)):
        ended_rows = []
        for path in ("table.csv", "../secret.csv"):
            reading_job = NewJob(kind="read", owner=uuid4(), request={}, digest="", source=JobSource(file_path=path))
            queued_job = await queue_store.enqueue(harness.database, reading_job)
            ended_rows.append(await harness.wait_for_end(queued_job.id))

    assert ended_rows[0]["result"] == {"data": "a,b"}
    assert (ended_rows[1]["status"], ended_rows[1]["error"]["code"]) == (JobState.FAILED, "data_file_unreadable")


@pytest.mark.parametrize(
    ("kind", "code", "attempts"),
    [
        ("refuse", "target_not_found", 1),
        ("fail_unexpectedly", "work_failed", 1),
        ("return_unencodable_result", "work_failed", 1),
        ("eat_memory", "out_of_memory", 1),
        ("segfault", "worker_died", 3),
        ("kill_itself", "worker_died", 3),
    ],
)
async def test_task_that_cannot_succeed_fails_with_a_reason(
    harness: JobHarness, kind: str, code: str, attempts: int
) -> None:
    """A job fails at once if its task fails, and after three attempts if its process dies; other jobs never notice."""
    async with harness.run_dispatcher(jobs_per_user=1):
        other_job_id = await harness.enqueue("sleep", seconds=1)
        row = await harness.wait_for_end(await harness.enqueue(kind))
        other_row = await harness.wait_for_end(other_job_id)

    assert (row["status"], row["error"]["code"]) == (JobState.FAILED, code)
    assert row["attempt"] == attempts
    assert "secret" not in str(row["error"])
    assert (other_row["status"], other_row["attempt"]) == (JobState.SUCCEEDED, 1)


async def test_failure_keeps_its_facts(harness: JobHarness) -> None:
    """The row of a failed job contains the facts that the sentence about the failure quotes."""
    async with harness.run_dispatcher():
        row = await harness.wait_for_end(await harness.enqueue("refuse"))
    assert row["error"]["facts"] == {"name": "price", "nearest": "prize", "field": "target"}
    assert row["error"]["phase"] == "checking"


async def test_task_that_exceeds_its_time_is_ended(harness: JobHarness, tmp_path: Path) -> None:
    """A task that exceeds its time fails, and is ended with the processes that it has started."""
    async with harness.run_dispatcher(job_seconds=1):
        pid_file = tmp_path / "pids"
        job_id = await harness.enqueue("sleep", seconds=30, pid_file=str(pid_file))
        pids = await read_pids(pid_file)
        row = await harness.wait_for_end(job_id)
        await wait_until_gone(*pids)
    assert (row["status"], row["error"]["code"]) == (JobState.FAILED, "out_of_time")


async def test_job_whose_worker_died_is_tried_again(harness: JobHarness) -> None:
    """A job whose process dies is tried again, and succeeds at the second attempt."""
    async with harness.run_dispatcher():
        job_id = await harness.enqueue("kill_itself", until_attempt=2)
        row = await harness.wait_for_end(job_id)

    assert (row["status"], row["attempt"], row["losses"]) == (JobState.SUCCEEDED, 2, 1)
    assert [event.name for event in await harness.load_events(job_id)] == [
        "queued",
        "running",
        "queued",
        "running",
        "succeeded",
    ]


async def test_cancel_ends_the_processes(harness: JobHarness, tmp_path: Path) -> None:
    """Cancelling a running job ends its process with all that it has started, and leaves no scratch folder behind."""
    async with harness.run_dispatcher() as dispatcher:
        pid_file = tmp_path / "pids"
        job_id = await harness.enqueue("sleep", seconds=30, pid_file=str(pid_file))
        pids = await read_pids(pid_file)

        await job_store.cancel_job(harness.database, job_id)
        dispatcher.wake()
        row = await harness.wait_for_end(job_id)
        await wait_until_gone(*pids)

    assert row["status"] == JobState.CANCELLED
    assert row["result"] is None
    assert not list((harness.artifact_store.folder / ".scratch").iterdir())
    assert [event.name for event in await harness.load_events(job_id)][-2:] == ["cancelling", "cancelled"]


async def test_shutdown_requeues_running_jobs(harness: JobHarness, tmp_path: Path) -> None:
    """A dispatcher that shuts down requeues its jobs without counting a loss, and another one executes them."""
    async with harness.run_dispatcher():
        pid_file = tmp_path / "pids"
        job_id = await harness.enqueue("sleep", seconds=0.5, pid_file=str(pid_file))
        pids = await read_pids(pid_file)
    await wait_until_gone(*pids)
    row = await harness.load_row(job_id)
    assert (row["status"], row["attempt"], row["losses"], row["worker"]) == (JobState.QUEUED, 1, 0, None)

    async with harness.run_dispatcher():
        row = await harness.wait_for_end(job_id)
    assert (row["status"], row["attempt"], row["losses"]) == (JobState.SUCCEEDED, 2, 0)


async def test_job_of_a_worker_that_disappeared_is_taken_over(harness: JobHarness) -> None:
    """When a dispatcher disappears, another one takes over its jobs as soon as their leases have expired."""
    job_id = await harness.enqueue("sleep", seconds=0.2)
    claimed_job = await queue_store.claim_next(
        harness.database, ["sleep"], worker="gone", lease_seconds=0.5, max_running_per_user=9
    )
    assert claimed_job is not None

    async with harness.run_dispatcher():
        row = await harness.wait_for_end(job_id)
    assert (row["status"], row["attempt"], row["losses"]) == (JobState.SUCCEEDED, 2, 1)


async def test_late_dispatcher_keeps_its_own_jobs(harness: JobHarness) -> None:
    """A dispatcher never takes a job away from itself, even if it is too slow to renew the lease in time.

    The lease of a short job has passed as soon as it is claimed.
    """
    async with harness.run_dispatcher(job_lease_seconds=0.0001):
        job_ids = [await harness.enqueue("sleep", seconds=seconds) for seconds in (1.5, *[0.01] * 20)]
        rows = [await harness.wait_for_end(job_id) for job_id in job_ids]
    assert {(row["status"], row["attempt"], row["losses"]) for row in rows} == {(JobState.SUCCEEDED, 1, 0)}


async def test_abandoned_scratch_folders_are_removed(harness: JobHarness) -> None:
    """A dispatcher regularly removes the scratch folders that no running attempt needs, and nothing else."""
    foreign_entries = {
        harness.artifact_store.folder / ".scratch" / name for name in (".DS_Store", "a-1", f"{uuid4()}-x", f"{uuid4()}")
    }
    for entry in foreign_entries:
        entry.mkdir(parents=True)
    held_job_id = await harness.enqueue("sleep", seconds=1)
    lost_job_id = await harness.enqueue("sleep", seconds=0.1)
    for worker, lease_seconds in (("elsewhere", 60), ("gone", 0.3)):
        await queue_store.claim_next(
            harness.database, ["sleep"], worker=worker, lease_seconds=lease_seconds, max_running_per_user=9
        )

    deleted_job_id = uuid4()
    abandoned_folders = [
        await harness.artifact_store.create_scratch(AttemptId(job_id, 1)) for job_id in (deleted_job_id, lost_job_id)
    ]
    held_folder = await harness.artifact_store.create_scratch(AttemptId(held_job_id, 1))

    async with harness.run_dispatcher(job_lease_seconds=0.5):
        await harness.wait_for_end(lost_job_id)
        while any(folder.exists() for folder in abandoned_folders):
            await asyncio.sleep(0.01)
    assert set((harness.artifact_store.folder / ".scratch").iterdir()) == {held_folder, *foreign_entries}

    await harness.artifact_store.delete_job(held_job_id)
    assert not held_folder.exists()


async def test_progress_never_goes_back(harness: JobHarness) -> None:
    """Within an attempt the percentage never decreases, whatever the task reports."""
    async with harness.run_dispatcher():
        job_id = await harness.enqueue("report_decreasing_progress")
        await harness.wait_for_end(job_id)

    events = await harness.load_events(job_id)
    percentages = [percent_of(event) for event in events if event.name == "progress"]
    assert percentages == sorted(percentages)
    assert {10, 50, 90} <= set(percentages)


async def test_one_users_jobs_wait_for_each_other(harness: JobHarness) -> None:
    """A user's jobs beyond the limit wait, and another user's job overtakes them."""
    owner = uuid4()
    async with harness.run_dispatcher(jobs_per_user=1, job_workers=2):
        first_job_id = await harness.enqueue("sleep", owner, seconds=0.6)
        second_job_id = await harness.enqueue("sleep", owner, seconds=0.6)
        other_job_id = await harness.enqueue("sleep", seconds=0.6)

        first_row = await harness.wait_for_end(first_job_id)
        second_row = await harness.wait_for_end(second_job_id)
        other_row = await harness.wait_for_end(other_job_id)

    assert second_row["started_at"] >= first_row["finished_at"]
    assert other_row["started_at"] < first_row["finished_at"]


async def test_environment_and_process_group_of_a_task(harness: JobHarness, monkeypatch: pytest.MonkeyPatch) -> None:
    """A task sees the chosen kernels but none of the service's secrets, and leads a process group of its own."""
    monkeypatch.setenv("TOUCHSTONE_SIGNING_KEY", "s" * 40)
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Haswell")
    async with harness.run_dispatcher():
        row = await harness.wait_for_end(await harness.enqueue("environment"))

    assert "TOUCHSTONE_SIGNING_KEY" not in row["result"]["environment"]
    assert "OPENBLAS_CORETYPE" in row["result"]["environment"]
    assert row["result"]["group"] == row["result"]["pid"]


async def test_dead_fork_server_is_replaced(harness: JobHarness, tmp_path: Path) -> None:
    """When the fork server itself is killed, its jobs are tried again in a new one."""
    pid_file = tmp_path / "pids"
    async with harness.run_dispatcher() as dispatcher:
        job_id = await harness.enqueue("sleep", seconds=3, pid_file=str(pid_file))
        while not pid_file.exists():  # The row says "running" a moment before the task runs.
            await asyncio.sleep(0.02)

        executor = dispatcher._runner.executor
        assert isinstance(executor, ProcessExecutor)
        fork_server = await executor._running_server()
        fork_server._process.kill()
        row = await harness.wait_for_end(job_id)
    assert row["status"] == JobState.SUCCEEDED
    assert row["attempt"] == 2


def test_fork_server_that_ends_at_its_start_leaves_the_job_to_another_attempt(tmp_path: Path) -> None:
    """A fork server that is killed while it loads its libraries counts as a dead process, also in uvloop."""

    async def run_task() -> ExecutionOutcome:
        executor = ProcessExecutor(("/bin/false",))
        work_item = WorkItem(
            name="noop",
            task="noop",
            request={},
            source=JobSource(),
            file_roles=(),
            scratch_folder=str(tmp_path),
            limits=ResourceLimits(memory_bytes=512 * MIB, file_bytes=0, cpu_seconds=60),
        )
        try:
            return await executor.run(work_item, [], on_progress=lambda _progress: None, timeout_seconds=5)
        finally:
            await executor.close()

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        outcome = runner.run(run_task())
    assert outcome == ProcessDied(status=-signal.SIGKILL, is_server_lost=True)


async def test_memory_limit_applies_to_each_job_alone(harness: JobHarness) -> None:
    """A job within its memory limit succeeds while another one exceeds its limit and fails."""
    async with harness.run_dispatcher(job_memory_bytes=512 * MIB):
        greedy_job_id = await harness.enqueue("eat_memory")
        small_job_id = await harness.enqueue("noop")
        assert (await harness.wait_for_end(small_job_id))["status"] == JobState.SUCCEEDED
        assert (await harness.wait_for_end(greedy_job_id))["error"]["code"] == "out_of_memory"
