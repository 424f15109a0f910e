"""The records of jobs, their events and their artifacts, as stored in database rows."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, Self
from uuid import UUID

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from touchstone.jobs.job_states import JobState

Json = dict[str, Any]


class JobProgress(Struct, frozen=True, kw_only=True):
    """The progress of a job. `message` is the key of a sentence."""

    percent: float
    phase: str
    step: int
    total_steps: int
    message: str


QUEUED_PROGRESS: Final = JobProgress(percent=0.0, phase="queued", step=0, total_steps=0, message="waiting")
STARTING_PROGRESS: Final = replace(QUEUED_PROGRESS, phase="starting", message="starting")
DONE_PROGRESS: Final = JobProgress(percent=100.0, phase="done", step=1, total_steps=1, message="done")


class JobFailure(Struct, frozen=True, kw_only=True):
    """The reason for the failure of a job, as the key of a sentence and its placeholder values."""

    code: str
    phase: str
    facts: Json = {}


class JobSource(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The files that a worker opens for a job, with the metadata that the job needs.

    Attributes:
        file_path: the path of the data file.
        file_type: the type of the data file, such as `csv`.
        declared: the declared attributes of the dataset, which a result compares with the measured ones.
        dataset: the description of the dataset for the model card.
        project: the description of the project for the model card.
        sha256: the digest of the data file when the job was accepted.
        model_path: the path of the model that an explanation explains.
        model_sha256: the digest of the model file.
    """

    file_path: str | None = None
    file_type: str | None = None
    declared: Json = {}
    dataset: Json = {}
    project: Json = {}
    sha256: str | None = None
    model_path: str | None = None
    model_sha256: str | None = None


class JobInputs(Struct, frozen=True, kw_only=True):
    """A summary of the data that a job works on, for its owner."""

    dataset_id: int
    rows: int
    columns: int
    sha256: str


class NewJob(Struct, frozen=True, kw_only=True):
    """A job to be queued. `digest` identifies its request."""

    kind: str
    owner: UUID
    request: Json
    digest: str
    idempotency_key: str | None = None
    name: str | None = None
    project_id: UUID | None = None
    parent_job_id: UUID | None = None
    dataset_id: int | None = None
    inputs: JobInputs | None = None
    source: JobSource | None = None


class RowRecord(Struct, frozen=True, kw_only=True):
    """The base class of records that are read from a database row."""

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
        """Create a record from a database row, ignoring columns that are not fields of the record."""
        return msgspec.convert(row, cls)


class AttemptId(Struct, frozen=True):
    """The identity of one attempt to execute a job: the job, and the number of the attempt.

    Each worker that claims a job starts a new attempt. Attempts are numbered from 1; 0 means not yet started.
    """

    job_id: UUID
    number: int


class JobSummaryRecord(RowRecord, frozen=True, kw_only=True):
    """A job as it appears in lists, without its result, which may be several megabytes long."""

    id: UUID
    kind: str
    status: JobState
    name: str | None
    attempt: int
    progress: JobProgress | None
    request: Json
    project_id: UUID | None
    parent_job_id: UUID | None
    dataset_id: int | None
    inputs: JobInputs | None
    error: JobFailure | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    updated_at: datetime


class JobRecord(JobSummaryRecord, frozen=True, kw_only=True):
    """A complete job, with its result and the files that its worker opens."""

    result: Any
    source: JobSource | None

    @property
    def attempt_id(self) -> AttemptId:
        """The current attempt to execute the job."""
        return AttemptId(self.id, self.attempt)


class ArtifactRecord(RowRecord, frozen=True, kw_only=True):
    """A stored file of a job. `path` is relative to the artifacts folder."""

    name: str
    media_type: str
    bytes: int
    sha256: str
    path: str


class JobEventRecord(RowRecord, frozen=True, kw_only=True):
    """An event of a job, which is either a new state or progress.

    Attributes:
        name: the name of the new state, or `progress`.
        data: the reported progress, or None for a new state.
    """

    job_id: UUID
    name: str = msgspec.field(name="event")
    attempt: int
    data: JobProgress | None
    at: datetime


class JobFilter(Struct, frozen=True, kw_only=True):
    """The filter for listing the jobs of one owner."""

    owner: UUID
    kinds: tuple[str, ...]
    status: JobState | None = None
    project_id: UUID | None = None
    dataset_id: int | None = None
