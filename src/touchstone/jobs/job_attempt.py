"""The execution of jobs: opening the inputs of a job, running its task, and recording the outcome."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from enum import Enum, auto
from typing import Any, Final, TypeVar

import structlog

from touchstone.core.errors import DataFileUnreadable, ModelGone, ServiceError
from touchstone.core.settings import Settings
from touchstone.database.engine import Database
from touchstone.jobs import lease_store, outcome_store, progress_store
from touchstone.jobs.artifact_files import ArtifactStore, BrokenArtifact
from touchstone.jobs.execution.protocol import (
    ExecutionOutcome,
    Executor,
    ProcessDied,
    ResourceLimits,
    TaskFailed,
    TaskSucceeded,
    WorkItem,
)
from touchstone.jobs.input_files import InputFiles
from touchstone.jobs.job_records import AttemptId, JobFailure, JobProgress, JobRecord, JobSource

RETRY_SECONDS: Final = 1.0
MAX_OUTPUT_FILE_BYTES: Final = 2 * 2**30
Result = TypeVar("Result")
log = structlog.get_logger("touchstone.jobs")


class StopReason(Enum):
    """The reasons for stopping an attempt before its task has ended."""

    CANCELLED = auto()  # The owner has cancelled the job.
    LEASE_LOST = auto()  # The lease has expired, and another process may hold the job now.
    SHUTDOWN = auto()  # This process is shutting down.


class Attempt:
    """An attempt to execute a job in this process."""

    def __init__(self, job: JobRecord) -> None:
        self.job = job
        self.attempt_id = job.attempt_id
        self.stop_reason: asyncio.Future[StopReason] = asyncio.get_running_loop().create_future()
        self.phase = "starting"
        self._unrecorded_progress: JobProgress | None = None

    def update_progress(self, progress: JobProgress) -> None:
        """Store the latest progress until the dispatcher records it."""
        self.phase = progress.phase
        self._unrecorded_progress = progress

    def pop_progress(self) -> JobProgress | None:
        """Return and clear the progress that has not been recorded yet, or return None if there is none."""
        progress = self._unrecorded_progress
        self._unrecorded_progress = None
        return progress

    def stop(self, reason: StopReason) -> None:
        """Request that the attempt stops. If this is called several times, the first reason applies."""
        if not self.stop_reason.done():
            self.stop_reason.set_result(reason)


class AttemptRunner:
    """Executes attempts for the dispatcher and records their outcome.

    Failed writes to the database are repeated until they succeed, unless the process is shutting down.
    """

    def __init__(
        self, database: Database, executor: Executor, artifact_store: ArtifactStore, settings: Settings
    ) -> None:
        self.executor = executor
        self._is_closing = False
        self._database = database
        self._artifact_store = artifact_store
        self._input_files = InputFiles(settings, artifact_store)
        self._settings = settings

    def stop_retrying(self) -> None:
        """Stop repeating failed writes, because the process is about to end."""
        self._is_closing = True

    async def run(self, attempt: Attempt) -> None:
        """Execute an attempt until its task ends or the attempt is stopped, and record the outcome.

        Errors are logged instead of raised. If the outcome of a job cannot be recorded, its lease expires and another
        worker takes the job over.
        """
        try:
            outcome = await self._run_until_stopped(attempt)
            if outcome is not None:
                await self._record_outcome(attempt, outcome)
            else:
                stop_reason = attempt.stop_reason.result()
                await self._retry(lambda: self._record_stop(attempt.attempt_id, stop_reason))
        except Exception:
            job_id = str(attempt.job.id)
            log.exception("the outcome of a job could not be recorded; its lease will expire", job_id=job_id)

    async def _run_until_stopped(self, attempt: Attempt) -> ExecutionOutcome | None:
        """Run the task of an attempt, and return its outcome, or None if the attempt was stopped first.

        In both cases, the process of the task has ended when this returns.
        """
        execution = asyncio.ensure_future(self._run_task(attempt))
        futures: list[asyncio.Future[Any]] = [execution, attempt.stop_reason]
        await asyncio.wait(futures, return_when=asyncio.FIRST_COMPLETED)

        # This has no effect if the task has ended. Otherwise the executor kills its process before it returns.
        execution.cancel()
        await asyncio.wait({execution})
        return None if execution.cancelled() else execution.result()

    async def _run_task(self, attempt: Attempt) -> ExecutionOutcome:
        """Open the input files of an attempt and run its task in a worker process.

        The job fails if a file cannot be opened or the scratch folder cannot be created.
        """
        source = attempt.job.source or JobSource()
        try:
            with self._input_files.open(source) as files_by_role:
                scratch_folder = await self._artifact_store.create_scratch(attempt.attempt_id)
                work_item = WorkItem(
                    name=f"job-{attempt.job.id}",
                    task=attempt.job.kind,
                    request=attempt.job.request,
                    source=source,
                    file_roles=tuple(files_by_role),
                    scratch_folder=str(scratch_folder),
                    limits=self._resource_limits(),
                )
                return await self.executor.run(
                    work_item,
                    list(files_by_role.values()),
                    on_progress=attempt.update_progress,
                    timeout_seconds=self._settings.job_seconds,
                )
        except (DataFileUnreadable, ModelGone) as error:
            return TaskFailed(code=error.code, phase="reading")
        except OSError as error:
            return TaskFailed(code="storage_failed", phase="starting", detail=repr(error))

    def _resource_limits(self) -> ResourceLimits:
        """Return the limits of a job's process, which may use all cores for the maximum duration of a job."""
        core_count = os.cpu_count() or 1
        return ResourceLimits(
            memory_bytes=self._settings.job_memory_bytes,
            file_bytes=MAX_OUTPUT_FILE_BYTES,
            cpu_seconds=self._settings.job_seconds * core_count,
        )

    async def _record_stop(self, attempt_id: AttemptId, reason: StopReason) -> None:
        """Record that an attempt was stopped, and remove its scratch folder.

        After a cancellation, the job becomes cancelled. After a shutdown, it returns to the queue. If the lease was
        lost, another worker may already hold the job, so its row stays unchanged.
        """
        if reason is StopReason.CANCELLED:
            await outcome_store.finish_cancelling(self._database, attempt_id)
        elif reason is StopReason.SHUTDOWN:
            await lease_store.requeue_after_shutdown(self._database, attempt_id)

        await self._artifact_store.remove_scratch(attempt_id)

    async def _record_outcome(self, attempt: Attempt, outcome: ExecutionOutcome) -> None:
        """Record the last progress and the outcome of an attempt, and remove its scratch folder.

        If the owner cancelled the job during the attempt, the outcome is dropped and the job becomes cancelled.
        """
        attempt_id = attempt.attempt_id

        progress = attempt.pop_progress()
        if progress is not None:
            await self._retry(lambda: progress_store.record_progress(self._database, {attempt_id: progress}))

        if isinstance(outcome, TaskSucceeded):
            was_recorded = await self._record_success(attempt_id, outcome)
        elif isinstance(outcome, TaskFailed):
            was_recorded = await self._record_failure(attempt_id, outcome)
        else:
            await self._record_death(attempt, outcome)
            was_recorded = True

        # The outcome is not recorded if the owner has cancelled the job, or if another worker has taken it over.
        if not was_recorded:
            await self._retry(lambda: outcome_store.finish_cancelling(self._database, attempt_id))
        await self._artifact_store.remove_scratch(attempt_id)

    async def _record_success(self, attempt_id: AttemptId, success: TaskSucceeded) -> bool:
        """Publish the output files of an attempt, and record its result.

        If the files cannot be published, the job fails.

        Returns:
            False if the job was cancelled, or taken over by another worker. The files are removed in this case.
        """
        try:
            artifacts = await self._artifact_store.publish(attempt_id, success.files)
        except (BrokenArtifact, OSError) as error:
            failure = TaskFailed(code="storage_failed", phase="writing", detail=repr(error))
            return await self._record_failure(attempt_id, failure)

        was_recorded = await self._retry(
            lambda: outcome_store.record_success(self._database, attempt_id, success.result, artifacts)
        )
        if not was_recorded:
            await self._artifact_store.unpublish(attempt_id)
        return was_recorded

    async def _record_failure(self, attempt_id: AttemptId, outcome: TaskFailed) -> bool:
        """Mark the job as failed. The technical detail is only logged.

        Returns:
            False if the job was cancelled, or taken over by another worker.
        """
        log.info("job failed", job_id=str(attempt_id.job_id), code=outcome.code, detail=outcome.detail)
        failure = JobFailure(code=outcome.code, phase=outcome.phase, facts=outcome.facts)
        return await self._retry(lambda: outcome_store.record_failure(self._database, attempt_id, failure))

    async def _record_death(self, attempt: Attempt, death: ProcessDied) -> None:
        """Return a job to the queue after its process has died, or fail it if that has happened too often."""
        log.warning("a worker died", job_id=str(attempt.job.id), status=death.status)
        failure = JobFailure(code="worker_died", phase=attempt.phase, facts={"status": death.status})
        await self._retry(lambda: lease_store.requeue_after_death(self._database, attempt.attempt_id, failure))

    async def _retry(self, write: Callable[[], Awaitable[Result]]) -> Result:
        """Repeat a write until it succeeds, so that finished work survives an unreachable or full database.

        Raises:
            ServiceError: the write failed while the process is shutting down.
        """
        while True:
            try:
                return await write()
            except ServiceError:
                # The database has logged the error.
                if self._is_closing:
                    raise
                await asyncio.sleep(RETRY_SECONDS)
