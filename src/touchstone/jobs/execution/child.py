"""The worker process: it runs one task, within its limits, and reports progress and the outcome over a socket."""

import contextlib
import errno
import os
import signal
import socket
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
from touchstone.jobs.execution.protocol import (
    ProgressMessage,
    TaskAnswer,
    TaskContext,
    TaskFailed,
    TaskSet,
    WorkerTask,
    WorkItem,
)
from touchstone.jobs.execution.resource_limits import apply_limits, die_with_parent
from touchstone.jobs.records import JobProgress
from touchstone.learning.errors import LearningError

REPORT_SECONDS: Final = 0.1
MAX_TRACE_CHARACTERS: Final = 8_000


def run_one_task(sock: socket.socket, tasks: TaskSet) -> None:
    """Receive one work item over the socket, run its task, and send the outcome back."""
    die_with_parent()
    item, descriptors = message_channel.receive(sock, WorkItem)
    apply_limits(item.limits)
    threading.Thread(target=_end_when_closed, args=(sock,), daemon=True).start()

    with contextlib.suppress(OSError):  # If the parent is gone, nobody reads the answer.
        reporter = ProgressReporter(sock)
        files = {role: os.fdopen(number, "rb") for role, number in zip(item.files, descriptors, strict=True)}
        context = TaskContext(
            name=item.name,
            request=item.request,
            source=item.source,
            files=files,
            scratch=Path(item.scratch),
            report=reporter,
        )
        answer = run_safely(tasks.by_name[item.task], context, lambda: reporter.phase)
        message_channel.send(sock, answer)


def run_safely(task: WorkerTask, context: TaskContext, current_phase: Callable[[], str]) -> TaskAnswer:
    """Run a task, and return an answer that can be sent, whatever happens."""
    try:
        answer = task.run(context)
        if isinstance(answer, TaskFailed):
            return answer
        # A result that cannot be encoded is the task's failure, so it is encoded here.
        return replace(answer, result=Raw(msgspec.json.encode(answer.result)))
    except LearningError as error:
        return TaskFailed(code=error.code, phase=error.phase, facts={**error.facts, "field": error.field})
    except MemoryError:
        return TaskFailed(code="out_of_memory", phase=current_phase())
    except Exception as error:  # noqa: BLE001 - the job must end with a reason; the log gets the trace
        is_disk_full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EFBIG)
        code = "storage_failed" if is_disk_full else "work_failed"
        return TaskFailed(code=code, phase=current_phase(), detail=traceback.format_exc()[-MAX_TRACE_CHARACTERS:])


class ProgressReporter:
    """Sends progress that never goes back, at most ten times a second within a phase."""

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock
        self._percent = 0.0
        self._sent_at = 0.0
        self.phase = "starting"

    def __call__(self, percent: float, phase: str, *, step: int, total_steps: int, message: str) -> None:
        """Report the progress to the parent, unless a report of this phase was sent a moment ago."""
        self._percent = max(self._percent, min(100.0, float(percent)))
        now = time.monotonic()
        if phase == self.phase and now - self._sent_at < REPORT_SECONDS:
            return

        self.phase = phase
        self._sent_at = now
        progress = JobProgress(percent=self._percent, phase=phase, step=step, total_steps=total_steps, message=message)
        message_channel.send(self._socket, ProgressMessage(progress))


def _end_when_closed(sock: socket.socket) -> None:
    """End this process and everything it has started when the parent closes the socket or is gone."""
    with contextlib.suppress(OSError):
        sock.recv(1, socket.MSG_PEEK)
    os.killpg(0, signal.SIGKILL)
