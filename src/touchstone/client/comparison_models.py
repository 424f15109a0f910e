"""Types of the responses about comparisons of trainings."""

from datetime import datetime
from typing import Any
from uuid import UUID

from msgspec import Struct

from touchstone.client.models import JobFailure, Progress, Status
from touchstone.client.response_parts import Page


class TrainingScore(Struct, frozen=True, kw_only=True):
    """The quality of a trained model by the metric that was used to choose it.

    Attributes:
        low, high: The ends of the 95% confidence interval.
        baseline: The value of the metric for a model that ignores every column.
        beats_baseline: Whether the model is clearly better than the baseline.
    """

    metric: str
    value: float
    low: float | None = None
    high: float | None = None
    baseline: float | None = None
    beats_baseline: bool = False


class TrainingWarning(Struct, frozen=True, kw_only=True):
    """A warning about a training."""

    code: str | None = None
    text: str | None = None


class ComparedTraining(Struct, frozen=True, kw_only=True):
    """A dataset of a comparison with its training, and with its score after the training has succeeded.

    Attributes:
        rank: The rank of the dataset in the project, or None if the request named the dataset.
        place: 1 plus the number of better scores, or None if there is no score or the scores cannot be compared.
        tied_with: The number of other datasets with exactly this score.
        overlaps_best: Whether the difference from the best score may be due to chance.
    """

    dataset_id: int
    dataset_name: str
    rank: int | None = None
    target: str | None = None
    job_id: UUID | None = None
    status: Status | None = None
    done: bool = False
    progress: Progress | None = None
    error: JobFailure | None = None
    rows: int | None = None
    columns: int | None = None
    algorithm: str | None = None
    algorithm_label: str | None = None
    score: TrainingScore | None = None
    place: int | None = None
    tied_with: int = 0
    overlaps_best: bool = False
    warnings: list[TrainingWarning] = []


class LeftOutDataset(Struct, frozen=True, kw_only=True):
    """A dataset of the ranking that could not be used for the requested training, with the reason."""

    dataset_id: int
    dataset_name: str
    code: str
    message: str
    rank: int | None = None
    target: str | None = None


class TrainingComparison(Struct, frozen=True, kw_only=True):
    """A comparison of the results of the same training on several datasets.

    `summary` says which dataset trains best, and how certain this is.
    """

    id: UUID
    status: Status
    done: bool
    created_at: datetime
    summary: str
    datasets: list[ComparedTraining]
    left_out: list[LeftOutDataset] = []
    best_dataset_id: int | None = None
    name: str | None = None
    project_id: UUID | None = None
    request: dict[str, Any] = {}
    finished_at: datetime | None = None


class TrainingComparisonPage(Page, frozen=True, kw_only=True):
    """One page of the caller's comparisons, newest first."""

    comparisons: list[TrainingComparison]
