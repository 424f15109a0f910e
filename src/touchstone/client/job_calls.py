"""API calls for training and explanation jobs."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Unpack
from uuid import UUID

import httpx2

from touchstone.client.call import (
    Call,
    build_path,
    keep_streaming,
    read_bytes,
    read_json,
    read_nothing,
    require_header_text,
)
from touchstone.client.fields import ExplainOptions, TrainOptions
from touchstone.client.models import Job, JobPage, Kind, Status

PATH_SEGMENTS: Final[Mapping[Kind, str]] = {"train": "ml", "explain": "xai"}


def train(
    dataset_id: int | str | UUID, target: str, *, idempotency_key: str | None = None, **options: Unpack[TrainOptions]
) -> Call[Job]:
    """Start a training of models that predict the column `target`.

    Repeated calls with the same `idempotency_key` start only one training.
    """
    body = {"dataset_id": dataset_id, "target": target, **options}
    return Call(
        "POST", build_path("ml", "train"), read_json(Job), json=body, headers=idempotency_header(idempotency_key)
    )


def preview_training(
    dataset_id: int | str | UUID, target: str, **options: Unpack[TrainOptions]
) -> Call[dict[str, Any]]:
    """Check a training without starting it, and return the division of its rows as `split`."""
    body = {"dataset_id": dataset_id, "target": target, **options}
    return Call("POST", build_path("ml", "train", "preview"), read_json(dict[str, Any]), json=body, read_only=True)


def explain(*, idempotency_key: str | None = None, **options: Unpack[ExplainOptions]) -> Call[Job]:
    """Start an explanation of the model of a training, or of a dataset alone.

    Repeated calls with the same `idempotency_key` start only one explanation.
    """
    return Call(
        "POST", build_path("xai", "explain"), read_json(Job), json=options, headers=idempotency_header(idempotency_key)
    )


def get_job(kind: Kind, job_id: str | UUID) -> Call[Job]:
    """Return a job of the caller, with its result once it has succeeded."""
    return Call("GET", job_path(kind, job_id), read_json(Job))


def page_jobs(
    kind: Kind,
    *,
    status: Status | None = None,
    project_id: str | UUID | None = None,
    page: int = 1,
    page_size: int = 12,
) -> Call[JobPage]:
    """Return one page of the trainings or explanations of the caller, newest first."""
    query = {"status": status, "project_id": project_id, "page": page, "page_size": page_size}
    return Call("GET", build_path(PATH_SEGMENTS[kind], "jobs"), read_json(JobPage), query=query)


def page_project_jobs(project_id: str | UUID, *, page: int = 1, page_size: int = 12) -> Call[JobPage]:
    """Return one page of the jobs that were started in a project of the caller, newest first."""
    query = {"page": page, "page_size": page_size}
    return Call("GET", build_path("projects", project_id, "jobs"), read_json(JobPage), query=query)


def cancel_job(kind: Kind, job_id: str | UUID) -> Call[Job]:
    """Cancel a job; a finished job is left unchanged."""
    return Call("POST", job_path(kind, job_id, "cancel"), read_json(Job))


def delete_job(kind: Kind, job_id: str | UUID) -> Call[None]:
    """Delete a finished job and its artifacts."""
    return Call("DELETE", job_path(kind, job_id), read_nothing)


def get_artifact(kind: Kind, job_id: str | UUID, name: str) -> Call[bytes]:
    """Return an artifact of a job as bytes; use `download` for large artifacts."""
    return Call("GET", job_path(kind, job_id, "artifacts", name), read_bytes)


def stream_artifact(kind: Kind, job_id: str | UUID, name: str) -> Call[httpx2.Response]:
    """Open an artifact of a job as a stream."""
    return Call("GET", job_path(kind, job_id, "artifacts", name), keep_streaming, streamed=True)


def follow_job(kind: Kind, job_id: str | UUID, *, after: str | None = None) -> Call[httpx2.Response]:
    """Open the event stream of a job after the event with the id `after`."""
    return Call(
        "GET", job_path(kind, job_id, "events"), keep_streaming, headers=event_stream_headers(after), streamed=True
    )


def event_stream_headers(after: str | None) -> dict[str, str]:
    """Return the headers that request an event stream after the event with the id `after`."""
    headers = {"Accept": "text/event-stream"}
    if after is not None:
        headers["Last-Event-ID"] = after
    return headers


def predict(job_id: str | UUID, rows: Sequence[Mapping[str, Any]]) -> Call[dict[str, Any]]:
    """Predict the target of up to 1000 rows with the model of a training; each row maps columns to values."""
    body = {"rows": rows}
    return Call("POST", job_path("train", job_id, "predict"), read_json(dict[str, Any]), json=body, read_only=True)


def job_path(kind: Kind, job_id: str | UUID, *segments: str) -> str:
    """Return the path of a job, or of a resource below it."""
    return build_path(PATH_SEGMENTS[kind], "jobs", job_id, *segments)


def idempotency_header(idempotency_key: str | None) -> dict[str, str]:
    """Return the header with an idempotency key, or no header if the key is None.

    The service starts at most one job for each key.

    Raises:
        ValueError: the key contains characters that a header cannot carry.
    """
    if idempotency_key is None:
        return {}
    return {"Idempotency-Key": require_header_text(idempotency_key, "idempotency key")}
