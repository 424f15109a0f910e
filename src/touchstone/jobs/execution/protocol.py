"""What passes between the process that dispatches jobs and the one that works on a job; all of it is plain JSON."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from msgspec import Struct

Json = dict[str, Any]


class Limits(Struct, frozen=True, kw_only=True):
    """What one process may use: address space and largest file in bytes, processor time in seconds."""

    memory_bytes: int
    file_bytes: int
    cpu_seconds: int


class Work(Struct, frozen=True, kw_only=True):
    """One piece of work: the task's name, its order, what else it must know, and the folder that it may write to.

    `name` identifies the work wherever it runs; the opened files travel beside it, in the order of `files`.
    """

    name: str
    task: str
    order: Json
    source: Json
    files: tuple[str, ...]
    scratch: str
    limits: Limits


class Progress(Struct, frozen=True, kw_only=True, tag="progress"):
    """How far the work is: 0-100, the phase, the step of how many, and the key of a sentence."""

    percent: float
    phase: str
    step: int
    total_steps: int
    message: str


class Produced(Struct, frozen=True, kw_only=True):
    """A file that the work left in its folder under this name."""

    name: str
    media_type: str


class Done(Struct, frozen=True, kw_only=True, tag="done"):
    """The work is done: its result, and the files that it left."""

    result: Any
    files: tuple[Produced, ...] = ()


class Refused(Struct, frozen=True, kw_only=True, tag="refused"):
    """The work cannot be done, and trying again would not help: a code of `core.messages` with its facts.

    `detail` is for the log alone.
    """

    code: str
    phase: str
    facts: Json = {}
    detail: str = ""


class Died(Struct, frozen=True, kw_only=True, tag="died"):
    """The process ended without an answer: by this signal (negative), or with this status."""

    status: int


Ending = Done | Refused | Died
Listener = Callable[[Progress], None]


class Report(Protocol):
    """Told how far the work is; `percent` (0-100) never goes back."""

    def __call__(self, percent: float, phase: str, *, step: int, total_steps: int, message: str) -> None:
        """Take note of the progress."""


@dataclass(frozen=True, slots=True)
class Bench:
    """What a task function finds before it: its order, opened files by name, a folder to write to, and its report."""

    name: str
    order: Json
    source: Json
    files: Mapping[str, BinaryIO]
    scratch: Path
    report: Report


@dataclass(frozen=True, slots=True)
class Task:
    """A kind of work: its name and the function that does it, in a process of its own."""

    name: str
    run: Callable[[Bench], Done | Refused]


class TaskSet:
    """The kinds of work that a process can do."""

    def __init__(self, *tasks: Task) -> None:
        self.by_name: Mapping[str, Task] = {task.name: task for task in tasks}


class Executor(Protocol):
    """What runs the work. Cancelling a `run` ends its process; nothing of it goes on afterwards."""

    async def run(self, work: Work, files: Sequence[BinaryIO], *, listen: Listener, seconds: float) -> Ending:
        """Do one piece of work within `seconds`; its progress goes to `listen`."""

    async def warm(self) -> None:
        """Be ready before the first piece of work comes."""

    async def close(self) -> None:
        """End whatever still runs."""
