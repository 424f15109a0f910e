"""Jobs on a real Ray, which the test's own fork server starts and ends."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from touchstone.jobs import store
from touchstone.jobs.dispatcher import Dispatcher
from touchstone.jobs.execution.local import ProcessExecutor, worker_environment
from touchstone.jobs.execution.ray_head import local_cluster_variables
from touchstone.jobs.states import JobState

pytest.importorskip("ray")
pytestmark = [pytest.mark.anyio, pytest.mark.timeout(280)]
FOLDER = Path(__file__).parent
KINDS = ("noop", "sleep", "write", "kill_itself", "refuse")


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


async def pids(trace):
    while not trace.exists() or len(trace.read_text().split()) < 2:
        await asyncio.sleep(0.05)
    return int(trace.read_text().split()[0])


async def test_jobs_on_ray(machine, tmp_path):
    """Jobs on Ray end as local ones do: done with artefacts, refused, lost and tried again, cancelled and gone."""
    variables = worker_environment(1) | local_cluster_variables() | {"PYTHONPATH": str(FOLDER)}
    command = (sys.executable, str(FOLDER / "tiny_ray_worker.py"))
    executor = ProcessExecutor(command, grace_seconds=1.0, limits_memory=False, variables=variables)
    settings = machine.settings.model_copy(update={"job_lease_seconds": 10.0, "job_workers": 2, "job_seconds": 200})
    dispatcher = Dispatcher(machine.database, executor, machine.artifact_store, kinds=KINDS, settings=settings)
    dispatcher.start()
    try:
        written = await machine.enqueue("write", texts={"a.txt": "one"})
        assert (await machine.end_of(written))["status"] == JobState.SUCCEEDED
        async with machine.database.reading() as rows:
            assert [f.bytes for f in (await store.load_artifacts(rows, [written]))[written]] == [3]

        refused = await machine.end_of(await machine.enqueue("refuse"))
        assert refused["error"]["code"] == "target_not_found"

        cancelled = await machine.enqueue("sleep", seconds=100, trace=str(tmp_path / "cancelled"))
        worker = await pids(tmp_path / "cancelled")
        await store.cancel(machine.database, cancelled)
        dispatcher.wake()
        assert (await machine.end_of(cancelled))["status"] == JobState.CANCELLED
        while alive(worker):
            await asyncio.sleep(0.05)

        lost = await machine.enqueue("sleep", seconds=2, trace=str(tmp_path / "lost"))
        worker = await pids(tmp_path / "lost")
        (tmp_path / "lost").unlink()
        os.kill(worker, signal.SIGKILL)
        row = await machine.end_of(lost)
        assert (row["status"], row["attempt"], row["losses"]) == (JobState.SUCCEEDED, 2, 1)
    finally:
        await dispatcher.close()
        await executor.close()
