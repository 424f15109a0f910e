"""The calls about trainings and explanations: long work, started and looked at."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Unpack
from uuid import UUID

import httpx2

from touchstone.client.call import Call, build_path, keep_open, read_bytes, read_json, read_nothing, without_none
from touchstone.client.fields import ExplainOptions, TrainOptions
from touchstone.client.models import Job, JobPage, Kind, Status

BACKENDS: Final[Mapping[Kind, str]] = {"train": "ml", "explain": "xai"}


def train(
    dataset_id: int, target: str, *, idempotency_key: str | None = None, **options: Unpack[TrainOptions]
) -> Call[Job]:
    """Start a training that predicts the column `target`; the same `idempotency_key` never starts a second one."""
    body = {"dataset_id": dataset_id, "target": target, **options}
    return Call("POST", build_path("ml", "train"), read_json(Job), json=body, headers=_key(idempotency_key))


def explain(*, idempotency_key: str | None = None, **options: Unpack[ExplainOptions]) -> Call[Job]:
    """Start an explanation of a training job's model, or of a dataset alone."""
    return Call("POST", build_path("xai", "explain"), read_json(Job), json=options, headers=_key(idempotency_key))


def get_job(kind: Kind, job_id: str | UUID) -> Call[Job]:
    """One of one's jobs, with its result when it has succeeded."""
    return Call("GET", job_address(kind, job_id), read_json(Job))


def page_jobs(
    kind: Kind, *, status: Status | None = None, project_id: str | None = None, page: int = 1, page_size: int = 12
) -> Call[JobPage]:
    """One page of one's trainings or explanations, newest first."""
    query = {"status": status, "project_id": project_id, "page": page, "page_size": page_size}
    return Call("GET", build_path(BACKENDS[kind], "jobs"), read_json(JobPage), query=query)


def page_project_jobs(project_id: str | UUID, *, page: int = 1, page_size: int = 12) -> Call[JobPage]:
    """One page of the trainings and explanations that were started in one of one's projects, newest first."""
    query = {"page": page, "page_size": page_size}
    return Call("GET", build_path("projects", project_id, "jobs"), read_json(JobPage), query=query)


def cancel_job(kind: Kind, job_id: str | UUID) -> Call[Job]:
    """Stop a job; a final one stays as it is."""
    return Call("POST", job_address(kind, job_id, "cancel"), read_json(Job))


def delete_job(kind: Kind, job_id: str | UUID) -> Call[None]:
    """Delete a final job with everything that it made."""
    return Call("DELETE", job_address(kind, job_id), read_nothing)


def get_artifact(kind: Kind, job_id: str | UUID, name: str) -> Call[bytes]:
    """A file that a job made, whole; `download` writes a large one to disk."""
    return Call("GET", job_address(kind, job_id, "artifacts", name), read_bytes)


def stream_artifact(kind: Kind, job_id: str | UUID, name: str) -> Call[httpx2.Response]:
    """A file that a job made, piece by piece."""
    return Call("GET", job_address(kind, job_id, "artifacts", name), keep_open, streamed=True)


def follow_job(kind: Kind, job_id: str | UUID, *, after: str | None = None) -> Call[httpx2.Response]:
    """The event stream of a job, from the event after the one with the id `after`."""
    headers = {"Accept": "text/event-stream", **without_none(**{"Last-Event-ID": after})}
    return Call("GET", job_address(kind, job_id, "events"), keep_open, headers=headers, streamed=True)


def predict(job_id: str | UUID, rows: Sequence[Mapping[str, Any]]) -> Call[dict[str, Any]]:
    """What a trained model says about up to 1000 rows, given by column."""
    body = {"rows": rows}
    return Call("POST", job_address("train", job_id, "predict"), read_json(dict[str, Any]), json=body, reading=True)


def job_address(kind: Kind, job_id: str | UUID, *parts: str) -> str:
    """The path of a job, or of something below it."""
    return build_path(BACKENDS[kind], "jobs", job_id, *parts)


def _key(idempotency_key: str | None) -> dict[str, str]:
    return without_none(**{"Idempotency-Key": idempotency_key})
