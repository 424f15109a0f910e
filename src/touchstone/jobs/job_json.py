"""The JSON of jobs and their events in the HTTP API, with sentences in the caller's language."""

from collections.abc import Sequence
from typing import Any

import msgspec

from touchstone.jobs.job_records import (
    ArtifactRecord,
    JobEventRecord,
    JobFailure,
    JobProgress,
    JobRecord,
    JobSummaryRecord,
    Json,
)
from touchstone.jobs.job_states import FINAL_STATES, JobState
from touchstone.jobs.progress_store import PROGRESS_EVENT
from touchstone.messages import MESSAGES, job_error_text
from touchstone.messages.locales import in_language
from touchstone.messages.progress import PROGRESS


def job_json(job: JobRecord, artifacts: Sequence[ArtifactRecord], locale: str) -> Json:
    """Return the JSON of a job with its result."""
    return {**job_summary_json(job, artifacts, locale), "result": job.result}


def job_summary_json(job: JobSummaryRecord, artifacts: Sequence[ArtifactRecord], locale: str) -> Json:
    """Return the JSON of a job without its result, for lists of jobs."""
    return {
        "id": job.id,
        "job_id": job.id,
        "done": job.status in FINAL_STATES,
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
    """Return the JSON of an artifact, without the path of its file."""
    return {
        "name": artifact.name,
        "media_type": artifact.media_type,
        "bytes": artifact.bytes,
        "sha256": artifact.sha256,
    }


def event_json(event: JobEventRecord, locale: str) -> Json:
    """Return the JSON of an event, with the state of the job at that time and, for a progress report, the progress."""
    # Only running jobs report progress. Every other event is named after the state that the job has entered.
    is_progress_report = event.name == PROGRESS_EVENT
    state = JobState.RUNNING if is_progress_report else JobState(event.name)

    data = {
        "job_id": event.job_id,
        "status": state,
        "done": state in FINAL_STATES,
        "attempt": event.attempt,
        "at": event.at,
    }
    if is_progress_report:
        data["progress"] = progress_json(event.data, locale)
    return data


def progress_json(progress: JobProgress | None, locale: str) -> Json | None:
    """Return the JSON of a job's progress, with a sentence in place of the message key."""
    if progress is None:
        return None

    sentences = PROGRESS.get(progress.message)
    message = in_language(sentences, locale) if sentences else progress.phase
    return {**msgspec.structs.asdict(progress), "message": message}


def failure_json(failure: JobFailure | None, locale: str) -> dict[str, Any] | None:
    """Return the JSON of a job's failure, with a sentence that explains it."""
    if failure is None:
        return None

    # The database may contain an unknown code from a later release that was rolled back.
    known_code = failure.code if failure.code in MESSAGES else "work_failed"
    message = job_error_text(known_code, failure.facts, locale)
    return {"code": failure.code, "message": message, "phase": failure.phase}
