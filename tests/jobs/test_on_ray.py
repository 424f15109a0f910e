"""Jobs on a real Ray cluster, which the test's own fork server starts and ends."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from tests.jobs.conftest import JobHarness
from touchstone.jobs import job_store
from touchstone.jobs.dispatcher import Dispatcher
from touchstone.jobs.execution.process_executor import ProcessExecutor, worker_environment
from touchstone.jobs.execution.ray_head import existing_or_local_cluster, local_cluster_variables
from touchstone.jobs.job_states import JobState

pytest.importorskip("ray")
pytestmark = [pytest.mark.anyio, pytest.mark.timeout(280)]
FOLDER = Path(__file__).parent
REPOSITORY = FOLDER.parents[1]
KINDS = ("noop", "sleep", "write", "kill_itself", "refuse")


def is_alive(pid: int) -> bool:
    """Return whether a process exists and is not a zombie."""
    try:
        # The name of the program, in parentheses, may contain spaces; the state is the first field after it.
        fields_after_name = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        return fields_after_name[0] != "Z"
    except FileNotFoundError:
        return False


async def read_pid(pid_file: Path) -> int:
    """Wait until the task `sleep` has written its process id and that of its child, and return the first."""
    while not pid_file.exists() or len(pid_file.read_text().split()) < 2:
        await asyncio.sleep(0.05)
    return int(pid_file.read_text().split()[0])


def test_a_cluster_without_a_token_is_never_started(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise every user of the machine could run code in it."""
    monkeypatch.delenv("RAY_AUTH_MODE", raising=False)
    with pytest.raises(PermissionError), existing_or_local_cluster(None):
        pass
    variables = local_cluster_variables()
    assert variables["RAY_AUTH_MODE"] == "token"
    assert len(variables["RAY_AUTH_TOKEN"]) >= 32
    assert variables["RAY_AUTH_TOKEN"] != local_cluster_variables()["RAY_AUTH_TOKEN"]


async def test_jobs_on_ray(harness: JobHarness, tmp_path: Path) -> None:
    """Jobs on Ray end like local ones: they succeed with artifacts, fail, are cancelled, and are retried when lost."""
    variables = worker_environment(thread_count=1) | local_cluster_variables() | {"PYTHONPATH": str(REPOSITORY)}
    command = (sys.executable, str(FOLDER / "tiny_ray_worker.py"))
    executor = ProcessExecutor(command, grace_seconds=1.0, limits_memory=False, variables=variables)
    settings = harness.settings.model_copy(update={"job_lease_seconds": 10.0, "job_workers": 2, "job_seconds": 200})
    dispatcher = Dispatcher(harness.database, executor, harness.artifact_store, kinds=KINDS, settings=settings)
    dispatcher.start()
    try:
        writing_job_id = await harness.enqueue("write", texts={"a.txt": "one"})
        assert (await harness.wait_for_end(writing_job_id))["status"] == JobState.SUCCEEDED
        async with harness.database.reading() as rows:
            artifacts = (await job_store.load_artifacts(rows, [writing_job_id]))[writing_job_id]
        assert [artifact.bytes for artifact in artifacts] == [3]

        failed_row = await harness.wait_for_end(await harness.enqueue("refuse"))
        assert failed_row["error"]["code"] == "target_not_found"

        pid_file = tmp_path / "cancelled"
        cancelled_job_id = await harness.enqueue("sleep", seconds=100, pid_file=str(pid_file))
        actor_pid = await read_pid(pid_file)
        await job_store.cancel_job(harness.database, cancelled_job_id)
        dispatcher.wake()
        assert (await harness.wait_for_end(cancelled_job_id))["status"] == JobState.CANCELLED
        while is_alive(actor_pid):
            await asyncio.sleep(0.05)

        pid_file = tmp_path / "lost"
        lost_job_id = await harness.enqueue("sleep", seconds=2, pid_file=str(pid_file))
        actor_pid = await read_pid(pid_file)
        pid_file.unlink()
        os.kill(actor_pid, signal.SIGKILL)
        row = await harness.wait_for_end(lost_job_id)
        assert (row["status"], row["attempt"], row["losses"]) == (JobState.SUCCEEDED, 2, 1)
    finally:
        await dispatcher.close()
        await executor.close()
