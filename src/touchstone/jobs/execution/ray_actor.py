"""Tasks on Ray, which the local worker process of a job delegates to a detached actor on the cluster.

The actor is named after the job, so that the driver of a later attempt can find the actor of a lost driver and continue
its work. The loss of Ray's head only ends the drivers, not the dispatcher. An actor ends itself if no driver has polled
it for `ORPHAN_SECONDS`. Otherwise an abandoned actor would occupy its processor forever.
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

from touchstone.jobs.execution.protocol import TaskContext, TaskOutcome, TaskSet, TaskSucceeded, WorkerTask
from touchstone.jobs.execution.worker_process import run_and_catch_errors
from touchstone.jobs.job_records import JobProgress, JobSource, Json

NAMESPACE: Final = "touchstone"
POLL_SECONDS: Final = 0.2
POLL_TIMEOUT_SECONDS: Final = 30.0
ORPHAN_SECONDS: Final = 60.0

FileContents = dict[str, bytes]


class ActorStatus(Struct, frozen=True):
    """The status of an actor. The outcome and the output files are set when its task has ended."""

    progress: JobProgress | None
    outcome: TaskOutcome | None
    output_files: FileContents


class TaskActor:
    """A Ray actor that runs one task in a thread, so that drivers can poll its status at the same time."""

    def __init__(self, task: WorkerTask) -> None:
        self._task = task
        self._status = ActorStatus(progress=None, outcome=None, output_files={})
        self._is_started = False
        self._polled_at = time.monotonic()
        threading.Thread(target=self._exit_when_orphaned, daemon=True).start()

    def start(self, name: str, request: Json, source: JobSource, input_files: FileContents) -> None:
        """Start the task in a thread, unless the driver of an earlier attempt has already started it."""
        if self._is_started:
            return
        self._is_started = True
        threading.Thread(target=self._run, args=(name, request, source, input_files), daemon=True).start()

    def poll(self) -> ActorStatus:
        """Return the current status, and record that a driver still follows the task."""
        self._polled_at = time.monotonic()
        return self._status

    def _run(self, name: str, request: Json, source: JobSource, input_files: FileContents) -> None:
        """Run the task in a temporary folder, and store its outcome and its output files for the driver."""
        with tempfile.TemporaryDirectory() as folder_name:
            scratch_folder = Path(folder_name)
            streams_by_role = {role: BytesIO(content) for role, content in input_files.items()}
            context = TaskContext(
                name=name,
                request=request,
                source=source,
                files=streams_by_role,
                scratch_folder=scratch_folder,
                report=self._report,
            )
            outcome = run_and_catch_errors(self._task, context, self._current_phase)

            output_files: FileContents = {}
            if isinstance(outcome, TaskSucceeded):
                output_files = {file.name: (scratch_folder / file.name).read_bytes() for file in outcome.files}

        self._status = ActorStatus(progress=self._status.progress, outcome=outcome, output_files=output_files)

    def _report(self, percent: float, phase: str, *, step: int, total_steps: int, message: str) -> None:
        """Store the progress of the task until a driver polls it."""
        progress = JobProgress(percent=percent, phase=phase, step=step, total_steps=total_steps, message=message)
        self._status = ActorStatus(progress=progress, outcome=None, output_files={})

    def _current_phase(self) -> str:
        """Return the last phase that the task has reported."""
        progress = self._status.progress
        return "starting" if progress is None else progress.phase

    def _exit_when_orphaned(self) -> None:
        """Exit the process of the actor once no driver has polled it for `ORPHAN_SECONDS`."""
        while time.monotonic() - self._polled_at < ORPHAN_SECONDS:
            time.sleep(1)
        os._exit(0)


def tasks_on_ray(tasks: TaskSet, cluster_address: str) -> TaskSet:
    """Return tasks with the same names that run in actors on the cluster."""
    driven_tasks = [WorkerTask(name, ActorDriver(task, cluster_address)) for name, task in tasks.by_name.items()]
    return TaskSet(*driven_tasks)


class ActorDriver:
    """A task function that delegates the work to an actor.

    It runs in the local worker process of a job, and finds or starts the actor of the job, follows it, and ends it.
    """

    def __init__(self, task: WorkerTask, cluster_address: str) -> None:
        self._task = task
        self._cluster_address = cluster_address

    def __call__(self, context: TaskContext) -> TaskOutcome:
        """Run the task in an actor, write its output files to the scratch folder, and return its outcome.

        The dispatcher ends this process with SIGTERM if the job is cancelled, and then the actor is killed, too.
        """
        ray.init(self._cluster_address, namespace=NAMESPACE, log_to_driver=False, configure_logging=False)
        actor = self._find_or_create_actor(context.name)
        signal.signal(signal.SIGTERM, lambda _number, _frame: _kill_actor_and_exit(actor))

        input_files = {role: stream.read() for role, stream in context.files.items()}
        try:
            ray.get(actor.start.remote(context.name, context.request, context.source, input_files))
            return self._follow(actor, context)
        except ray.exceptions.RayError:
            # The actor, its node or the head of the cluster is lost. When this process ends without an outcome, the
            # dispatcher tries the job again, and the next driver finds the actor if it is still running.
            os._exit(1)

    def _find_or_create_actor(self, name: str) -> Any:
        """Return the actor with this name, which outlives its driver and occupies one processor."""
        actor_class = ray.remote(TaskActor).options(name=name, get_if_exists=True, lifetime="detached", num_cpus=1)
        return actor_class.remote(self._task)

    def _follow(self, actor: Any, context: TaskContext) -> TaskOutcome:
        """Poll an actor and forward its progress until its task has ended, then fetch its files and kill it.

        Raises:
            RayError: the actor is lost, or does not reply in time.
        """
        last_progress: JobProgress | None = None
        while True:
            status: ActorStatus = ray.get(actor.poll.remote(), timeout=POLL_TIMEOUT_SECONDS)

            if status.progress is not None and status.progress != last_progress:
                last_progress = status.progress
                _forward_progress(last_progress, context)

            if status.outcome is not None:
                for name, content in status.output_files.items():
                    (context.scratch_folder / name).write_bytes(content)
                ray.kill(actor)
                return status.outcome

            time.sleep(POLL_SECONDS)


def _forward_progress(progress: JobProgress, context: TaskContext) -> None:
    """Report the progress of an actor as the progress of the local task."""
    context.report(
        progress.percent,
        progress.phase,
        step=progress.step,
        total_steps=progress.total_steps,
        message=progress.message,
    )


def _kill_actor_and_exit(actor: Any) -> None:
    """Kill the actor and exit this worker process."""
    ray.kill(actor)
    os._exit(1)
