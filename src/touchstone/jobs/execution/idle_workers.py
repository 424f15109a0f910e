"""Worker processes that wait for another task, which can reuse what earlier tasks have loaded.

An idle worker costs memory, and a crashing task may corrupt its state. Therefore a worker is ended after a serious
failure, after `MAX_IDLE_SECONDS` without a task, and when its tasks have taken more than `MAX_BUSY_SECONDS` in total.
"""

import asyncio
from dataclasses import dataclass
from typing import Final

from touchstone.jobs.execution.fork_server_client import WorkerHandle

MAX_IDLE_SECONDS: Final = 300.0
MAX_BUSY_SECONDS: Final = 60.0  # needed because the limit on processor time applies to all tasks of a process together


@dataclass(frozen=True, slots=True)
class _IdleWorker:
    """An idle worker, and the timer that ends it."""

    worker: WorkerHandle
    timer: asyncio.TimerHandle


class IdleWorkers:
    """The idle workers of an executor."""

    def __init__(self) -> None:
        self._idle_workers: list[_IdleWorker] = []
        self._end_tasks: set[asyncio.Task[None]] = set()

    def pop(self) -> WorkerHandle | None:
        """Remove and return the worker with the shortest idle time, or return None if there is none."""
        if not self._idle_workers:
            return None

        idle_worker = self._idle_workers.pop()
        idle_worker.timer.cancel()
        return idle_worker.worker

    async def add(self, worker: WorkerHandle) -> None:
        """Let a worker wait for another task, or end it if its tasks have taken too long in total."""
        if worker.busy_seconds > MAX_BUSY_SECONDS:
            await worker.kill()
            return

        event_loop = asyncio.get_running_loop()
        timer = event_loop.call_later(MAX_IDLE_SECONDS, self._end_idle_worker, worker)
        self._idle_workers.append(_IdleWorker(worker, timer))

    async def close(self) -> None:
        """End all idle workers."""
        while worker := self.pop():
            await worker.kill()
        if self._end_tasks:
            await asyncio.wait(self._end_tasks)

    def _end_idle_worker(self, worker: WorkerHandle) -> None:
        """End a worker that has been idle for too long."""
        self._idle_workers = [idle_worker for idle_worker in self._idle_workers if idle_worker.worker is not worker]
        end_task = asyncio.ensure_future(worker.kill())
        self._end_tasks.add(end_task)
        end_task.add_done_callback(self._end_tasks.discard)
