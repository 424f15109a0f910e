"""The HTTP schemas of job lists and job responses; those of the requests that start jobs are in `request_schemas`."""

from datetime import datetime
from typing import Annotated, Any, ClassVar, Final, Literal
from uuid import UUID

from pydantic import BaseModel, Field, model_validator

from touchstone.core.errors import ConflictingValues
from touchstone.http.request_models import RequestModel
from touchstone.jobs.kinds import JOB_KIND_NAMES
from touchstone.jobs.request_schemas import UuidText
from touchstone.jobs.states import JobState


class JobQuery(RequestModel):
    """How jobs are listed: `page` or `page_size` asks for the page form, else `skip` and `limit` for a bare array."""

    status: JobState | None = None
    page: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = None
    page_size: Annotated[int, Field(ge=1, le=1000)] | None = None
    skip: Annotated[int, Field(ge=0, le=2**31 - 1)] = 0
    limit: Annotated[int, Field(ge=1, le=1000)] = 100

    DEFAULT_PAGE_SIZE: ClassVar[int] = 12

    @model_validator(mode="before")
    @classmethod
    def _drop_empty_parameters(cls, value: Any) -> Any:
        """Treat an empty parameter as absent."""
        if not isinstance(value, dict):
            return value
        return {name: item for name, item in value.items() if item != "" or name not in cls.model_fields}

    @property
    def is_paged(self) -> bool:
        """Return whether the page form is requested."""
        return self.page is not None or self.page_size is not None

    @property
    def size(self) -> int:
        """Return how many jobs are listed at most."""
        return (self.page_size or self.DEFAULT_PAGE_SIZE) if self.is_paged else self.limit

    @property
    def offset(self) -> int:
        """Return how many jobs are skipped."""
        return ((self.page or 1) - 1) * self.size if self.is_paged else self.skip


class OwnJobQuery(JobQuery):
    """How one's own jobs are listed: all of them, or those of one project."""

    project: UuidText | None = None
    project_id: Annotated[UuidText, Field(description="Another name of `project`.")] | None = None

    def requested_project(self) -> UUID | None:
        """Return the project under either name.

        Raises:
            ConflictingValues: the two names carry different ones.
        """
        projects = {UUID(text) for text in (self.project, self.project_id) if text}
        if len(projects) > 1:
            raise ConflictingValues(at=("query", "project_id"), other="project")
        return next(iter(projects), None)


class ProgressView(BaseModel):
    """How far a job is."""

    percent: float = Field(ge=0, le=100)
    phase: str
    step: int
    total_steps: int
    message: str = Field(description="One sentence in the caller's language.")


class JobErrorView(BaseModel):
    """Why a job failed."""

    code: str = Field(description="Stable key.")
    message: str = Field(description="One sentence in the caller's language.")
    phase: str


class ArtifactView(BaseModel):
    """A file that a job has made."""

    name: str
    media_type: str
    bytes: int
    sha256: str


class InputsView(BaseModel):
    """The data that a job works on."""

    dataset_id: int
    sha256: str
    rows: int
    columns: int


class JobSummary(BaseModel):
    """A job as lists show it."""

    id: UUID
    job_id: UUID
    kind: Literal[JOB_KIND_NAMES]  # type: ignore[valid-type]
    status: JobState
    done: bool
    name: str | None
    attempt: int
    progress: ProgressView | None
    request: dict[str, Any]
    project_id: UUID | None
    parent_job_id: UUID | None = Field(description="For an explanation: the training whose model is explained.")
    inputs: InputsView | None
    error: JobErrorView | None
    artifacts: list[ArtifactView]
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    updated_at: datetime


class JobView(JobSummary):
    """A job whole."""

    result: dict[str, Any] | None


class JobPage(BaseModel):
    """One page of jobs, newest first."""

    jobs: list[JobSummary]
    total_count: int
    page: int
    page_size: int
    total_pages: int


IDEMPOTENCY_KEY: Final = {
    "parameters": [
        {
            "name": "Idempotency-Key",
            "in": "header",
            "description": "The same key and body answer the job that was started first.",
            "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
        }
    ]
}
LAST_EVENT_ID: Final = {
    "parameters": [
        {
            "name": "Last-Event-ID",
            "in": "header",
            "description": "Go on after this event; what is not a number is passed over.",
            "schema": {"type": "string"},
        }
    ]
}
ACCEPTED: Final[dict[int | str, dict[str, Any]]] = {
    202: {
        "description": "Accepted.",
        "headers": {
            "Location": {"description": "Address of the job.", "schema": {"type": "string"}},
            "Retry-After": {"description": "Seconds to wait before asking.", "schema": {"type": "integer"}},
        },
    }
}
