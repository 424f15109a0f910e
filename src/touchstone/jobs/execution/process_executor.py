"""The local executor, which runs tasks in processes forked by a fork server.

Each task has its own process, unless its work item keeps the process. Such a task may run in the process of an earlier
one.
"""

import asyncio
import os
import resource
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import BinaryIO, Final

from msgspec.structs import replace

from touchstone.jobs.execution.fork_server_client import KILLED, ForkServer, WorkerHandle
from touchstone.jobs.execution.idle_workers import IdleWorkers
from touchstone.jobs.execution.message_channel import ChannelClosed
from touchstone.jobs.execution.protocol import (
    ExecutionOutcome,
    ProcessDied,
    ProgressListener,
    TaskFailed,
    TaskSucceeded,
    WorkItem,
)

FORK_SERVER_COMMAND: Final = (sys.executable, "-I", "-m", "touchstone.jobs.execution.fork_server_main")
RAY_FORK_SERVER_COMMAND: Final = (sys.executable, "-I", "-m", "touchstone.jobs.execution.ray_fork_server_main")

# After these failures, a process is not reused, because a library may be in a bad state or the memory may be full.
_SERIOUS_FAILURES: Final = frozenset({"out_of_memory", "storage_failed", "work_failed"})
_FIXED_VARIABLES: Final[Mapping[str, str]] = {
    "PATH": os.defpath,
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
    "PYTHONHASHSEED": "0",
    "OMP_WAIT_POLICY": "passive",
}
# Operators may select the kernels of the linear algebra library, so that different machines produce identical bytes.
_INHERITED_VARIABLES: Final = ("OPENBLAS_CORETYPE",)
_THREAD_COUNT_VARIABLES: Final = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)


def worker_environment(*, thread_count: int) -> dict[str, str]:
    """Return the environment variables of worker processes.

    They exclude the service's own variables, which contain its settings and secrets.

    Args:
        thread_count: the maximum number of threads for the numeric libraries.
    """
    inherited = {name: os.environ[name] for name in _INHERITED_VARIABLES if name in os.environ}
    thread_counts = dict.fromkeys(_THREAD_COUNT_VARIABLES, str(thread_count))
    return {**_FIXED_VARIABLES, **inherited, **thread_counts}


def task_thread_count() -> int:
    """Return the number of threads per task, which leaves one core free if there are more than two.

    Tasks run at a low priority, so the API gets a core whenever it needs one, even if tasks use all cores.
    """
    core_count = os.cpu_count() or 1
    return min(core_count, max(2, core_count - 1))


@dataclass(frozen=True, slots=True)
class TaskRun:
    """One run of a task, with its work item, its open files, its progress listener and its time limit."""

    work_item: WorkItem
    descriptors: Sequence[int]
    on_progress: ProgressListener
    timeout_seconds: float


class ProcessExecutor:
    """Runs tasks in processes forked by a fork server.

    Attributes:
        command: the command that starts the fork server.
        grace_seconds: the time between SIGTERM and SIGKILL when a task is cancelled, or 0 if the task has nothing to
            clean up on other machines.
        limits_memory: whether to limit the memory of processes. Clients of Ray map more memory than they use.
        variables: the environment of the processes.
    """

    def __init__(
        self,
        command: Sequence[str] = FORK_SERVER_COMMAND,
        *,
        grace_seconds: float = 0.0,
        limits_memory: bool = True,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        """Prepare an executor, whose fork server is started by the first task or by `warm_up`."""
        if variables is None:
            variables = worker_environment(thread_count=task_thread_count())

        self.command = tuple(command)
        self.grace_seconds = grace_seconds
        self.limits_memory = limits_memory
        self.variables = dict(variables)
        self._server: asyncio.Future[ForkServer] | None = None
        self._idle_workers = IdleWorkers()

    async def warm_up(self) -> None:
        """Start the fork server and wait until it has loaded its libraries.

        Raises:
            ChannelClosed: the fork server could not start.
        """
        await self._running_server()

    async def run(
        self,
        work_item: WorkItem,
        files: Sequence[BinaryIO],
        *,
        on_progress: ProgressListener,
        timeout_seconds: float,
    ) -> ExecutionOutcome:
        """Run one task in a new or in an idle process, and return its outcome.

        Unless the work item keeps its process for later tasks, the process has ended when this returns or raises, even
        if the caller is cancelled.
        """
        if not self.limits_memory:
            limits = replace(work_item.limits, memory_bytes=resource.RLIM_INFINITY)
            work_item = replace(work_item, limits=limits)

        descriptors = [file.fileno() for file in files]
        task_run = TaskRun(work_item, descriptors, on_progress, timeout_seconds)

        idle_worker = self._idle_workers.pop() if work_item.keeps_process else None
        if idle_worker is not None:
            outcome = await self._run_in_worker(idle_worker, task_run)
            # A task that fails seriously in a reused process may succeed in a new one.
            if _leaves_process_intact(outcome):
                return outcome

        try:
            server = await self._running_server()
            fresh_worker = await server.fork()
        except ChannelClosed:
            return ProcessDied(status=KILLED, is_server_lost=True)
        return await self._run_in_worker(fresh_worker, task_run)

    async def _run_in_worker(self, worker: WorkerHandle, task_run: TaskRun) -> ExecutionOutcome:
        """Run a task in a worker process, and then keep the process for later tasks or end it.

        The process is only kept if the work item requests it and the task has left the process in a good state.
        """
        outcome: ExecutionOutcome | None = None
        try:
            async with asyncio.timeout(task_run.timeout_seconds):
                outcome = await worker.run(task_run.work_item, task_run.descriptors, task_run.on_progress)
                return outcome
        except TimeoutError:
            limit_seconds = int(task_run.timeout_seconds)
            return TaskFailed(code="out_of_time", phase="working", facts={"seconds": limit_seconds})
        except asyncio.CancelledError:
            await worker.terminate(self.grace_seconds)
            raise
        finally:
            is_intact = outcome is not None and _leaves_process_intact(outcome)
            if task_run.work_item.keeps_process and is_intact:
                await self._idle_workers.add(worker)
            else:
                # Kill the process completely, even if the caller is cancelled again.
                await asyncio.shield(worker.kill())

    async def close(self) -> None:
        """End the fork server, if it was started, and every process that it has forked."""
        if self._server is None:
            return

        await self._idle_workers.close()
        self._server.cancel()  # This only has an effect while the server is starting.
        await asyncio.wait([self._server])

        has_started = not self._server.cancelled() and self._server.exception() is None
        if has_started:
            await self._server.result().close()
        self._server = None

    async def _running_server(self) -> ForkServer:
        """Return the fork server, and start one if there is none or the last one was lost.

        Concurrent callers wait for the same start.

        Raises:
            ChannelClosed: the fork server could not start.
        """
        if self._is_server_lost():
            await self.close()

        if self._server is None:
            self._server = asyncio.ensure_future(ForkServer.start(self.command, self.variables))

        # If this caller is cancelled, the start has to continue for the others.
        return await asyncio.shield(self._server)

    def _is_server_lost(self) -> bool:
        """Return whether the fork server has failed to start or has ended unexpectedly."""
        if self._server is None or not self._server.done():
            return False

        has_failed_to_start = self._server.exception() is not None
        return has_failed_to_start or self._server.result().is_closed


def _leaves_process_intact(outcome: ExecutionOutcome) -> bool:
    """Return whether a process can run further tasks after this outcome."""
    if isinstance(outcome, TaskFailed):
        return outcome.code not in _SERIOUS_FAILURES
    return isinstance(outcome, TaskSucceeded)
