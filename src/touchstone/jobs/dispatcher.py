"""The dispatcher: the loop of a process that claims jobs, keeps their leases, and stops them when it must.

When the process stops in good order, it returns its running jobs to the queue at once. This does not count as a lost
attempt: the limit on lost attempts is meant for work that kills its worker, not for deployments.
"""

import asyncio
import contextlib
import os
from collections.abc import Awaitable, Callable, Sequence
from time import monotonic
from typing import Final
from uuid import uuid4

import structlog

from touchstone.core.errors import ServiceError
from touchstone.core.settings import Settings
from touchstone.database.engine import Database
from touchstone.jobs import lease_store, queue_store, store
from touchstone.jobs.artifact_store import ArtifactStore
from touchstone.jobs.attempt import Attempt, AttemptRunner, StopReason
from touchstone.jobs.execution.protocol import Executor
from touchstone.jobs.records import Claim, JobFailure, JobRecord
from touchstone.jobs.states import JobState

TICK_SECONDS: Final = 0.5
WORKER_LOST: Final = JobFailure(code="worker_lost", phase="running")
log = structlog.get_logger("touchstone.jobs")


class Dispatcher:
    """Executes jobs of the given kinds, `settings.job_workers` at once."""

    def __init__(
        self,
        database: Database,
        executor: Executor,
        artifact_store: ArtifactStore,
        *,
        kinds: Sequence[str],
        settings: Settings,
    ) -> None:
        self.worker = f"{os.uname().nodename}-{os.getpid()}-{uuid4().hex[:8]}"
        self.runner = AttemptRunner(database, executor, artifact_store, settings)
        self._database = database
        self._artifact_store = artifact_store
        self._kinds = tuple(kinds)
        self._settings = settings
        self._attempts: dict[Claim, Attempt] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._loops: list[asyncio.Task[None]] = []
        self._claim_soon = asyncio.Event()
        self._supervise_soon = asyncio.Event()
        self._renewed_at = 0.0
        self._reaped_at = 0.0
        self._is_closing = False

    def start(self) -> None:
        """Start claiming and supervising jobs."""
        self._loops = [
            asyncio.ensure_future(self._repeat(self._claim_jobs, self._claim_soon)),
            asyncio.ensure_future(self._repeat(self._supervise, self._supervise_soon)),
        ]

    def wake(self) -> None:
        """Look for jobs to claim and to cancel now, without waiting for the next tick."""
        self._claim_soon.set()
        self._supervise_soon.set()

    async def close(self) -> None:
        """Return the running jobs to the queue, and stop."""
        self._is_closing = True
        self.runner.is_closing = True
        self.wake()
        # The loops end after their current step. Cancelling a transaction half-way would cost its connection.
        await asyncio.gather(*self._loops)

        for attempt in self._attempts.values():
            attempt.stop(StopReason.SHUTDOWN)
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _repeat(self, step: Callable[[], Awaitable[None]], wakeup: asyncio.Event) -> None:
        """Run a step at every tick, or sooner when woken, until the dispatcher closes."""
        while not self._is_closing:
            wakeup.clear()
            try:
                await step()
            except ServiceError:
                pass  # The database has logged it.
            except Exception:
                log.exception("a step of the dispatcher failed")

            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(wakeup.wait(), TICK_SECONDS)

    async def _claim_jobs(self) -> None:
        """Claim jobs while there are some and this process has room for them."""
        while len(self._attempts) < self._settings.job_workers and not self._is_closing:
            job = await queue_store.claim_next(
                self._database,
                self._kinds,
                worker=self.worker,
                lease_seconds=self._settings.job_lease_seconds,
                per_user=self._settings.jobs_per_user,
            )
            if job is None:
                return
            self._start_attempt(job)

    def _start_attempt(self, job: JobRecord) -> None:
        attempt = Attempt(job)
        self._attempts[attempt.claim] = attempt
        task = asyncio.ensure_future(self._run_attempt(attempt))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _run_attempt(self, attempt: Attempt) -> None:
        try:
            await self.runner.run(attempt)
        finally:
            del self._attempts[attempt.claim]
            self._claim_soon.set()

    async def _supervise(self) -> None:
        """Record progress, renew leases, stop attempts that must end, and take over what other workers have lost."""
        # Copied first: a job that is claimed during the queries below is not missing from their answers.
        attempts = dict(self._attempts)

        await self._record_progress(attempts)
        if attempts:
            await self._stop_attempts(attempts)

        if monotonic() - self._reaped_at > self._settings.job_lease_seconds / 2:
            self._reaped_at = monotonic()
            if await lease_store.reap_expired(self._database, WORKER_LOST):
                self._claim_soon.set()
            await self._remove_abandoned_scratch()

    async def _record_progress(self, attempts: dict[Claim, Attempt]) -> None:
        progress = {claim: latest for claim, attempt in attempts.items() if (latest := attempt.take_progress())}
        if progress:
            await store.record_progress(self._database, progress)

    async def _stop_attempts(self, attempts: dict[Claim, Attempt]) -> None:
        """Stop the attempts whose job is being cancelled, or is no longer held by this process."""
        states = await self._held_states()
        for claim, attempt in attempts.items():
            if claim not in states:
                attempt.stop(StopReason.LEASE_LOST)
            elif states[claim] is JobState.CANCELLING:
                attempt.stop(StopReason.CANCELLED)

    async def _held_states(self) -> dict[Claim, JobState]:
        """Return the states of the jobs that this process holds, and renew their leases when it is time."""
        lease_seconds = self._settings.job_lease_seconds
        if monotonic() - self._renewed_at < lease_seconds / 3:
            return await lease_store.held_by(self._database, self.worker)

        job_ids = [claim.id for claim in self._attempts]
        states = await lease_store.renew_leases(self._database, self.worker, job_ids, lease_seconds)
        self._renewed_at = monotonic()
        return states

    async def _remove_abandoned_scratch(self) -> None:
        """Remove the scratch folders of attempts whose dispatcher was lost, here or in another process."""
        # Listed before the query: a folder is created after its job is claimed, so no running attempt is missed.
        abandoned = set(await self._artifact_store.attempts_with_scratch())
        if abandoned:
            abandoned -= await lease_store.held_claims(self._database)
        for claim in abandoned:
            await self._artifact_store.remove_scratch(claim)
