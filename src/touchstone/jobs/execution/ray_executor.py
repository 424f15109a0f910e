"""Jobs on Ray: the local process of a job drives one detached actor, which runs the task anywhere on the cluster.

The actor is named after the job, so that the driver of a later attempt finds the work of a driver that was lost, and
continues it. Losing Ray's head ends only the drivers, not the dispatcher. An actor that no driver has polled for a
minute ends itself; otherwise a finished or forgotten actor would hold its processor forever.
"""

import os
import signal
import tempfile
import threading
import time
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import ray
from msgspec import Struct

from touchstone.jobs.execution.child import run_safely
from touchstone.jobs.execution.protocol import TaskAnswer, TaskContext, TaskSet, TaskSucceeded, WorkerTask
from touchstone.jobs.records import JobProgress, JobSource, Json

NAMESPACE: Final = "touchstone"
POLL_SECONDS: Final = 0.2
ANSWER_SECONDS: Final = 30.0
ORPHAN_SECONDS: Final = 60.0

FileContents = dict[str, bytes]


class ActorStatus(Struct, frozen=True):
    """What an actor has done so far; `answer` and the contents of its output files are there once it has finished."""

    progress: JobProgress | None
    answer: TaskAnswer | None
    files: FileContents


class TaskActor:
    """A Ray actor that runs one task in a thread, so that it can be asked for its status meanwhile."""

    def __init__(self, task: WorkerTask) -> None:
        self._task = task
        self._status = ActorStatus(progress=None, answer=None, files={})
        self._is_started = False
        self._polled_at = time.monotonic()
        threading.Thread(target=self._end_when_orphaned, daemon=True).start()

    def start(self, name: str, request: Json, source: JobSource, files: FileContents) -> None:
        """Start the task, unless an earlier driver has."""
        if not self._is_started:
            self._is_started = True
            threading.Thread(target=self._run, args=(name, request, source, files), daemon=True).start()

    def poll(self) -> ActorStatus:
        """Return the current status, and take note that a driver is still there."""
        self._polled_at = time.monotonic()
        return self._status

    def _run(self, name: str, request: Json, source: JobSource, files: FileContents) -> None:
        with tempfile.TemporaryDirectory() as folder:
            context = TaskContext(
                name=name,
                request=request,
                source=source,
                files={role: BytesIO(content) for role, content in files.items()},
                scratch=Path(folder),
                report=self._report,
            )
            answer = run_safely(self._task, context, self._current_phase)
            output_files = answer.files if isinstance(answer, TaskSucceeded) else ()
            contents = {file.name: (Path(folder) / file.name).read_bytes() for file in output_files}

        self._status = ActorStatus(progress=self._status.progress, answer=answer, files=contents)

    def _report(self, percent: float, phase: str, *, step: int, total_steps: int, message: str) -> None:
        progress = JobProgress(percent=percent, phase=phase, step=step, total_steps=total_steps, message=message)
        self._status = ActorStatus(progress=progress, answer=None, files={})

    def _current_phase(self) -> str:
        return self._status.progress.phase if self._status.progress else "starting"

    def _end_when_orphaned(self) -> None:
        while time.monotonic() - self._polled_at < ORPHAN_SECONDS:
            time.sleep(1)
        os._exit(0)


def through_ray(tasks: TaskSet, address: str) -> TaskSet:
    """Return the same tasks, each run by an actor on the cluster at `address`."""
    return TaskSet(*(WorkerTask(name, ActorDriver(task, address)) for name, task in tasks.by_name.items()))


class ActorDriver:
    """A task function that has an actor do the work: it starts or finds the actor, follows it, and ends it."""

    def __init__(self, task: WorkerTask, address: str) -> None:
        self._task = task
        self._address = address

    def __call__(self, context: TaskContext) -> TaskAnswer:
        """Run the task in an actor and return its answer, with its output files in the scratch folder."""
        ray.init(self._address, namespace=NAMESPACE, log_to_driver=False, configure_logging=False)
        options = {"name": context.name, "get_if_exists": True, "lifetime": "detached", "num_cpus": 1}
        actor: Any = ray.remote(TaskActor).options(**options).remote(self._task)
        # A cancelled job gets this signal, and a moment to act on it, before its process is killed.
        signal.signal(signal.SIGTERM, lambda _number, _frame: _kill_and_exit(actor))

        files = {role: stream.read() for role, stream in context.files.items()}
        try:
            ray.get(actor.start.remote(context.name, context.request, context.source, files))
            return self._follow(actor, context)
        except ray.exceptions.RayError:
            # The actor, its node or the head is lost, and so is this attempt: the dispatcher sees this process die.
            os._exit(1)

    def _follow(self, actor: Any, context: TaskContext) -> TaskAnswer:
        reported: JobProgress | None = None
        while True:
            status: ActorStatus = ray.get(actor.poll.remote(), timeout=ANSWER_SECONDS)

            progress = status.progress
            if progress is not None and progress != reported:
                reported = progress
                context.report(
                    progress.percent,
                    progress.phase,
                    step=progress.step,
                    total_steps=progress.total_steps,
                    message=progress.message,
                )

            if status.answer is not None:
                for name, content in status.files.items():
                    (context.scratch / name).write_bytes(content)
                ray.kill(actor)
                return status.answer
            time.sleep(POLL_SECONDS)


def _kill_and_exit(actor: Any) -> None:
    ray.kill(actor)
    os._exit(1)
