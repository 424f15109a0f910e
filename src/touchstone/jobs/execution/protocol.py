"""What a task is, and the messages between the process that dispatches it and the process that runs it.

Messages are encoded as JSON; opened files travel beside them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from msgspec import Struct

from touchstone.jobs.records import JobProgress, JobSource, Json
from touchstone.learning.interfaces import Report


class ResourceLimits(Struct, frozen=True, kw_only=True):
    """What one process may use: address space and largest file in bytes, processor time in seconds."""

    memory_bytes: int
    file_bytes: int
    cpu_seconds: int


class WorkItem(Struct, frozen=True, kw_only=True):
    """One run of a task: what it is to do, the folder that it may write to, and its limits.

    `name` identifies the run wherever it is executed. The opened files travel beside it, in the order of `files`.
    """

    name: str
    task: str
    request: Json
    source: JobSource
    files: tuple[str, ...]
    scratch: str
    limits: ResourceLimits


class ProgressMessage(Struct, frozen=True, tag="progress"):
    """A report of how far a task is."""

    progress: JobProgress


class OutputFile(Struct, frozen=True, kw_only=True):
    """A file that a task has left in its scratch folder."""

    name: str
    media_type: str


class TaskSucceeded(Struct, frozen=True, kw_only=True, tag="succeeded"):
    """A task has finished: its result, and the files that it has written."""

    result: Any
    files: tuple[OutputFile, ...] = ()


class TaskFailed(Struct, frozen=True, kw_only=True, tag="failed"):
    """A task has failed, and trying again would not help: the key of a sentence with its facts.

    `detail` is for the log only.
    """

    code: str
    phase: str
    facts: Json = {}
    detail: str = ""


class ProcessDied(Struct, frozen=True, kw_only=True, tag="died"):
    """A process has ended without an answer: with this exit status, or by this signal if negative."""

    status: int


TaskAnswer = TaskSucceeded | TaskFailed
TaskOutcome = TaskSucceeded | TaskFailed | ProcessDied
ProgressListener = Callable[[JobProgress], None]


@dataclass(frozen=True, slots=True)
class TaskContext:
    """What a task function works with: its request, its opened files by role, and a folder to write to."""

    name: str
    request: Json
    source: JobSource
    files: Mapping[str, BinaryIO]
    scratch: Path
    report: Report


@dataclass(frozen=True, slots=True)
class WorkerTask:
    """A function that worker processes can run, under its name."""

    name: str
    run: Callable[[TaskContext], TaskAnswer]


class TaskSet:
    """The tasks that a worker process can run, by name."""

    def __init__(self, *tasks: WorkerTask) -> None:
        self.by_name: Mapping[str, WorkerTask] = {task.name: task for task in tasks}


class Executor(Protocol):
    """Runs tasks in processes of their own. Cancelling `run` ends its process, and nothing of it goes on."""

    async def run(
        self, item: WorkItem, files: Sequence[BinaryIO], *, listener: ProgressListener, seconds: float
    ) -> TaskOutcome:
        """Run one task within `seconds`, and call `listener` with its progress."""

    async def warm(self) -> None:
        """Load the libraries before the first task comes."""

    async def close(self) -> None:
        """End every process that still runs."""
