"""What a task is, and the messages between the process that dispatches a task and the process that runs it.

Messages are encoded as JSON; opened files are sent along with them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from msgspec import Struct

from touchstone.jobs.job_records import JobProgress, JobSource, Json
from touchstone.learning.task_interface import Report


class ResourceLimits(Struct, frozen=True, kw_only=True):
    """The limits of one process: address space, size of its largest file, and processor time."""

    memory_bytes: int
    file_bytes: int
    cpu_seconds: int


class WorkItem(Struct, frozen=True, kw_only=True):
    """One run of a task: its request, the folder that it may write to, and its limits.

    `name` identifies the run wherever it is executed. The opened files are sent along, in the order of `file_roles`. If
    `keeps_process` is true, the process waits for further work items afterwards, under the limits of the first one.
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
    """A report of how far a task has come."""

    progress: JobProgress


class OutputFile(Struct, frozen=True, kw_only=True):
    """A file that a task has written into its scratch folder."""

    name: str
    media_type: str


class TaskSucceeded(Struct, frozen=True, kw_only=True, tag="succeeded"):
    """The outcome of a task that has finished: its result, and the files that it has written."""

    result: Any
    files: tuple[OutputFile, ...] = ()


class TaskFailed(Struct, frozen=True, kw_only=True, tag="failed"):
    """The outcome of a task that has failed and would fail again: the key of a sentence, with its facts.

    `detail` is for the log only.
    """

    code: str
    phase: str
    facts: Json = {}
    detail: str = ""


class ProcessDied(Struct, frozen=True, kw_only=True, tag="died"):
    """The end of a process that has not reported an outcome.

    `status` is its exit status or, if negative, the number of the signal that ended it.
    """

    status: int


# What a task reports at its end, and what becomes of its process.
TaskOutcome = TaskSucceeded | TaskFailed
ExecutionOutcome = TaskSucceeded | TaskFailed | ProcessDied
ProgressListener = Callable[[JobProgress], None]


@dataclass(frozen=True, slots=True)
class TaskContext:
    """What a task function works with: its request, its opened files by role, and a folder to write to."""

    name: str
    request: Json
    source: JobSource
    files: Mapping[str, BinaryIO]
    scratch_folder: Path
    report: Report


@dataclass(frozen=True, slots=True)
class WorkerTask:
    """A function that worker processes can run, and the name by which work items refer to it."""

    name: str
    run: Callable[[TaskContext], TaskOutcome]


class TaskSet:
    """The tasks that a worker process can run, by name."""

    def __init__(self, *tasks: WorkerTask) -> None:
        self.by_name: Mapping[str, WorkerTask] = {task.name: task for task in tasks}


class Executor(Protocol):
    """Runs tasks in processes of their own. When `run` is cancelled, it ends the process before it returns."""

    async def run(
        self,
        work_item: WorkItem,
        files: Sequence[BinaryIO],
        *,
        on_progress: ProgressListener,
        timeout_seconds: float,
    ) -> ExecutionOutcome:
        """Run one task and return how it ended, calling `on_progress` whenever it reports progress.

        A task that takes longer than `timeout_seconds` is ended, and fails.
        """

    async def warm_up(self) -> None:
        """Load the libraries now, so that the first task does not wait for them."""

    async def close(self) -> None:
        """End all processes."""
