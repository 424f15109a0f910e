"""Worker processes that wait for a further task, which finds loaded what earlier ones have loaded.

Such a worker costs memory, and what it has loaded may be damaged by a task that goes wrong. It is therefore ended after
a task that fails without a reason, when no task has come for a while, and when its tasks have taken a minute in all.
"""

import asyncio
from dataclasses import dataclass
from typing import Final

from touchstone.jobs.execution.fork_server_client import WorkerHandle

MAX_IDLE_SECONDS: Final = 300.0
MAX_BUSY_SECONDS: Final = 60.0  # The limit on processor time applies to all tasks of a process together.


@dataclass(frozen=True, slots=True)
class _IdleWorker:
    """A worker that waits, and the timer that ends it."""

    worker: WorkerHandle
    timer: asyncio.TimerHandle


class IdleWorkers:
    """The workers of an executor that wait for a further task."""

    def __init__(self) -> None:
        self._idle_workers: list[_IdleWorker] = []
        self._endings: set[asyncio.Task[None]] = set()

    def take(self) -> WorkerHandle | None:
        """Return the worker that has waited for the shortest time, which waits no longer, or None if there is none."""
        if not self._idle_workers:
            return None

        idle_worker = self._idle_workers.pop()
        idle_worker.timer.cancel()
        return idle_worker.worker

    async def add(self, worker: WorkerHandle) -> None:
        """Let a worker wait for a further task, or end it if its tasks have taken too long in all."""
        if worker.busy_seconds > MAX_BUSY_SECONDS:
            await worker.kill()
            return

        event_loop = asyncio.get_running_loop()
        timer = event_loop.call_later(MAX_IDLE_SECONDS, self._end_unused_worker, worker)
        self._idle_workers.append(_IdleWorker(worker, timer))

    async def close(self) -> None:
        """End all workers that wait."""
        while worker := self.take():
            await worker.kill()
        if self._endings:
            await asyncio.wait(self._endings)

    def _end_unused_worker(self, worker: WorkerHandle) -> None:
        """End a worker that has waited for too long."""
        self._idle_workers = [idle_worker for idle_worker in self._idle_workers if idle_worker.worker is not worker]
        ending = asyncio.ensure_future(worker.kill())
        self._endings.add(ending)
        ending.add_done_callback(self._endings.discard)
