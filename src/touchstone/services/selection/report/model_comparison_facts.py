"""The newest finished comparison of models of a project, which shows which ranked dataset trains the best model."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

import msgspec

from touchstone.database.engine import Reader
from touchstone.jobs.comparisons import comparison_store
from touchstone.jobs.comparisons.assessment import AssessedDataset, assess
from touchstone.jobs.comparisons.comparison_records import ComparedDatasetRecord, Comparison
from touchstone.jobs.comparisons.summary import summarize
from touchstone.jobs.job_states import JobState
from touchstone.messages import job_error_text
from touchstone.messages.locales import LOCALES
from touchstone.services.selection.projects.store import ProjectRecord

MAX_COMPARISONS: Final = 10
"""The number of the newest comparisons that are searched for a finished one."""


class ReportedModel(msgspec.Struct, frozen=True, kw_only=True):
    """The model that was trained on one of the compared datasets.

    Attributes:
        rank: the rank of the dataset at the start of the comparison, or None if the user named the dataset.
        rows: the number of rows of its table, or None if the training has not succeeded.
        metric, value: the metric of the score, and the score itself, or None if there is no score.
        low, high: the ends of the confidence interval of the score, or None.
        baseline: the score of a naive model without any learning, or None.
        place: 1 plus the number of better scores, or None if the scores cannot be compared.
        tied_with: the number of other datasets with exactly this score.
        overlaps_best: whether chance may explain the difference from the best score.
        warnings: the number of warnings of the training.
    """

    dataset_id: int
    name: str
    rank: int | None
    target: str | None
    rows: int | None
    algorithm: str | None
    metric: str | None
    value: float | None
    low: float | None
    high: float | None
    baseline: float | None
    place: int | None
    tied_with: int
    overlaps_best: bool
    warnings: int


class ReportedOmission(msgspec.Struct, frozen=True, kw_only=True):
    """A ranked dataset that could not be used for training, with the reason in both languages."""

    dataset_id: int
    name: str
    rank: int | None
    reason: Mapping[str, str]


class ReportedModelComparison(msgspec.Struct, frozen=True, kw_only=True):
    """A comparison of the models of several datasets: the measured scores, and a summary in both languages."""

    comparison_id: UUID
    finished_at: datetime | None
    models: Sequence[ReportedModel]
    left_out: Sequence[ReportedOmission]
    best_dataset_id: int | None
    summary: Mapping[str, str]


async def load_model_comparison(connection: Reader, project: ProjectRecord) -> ReportedModelComparison | None:
    """Return the newest finished comparison of models in a project, or None if there is none.

    In a finished comparison, all trainings have ended, at least one of them successfully.
    """
    comparisons = await comparison_store.list_comparisons(
        connection, project.user_id, project.id, skip=0, limit=MAX_COMPARISONS
    )
    for comparison in comparisons:
        if comparison.state is JobState.SUCCEEDED:
            return _reported_comparison(comparison)
    return None


def _reported_comparison(comparison: Comparison) -> ReportedModelComparison:
    """Convert a comparison for a report, with the best model first and models without a place last."""
    assessment = assess(comparison)
    best_first = sorted(assessment.datasets, key=lambda dataset: (dataset.place is None, dataset.place or 0))
    return ReportedModelComparison(
        comparison_id=comparison.record.id,
        finished_at=comparison.finished_at,
        models=[_reported_model(dataset) for dataset in best_first],
        left_out=[_reported_omission(record) for record in comparison.left_out],
        best_dataset_id=assessment.best_dataset_id,
        summary={locale: summarize(comparison, assessment, locale) for locale in LOCALES},
    )


def _reported_model(dataset: AssessedDataset) -> ReportedModel:
    """Convert the model of one dataset for a report."""
    record = dataset.record
    score = dataset.score
    return ReportedModel(
        dataset_id=record.dataset_id,
        name=record.dataset_name,
        rank=record.rank,
        target=record.target,
        rows=record.inputs.rows if record.inputs else None,
        algorithm=record.algorithm,
        metric=score.metric if score else None,
        value=score.value if score else None,
        low=score.low if score else None,
        high=score.high if score else None,
        baseline=score.baseline if score else None,
        place=dataset.place,
        tied_with=dataset.tied_with,
        overlaps_best=dataset.overlaps_best,
        warnings=len(record.warnings or ()),
    )


def _reported_omission(record: ComparedDatasetRecord) -> ReportedOmission:
    """Convert a dataset that was left out of a comparison for a report."""
    refusal = record.refusal
    assert refusal is not None, "datasets are left out only with a refusal"
    return ReportedOmission(
        dataset_id=record.dataset_id,
        name=record.dataset_name,
        rank=record.rank,
        reason={locale: job_error_text(refusal.code, refusal.facts, locale) for locale in LOCALES},
    )
