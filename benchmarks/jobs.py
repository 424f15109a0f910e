"""Jobs: their latency, their overhead over the bare function, cancellations, and kills at random times.

`python -m benchmarks.jobs [--kills 200] [--cancels 20] [--database URL]`. Kills hit the dispatching process, the
fork server or a worker. Afterwards, every job must have exactly one final state, and every artefact must be undamaged.
"""

import argparse
import asyncio
import hashlib
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from uuid import UUID, uuid4

import sqlalchemy as sa
import structlog

from touchstone.core.settings import Settings
from touchstone.database.engine import Database, Row
from touchstone.database.migrations import prepare_schema
from touchstone.database.tables import job_artifacts, job_events
from touchstone.database.tables import jobs as jobs_table
from touchstone.jobs import job_store, queue_store
from touchstone.jobs.artifact_files import ArtifactStore
from touchstone.jobs.dispatcher import Dispatcher
from touchstone.jobs.execution.fork_server import run_fork_server
from touchstone.jobs.execution.process_executor import FORK_SERVER_COMMAND, ProcessExecutor
from touchstone.jobs.execution.protocol import OutputFile, TaskContext, TaskSet, TaskSucceeded, WorkerTask
from touchstone.jobs.job_records import JobSource, NewJob
from touchstone.jobs.job_states import FINAL_STATES

# A fork server for the tasks of this module, which does not import the libraries for training.
BENCHMARK_FORK_SERVER: Final = (sys.executable, "-m", "benchmarks.jobs", "--fork-server")
LEASE_SECONDS: Final = 3.0
EMPTY_JOBS: Final = 50
TRAINING_ROWS: Final = 60_000
TRAINING_ROUNDS: Final = 3
ARTIFACT_NAME: Final = "result.bin"
ARTIFACT_BYTES: Final = 100_000
STATE_POLL_SECONDS: Final = 0.002
JOB_SECONDS: Final = 600.0  # more than any job takes, so that a run ends even if its dispatcher does not work


def do_nothing(_: TaskContext) -> TaskSucceeded:
    """Succeed at once."""
    return TaskSucceeded(result={})


def write_artifact(context: TaskContext) -> TaskSucceeded:
    """Report progress for about half a second, and then write an artifact."""
    for step in range(5):
        context.report(20 * step, f"step {step}", step=step, total_steps=5, message="searching_models")
        time.sleep(0.1)

    (context.scratch_folder / ARTIFACT_NAME).write_bytes(os.urandom(ARTIFACT_BYTES))
    artifact = OutputFile(name=ARTIFACT_NAME, media_type="x/y")
    return TaskSucceeded(result={"attempt": context.scratch_folder.name}, files=(artifact,))


TASKS: Final = TaskSet(WorkerTask("noop", do_nothing), WorkerTask("write", write_artifact))


class JobEnvironment:
    """A database for jobs and a folder for their artifacts, and on demand a dispatcher that runs the jobs."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.database = Database(settings.effective_database_url)
        self.artifact_store = ArtifactStore(settings.artifacts_dir)

    @classmethod
    def open(cls, data_dir: Path, database_url: str | None) -> "JobEnvironment":
        """Return the environment for a data folder. The database is embedded unless a URL is given."""
        values: dict[str, Any] = {
            "data_dir": data_dir,
            "database_url": database_url,
            "data_roots": (data_dir / "tables",),
            "job_lease_seconds": LEASE_SECONDS,
            "job_workers": 2,
        }
        return cls(Settings(**values))

    async def enqueue(
        self, kind: str, *, request: Mapping[str, Any] | None = None, source: JobSource | None = None
    ) -> UUID:
        """Queue a job of a new owner, and return its id."""
        job = NewJob(kind=kind, owner=uuid4(), request=dict(request or {}), digest="", source=source)
        queued_job = await queue_store.enqueue(self.database, job)
        return queued_job.id

    async def wait_for_end(self, job_id: UUID) -> Row:
        """Return the row of a job once it is in a final state."""
        query = sa.select(jobs_table).where(jobs_table.c.id == job_id, jobs_table.c.status.in_(FINAL_STATES))
        return await self._wait_for_row(query)

    async def wait_for_running_job(self) -> None:
        """Wait until at least one job is running."""
        await self._wait_for_row(sa.select(jobs_table.c.id).where(jobs_table.c.status == "running"))

    async def _wait_for_row(self, query: sa.Select[Any]) -> Row:
        """Return the first row of a query as soon as it has any.

        Raises:
            TimeoutError: the query has had no row for longer than any job takes.
        """
        async with asyncio.timeout(JOB_SECONDS):
            while True:
                async with self.database.reading() as reader:
                    row = await reader.first(query)
                if row is not None:
                    return row
                await asyncio.sleep(STATE_POLL_SECONDS)

    @asynccontextmanager
    async def dispatching(self, command: tuple[str, ...] = BENCHMARK_FORK_SERVER) -> AsyncIterator[Dispatcher]:
        """Run jobs in workers of a fork server. Its libraries are loaded before the block begins."""
        executor = ProcessExecutor(command)
        await executor.warm_up()
        kinds = ("noop", "write", "train")
        dispatcher = Dispatcher(self.database, executor, self.artifact_store, kinds=kinds, settings=self.settings)

        dispatcher.start()
        try:
            yield dispatcher
        finally:
            await dispatcher.close()
            await executor.close()


async def measure_latency(environment: JobEnvironment) -> None:
    """Print the time from acceptance to completion of a job that does nothing."""
    durations = []
    async with environment.dispatching() as dispatcher:
        for _ in range(EMPTY_JOBS):
            accepted_at = time.perf_counter()
            job_id = await environment.enqueue("noop")
            dispatcher.wake()
            await environment.wait_for_end(job_id)
            durations.append((time.perf_counter() - accepted_at) * 1000)

    median = statistics.median(durations)
    percentile_95 = sorted(durations)[-3]
    print_row("no-op job, accepted to done", f"{median:.0f} ms", f"p95 {percentile_95:.0f} ms", target="<= 100 ms")


async def measure_overhead(environment: JobEnvironment) -> None:
    """Print the overhead of a training as a job over the bare function in a new process.

    Both have their libraries loaded when the clock starts. The shortest of several rounds counts, because whatever else
    happens on the machine only makes a round longer.
    """
    table = environment.settings.data_roots[0] / "table.csv"
    write_training_table(table)
    source = JobSource(file_path=table.name, file_type="csv")
    request = {"dataset_id": 1, "target": "y"}
    function_command = [sys.executable, "-m", "benchmarks.bare_training", str(table)]

    function_durations = []
    job_durations = []
    async with environment.dispatching(FORK_SERVER_COMMAND) as dispatcher:
        for _ in range(TRAINING_ROUNDS):
            process = await asyncio.to_thread(subprocess.run, function_command, stdout=subprocess.PIPE, check=True)
            function_durations.append(float(process.stdout))

            accepted_at = time.perf_counter()
            job_id = await environment.enqueue("train", request=request, source=source)
            dispatcher.wake()
            row = await environment.wait_for_end(job_id)
            job_durations.append(time.perf_counter() - accepted_at)
            assert row["status"] == "succeeded", row["error"]

    function_seconds = min(function_durations)
    job_seconds = min(job_durations)
    measurement = f"{job_seconds:.1f} s / {function_seconds:.1f} s"
    print_row(
        "training as a job / bare function", measurement, f"{job_seconds / function_seconds - 1:+.0%}", "<= +10 %"
    )


def write_training_table(path: Path) -> None:
    """Write a table with five random columns, whose means depend on the class `y`."""
    generator = random.Random(0)
    lines = ["a,b,c,d,e,y"]
    for number in range(TRAINING_ROWS):
        class_number = number % 2
        features = [f"{generator.gauss(class_number, 2):.6f}" for _ in range(5)]
        lines.append(",".join([*features, str(class_number)]))
    path.write_text("\n".join(lines))


async def measure_cancels(environment: JobEnvironment, count: int) -> None:
    """Print the time needed to cancel jobs at random times."""
    generator = random.Random(1)
    durations = []
    async with environment.dispatching() as dispatcher:
        for _ in range(count):
            job_id = await environment.enqueue("write")
            dispatcher.wake()
            await asyncio.sleep(generator.random() * 0.4)

            cancelled_at = time.perf_counter()
            # The dispatcher is not told, because it may be in another process than the one that cancels.
            await job_store.cancel_job(environment.database, job_id)
            await environment.wait_for_end(job_id)
            durations.append(time.perf_counter() - cancelled_at)

    measurement = f"{statistics.median(durations):.2f} s"
    print_row(f"cancel, {count} times", measurement, f"worst {max(durations):.2f} s", target="<= 2 s")


class DispatcherProcess:
    """A process that dispatches the jobs of an environment, and the processes that it has started."""

    def __init__(self, settings: Settings) -> None:
        self._command = [
            *(sys.executable, "-m", "benchmarks.jobs"),
            *("--work", str(settings.data_dir), "--database", settings.effective_database_url),
        ]
        self._process = subprocess.Popen(self._command)

    def kill_random_process(self, generator: random.Random) -> None:
        """Kill the dispatcher, its fork server or one of the workers."""
        self._kill(generator.choice(self._process_tree()))

    def kill_dispatcher(self) -> None:
        """Kill the dispatcher itself, and start another one."""
        self._kill(self._process.pid)

    def _kill(self, pid: int) -> None:
        with suppress(ProcessLookupError):  # a worker may have ended by itself
            os.kill(pid, signal.SIGKILL)
        if pid == self._process.pid:
            self._process.wait()
            self._process = subprocess.Popen(self._command)

    def _process_tree(self) -> list[int]:
        """Return the ids of the dispatcher and of all its descendants."""
        listing = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
        parents = [tuple(map(int, line.split())) for line in listing.splitlines()]

        tree = [self._process.pid]
        for ancestor in tree:  # the list grows while it is read, until nobody has children left
            tree += [pid for pid, parent in parents if parent == ancestor]
        return tree

    async def pause_beyond_lease(self) -> None:
        """Stop the dispatcher until its leases have expired, and let it go on as if nothing had happened."""
        self._process.send_signal(signal.SIGSTOP)
        await asyncio.sleep(LEASE_SECONDS + 1)
        self._process.send_signal(signal.SIGCONT)

    def stop(self) -> None:
        """Ask the dispatcher to end, and wait until it has."""
        self._process.terminate()
        self._process.wait()


async def survive_kills(environment: JobEnvironment, count: int) -> None:
    """Kill processes at random times while jobs are submitted, and print the outcomes of the jobs."""
    dispatcher = DispatcherProcess(environment.settings)
    try:
        job_ids, killed_at = await _kill_repeatedly(environment, dispatcher, count)
        await dispatcher.pause_beyond_lease()
        resumed_at = time.perf_counter()
        states = [(await environment.wait_for_end(job_id))["status"] for job_id in job_ids]
        drain_seconds = time.perf_counter() - resumed_at
    finally:
        dispatcher.stop()

    counts = ", ".join(f"{states.count(state)} {state}" for state in sorted(set(states)))
    detail = f"all ended {drain_seconds:.0f} s later"
    print_row(f"{count} kills, {len(job_ids)} jobs", counts, detail, target="one final state each")

    faults = await count_wrong_jobs(environment, job_ids) + await count_damaged_artifacts(environment, job_ids)
    print_row("jobs or artefacts that are wrong", str(faults), "", target="0")
    delay_seconds = await longest_requeue_delay(environment, job_ids, killed_at)
    measurement = f"{delay_seconds:.1f} s"
    print_row("re-queued after a kill, at the latest", measurement, f"lease {LEASE_SECONDS:.0f} s", target="<= 20 s")


async def _kill_repeatedly(
    environment: JobEnvironment, dispatcher: DispatcherProcess, count: int
) -> tuple[list[UUID], list[datetime]]:
    """Submit jobs, kill a process after each submission, and return the ids of the jobs and the times of the kills."""
    generator = random.Random(2)
    job_ids: list[UUID] = []
    killed_at: list[datetime] = []
    for number in range(count):
        hits_any_process = number % 2 == 1
        job_count = 1 if hits_any_process else 2
        job_ids += [await environment.enqueue("write") for _ in range(job_count)]

        await environment.wait_for_running_job()
        await asyncio.sleep(generator.random() * 0.5)
        killed_at.append(datetime.now(UTC))
        if hits_any_process:
            dispatcher.kill_random_process(generator)
        else:
            dispatcher.kill_dispatcher()
    return job_ids, killed_at


async def events_of(environment: JobEnvironment, job_id: UUID) -> Any:
    """Return the events of a job in their order."""
    query = sa.select(job_events).where(job_events.c.job_id == job_id).order_by(job_events.c.id)
    async with environment.database.reading() as reader:
        return await reader.all(query)


async def count_wrong_jobs(environment: JobEnvironment, job_ids: list[UUID]) -> int:
    """Return the number of jobs that did not reach a final state exactly once."""
    wrong_count = 0
    for job_id in job_ids:
        final_events = [event for event in await events_of(environment, job_id) if event["event"] in FINAL_STATES]
        wrong_count += len(final_events) != 1
    return wrong_count


async def count_damaged_artifacts(environment: JobEnvironment, job_ids: list[UUID]) -> int:
    """Return the number of job artifacts that differ from the output of their workers."""
    query = sa.select(job_artifacts).where(job_artifacts.c.job_id.in_(job_ids))
    async with environment.database.reading() as reader:
        artifacts = await reader.all(query)

    damaged_count = 0
    for artifact in artifacts:
        content = (environment.artifact_store.folder / artifact["path"]).read_bytes()
        damaged_count += hashlib.sha256(content).hexdigest() != artifact["sha256"]
    return damaged_count


async def longest_requeue_delay(environment: JobEnvironment, job_ids: list[UUID], killed_at: list[datetime]) -> float:
    """Return the longest time in seconds from a kill until a job returned to the queue."""
    longest_seconds = 0.0
    for job_id in job_ids:
        for event in await events_of(environment, job_id):
            is_requeued = event["event"] == "queued" and event["attempt"] > 0
            if is_requeued:
                last_kill = max(kill for kill in killed_at if kill < event["at"])
                longest_seconds = max(longest_seconds, (event["at"] - last_kill).total_seconds())
    return longest_seconds


async def dispatch_until_terminated(environment: JobEnvironment) -> None:
    """Dispatch jobs until the process is asked to end."""
    termination = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, termination.set)
    async with environment.dispatching():
        await termination.wait()


def print_row(subject: str, measurement: str, detail: str, target: str) -> None:
    """Print a row of the table."""
    print(f"| {subject} | {measurement} | {detail} | {target} |", flush=True)


async def print_table(environment: JobEnvironment, options: argparse.Namespace) -> None:
    """Create the database, and measure one row of the table after the other."""
    await prepare_schema(environment.database)
    print("| | found | | to reach |\n|---|---|---|---|")
    await measure_latency(environment)
    await measure_cancels(environment, options.cancels)
    await survive_kills(environment, options.kills)
    if not options.no_training:
        await measure_overhead(environment)


def main() -> None:
    """Print the table, or be a dispatcher that is measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--cancels", type=int, default=20)
    parser.add_argument("--database", help="URL; SQLite in a fresh folder by default")
    parser.add_argument("--no-training", action="store_true", help="leave the overhead of a training out")
    parser.add_argument("--work", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))

    if options.work:
        asyncio.run(dispatch_until_terminated(JobEnvironment.open(options.work, options.database)))
        return

    with tempfile.TemporaryDirectory() as folder:
        data_dir = Path(folder)
        (data_dir / "tables").mkdir()
        asyncio.run(print_table(JobEnvironment.open(data_dir, options.database), options))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--fork-server"]:
        sys.argv = sys.argv[1:]
        run_fork_server(TASKS)
    else:
        main()
