"""Executing one attempt at a job: opening its inputs, running its task, and recording the outcome."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from enum import Enum, auto
from typing import Any, Final

import structlog

from touchstone.core.errors import DataFileUnreadable, ModelGone, ServiceError
from touchstone.core.settings import Settings
from touchstone.database.engine import Database
from touchstone.jobs import lease_store, store
from touchstone.jobs.artifact_store import ArtifactStore, BrokenArtifact
from touchstone.jobs.execution.protocol import (
    Executor,
    ProcessDied,
    ResourceLimits,
    TaskFailed,
    TaskOutcome,
    TaskSucceeded,
    WorkItem,
)
from touchstone.jobs.input_files import InputFiles
from touchstone.jobs.records import Claim, JobFailure, JobProgress, JobRecord, JobSource

RETRY_SECONDS: Final = 1.0
MAX_FILE_BYTES: Final = 2 * 2**30
log = structlog.get_logger("touchstone.jobs")


class StopReason(Enum):
    """Why an attempt is stopped before its task has finished."""

    CANCELLED = auto()  # by the job's owner
    LEASE_LOST = auto()  # another process may hold the job now
    SHUTDOWN = auto()  # this process stops


class Attempt:
    """An attempt at a job that this process is executing."""

    def __init__(self, job: JobRecord) -> None:
        self.job = job
        self.claim = job.claim
        self.stop_reason: asyncio.Future[StopReason] = asyncio.get_running_loop().create_future()
        self.phase = "starting"
        self._unrecorded_progress: JobProgress | None = None

    def note_progress(self, progress: JobProgress) -> None:
        """Remember the latest progress until it is recorded."""
        self.phase = progress.phase
        self._unrecorded_progress = progress

    def take_progress(self) -> JobProgress | None:
        """Return the progress that is not recorded yet, and forget it."""
        progress, self._unrecorded_progress = self._unrecorded_progress, None
        return progress

    def stop(self, reason: StopReason) -> None:
        """Stop the attempt; the first reason counts."""
        if not self.stop_reason.done():
            self.stop_reason.set_result(reason)


class AttemptRunner:
    """Executes attempts and records how they end."""

    def __init__(
        self, database: Database, executor: Executor, artifact_store: ArtifactStore, settings: Settings
    ) -> None:
        self.executor = executor
        self.is_closing = False
        self._database = database
        self._artifact_store = artifact_store
        self._input_files = InputFiles(settings, artifact_store)
        self._settings = settings

    async def run(self, attempt: Attempt) -> None:
        """Execute an attempt until its task has finished or it is stopped, and record the outcome."""
        task = asyncio.ensure_future(self._run_task(attempt))
        try:
            first: list[asyncio.Future[Any]] = [task, attempt.stop_reason]
            await asyncio.wait(first, return_when=asyncio.FIRST_COMPLETED)
            task.cancel()
            await asyncio.wait({task})  # until its process is gone

            if task.cancelled():
                await self._retry(lambda: self._record_stop(attempt.claim, attempt.stop_reason.result()))
            else:
                await self._record_outcome(attempt, task.result())
        except Exception:
            log.exception(
                "the outcome of a job could not be recorded; its lease will expire", job_id=str(attempt.job.id)
            )

    async def _run_task(self, attempt: Attempt) -> TaskOutcome:
        source = attempt.job.source or JobSource()
        try:
            with self._input_files.open(source) as files:
                scratch = await self._artifact_store.create_scratch(attempt.claim)
                item = WorkItem(
                    name=f"job-{attempt.job.id}",
                    task=attempt.job.kind,
                    request=attempt.job.request,
                    source=source,
                    files=tuple(files),
                    scratch=str(scratch),
                    limits=self._limits(),
                )
                return await self.executor.run(
                    item, list(files.values()), listener=attempt.note_progress, seconds=self._settings.job_seconds
                )
        except (DataFileUnreadable, ModelGone) as error:
            return TaskFailed(code=error.code, phase="reading")
        except OSError as error:
            return TaskFailed(code="storage_failed", phase="starting", detail=repr(error))

    def _limits(self) -> ResourceLimits:
        return ResourceLimits(
            memory_bytes=self._settings.job_memory_bytes,
            file_bytes=MAX_FILE_BYTES,
            cpu_seconds=self._settings.job_seconds * (os.cpu_count() or 1),
        )

    async def _record_stop(self, claim: Claim, reason: StopReason) -> None:
        if reason is StopReason.CANCELLED:
            await store.finish_cancelling(self._database, claim)
        elif reason is StopReason.SHUTDOWN:
            await lease_store.requeue_stopped(self._database, claim)
        await self._artifact_store.remove_scratch(claim)

    async def _record_outcome(self, attempt: Attempt, outcome: TaskOutcome) -> None:
        claim = attempt.claim
        progress = attempt.take_progress()
        if progress is not None:
            await self._retry(lambda: store.record_progress(self._database, {claim: progress}))

        if isinstance(outcome, TaskSucceeded):
            await self._record_success(claim, outcome)
        elif isinstance(outcome, TaskFailed):
            await self._record_failure(claim, outcome)
        else:
            await self._record_death(attempt, outcome)

        # Whatever the outcome, a job that its owner has cancelled meanwhile is cancelled.
        await self._retry(lambda: store.finish_cancelling(self._database, claim))
        await self._artifact_store.remove_scratch(claim)

    async def _record_success(self, claim: Claim, success: TaskSucceeded) -> None:
        try:
            artifacts = await self._artifact_store.publish(claim, success.files)
        except (BrokenArtifact, OSError) as error:
            failure = TaskFailed(code="storage_failed", phase="writing", detail=repr(error))
            await self._record_failure(claim, failure)
            return

        still_held = await self._retry(lambda: store.succeed(self._database, claim, success.result, artifacts))
        if not still_held:
            await self._artifact_store.unpublish(claim)

    async def _record_failure(self, claim: Claim, outcome: TaskFailed) -> None:
        log.info("job failed", job_id=str(claim.id), code=outcome.code, detail=outcome.detail)
        failure = JobFailure(code=outcome.code, phase=outcome.phase, facts=outcome.facts)
        await self._retry(lambda: store.fail(self._database, claim, failure))

    async def _record_death(self, attempt: Attempt, outcome: ProcessDied) -> None:
        log.warning("a worker died", job_id=str(attempt.job.id), status=outcome.status)
        failure = JobFailure(code="worker_died", phase=attempt.phase, facts={"status": outcome.status})
        await self._retry(lambda: lease_store.requeue_lost(self._database, attempt.claim, failure))

    async def _retry(self, write: Callable[[], Awaitable[bool | None]]) -> bool | None:
        """Repeat a write while the database is away or full, so that finished work is not lost."""
        while True:
            try:
                return await write()
            except ServiceError:  # The database has logged it.
                if self.is_closing:
                    raise
                await asyncio.sleep(RETRY_SECONDS)
