"""The main function of a worker process, which runs tasks and reports to its parent over a socket."""

import contextlib
import errno
import os
import socket
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from touchstone.core.full_disk import DISK_FULL_ERRORS
from touchstone.jobs.execution import message_channel
from touchstone.jobs.execution.message_channel import ChannelClosed
from touchstone.jobs.execution.parent_death import die_with_parent, kill_group_when_parent_closes
from touchstone.jobs.execution.protocol import (
    ProgressMessage,
    TaskContext,
    TaskFailed,
    TaskOutcome,
    TaskSet,
    TaskSucceeded,
    WorkerTask,
    WorkItem,
)
from touchstone.jobs.execution.resource_limits import limit_this_process
from touchstone.jobs.job_records import JobProgress
from touchstone.learning.learning_errors import LearningError
from touchstone.learning.task_interface import Report

REPORT_INTERVAL_SECONDS: Final = 0.1
MAX_TRACEBACK_CHARACTERS: Final = 8_000
STORAGE_ERRORS: Final = DISK_FULL_ERRORS | {errno.EFBIG}  # The size of files is limited, too.


def run_worker(sock: socket.socket, tasks: TaskSet) -> None:
    """Receive a work item from the parent process, run its task, and send the outcome back.

    Most worker processes end after one work item. If a work item has `keeps_process`, the process then waits for the
    next one, until the parent closes the socket.

    Args:
        sock: the connection to the parent.
        tasks: the tasks that a work item may name.
    """
    die_with_parent()
    # A work item arrives together with the descriptors of its open input files.
    work_item, descriptors = message_channel.receive(sock, WorkItem)

    # From now on, the process cannot exceed its limits, and it ends when the parent closes the socket.
    limit_this_process(work_item.limits)
    kill_group_when_parent_closes(sock)

    # If the parent has ended, the outcome is not needed, and there will be no further work items.
    with contextlib.suppress(OSError, ChannelClosed):
        while True:
            _run_work_item(sock, work_item, descriptors, tasks)
            if not work_item.keeps_process:
                break
            work_item, descriptors = message_channel.receive(sock, WorkItem)


def _run_work_item(sock: socket.socket, work_item: WorkItem, descriptors: list[int], tasks: TaskSet) -> None:
    """Run the task of a work item, close its files, and send the outcome to the parent.

    Raises:
        OSError: the parent is gone.
    """
    reporter = ProgressReporter(sock)
    context = _create_task_context(work_item, descriptors, reporter)
    try:
        task = tasks.by_name[work_item.task]
        outcome = run_and_catch_errors(task, context, reporter.current_phase)
    finally:
        for file in context.files.values():
            file.close()

    message_channel.send(sock, outcome)


def run_and_catch_errors(task: WorkerTask, context: TaskContext, current_phase: Callable[[], str]) -> TaskOutcome:
    """Run a task and return its outcome, which is a failure if the task raises an exception.

    The result of a successful task is encoded as JSON. If the exception contains no phase, the failure gets the phase
    that the task reported last, from `current_phase`.
    """
    try:
        outcome = task.run(context)
        if isinstance(outcome, TaskSucceeded):
            # A result that cannot be encoded is a failure of the task, so this belongs into the `try` block.
            encoded_result = msgspec.json.encode(outcome.result)
            return replace(outcome, result=Raw(encoded_result))
        return outcome
    except LearningError as error:
        return TaskFailed(code=error.code, phase=error.phase, facts={**error.facts, "field": error.field})
    except MemoryError:
        return TaskFailed(code="out_of_memory", phase=current_phase())
    except Exception as error:  # noqa: BLE001 - the job must fail with a reason, and the log gets the traceback
        is_storage_error = isinstance(error, OSError) and error.errno in STORAGE_ERRORS
        end_of_traceback = traceback.format_exc()[-MAX_TRACEBACK_CHARACTERS:]
        return TaskFailed(
            code="storage_failed" if is_storage_error else "work_failed",
            phase=current_phase(),
            detail=end_of_traceback,
        )


class ProgressReporter:
    """The callback for a task to report its progress to the parent process.

    It sends at most ten reports per second, but always the first report of each phase. The percentage never decreases,
    even if the task reports a lower one.
    """

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock
        self._highest_percent = 0.0
        self._phase = "starting"
        self._sent_at = 0.0

    def current_phase(self) -> str:
        """Return the last reported phase."""
        return self._phase

    def __call__(self, percent: float, phase: str, *, step: int, total_steps: int, message: str) -> None:
        """Send the progress to the parent, unless a report of the same phase was sent very recently.

        Raises:
            OSError: the parent is gone.
        """
        self._highest_percent = max(self._highest_percent, min(100.0, float(percent)))

        now = time.monotonic()
        is_new_phase = phase != self._phase
        if not is_new_phase and now - self._sent_at < REPORT_INTERVAL_SECONDS:
            return

        self._phase = phase
        self._sent_at = now
        progress = JobProgress(
            percent=self._highest_percent, phase=phase, step=step, total_steps=total_steps, message=message
        )
        message_channel.send(self._socket, ProgressMessage(progress))


def _create_task_context(work_item: WorkItem, descriptors: list[int], report: Report) -> TaskContext:
    """Create the arguments of a task.

    Args:
        work_item: the work item of the task.
        descriptors: the open files, in the order of `work_item.file_roles`.
        report: the callback for progress.
    """
    roles_and_descriptors = zip(work_item.file_roles, descriptors, strict=True)
    files = {role: os.fdopen(descriptor, "rb") for role, descriptor in roles_and_descriptors}
    return TaskContext(
        name=work_item.name,
        request=work_item.request,
        source=work_item.source,
        files=files,
        scratch_folder=Path(work_item.scratch_folder),
        report=report,
    )
