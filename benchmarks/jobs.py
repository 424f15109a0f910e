"""Jobs: from accepted to done, the price of a job over the bare function, cancels, and kills at random moments.

`python -m benchmarks.jobs [--kills 200] [--cancels 20] [--database URL]`. Kills hit the dispatching process, the
fork server or a worker; then every job must have exactly one final state, and every artefact of a success be whole.
"""

import argparse
import asyncio
import contextlib
import hashlib
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from uuid import UUID, uuid4

import sqlalchemy as sa
import structlog

from touchstone.core.settings import Settings
from touchstone.database.engine import Database
from touchstone.database.migrations import prepare_schema
from touchstone.database.tables import job_artifacts, job_events
from touchstone.database.tables import jobs as job_rows
from touchstone.jobs import job_store, queue_store
from touchstone.jobs.artifact_files import ArtifactStore
from touchstone.jobs.dispatcher import Dispatcher
from touchstone.jobs.execution.fork_server import run_fork_server
from touchstone.jobs.execution.process_executor import FORK_SERVER_COMMAND, ProcessExecutor
from touchstone.jobs.execution.protocol import OutputFile, TaskContext, TaskSet, TaskSucceeded, WorkerTask
from touchstone.jobs.records import JobSource, NewJob
from touchstone.jobs.states import FINAL

TINY: Final = (sys.executable, "-m", "benchmarks.jobs", "--fork-server")
LEASE_SECONDS: Final = 3.0
NOOPS: Final = 50
ROWS: Final = 60_000


def noop(_: TaskContext) -> TaskSucceeded:
    return TaskSucceeded(result={})


def write(context: TaskContext) -> TaskSucceeded:
    """Report, sleep and write for about half a second."""
    for step in range(5):
        context.report(20 * step, f"step {step}", step=step, total_steps=5, message="searching_models")
        time.sleep(0.1)
    (context.scratch_folder / "result.bin").write_bytes(os.urandom(100_000))
    return TaskSucceeded(
        result={"attempt": context.scratch_folder.name}, files=(OutputFile(name="result.bin", media_type="x/y"),)
    )


TASKS: Final = TaskSet(WorkerTask("noop", noop), WorkerTask("write", write))


class Workplace:
    """A database and an artifacts folder, with a dispatcher on demand."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.database = Database(settings.effective_database_url)
        self.artifact_store = ArtifactStore(settings.artifacts_dir)

    async def enqueue(self, kind: str, **changes: Any) -> UUID:
        """A new job of somebody's."""
        new = NewJob(**({"kind": kind, "owner": uuid4(), "request": {}, "digest": ""} | changes))
        return (await queue_store.enqueue(self.database, new))[0]

    async def row(self, job_id: UUID) -> Any:
        """A job's row."""
        async with self.database.reading() as rows:
            return await rows.first(sa.select(job_rows).where(job_rows.c.id == job_id))

    async def until(self, job_id: UUID, *states: str) -> Any:
        """A job's row once it is in one of these states."""
        while (row := await self.row(job_id))["status"] not in states:
            await asyncio.sleep(0.002)
        return row

    async def running(self) -> None:
        """Return when any job runs."""
        query = sa.select(job_rows.c.id).where(job_rows.c.status == "running")
        while True:
            async with self.database.reading() as rows:
                if await rows.first(query):
                    return
            await asyncio.sleep(0.02)

    @contextlib.asynccontextmanager
    async def dispatching(self, command: tuple[str, ...] = TINY) -> AsyncIterator[Dispatcher]:
        """A dispatcher at work, its fork server warm."""
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


async def latency(workplace: Workplace) -> None:
    """From accepted to done, of a job that does nothing."""
    taken = []
    async with workplace.dispatching() as dispatcher:
        for _ in range(NOOPS):
            begun = time.perf_counter()
            job = await workplace.enqueue("noop")
            dispatcher.wake()
            await workplace.until(job, *FINAL)
            taken.append((time.perf_counter() - begun) * 1000)
    taken.sort()
    print_row(
        "no-op job, accepted to done", f"{statistics.median(taken):.0f} ms", f"p95 {taken[-3]:.0f} ms", "<= 100 ms"
    )


async def overhead(workplace: Workplace) -> None:
    """A training as a job, beside the bare function in a fresh process; both with their libraries loaded."""
    table = workplace.settings.data_roots[0] / "table.csv"
    draw = random.Random(0)
    lines = [
        "a,b,c,d,e,y",
        *(",".join(f"{draw.gauss(n % 2, 2):.6f}" for _ in range(5)) + f",{n % 2}" for n in range(ROWS)),
    ]
    table.write_text("\n".join(lines))
    pure, jobs = [], []
    async with workplace.dispatching(FORK_SERVER_COMMAND) as dispatcher:
        for _ in range(3):
            ran = await asyncio.to_thread(
                subprocess.run, [sys.executable, "-m", "benchmarks.bare_training", str(table)], capture_output=True
            )
            pure.append(float(ran.stdout))
            source = JobSource(file_path="table.csv", file_type="csv")
            begun = time.perf_counter()
            job = await workplace.enqueue("train", request={"dataset_id": 1, "target": "y"}, source=source)
            dispatcher.wake()
            row = await workplace.until(job, *FINAL)
            assert row["status"] == "succeeded", row["error"]
            jobs.append(time.perf_counter() - begun)
    bare, whole = min(pure), min(jobs)
    print_row(
        "training as a job / bare function", f"{whole:.1f} s / {bare:.1f} s", f"{whole / bare - 1:+.0%}", "<= +10 %"
    )


async def cancels(workplace: Workplace, count: int) -> None:
    """From asked to cancelled, at random moments of a job's life."""
    taken, draw = [], random.Random(1)
    async with workplace.dispatching() as dispatcher:
        for _ in range(count):
            job = await workplace.enqueue("write")
            dispatcher.wake()
            await asyncio.sleep(draw.random() * 0.4)
            begun = time.perf_counter()
            await job_store.cancel_job(
                workplace.database, job
            )  # without a word to the dispatcher: another process may run it
            await workplace.until(job, *FINAL)
            taken.append(time.perf_counter() - begun)
    print_row(f"cancel, {count} times", f"{statistics.median(taken):.2f} s", f"worst {max(taken):.2f} s", "<= 2 s")


async def kills(workplace: Workplace, count: int) -> None:
    """Kill processes at random moments while jobs keep coming; then look at every job."""
    draw, hits, job_ids = random.Random(2), [], []
    worker = _worker(workplace.settings)
    for number in range(count):
        job_ids += [await workplace.enqueue("write") for _ in range(2 - number % 2)]
        await workplace.running()
        await asyncio.sleep(draw.random() * 0.5)
        victim = draw.choice(_family(worker.pid)) if number % 2 else worker.pid
        hits.append(datetime.now(UTC))
        with contextlib.suppress(ProcessLookupError):
            os.kill(victim, signal.SIGKILL)
        if victim == worker.pid:
            worker.wait()
            worker = _worker(workplace.settings)
    await _pause(worker)
    begun = time.perf_counter()
    states = [(await workplace.until(job, *FINAL))["status"] for job in job_ids]
    drained = time.perf_counter() - begun
    worker.terminate()
    worker.wait()
    counts = ", ".join(f"{states.count(state)} {state}" for state in sorted(set(states)))
    print_row(f"{count} kills, {len(job_ids)} jobs", counts, f"all ended {drained:.0f} s later", "one final state each")
    await _verify(workplace, job_ids, hits)


async def _pause(worker: "subprocess.Popen[bytes]") -> None:
    """Stop a dispatcher for longer than its lease, and let it go on as if nothing had been."""
    worker.send_signal(signal.SIGSTOP)
    await asyncio.sleep(LEASE_SECONDS + 1)
    worker.send_signal(signal.SIGCONT)


async def _verify(workplace: Workplace, job_ids: list[UUID], hits: list[datetime]) -> None:
    wrong, late = 0, 0.0
    async with workplace.database.reading() as rows:
        for job in job_ids:
            events = await rows.all(sa.select(job_events).where(job_events.c.job_id == job).order_by(job_events.c.id))
            wrong += sum(event["event"] in FINAL for event in events) != 1
            again = [event["at"] for event in events if event["event"] == "queued" and event["attempt"] > 0]
            late = max([late, *((at - max(h for h in hits if h < at)).total_seconds() for at in again)])
        for file in await rows.all(sa.select(job_artifacts).where(job_artifacts.c.job_id.in_(job_ids))):
            content = (workplace.artifact_store.folder / file["path"]).read_bytes()
            wrong += hashlib.sha256(content).hexdigest() != file["sha256"]
    print_row("jobs or artefacts that are wrong", str(wrong), "", "0")
    print_row("re-queued after a kill, at the latest", f"{late:.1f} s", f"lease {LEASE_SECONDS:.0f} s", "<= 20 s")


def _worker(settings: Settings) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "benchmarks.jobs", "--work", str(settings.data_dir)]
    return subprocess.Popen([*command, "--database", settings.effective_database_url])


def _family(pid: int) -> list[int]:
    """A process and all its descendants."""
    listing = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    pairs = [tuple(map(int, line.split())) for line in listing.splitlines()]
    family = [pid]
    for member in family:
        family += [child for child, parent in pairs if parent == member]
    return family


async def work(workplace: Workplace) -> None:
    """Dispatch until told to stop."""
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    async with workplace.dispatching():
        await stop.wait()


def print_row(what: str, measured: str, detail: str, goal: str) -> None:
    """Print one row of the table."""
    print(f"| {what} | {measured} | {detail} | {goal} |", flush=True)


async def everything(workplace: Workplace, arguments: argparse.Namespace) -> None:
    """The whole table."""
    await prepare_schema(workplace.database)
    print("| | found | | to reach |\n|---|---|---|---|")
    await latency(workplace)
    await cancels(workplace, arguments.cancels)
    await kills(workplace, arguments.kills)
    if not arguments.no_training:
        await overhead(workplace)


def main() -> None:
    """Measure, or be one of the processes that are measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--cancels", type=int, default=20)
    parser.add_argument("--database", help="URL; SQLite in a fresh folder by default")
    parser.add_argument("--no-training", action="store_true", help="leave the overhead of a training out")
    parser.add_argument("--work", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))
    if arguments.work:
        asyncio.run(work(_workplace(arguments.work, arguments.database)))
    else:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "tables").mkdir()
            asyncio.run(everything(_workplace(Path(folder), arguments.database), arguments))


def _workplace(folder: Path, database: str | None) -> Workplace:
    values: dict[str, Any] = {"data_dir": folder, "database_url": database, "data_roots": (folder / "tables",)}
    return Workplace(Settings(**values, job_lease_seconds=LEASE_SECONDS, job_workers=2))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--fork-server"]:
        sys.argv = sys.argv[1:]
        run_fork_server(TASKS)
    else:
        main()
