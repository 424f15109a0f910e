"""The dispatcher of a process, which claims jobs, renews their leases, and stops them when necessary.

On an orderly shutdown, the process returns its running jobs to the queue immediately. This does not count as a lost
worker, because the limit on lost workers is meant for jobs that crash their worker, not for deployments.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from math import inf
from time import monotonic
from typing import Final
from uuid import uuid4

import structlog

from touchstone.core.errors import ServiceError
from touchstone.core.event_waiting import wait_until_set
from touchstone.core.settings import Settings
from touchstone.database.engine import Database
from touchstone.jobs import lease_store, progress_store, queue_store
from touchstone.jobs.artifact_files import ArtifactStore
from touchstone.jobs.execution.protocol import Executor
from touchstone.jobs.job_attempt import Attempt, AttemptRunner, StopReason
from touchstone.jobs.job_records import AttemptId, JobFailure, JobProgress, JobRecord
from touchstone.jobs.job_states import JobState

TICK_SECONDS: Final = 0.5
WORKER_LOST: Final = JobFailure(code="worker_lost", phase="running")
log = structlog.get_logger("touchstone.jobs")


class _RecurringTask:
    """The schedule of a recurring task, which is due immediately at first and then once per interval."""

    def __init__(self, interval_seconds: float) -> None:
        self._interval_seconds = interval_seconds
        self._started_at = -inf

    def is_due(self) -> bool:
        """Return whether the task is due."""
        return monotonic() - self._started_at >= self._interval_seconds

    def mark_started(self) -> None:
        """Record that the task starts now, and is next due after the interval."""
        self._started_at = monotonic()


class Dispatcher:
    """Claims jobs of the given kinds and executes up to `settings.job_workers` of them at the same time.

    A claimed job is leased. Its worker has to renew the lease regularly, or another worker takes the job over. Two
    loops run concurrently: one claims jobs, and the other supervises the running attempts.
    """

    def __init__(
        self,
        database: Database,
        executor: Executor,
        artifact_store: ArtifactStore,
        *,
        kinds: Sequence[str],
        settings: Settings,
    ) -> None:
        """Prepare a dispatcher, which does nothing until `start` is called."""
        self._database = database
        self._artifact_store = artifact_store
        self._kinds = tuple(kinds)
        self._settings = settings

        # The name of this process as a worker, which is unique even across restarts.
        self._worker = f"{os.uname().nodename}-{os.getpid()}-{uuid4().hex[:8]}"

        # The jobs that this process is executing. Their tasks are referenced here, because asyncio only holds weak
        # references to tasks.
        self._runner = AttemptRunner(database, executor, artifact_store, settings)
        self._running_attempts: dict[AttemptId, Attempt] = {}
        self._attempt_tasks: set[asyncio.Task[None]] = set()

        # Claiming a job and reaping expired jobs exclude each other. A job that was just claimed is not among the
        # running attempts yet, so this process would reap its own job if the lease expired at that time.
        self._claim_lock = asyncio.Lock()

        # The two loops. Setting the event of a loop starts its next step immediately instead of at the next tick.
        self._loops: list[asyncio.Task[None]] = []
        self._claim_wakeup = asyncio.Event()
        self._supervise_wakeup = asyncio.Event()
        self._is_closing = False

        # Renew leases after a third of their duration, so that a single failed renewal does no harm.
        self._lease_renewal = _RecurringTask(settings.job_lease_seconds / 3)
        self._lost_worker_search = _RecurringTask(settings.job_lease_seconds / 2)

    def start(self) -> None:
        """Start the loops that claim and supervise jobs."""
        self._loops = [
            asyncio.ensure_future(self._repeat(self._claim_jobs, self._claim_wakeup)),
            asyncio.ensure_future(self._repeat(self._supervise_attempts, self._supervise_wakeup)),
        ]

    def wake(self) -> None:
        """Look for jobs to claim or cancel now, instead of at the next tick."""
        self._claim_wakeup.set()
        self._supervise_wakeup.set()

    async def close(self) -> None:
        """Stop claiming jobs, return running jobs to the queue, and wait for their processes to end."""
        # Let the loops end after their current step. Cancelling them could interrupt a transaction, which would cost
        # its database connection.
        self._is_closing = True
        self._runner.stop_retrying()
        self.wake()
        await asyncio.gather(*self._loops)

        for attempt in self._running_attempts.values():
            attempt.stop(StopReason.SHUTDOWN)
        await asyncio.gather(*self._attempt_tasks, return_exceptions=True)

    async def _repeat(self, step: Callable[[], Awaitable[None]], wakeup: asyncio.Event) -> None:
        """Call `step` every `TICK_SECONDS`, and whenever `wakeup` is set, until the dispatcher closes.

        A call that raises an exception does not end the loop: `step` is called again at the next tick.
        """
        while not self._is_closing:
            wakeup.clear()
            try:
                await step()
            except ServiceError:
                pass  # The database has logged it.
            except Exception:
                log.exception("a step of the dispatcher failed")

            # Usually `wakeup` is not set, and the wait ends with the next tick.
            await wait_until_set(wakeup, TICK_SECONDS)

    async def _claim_jobs(self) -> None:
        """Claim and start jobs until the queue is empty or this process runs the maximum number of jobs."""
        while len(self._running_attempts) < self._settings.job_workers and not self._is_closing:
            async with self._claim_lock:
                job = await queue_store.claim_next(
                    self._database,
                    self._kinds,
                    worker=self._worker,
                    lease_seconds=self._settings.job_lease_seconds,
                    max_running_per_user=self._settings.jobs_per_user,
                )
                if job is None:
                    return
                self._start_attempt(job)

    def _start_attempt(self, job: JobRecord) -> None:
        """Start executing a job that was just claimed, in a separate asyncio task."""
        attempt = Attempt(job)
        self._running_attempts[attempt.attempt_id] = attempt

        attempt_task = asyncio.ensure_future(self._run_attempt(attempt))
        self._attempt_tasks.add(attempt_task)
        attempt_task.add_done_callback(self._attempt_tasks.discard)

    async def _run_attempt(self, attempt: Attempt) -> None:
        """Execute an attempt, and then look for another job to claim."""
        try:
            await self._runner.run(attempt)
        finally:
            del self._running_attempts[attempt.attempt_id]
            self._claim_wakeup.set()

    async def _supervise_attempts(self) -> None:
        """Record the progress of the running attempts, and stop attempts whose job was cancelled or lost.

        At longer intervals, this also returns the jobs of unresponsive workers to the queue.
        """
        # Copy the attempts before the first query. A job claimed during the query is missing from its result, and must
        # not be mistaken for a lost job.
        attempts = dict(self._running_attempts)

        await self._record_progress(attempts)
        if attempts:
            await self._stop_attempts(attempts)

        if self._lost_worker_search.is_due():
            self._lost_worker_search.mark_started()
            await self._reap_expired_jobs()
            await self._remove_abandoned_scratch_folders()

    async def _record_progress(self, attempts: dict[AttemptId, Attempt]) -> None:
        """Record the progress that the attempts have reported since the last tick."""
        progress_by_attempt: dict[AttemptId, JobProgress] = {}
        for attempt_id, attempt in attempts.items():
            progress = attempt.pop_progress()
            if progress is not None:
                progress_by_attempt[attempt_id] = progress

        if progress_by_attempt:
            await progress_store.record_progress(self._database, progress_by_attempt)

    async def _stop_attempts(self, attempts: dict[AttemptId, Attempt]) -> None:
        """Stop the attempts whose job was cancelled by its owner or taken over by another worker."""
        state_by_attempt = await self._renew_leases_and_load_states()
        for attempt_id, attempt in attempts.items():
            if attempt_id not in state_by_attempt:
                attempt.stop(StopReason.LEASE_LOST)
            elif state_by_attempt[attempt_id] is JobState.CANCELLING:
                attempt.stop(StopReason.CANCELLED)

    async def _renew_leases_and_load_states(self) -> dict[AttemptId, JobState]:
        """Renew the leases of this process if due, and return the states of the jobs that it holds."""
        if not self._lease_renewal.is_due():
            return await lease_store.load_states_held_by(self._database, self._worker)

        job_ids = [attempt_id.job_id for attempt_id in self._running_attempts]
        lease_seconds = self._settings.job_lease_seconds
        state_by_attempt = await lease_store.renew_leases(self._database, self._worker, job_ids, lease_seconds)
        self._lease_renewal.mark_started()
        return state_by_attempt

    async def _reap_expired_jobs(self) -> None:
        """Return the jobs of unresponsive workers to the queue, and wake the claiming loop if there were any."""
        async with self._claim_lock:
            reaped_count = await lease_store.reap_expired(
                self._database, WORKER_LOST, running_attempts=self._running_attempts
            )
        if reaped_count > 0:
            self._claim_wakeup.set()

    async def _remove_abandoned_scratch_folders(self) -> None:
        """Remove the scratch folders of attempts that no process is executing."""
        # List the folders before the query. A job is claimed before its folder is created, so the query finds every
        # listed attempt that is still running.
        abandoned_attempts = set(await self._artifact_store.list_attempts_with_scratch())
        if not abandoned_attempts:
            return

        abandoned_attempts -= await lease_store.load_held_attempts(self._database)
        for attempt_id in abandoned_attempts:
            await self._artifact_store.remove_scratch(attempt_id)
