"""Jobs on Ray: the local process of a job becomes the driver of one detached actor, which does the work anywhere.

The actor is named after the job, so that a driver of a later attempt finds the work of one whose dispatcher was lost
and goes on with it. A driver that dies with Ray's head takes nobody with it. An actor that nobody has looked at for a
minute ends itself: a finished or forgotten one would keep its processor for ever.
"""

import os
import signal
import tempfile
import threading
import time
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import ray

from touchstone.jobs.execution.child import attempt
from touchstone.jobs.execution.protocol import Bench, Done, Progress, Refused, Task, TaskSet

NAMESPACE: Final = "touchstone"
LOOK_SECONDS: Final = 0.2
SILENT_SECONDS: Final = 30.0
ORPHAN_SECONDS: Final = 60.0

Files = dict[str, bytes]


class Labourer:
    """The actor: one piece of work, in a thread of it, so that it can be asked how far it is."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._progress: Progress | None = None
        self._ending: tuple[Done | Refused, Files] | None = None
        self._begun = False
        self._looked = time.monotonic()
        threading.Thread(target=self._end_when_orphaned, daemon=True).start()

    def begin(self, name: str, order: Any, source: Any, files: Files) -> None:
        """Begin the work, unless an earlier driver has."""
        if not self._begun:
            self._begun = True
            threading.Thread(target=self._work, args=(name, order, source, files), daemon=True).start()

    def look(self) -> tuple[Progress | None, tuple[Done | Refused, Files] | None]:
        """The latest progress, and the end with the files that were made when there is one."""
        self._looked = time.monotonic()
        return self._progress, self._ending

    def _work(self, name: str, order: Any, source: Any, files: Files) -> None:
        with tempfile.TemporaryDirectory() as folder:
            opened: Any = {role: BytesIO(content) for role, content in files.items()}
            bench = Bench(name, order, source, opened, Path(folder), self._report)
            ending = attempt(self._task, bench, lambda: self._progress.phase if self._progress else "starting")
            made = ending.files if isinstance(ending, Done) else ()
            self._ending = ending, {file.name: (Path(folder) / file.name).read_bytes() for file in made}

    def _report(self, percent: float, phase: str, *, step: int, total_steps: int, message: str) -> None:
        self._progress = Progress(percent=percent, phase=phase, step=step, total_steps=total_steps, message=message)

    def _end_when_orphaned(self) -> None:
        while time.monotonic() - self._looked < ORPHAN_SECONDS:
            time.sleep(1)
        os._exit(0)


def through_ray(tasks: TaskSet, address: str) -> TaskSet:
    """The same tasks, each done by an actor on the cluster at `address`."""
    return TaskSet(*(Task(name, _Driving(task, address)) for name, task in tasks.by_name.items()))


class _Driving:
    """A task as the driver does it: find or make the actor, tell how far it is, fetch what it made, end it."""

    def __init__(self, task: Task, address: str) -> None:
        self._task = task
        self._address = address

    def __call__(self, bench: Bench) -> Done | Refused:
        ray.init(self._address, namespace=NAMESPACE, log_to_driver=False, configure_logging=False)
        options = {"name": bench.name, "get_if_exists": True, "lifetime": "detached", "num_cpus": 1}
        actor: Any = ray.remote(Labourer).options(**options).remote(self._task)
        # A cancelled job gets this signal, and a moment, before its process is killed.
        signal.signal(signal.SIGTERM, lambda _number, _frame: _end(actor))
        files = {role: stream.read() for role, stream in bench.files.items()}
        try:
            ray.get(actor.begin.remote(bench.name, bench.order, bench.source, files))
            return self._follow(actor, bench)
        except ray.exceptions.RayError:
            # The actor, its node or the head is lost: so is this attempt, which the dispatcher learns by this death.
            os._exit(1)

    def _follow(self, actor: Any, bench: Bench) -> Done | Refused:
        told: Progress | None = None
        while True:
            progress, ending = ray.get(actor.look.remote(), timeout=SILENT_SECONDS)
            if progress is not None and progress != told:
                told = progress
                bench.report(progress.percent, progress.phase, **_rest(progress))
            if ending is not None:
                done: Done | Refused
                done, made = ending
                for name, content in made.items():
                    (bench.scratch / name).write_bytes(content)
                ray.kill(actor)
                return done
            time.sleep(LOOK_SECONDS)


def _rest(progress: Progress) -> Mapping[str, Any]:
    return {"step": progress.step, "total_steps": progress.total_steps, "message": progress.message}


def _end(actor: Any) -> None:
    ray.kill(actor)
    os._exit(1)
