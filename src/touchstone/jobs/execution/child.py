"""The process of one piece of work: bounded, alone in its group, gone with its parent."""

import contextlib
import ctypes
import errno
import os
import resource
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from touchstone.jobs.execution import message_channel
from touchstone.jobs.execution.protocol import Bench, Done, Limits, Progress, Refused, Task, TaskSet, Work
from touchstone.learning.errors import LearningError

REPORT_SECONDS: Final = 0.1
NICENESS: Final = 10
_PR_SET_PDEATHSIG: Final = 1


def work_once(sock: socket.socket, tasks: TaskSet) -> None:
    """Do the one piece of work that comes over the socket, and answer there."""
    die_with_parent()
    work, descriptors = message_channel.receive(sock, Work)
    confine(work.limits)
    threading.Thread(target=_end_with, args=(sock,), daemon=True).start()
    with contextlib.suppress(OSError):  # nobody is left to hear the answer
        report = Reporter(sock)
        files = {name: os.fdopen(number, "rb") for name, number in zip(work.files, descriptors, strict=True)}
        bench = Bench(work.name, work.order, work.source, files, Path(work.scratch), report)
        message_channel.send(sock, attempt(tasks.by_name[work.task], bench, lambda: report.phase))


def die_with_parent() -> None:
    """Have the kernel end this process when its parent ends, however that happens (Linux, prctl(2))."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def confine(limits: Limits) -> None:
    """Bound this process for good, and step behind the API where processor or memory is short."""
    for kind, bound in (
        (resource.RLIMIT_AS, limits.memory_bytes),
        (resource.RLIMIT_FSIZE, limits.file_bytes),
        (resource.RLIMIT_CPU, limits.cpu_seconds),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (bound, bound))
    os.nice(NICENESS)
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


class Reporter:
    """Sends progress that only goes forward, at most ten times a second within a phase."""

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock
        self._percent = 0.0
        self._sent = 0.0
        self.phase = "starting"

    def __call__(self, percent: float, phase: str, *, step: int, total_steps: int, message: str) -> None:
        """Take note of the progress."""
        self._percent = max(self._percent, min(100.0, float(percent)))
        moment = time.monotonic()
        if phase == self.phase and moment - self._sent < REPORT_SECONDS:
            return
        self.phase, self._sent = phase, moment
        told = Progress(percent=self._percent, phase=phase, step=step, total_steps=total_steps, message=message)
        message_channel.send(self._socket, told)


def attempt(task: Task, bench: Bench, phase: Callable[[], str]) -> Done | Refused:
    """Do the work of a task; whatever happens to it ends with an answer, which can be sent."""
    try:
        done = task.run(bench)
        # Encoded here: a result that cannot be is the work's failure, not the end of this process.
        return replace(done, result=Raw(msgspec.json.encode(done.result))) if isinstance(done, Done) else done
    except LearningError as problem:
        return Refused(code=problem.code, phase=problem.phase, facts=problem.facts | {"field": problem.field})
    except MemoryError:
        return Refused(code="out_of_memory", phase=phase())
    except Exception as problem:  # noqa: BLE001 - whatever it is, the job ends with a reason and the log has the trace
        full = isinstance(problem, OSError) and problem.errno in (errno.ENOSPC, errno.EFBIG)
        told = "storage_failed" if full else "work_failed"
        return Refused(code=told, phase=phase(), detail=traceback.format_exc()[-8000:])


def _end_with(sock: socket.socket) -> None:
    """End this whole group when the dispatcher closes the socket or is gone."""
    with contextlib.suppress(OSError):
        sock.recv(1, socket.MSG_PEEK)
    os.killpg(0, signal.SIGKILL)
