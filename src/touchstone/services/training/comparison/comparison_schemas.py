"""The HTTP schemas of comparisons. The schema of the request is derived in `jobs/request_schemas.py`."""

from datetime import datetime
from typing import Any, Final
from uuid import UUID

from pydantic import BaseModel, Field

from touchstone.jobs.job_schemas import JobErrorView, ListQuery, ProgressView
from touchstone.jobs.job_states import JobState
from touchstone.jobs.request_schemas import UuidText


class ComparisonQuery(ListQuery):
    """The query parameters of the list of comparisons: all of the caller's, or those of one project."""

    project_id: UuidText | None = None


class ComparedView(BaseModel):
    """A dataset of a comparison."""

    dataset_id: int
    dataset_name: str
    rank: int | None = Field(description="Its position in the ranking of the project; null if it was named.")
    target: str | None = Field(description="The column to predict.")


class ScoreView(BaseModel):
    """The quality of a trained model, by the metric for which it was chosen."""

    metric: str
    value: float
    low: float | None = Field(description="The lower end of the 95 % confidence interval.")
    high: float | None = Field(description="The upper end of the 95 % confidence interval.")
    baseline: float | None = Field(description="The value for a model that ignores every column.")
    beats_baseline: bool = Field(description="Whether the model is clearly better than the baseline.")


class WarningView(BaseModel):
    """A warning about a training."""

    code: str | None = Field(description="Stable key.")
    text: str | None = Field(description="One sentence in the caller's language.")


class ComparedTrainingView(ComparedView):
    """A dataset with its training, and with its score once that has succeeded."""

    job_id: UUID | None = Field(description="The training; null after it was deleted.")
    status: JobState | None = Field(description="The state of the training; null after it was deleted.")
    done: bool
    progress: ProgressView | None
    error: JobErrorView | None
    rows: int | None
    columns: int | None
    algorithm: str | None
    algorithm_label: str | None
    score: ScoreView | None
    place: int | None = Field(description="1 plus the number of better scores; null if they cannot be compared.")
    tied_with: int = Field(ge=0, description="How many other datasets have exactly this score.")
    overlaps_best: bool = Field(description="Whether the difference from the best score may be chance.")
    warnings: list[WarningView]


class LeftOutView(ComparedView):
    """A dataset of the ranking that could not be trained on as requested, with the reason."""

    code: str = Field(description="Stable key of the reason.")
    message: str = Field(description="One sentence in the caller's language.")


class TrainingComparisonView(BaseModel):
    """A comparison: the same training on several datasets, with the results side by side."""

    id: UUID
    name: str | None
    project_id: UUID | None
    status: JobState
    done: bool
    request: dict[str, Any]
    created_at: datetime
    finished_at: datetime | None
    datasets: list[ComparedTrainingView]
    left_out: list[LeftOutView]
    best_dataset_id: int | None = Field(
        description="The dataset with the best score; null if no training has a score yet, if several share it, or if "
        "the scores cannot be compared."
    )
    summary: str = Field(description="Which dataset trains best, and how sure that is, in the caller's language.")


class TrainingComparisonPage(BaseModel):
    """One page of comparisons, newest first."""

    comparisons: list[TrainingComparisonView]
    total_count: int
    page: int
    page_size: int
    total_pages: int


ACCEPTED: Final[dict[int | str, dict[str, Any]]] = {
    202: {
        "description": "The trainings are queued.",
        "headers": {
            "Location": {"description": "Address of the comparison.", "schema": {"type": "string"}},
            "Retry-After": {"description": "Seconds to wait before asking for it.", "schema": {"type": "integer"}},
        },
    }
}
