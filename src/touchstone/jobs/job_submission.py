"""The submission of jobs of all kinds, which checks as much as possible before a job is queued."""

import hashlib
from typing import NamedTuple
from uuid import UUID

import msgspec
from msgspec.structs import replace

from touchstone.jobs import job_store, queue_store
from touchstone.jobs.job_kinds import PREVIEW_TASK, TRAINING
from touchstone.jobs.job_records import JobInputs, JobRecord, JobSource, Json, NewJob
from touchstone.jobs.request_context import JobRequestContext
from touchstone.jobs.selection_client import DatasetSource, ProjectSource
from touchstone.jobs.trained_model_store import TrainedModel, load_trained_model
from touchstone.learning.request_definitions import JobRequest, TrainingOptions, TrainingRequest


class ExplainedTraining(NamedTuple):
    """A training whose model a new job explains."""

    job: JobRecord
    model: TrainedModel


async def submit_job(ctx: JobRequestContext, request: JobRequest) -> UUID:
    """Check a request against its data, queue a job for it, and return the id of the job.

    A client that repeats a request sends the same idempotency key again. It then receives the id of the job queued by
    the first request, and nothing else happens.

    Raises:
        InvalidJobRequest: the request contradicts the table or the model.
        DatasetNotFound, ProjectNotFound, JobNotFound: the caller has no access to something in the request.
        DataFileUnreadable: the file of the dataset cannot be opened.
        JobNotSucceeded: the training to be explained has no model.
        IdempotencyConflict: the idempotency key was used for a different request.
        TooManyJobs: too many jobs of the caller are already queued.
    """
    new_job = replace(new_job_from_request(ctx, request), idempotency_key=ctx.idempotency_key())

    # A repeated request is not checked again.
    existing_id = await queue_store.find_by_idempotency_key(ctx.database, new_job)
    if existing_id is not None:
        return existing_id

    # Check everything that the request refers to.
    training = await _load_explained_training(ctx, request)
    project = await load_project(ctx, request)
    dataset = await _load_dataset(ctx, request, training)
    checked_job = await check_against_data(ctx, new_job, dataset=dataset, project=project, training=training)

    # Queue the job, and make the dispatcher look for it immediately.
    waiting_limit = ctx.jobs.settings.jobs_waiting_per_user
    queued_job = await queue_store.enqueue(ctx.database, checked_job, waiting_limit=waiting_limit)
    ctx.jobs.wake()
    return queued_job.id


def new_job_from_request(ctx: JobRequestContext, request: JobRequest) -> NewJob:
    """Create a job from a request, without its project and its data, which have to be checked first."""
    body: Json = msgspec.to_builtins(request)
    return NewJob(
        kind=ctx.service.kind.name,
        owner=ctx.caller.id,
        request=body,
        digest=request_digest(body),
        name=request.name,
    )


def request_digest(body: Json) -> str:
    """Return the SHA-256 digest of a request, regardless of the order of its keys."""
    return hashlib.sha256(msgspec.json.encode(body, order="deterministic")).hexdigest()


async def _load_explained_training(ctx: JobRequestContext, request: JobRequest) -> ExplainedTraining | None:
    """Return the training whose model a request explains, or None if the request contains none.

    Raises:
        JobNotFound: the caller has no such training.
        JobNotSucceeded: the training has no model.
    """
    if request.explained_job_id is None:
        return None

    async with ctx.database.reading() as connection:
        job = await job_store.load_owned_job(connection, request.explained_job_id, ctx.caller.id, (TRAINING.name,))
        model = await load_trained_model(connection, job)
    return ExplainedTraining(job, model)


async def load_project(ctx: JobRequestContext, request: JobRequest | TrainingOptions) -> ProjectSource | None:
    """Return the project of a request, or None if the request contains none.

    Raises:
        ProjectNotFound: the caller has no such project.
    """
    if request.project_id is None:
        return None
    return await ctx.service.selection.load_project(request.project_id, ctx.caller)


async def _load_dataset(
    ctx: JobRequestContext, request: JobRequest, training: ExplainedTraining | None
) -> DatasetSource:
    """Return the dataset of a request, or of the training that it explains.

    Raises:
        DatasetNotFound: the caller may see no such dataset.
        DataFileUnreadable: the dataset has no data file.
    """
    dataset_id = training.job.dataset_id if training else request.dataset_id
    assert dataset_id is not None, "every training has a dataset, and a request has a training or a dataset"
    return await ctx.service.selection.load_dataset_source(dataset_id, ctx.caller)


async def check_against_data(
    ctx: JobRequestContext,
    new_job: NewJob,
    *,
    dataset: DatasetSource,
    project: ProjectSource | None,
    training: ExplainedTraining | None = None,
) -> NewJob:
    """Check that a job can work with its data, and return the job with its inputs and its source.

    The check runs in a worker process, because it reads files that users have uploaded.

    Args:
        ctx: the request context.
        new_job: the job to check.
        dataset: the dataset of the job.
        project: the project of the job, or None to use the project of the explained training.
        training: the training whose model the job explains, if any.

    Raises:
        DataFileUnreadable: the file of the dataset cannot be opened.
        InvalidJobRequest: the request contradicts the table or the model, or there is nothing to learn from.
    """
    source = _job_source(dataset, training)
    table_summary = await _run_check(ctx, ctx.service.kind.preflight_task, new_job.request, source)
    inputs = msgspec.convert({"dataset_id": dataset.dataset_id, **table_summary}, JobInputs)

    # The digest allows the job to detect changes of the data file after this check.
    checked_source = replace(source, sha256=inputs.sha256, project=project.need if project else {})

    project_of_training = training.job.project_id if training else None
    return replace(
        new_job,
        project_id=project.id if project else project_of_training,
        dataset_id=dataset.dataset_id,
        inputs=inputs,
        source=checked_source,
        parent_job_id=training.job.id if training else None,
    )


async def preview_training(ctx: JobRequestContext, request: TrainingRequest) -> Json:
    """Check a training without queueing it, and return the size of its table and the planned split.

    Raises:
        DatasetNotFound: the caller may see no such dataset.
        DataFileUnreadable: the file of the dataset cannot be opened.
        InvalidJobRequest: the request contradicts the table, or there is nothing to learn from.
    """
    dataset = await _load_dataset(ctx, request, None)
    new_job = new_job_from_request(ctx, request)
    return await _run_check(ctx, PREVIEW_TASK, new_job.request, _job_source(dataset, None))


async def _run_check(ctx: JobRequestContext, task: str, request_body: Json, source: JobSource) -> Json:
    """Check a request against its files in a worker process, and return the summary of its table."""
    async with ctx.jobs.input_files.open_in_thread(source) as files_by_role:
        table_summary: Json = await ctx.jobs.synchronous_tasks.run(
            task, request_body, owner=ctx.caller.id, source=source, files_by_role=files_by_role
        )
    return table_summary


def _job_source(dataset: DatasetSource, training: ExplainedTraining | None) -> JobSource:
    """Return the files that a job reads: the data file, and the model of the explained training."""
    return JobSource(
        file_path=dataset.file_path,
        file_type=dataset.file_type,
        declared=dataset.declared,
        dataset=dataset.description,
        model_path=training.model.path if training else None,
        model_sha256=training.model.sha256 if training else None,
    )
