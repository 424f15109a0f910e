"""The records of comparisons, with the state and the result of each training."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from msgspec import Struct

from touchstone.jobs.job_records import JobFailure, JobInputs, JobProgress, Json, NewJob, RowRecord
from touchstone.jobs.job_states import FINAL_STATES, JobState


class Refusal(Struct, frozen=True, kw_only=True):
    """The reason for leaving out a dataset.

    Attributes:
        code: the key of the sentence that explains the reason.
        facts: the placeholder values of the sentence.
        field: the invalid field in the request for the training, or empty if the table is the reason.
    """

    code: str
    facts: Json = {}
    field: str = ""


class NewComparedDataset(Struct, frozen=True, kw_only=True):
    """A dataset of a new comparison, either with its training or with the reason for leaving it out."""

    dataset_id: int
    dataset_name: str
    rank: int | None = None
    target: str | None = None
    training: NewJob | None = None
    refusal: Refusal | None = None


class NewComparison(Struct, frozen=True, kw_only=True):
    """A new comparison. `digest` identifies its request."""

    owner: UUID
    request: Json
    digest: str
    idempotency_key: str | None = None
    name: str | None = None
    project_id: UUID | None = None


class ComparisonRecord(RowRecord, frozen=True, kw_only=True):
    """A comparison, without its datasets."""

    id: UUID
    name: str | None
    project_id: UUID | None
    request: Json
    created_at: datetime


class ComparedDatasetRecord(RowRecord, frozen=True, kw_only=True):
    """A dataset of a comparison, with the state of its training and the compared parts of the result.

    `status` is None if the dataset was left out or its training was deleted.
    """

    comparison_id: UUID
    dataset_id: int
    dataset_name: str
    rank: int | None
    target: str | None
    refusal: Refusal | None
    job_id: UUID | None
    status: JobState | None
    progress: JobProgress | None
    error: JobFailure | None
    inputs: JobInputs | None
    finished_at: datetime | None
    metrics: Json | None
    algorithm: str | None
    algorithm_label: Json | None
    classes: list[Any] | None
    split_strategy: str | None
    warnings: list[Json] | None

    @property
    def is_done(self) -> bool:
        """Whether the training has ended, was deleted, or never existed."""
        return self.status is None or self.status in FINAL_STATES

    @property
    def is_deleted(self) -> bool:
        """Whether the training was deleted, so that its result is unknown."""
        return self.refusal is None and self.status is None


class Comparison(Struct, frozen=True, kw_only=True):
    """A comparison with its datasets, in the order in which they were named or ranked."""

    record: ComparisonRecord
    datasets: Sequence[ComparedDatasetRecord]

    @property
    def trained(self) -> list[ComparedDatasetRecord]:
        """The datasets with a training, even if it was deleted later."""
        return [dataset for dataset in self.datasets if dataset.refusal is None]

    @property
    def left_out(self) -> list[ComparedDatasetRecord]:
        """The datasets of the ranking that could not be trained on."""
        return [dataset for dataset in self.datasets if dataset.refusal is not None]

    @property
    def state(self) -> JobState:
        """The state of the whole comparison, derived from the states of its trainings.

        It has succeeded once all trainings have ended and at least one of them has succeeded. The result of a deleted
        training is unknown, so the comparison has not failed only because all its trainings were deleted.
        """
        states = {dataset.status for dataset in self.trained if dataset.status is not None}

        for state in (JobState.CANCELLING, JobState.RUNNING):
            if state in states:
                return state

        # If some trainings are queued and others have ended, the comparison is running.
        if JobState.QUEUED in states:
            return JobState.QUEUED if states == {JobState.QUEUED} else JobState.RUNNING

        # All trainings have ended.
        if JobState.SUCCEEDED in states:
            return JobState.SUCCEEDED
        return JobState.FAILED if JobState.FAILED in states else JobState.CANCELLED

    @property
    def finished_at(self) -> datetime | None:
        """The time when the last training ended, or None if the comparison has not ended."""
        if self.state not in FINAL_STATES:
            return None
        return max((dataset.finished_at for dataset in self.datasets if dataset.finished_at), default=None)
