"""What job routes take and answer, as the documents describe it."""

from datetime import datetime
from typing import Annotated, Any, ClassVar, Final, Literal
from uuid import UUID

from pydantic import (
    AfterValidator,
    BaseModel,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from touchstone.core.errors import ConflictingValues
from touchstone.http.request_models import Name, RequestModel, require_clean_text
from touchstone.jobs.states import JobState
from touchstone.learning.requests import MAX_NAMES

Seed = Annotated[int, Field(strict=True, ge=0, le=2**31 - 1)]
ColumnName = Annotated[str, Field(min_length=1, max_length=1_000), AfterValidator(require_clean_text)]
ColumnNames = Annotated[tuple[ColumnName, ...], Field(max_length=MAX_NAMES)]
SensitiveColumns = Annotated[tuple[ColumnName, ...], Field(max_length=20)]


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not -1e300 <= value <= 1e300:
        raise PydanticCustomError("finite_number", "a finite number is expected")
    return value


def _one_error(kind: str, message: str) -> WrapValidator:
    """One refusal for a value of several possible types, instead of one for each type."""

    def check(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
        try:
            return handler(value)
        except ValidationError as problem:
            raise PydanticCustomError(kind, message) from problem

    return WrapValidator(check)


Cell = Annotated[
    Annotated[bool, Field(strict=True)]
    | Annotated[int, Field(strict=True, ge=-(2**63), le=2**63 - 1)]
    | Annotated[float, Field(strict=True, allow_inf_nan=False), AfterValidator(_finite)]
    | Annotated[str, Field(max_length=10_000), AfterValidator(require_clean_text)]
    | None,
    Field(union_mode="left_to_right"),
    _one_error("cell", "a text, a finite number, true, false or null is expected"),
]
CellRow = Annotated[dict[ColumnName, Cell], Field(max_length=MAX_NAMES)]
UuidText = Annotated[
    str,
    Field(pattern=r"^[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$", min_length=36, max_length=36),
    _one_error("uuid_parsing", "a UUID is expected"),
]
DatasetKey = Annotated[
    Annotated[int, Field(strict=True, ge=1, le=2**31 - 1)] | UuidText,
    _one_error("dataset_key", "the number or the UUID of a dataset is expected"),
]
ForeignKey = Annotated[
    str,
    Field(
        min_length=1, max_length=255, description="A UUID; a malformed one is answered like one that does not exist."
    ),
    AfterValidator(require_clean_text),
]
Label = Annotated[Name, Field(description="A name of one's own for the job.")]


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
    def _empty_is_not_given(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return {name: item for name, item in value.items() if item != "" or name not in cls.model_fields}

    @property
    def in_pages(self) -> bool:
        """Whether the page form is asked for."""
        return self.page is not None or self.page_size is not None

    @property
    def window(self) -> tuple[int, int]:
        """How many to pass over, and how many to take."""
        if not self.in_pages:
            return self.skip, self.limit
        size = self.page_size or self.DEFAULT_PAGE_SIZE
        return ((self.page or 1) - 1) * size, size


class OwnJobQuery(JobQuery):
    """How one's own jobs are listed: all of them, or those of one project."""

    project: UuidText | None = None
    project_id: Annotated[UuidText, Field(description="Another name of `project`.")] | None = None

    def wanted_project(self) -> UUID | None:
        """The project under either name.

        Raises:
            ConflictingValues: the two names carry different ones.
        """
        named = {UUID(one) for one in (self.project, self.project_id) if one}
        if len(named) > 1:
            raise ConflictingValues(at=("query", "project_id"), other="project")
        return next(iter(named), None)


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
    kind: Literal["train", "explain"]
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
