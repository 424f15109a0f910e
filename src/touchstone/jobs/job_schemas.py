"""The HTTP schemas of job lists and job responses (for requests, see `request_schemas`)."""

from datetime import datetime
from typing import Annotated, Any, ClassVar, Final, Literal
from uuid import UUID

from pydantic import BaseModel, Field, model_validator

from touchstone.core.errors import ConflictingValues
from touchstone.http.request_models import QueryInteger, RequestModel
from touchstone.jobs.job_kinds import JOB_KIND_NAMES
from touchstone.jobs.job_states import JobState
from touchstone.jobs.request_schemas import UuidText


class ListQuery(RequestModel):
    """The query parameters that choose a part of a list.

    `page` or `page_size` asks for one page with its totals, and otherwise `skip` and `limit` select from a plain array.
    """

    page: Annotated[QueryInteger, Field(ge=1, le=2**31 - 1)] | None = None
    page_size: Annotated[QueryInteger, Field(ge=1, le=1000)] | None = None
    skip: Annotated[QueryInteger, Field(ge=0, le=2**31 - 1)] = 0
    limit: Annotated[QueryInteger, Field(ge=1, le=1000)] = 100

    DEFAULT_PAGE_SIZE: ClassVar[int] = 12

    @model_validator(mode="before")
    @classmethod
    def _drop_empty_parameters(cls, value: Any) -> Any:
        """Remove known parameters with an empty value, but keep unknown ones so that they are rejected."""
        if not isinstance(value, dict):
            return value

        empty_names = {name for name in cls.model_fields if value.get(name) == ""}
        return {name: parameter for name, parameter in value.items() if name not in empty_names}

    @property
    def is_paged(self) -> bool:
        """Whether the query requests a page with its totals instead of a plain array."""
        return self.page is not None or self.page_size is not None

    @property
    def size(self) -> int:
        """The maximum number of items to list."""
        if self.is_paged:
            return self.page_size or self.DEFAULT_PAGE_SIZE
        return self.limit

    @property
    def offset(self) -> int:
        """The number of items to skip before the first listed item."""
        if self.is_paged:
            page = self.page or 1
            return (page - 1) * self.size
        return self.skip


class JobQuery(ListQuery):
    """The query parameters of a list of jobs."""

    status: JobState | None = None


class OwnJobQuery(JobQuery):
    """The query parameters of the list of the caller's jobs: all of them, or those of one project."""

    project: UuidText | None = None
    project_id: Annotated[UuidText, Field(description="Another name of `project`.")] | None = None

    def requested_project(self) -> UUID | None:
        """Return the project given as `project` or `project_id`, or None if the query does not name one.

        Raises:
            ConflictingValues: the two parameters name different projects.
        """
        project = UUID(self.project) if self.project else None
        project_id = UUID(self.project_id) if self.project_id else None

        if project is not None and project_id is not None and project != project_id:
            raise ConflictingValues(at=("query", "project_id"), other="project")
        return project or project_id


class ProgressView(BaseModel):
    """The progress of a job."""

    percent: float = Field(ge=0, le=100)
    phase: str
    step: int
    total_steps: int
    message: str = Field(description="One sentence in the caller's language.")


class JobErrorView(BaseModel):
    """The reason why a job failed."""

    code: str = Field(description="Stable key.")
    message: str = Field(description="One sentence in the caller's language.")
    phase: str


class ArtifactView(BaseModel):
    """A file that a job has produced."""

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
    """A job as lists of jobs contain it: without its result."""

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
    """A complete job, with its result."""

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
            "description": "Repeating a request with the same key and body returns the job that was started first.",
            "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
        }
    ]
}
LAST_EVENT_ID: Final = {
    "parameters": [
        {
            "name": "Last-Event-ID",
            "in": "header",
            "description": "Continue after this event; a value that is not a number is ignored.",
            "schema": {"type": "string"},
        }
    ]
}
ACCEPTED: Final[dict[int | str, dict[str, Any]]] = {
    202: {
        "description": "The job is queued.",
        "headers": {
            "Location": {"description": "Address of the job.", "schema": {"type": "string"}},
            "Retry-After": {"description": "Seconds to wait before asking for the job.", "schema": {"type": "integer"}},
        },
    }
}
