"""The submission of comparisons, which checks every training before any of them is queued."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Final
from uuid import UUID

import msgspec
from msgspec.structs import replace

from touchstone.core.errors import DataFileUnreadable, FieldError, InvalidJobRequest
from touchstone.jobs.comparisons.comparison_records import NewComparedDataset, NewComparison, Refusal
from touchstone.jobs.job_records import NewJob
from touchstone.jobs.job_submission import check_against_data, load_project, new_job_from_request, request_digest
from touchstone.jobs.request_context import JobRequestContext
from touchstone.jobs.selection_client import ProjectSource
from touchstone.learning.comparison_request import TrainingComparisonRequest
from touchstone.learning.learning_errors import LearningError
from touchstone.services.training.comparison import comparison_queue_store
from touchstone.services.training.comparison.candidates import (
    Candidate,
    iterate_ranked_tables,
    load_named_datasets,
)

MAX_CHECKED_TABLES: Final = 20  # per ranking, because checking a table requires reading it


async def submit_comparison(ctx: JobRequestContext, request: TrainingComparisonRequest) -> UUID:
    """Check the trainings of a comparison, queue them, and return the id of the comparison.

    A client that repeats a request sends the same idempotency key again. It then receives the id of the comparison
    created by the first request, and nothing else happens.

    Raises:
        InvalidJobRequest: the request contradicts a dataset that it names, or all datasets of the ranking.
        DatasetNotFound, ProjectNotFound: the caller has no access to something that the request names.
        DataFileUnreadable: the file of a dataset that the request names cannot be opened.
        IdempotencyConflict: the idempotency key was used for a different request.
        TooManyJobs: too many jobs of the caller would be queued.
    """
    body = msgspec.to_builtins(request)
    comparison = NewComparison(
        owner=ctx.caller.id,
        request=body,
        digest=request_digest(body),
        idempotency_key=ctx.idempotency_key(),
        name=request.name,
    )

    # A repeated request is not checked again.
    existing_id = await comparison_queue_store.find_id_by_idempotency_key(ctx.database, comparison)
    if existing_id is not None:
        return existing_id

    project = await load_project(ctx, request)
    checker = _ComparisonChecker(ctx, request, project)
    datasets = await (checker.check_named_datasets() if request.dataset_ids else checker.check_ranked_tables())

    # Queue the jobs, and make the dispatcher look for them immediately.
    waiting_limit = ctx.jobs.settings.jobs_waiting_per_user
    comparison_id = await comparison_queue_store.create_comparison(
        ctx.database,
        replace(comparison, project_id=project.id if project else None),
        datasets,
        waiting_limit=waiting_limit,
    )
    ctx.jobs.wake()
    return comparison_id


class _ComparisonChecker:
    """Checks the trainings of a comparison with the data of their datasets."""

    def __init__(
        self, ctx: JobRequestContext, request: TrainingComparisonRequest, project: ProjectSource | None
    ) -> None:
        self._ctx = ctx
        self._request = request
        self._project = project

    async def check_named_datasets(self) -> list[NewComparedDataset]:
        """Return the datasets named by the request, with their trainings.

        Raises:
            DatasetNotFound, DataFileUnreadable: the caller may see no such dataset, or its file cannot be opened.
            InvalidJobRequest: one of the trainings cannot work, or an option has no effect.
        """
        candidates = await load_named_datasets(self._ctx, self._request)
        self._require_effect(candidates)
        datasets = await asyncio.gather(*(self._check_candidate(candidate) for candidate in candidates))

        for position, (candidate, dataset) in enumerate(zip(candidates, datasets, strict=True)):
            if dataset.refusal is not None:
                raise self._invalid_request(candidate, dataset.refusal, fallback=f"dataset_ids.{position}")
        return list(datasets)

    async def check_ranked_tables(self) -> list[NewComparedDataset]:
        """Return the first datasets of the ranking, each with a training or the reason for leaving it out.

        Raises:
            InvalidJobRequest: an option has no effect, or none of the first tables can be trained on. The error then
                explains the problem with the first.
            ProjectNotFound: the caller has no such project.
        """
        assert self._project is not None
        tables = iterate_ranked_tables(self._ctx, self._request, self._project.id)
        all_candidates: list[Candidate] = []
        datasets: list[NewComparedDataset] = []

        # Check as many tables in parallel as are still missing, until there are enough or the ranking has no more.
        missing_count = self._request.dataset_count
        while missing_count > 0 and len(datasets) < MAX_CHECKED_TABLES:
            candidates = await _next_candidates(tables, min(missing_count, MAX_CHECKED_TABLES - len(datasets)))
            if not candidates:
                break
            checked = await asyncio.gather(*(self._check_candidate(candidate) for candidate in candidates))
            all_candidates += candidates
            datasets += checked
            missing_count -= sum(1 for dataset in checked if dataset.training is not None)

        if not all_candidates:
            raise InvalidJobRequest("ranking_without_tables", field="project_id")
        self._require_effect(all_candidates)
        refusal = datasets[0].refusal
        if refusal is not None and all(dataset.training is None for dataset in datasets):
            raise self._invalid_request(all_candidates[0], refusal, fallback="project_id")
        return datasets

    async def _check_candidate(self, candidate: Candidate) -> NewComparedDataset:
        """Return a dataset with its training, or with the reason for leaving it out."""
        source = candidate.source
        dataset = NewComparedDataset(
            dataset_id=source.dataset_id,
            dataset_name=source.name,
            rank=candidate.rank,
            target=candidate.target,
        )
        try:
            training = await self._check_training(candidate)
        except InvalidJobRequest as error:
            return replace(dataset, refusal=_to_refusal(error.field_errors[0]))
        except DataFileUnreadable:
            return replace(dataset, refusal=Refusal(code="file_unreadable"))
        except LearningError as error:
            return replace(dataset, refusal=Refusal(code=error.code, facts=error.facts, field=error.field))
        return replace(dataset, training=training)

    async def _check_training(self, candidate: Candidate) -> NewJob:
        """Check the training on a dataset against the data, and return its job.

        Raises:
            DataFileUnreadable: the file of the dataset can no longer be opened.
            InvalidJobRequest, LearningError: the training cannot work with this dataset.
        """
        source = candidate.source
        if candidate.target is None:
            raise LearningError("target_not_suggested", name=source.name)
        if candidate.rank is not None and source.columns and candidate.target not in source.columns:
            # Many tables of a ranking may lack the column. Avoid reading their files if their columns are known.
            raise LearningError("target_not_found", field="target", name=candidate.target, nearest=None)

        training_request = self._request.training_request(
            source.dataset_id,
            dataset_name=source.name,
            target=candidate.target,
            options=candidate.options,
            excluded_columns=source.excluded_columns,
        )
        new_job = new_job_from_request(self._ctx, training_request)
        return await check_against_data(self._ctx, new_job, dataset=source, project=self._project)

    def _require_effect(self, candidates: Sequence[Candidate]) -> None:
        """Raise `InvalidJobRequest` if the request has a target or an option for a dataset that is not compared."""
        try:
            self._request.require_effect([candidate.keys for candidate in candidates])
        except LearningError as error:
            raise InvalidJobRequest(error.code, field=error.field, facts=error.facts) from error

    def _invalid_request(self, candidate: Candidate, refusal: Refusal, *, fallback: str) -> InvalidJobRequest:
        """Return the error for a dataset that cannot be trained on, which names the dataset and the invalid field.

        Args:
            candidate: the dataset.
            refusal: the reason.
            fallback: the field to name if the reason is the table or the record of the dataset.
        """
        field = self._request.locate(refusal.field, candidate.keys) or fallback
        name = candidate.source.name
        sentence_names_dataset = refusal.facts.get("name") == name
        facts = refusal.facts if sentence_names_dataset else {**refusal.facts, "dataset": name}
        return InvalidJobRequest(refusal.code, field=field, facts=facts)


async def _next_candidates(candidates: AsyncIterator[Candidate], count: int) -> list[Candidate]:
    """Return up to `count` of the next candidates."""
    next_candidates: list[Candidate] = []
    while len(next_candidates) < count:
        candidate = await anext(candidates, None)
        if candidate is None:
            break
        next_candidates.append(candidate)
    return next_candidates


def _to_refusal(error: FieldError) -> Refusal:
    """Convert an error to the reason for leaving out a dataset."""
    _request_part, *path = error.loc
    return Refusal(code=error.kind, facts=dict(error.facts), field=".".join(map(str, path)))
