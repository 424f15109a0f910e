"""The JSON of jobs and their events, as the interface defines it, with sentences in the caller's language."""

from collections.abc import Sequence
from typing import Any

import msgspec

from touchstone.jobs.records import (
    ArtifactRecord,
    JobEventRecord,
    JobFailure,
    JobProgress,
    JobRecord,
    JobSummaryRecord,
    Json,
)
from touchstone.jobs.states import FINAL, JobState
from touchstone.jobs.store import PROGRESS_EVENT
from touchstone.messages import MESSAGES, job_error_text
from touchstone.messages.locales import LOCALES
from touchstone.messages.progress import PROGRESS


def job_json(job: JobRecord, artifacts: Sequence[ArtifactRecord], locale: str) -> Json:
    """Return the JSON of a job with its result."""
    return {**job_summary_json(job, artifacts, locale), "result": job.result}


def job_summary_json(job: JobSummaryRecord, artifacts: Sequence[ArtifactRecord], locale: str) -> Json:
    """Return the JSON of a job without its result, as in lists."""
    return {
        "id": job.id,
        "job_id": job.id,
        "done": job.status in FINAL,
        "kind": job.kind,
        "status": job.status,
        "name": job.name,
        "attempt": job.attempt,
        "request": job.request,
        "project_id": job.project_id,
        "parent_job_id": job.parent_job_id,
        "inputs": job.inputs,
        "created_at": job.created_at,
        "started_at": job.started_at,
        "finished_at": job.finished_at,
        "updated_at": job.updated_at,
        "progress": progress_json(job.progress, locale),
        "error": failure_json(job.error, locale),
        "artifacts": [artifact_json(artifact) for artifact in artifacts],
    }


def artifact_json(artifact: ArtifactRecord) -> Json:
    """Return the JSON of an artifact, without its place in the store."""
    return {
        "name": artifact.name,
        "media_type": artifact.media_type,
        "bytes": artifact.bytes,
        "sha256": artifact.sha256,
    }


def event_json(event: JobEventRecord, locale: str) -> Json:
    """Return the data of an event: the state after it, the attempt, and the progress if it reports progress."""
    is_progress = event.event == PROGRESS_EVENT
    status = JobState.RUNNING if is_progress else JobState(event.event)
    data = {
        "job_id": event.job_id,
        "status": status,
        "done": status in FINAL,
        "attempt": event.attempt,
        "at": event.at,
    }
    if is_progress:
        data["progress"] = progress_json(event.data, locale)
    return data


def progress_json(progress: JobProgress | None, locale: str) -> Json | None:
    """Return the JSON of a job's progress, with its sentence."""
    if progress is None:
        return None
    sentences = PROGRESS.get(progress.message)
    message = sentences[LOCALES.index(locale)] if sentences else progress.phase
    return {**msgspec.structs.asdict(progress), "message": message}


def failure_json(failure: JobFailure | None, locale: str) -> dict[str, Any] | None:
    """Return the JSON of a job's failure, with its sentence."""
    if failure is None:
        return None
    # A code that a later release has written gets a general sentence.
    code = failure.code if failure.code in MESSAGES else "work_failed"
    message = job_error_text(code, failure.facts, locale)
    return {"code": failure.code, "message": message, "phase": failure.phase}
