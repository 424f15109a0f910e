"""Tasks, and the messages between the process that dispatches a task and the process that runs it.

Messages are encoded as JSON, and open files are sent along with them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from msgspec import Struct

from touchstone.jobs.job_records import JobProgress, JobSource, Json
from touchstone.learning.task_interface import Report


class ResourceLimits(Struct, frozen=True, kw_only=True):
    """The limits of a process on its address space, on the size of each file, and on processor time."""

    memory_bytes: int
    file_bytes: int
    cpu_seconds: int


class WorkItem(Struct, frozen=True, kw_only=True):
    """One run of a task.

    Attributes:
        name: the identifier of the run, which is the same on every machine.
        task: the name of the task.
        request: the request for the task.
        source: the description of the input files.
        file_roles: the roles of the open files that are sent along, in the same order.
        scratch_folder: the folder that the task may write to.
        limits: the limits of the process.
        keeps_process: whether the process waits for further work items, under the limits of the first one.
    """

    name: str
    task: str
    request: Json
    source: JobSource
    file_roles: tuple[str, ...]
    scratch_folder: str
    limits: ResourceLimits
    keeps_process: bool = False


class ProgressMessage(Struct, frozen=True, tag="progress"):
    """A report of the progress of a task."""

    progress: JobProgress


class OutputFile(Struct, frozen=True, kw_only=True):
    """A file that a task has written to its scratch folder."""

    name: str
    media_type: str


class TaskSucceeded(Struct, frozen=True, kw_only=True, tag="succeeded"):
    """The outcome of a successful task: its result, and the files that it has written."""

    result: Any
    files: tuple[OutputFile, ...] = ()


class TaskFailed(Struct, frozen=True, kw_only=True, tag="failed"):
    """The outcome of a task that has failed and would fail again.

    Attributes:
        code: the key of a sentence.
        phase: the phase of the failure.
        facts: the placeholder values of the sentence.
        detail: the technical detail for the log.
    """

    code: str
    phase: str
    facts: Json = {}
    detail: str = ""


class ProcessDied(Struct, frozen=True, kw_only=True, tag="died"):
    """The end of a process without an outcome.

    Attributes:
        status: the exit status of the process, or a negative signal number.
        is_server_lost: whether the fork server was lost as well, so that the task is not the cause.
    """

    status: int
    is_server_lost: bool = False


# A task reports a `TaskOutcome`. The executor also detects the death of its process.
TaskOutcome = TaskSucceeded | TaskFailed
ExecutionOutcome = TaskSucceeded | TaskFailed | ProcessDied
ProgressListener = Callable[[JobProgress], None]


@dataclass(frozen=True, slots=True)
class TaskContext:
    """The arguments of a task function. `files` contains its open files by role."""

    name: str
    request: Json
    source: JobSource
    files: Mapping[str, BinaryIO]
    scratch_folder: Path
    report: Report


@dataclass(frozen=True, slots=True)
class WorkerTask:
    """A function that worker processes can run, and its name in work items."""

    name: str
    run: Callable[[TaskContext], TaskOutcome]


class TaskSet:
    """The tasks that a worker process can run, by name."""

    def __init__(self, *tasks: WorkerTask) -> None:
        self.by_name: Mapping[str, WorkerTask] = {task.name: task for task in tasks}


class Executor(Protocol):
    """Runs tasks in separate processes. When `run` is cancelled, it ends the process before it returns."""

    async def run(
        self,
        work_item: WorkItem,
        files: Sequence[BinaryIO],
        *,
        on_progress: ProgressListener,
        timeout_seconds: float,
    ) -> ExecutionOutcome:
        """Run one task and return its outcome.

        Args:
            work_item: the task to run.
            files: the open files of the task, in the order of `work_item.file_roles`.
            on_progress: a function that is called whenever the task reports progress.
            timeout_seconds: the time after which the task is stopped and fails.
        """

    async def warm_up(self) -> None:
        """Load the libraries, so that the first task does not have to wait for them."""

    async def close(self) -> None:
        """End all processes."""
