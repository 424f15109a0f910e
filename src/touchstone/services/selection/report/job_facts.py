"""The trainings and the explanations of a project, for its report."""

import contextlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import msgspec

from touchstone.core.errors import JobNotFound
from touchstone.core.result_texts import EVALUATION_TEXT_PATHS, texts_at
from touchstone.database.engine import Reader
from touchstone.jobs.job_kinds import EXPLANATION, TRAINING, JobKind
from touchstone.jobs.job_records import ArtifactRecord, JobFilter, JobRecord
from touchstone.jobs.job_states import FINAL_STATES, JobState
from touchstone.jobs.job_store import count_jobs, list_jobs, load_artifacts, load_owned_job
from touchstone.services.selection.datasets.store import visible_datasets_without_metadata
from touchstone.services.selection.projects.store import ProjectRecord

MAX_JOBS: Final = 5
"""The maximum number of trainings and of explanations in a report."""
# Pages show the mitigation in a section of its own, while the report quotes its sentence with the others.
_QUOTED_TEXT_PATHS: Final = (*EVALUATION_TEXT_PATHS, ("mitigation",))
_MEMBERS_WITHOUT_EFFECT: Final = frozenset({"name", "project_id"})
_AUTOMATIC_METHOD: Final = "auto"
_METHOD_FOR_ROWS: Final = "shap"
# The member with the results of a method, in the entry of each column of an explanation.
_MEMBER_BY_METHOD: Final = {"permutation_importance": "importance", "shap": "shap", "partial_dependence": "dependence"}


class ReportedTraining(msgspec.Struct, frozen=True, kw_only=True):
    """A successful training of the project.

    Attributes:
        dataset_name: the name of the dataset, or None if its record has been deleted.
        evaluation: sentences about how the rows were divided and weighted, and about how the model decides, each in
            both languages.
        test_rows: the number of rows in the test set, or None if the result does not contain it.
        folds: the number of folds of a cross-validation, or None if there is only one test set.
        threshold: the probability from which the positive class is predicted, or None if there is none.
        learned_from_all_rows: whether the delivered model has also learned from the test rows, after the evaluation.
        group_columns: the columns of the groups that a mitigation treats alike; empty if there was none.
        group_thresholds: the decision threshold of each group if a mitigation chose them; the group None contains all
            other groups.
        metrics: the value of each metric with its confidence interval.
        baseline: the main metric of a naive model without any learning.
        group_metrics, warnings: as in the result of the job.
        request: what was requested, without the name and the project, which do not influence the result.
        files: the SHA-256 digest of each file of the training, by name.
    """

    job_id: UUID
    name: str | None
    finished_at: datetime | None
    dataset_id: int | None
    dataset_name: str | None
    data_sha256: str | None
    rows: int | None
    target: str
    task: str
    algorithm: str
    evaluation: Sequence[Mapping[str, str]]
    test_rows: int | None
    folds: int | None
    threshold: float | None
    learned_from_all_rows: bool
    group_columns: Sequence[str]
    group_thresholds: Sequence[Any]
    metric: str
    metrics: Mapping[str, Any]
    baseline: float | None
    group_metrics: Sequence[Any]
    warnings: Sequence[Any]
    seed: int | None
    request: Mapping[str, Any]
    files: Mapping[str, str]


class ReportedExplanation(msgspec.Struct, frozen=True, kw_only=True):
    """A successful explanation of the project: its narrative about the model, and its limits, in both languages.

    Statements about single rows are left out, since a row may describe a person.

    Attributes:
        training_id: the training whose model is explained, or None if the explanation is about a table.
        model_sha256: the digest of the file of this model, or None.
        method: the requested method, which may be `auto`.
        methods: the methods that were used.
    """

    job_id: UUID
    training_id: UUID | None
    model_sha256: str | None
    dataset_id: int | None
    data_sha256: str | None
    finished_at: datetime | None
    method: str
    methods: Sequence[str]
    narrative: Mapping[str, str]
    limits: Mapping[str, Sequence[str]]


async def load_trainings(connection: Reader, project: ProjectRecord, subject_id: int | None) -> list[ReportedTraining]:
    """Return the newest successful trainings of a project, and the newest ones on the dataset `subject_id`.

    The result has the names of the datasets that the owner can see.
    """
    jobs = await _load_jobs(connection, project, TRAINING)
    if subject_id is not None:
        known_ids = {job.id for job in jobs}
        jobs_of_subject = await _load_jobs(connection, project, TRAINING, subject_id)
        # Appending keeps the order by age, since the remaining jobs are older than all of the newest ones.
        jobs += [job for job in jobs_of_subject if job.id not in known_ids]

    dataset_ids = sorted({job.dataset_id for job in jobs if job.dataset_id is not None})
    records = await visible_datasets_without_metadata(connection, dataset_ids, project.user_id)
    names = {record.id: str(record.attributes["dataset_name"]) for record in records}
    artifacts = await load_artifacts(connection, [job.id for job in jobs])
    return [_reported_training(job, names, artifacts[job.id]) for job in jobs]


async def count_trainings(connection: Reader, project: ProjectRecord) -> dict[str, int]:
    """Return the number of trainings of a project that have ended, by their state."""
    counts = {}
    for state in sorted(FINAL_STATES):
        filters = JobFilter(owner=project.user_id, kinds=(TRAINING.name,), status=state, project_id=project.id)
        counts[str(state)] = await count_jobs(connection, filters)
    return counts


async def load_explanations(connection: Reader, project: ProjectRecord) -> list[ReportedExplanation]:
    """Return the newest successful explanations of a project."""
    return [_reported_explanation(job) for job in await _load_jobs(connection, project, EXPLANATION)]


async def _load_jobs(
    connection: Reader, project: ProjectRecord, kind: JobKind, dataset_id: int | None = None
) -> list[JobRecord]:
    """Return the newest successful jobs of one kind for a project, with their results.

    If `dataset_id` is given, only jobs on this dataset are returned.
    """
    filters = JobFilter(
        owner=project.user_id,
        kinds=(kind.name,),
        status=JobState.SUCCEEDED,
        project_id=project.id,
        dataset_id=dataset_id,
    )
    summaries = await list_jobs(connection, filters, skip=0, limit=MAX_JOBS)

    jobs = []
    for summary in summaries:
        # The owner may have deleted the job since it was listed.
        with contextlib.suppress(JobNotFound):
            jobs.append(await load_owned_job(connection, str(summary.id), project.user_id, (kind.name,)))
    return jobs


def _reported_training(
    job: JobRecord, dataset_names: Mapping[int, str], artifacts: Sequence[ArtifactRecord]
) -> ReportedTraining:
    """Convert a training job for a report."""
    result: Mapping[str, Any] = job.result
    model = result["model"]
    metrics = result["metrics"]
    split = result.get("split") or {}
    mitigation = result.get("mitigation") or {}
    main_metric = str(metrics["metric"])

    return ReportedTraining(
        job_id=job.id,
        name=job.name,
        finished_at=job.finished_at,
        dataset_id=job.dataset_id,
        dataset_name=None if job.dataset_id is None else dataset_names.get(job.dataset_id),
        data_sha256=job.inputs.sha256 if job.inputs else None,
        rows=job.inputs.rows if job.inputs else None,
        target=str(model["target"]),
        task=str(model["task"]),
        algorithm=str(model["algorithm"]),
        evaluation=texts_at(result, _QUOTED_TEXT_PATHS),
        test_rows=split.get("test_rows"),
        folds=split.get("folds"),
        threshold=(result.get("decision") or {}).get("threshold"),
        learned_from_all_rows=model.get("fitted_on") == "all_rows",
        group_columns=mitigation.get("columns") or [],
        group_thresholds=mitigation.get("thresholds") or [],
        metric=main_metric,
        metrics=metrics.get("holdout") or metrics.get("folds") or {},
        baseline=_central_value(metrics["baseline"].get(main_metric)),
        group_metrics=result["group_metrics"],
        warnings=result["warnings"],
        seed=job.request.get("seed"),
        request={name: value for name, value in job.request.items() if name not in _MEMBERS_WITHOUT_EFFECT},
        files={artifact.name: artifact.sha256 for artifact in artifacts},
    )


def _central_value(estimate: Mapping[str, float | None] | None) -> float | None:
    """Return the value of a metric on a test set, or its mean over the folds of a cross-validation."""
    if estimate is None:
        return None
    return estimate.get("value", estimate.get("mean"))


def _reported_explanation(job: JobRecord) -> ReportedExplanation:
    """Convert an explanation job for a report."""
    result: Mapping[str, Any] = job.result
    return ReportedExplanation(
        job_id=job.id,
        training_id=job.parent_job_id,
        model_sha256=job.source.model_sha256 if job.source else None,
        dataset_id=job.dataset_id,
        data_sha256=job.inputs.sha256 if job.inputs else None,
        finished_at=job.finished_at,
        method=str(result["method"]),
        methods=_used_methods(result),
        narrative={locale: _without_statements_about_rows(text) for locale, text in result["narrative"].items()},
        limits=result["limits"],
    )


def _used_methods(result: Mapping[str, Any]) -> list[str]:
    """Return the methods that an explanation has used: the requested one, or those that the service chose."""
    method = str(result["method"])
    if method != _AUTOMATIC_METHOD:
        return [method]

    methods = [
        name
        for name, member in _MEMBER_BY_METHOD.items()
        if any(column[member] is not None for column in result["global"])
    ]
    if result["local"] and _METHOD_FOR_ROWS not in methods:
        methods.append(_METHOD_FOR_ROWS)
    return methods


def _without_statements_about_rows(narrative: str) -> str:
    """Return the first paragraph of a narrative, since later paragraphs are about single rows."""
    first_paragraph, _, _ = narrative.partition("\n")
    return first_paragraph
