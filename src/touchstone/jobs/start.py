"""Starting a job of any kind: everything that can be checked is checked before the job is queued."""

import asyncio
import contextlib
import hashlib
from typing import NamedTuple
from uuid import UUID

import msgspec
from msgspec.structs import replace

from touchstone.jobs import queue_store, store
from touchstone.jobs.kinds import TRAINING
from touchstone.jobs.records import JobInputs, JobRecord, JobSource, Json, NewJob
from touchstone.jobs.request_context import JobRequestContext
from touchstone.jobs.trained_models import TrainedModel, load_trained_model
from touchstone.learning.requests import JobRequest


class ExplainedTraining(NamedTuple):
    """A training whose model a new job explains."""

    job: JobRecord
    model: TrainedModel


async def start_job(ctx: JobRequestContext, request: JobRequest) -> UUID:
    """Queue a job of the service's kind, or return the job that the same idempotency key has queued before.

    Raises:
        InvalidJobRequest: the request contradicts the table or the model.
        IdempotencyConflict, JobNotFound, JobNotSucceeded, DatasetNotFound, DataFileUnreadable, ProjectNotFound,
            TooManyJobs.
    """
    body: Json = msgspec.to_builtins(request)
    new = NewJob(
        kind=ctx.service.kind.name,
        owner=ctx.caller.id,
        request=body,
        digest=request_digest(body),
        idempotency_key=ctx.idempotency_key(),
        name=request.name,
    )
    existing = await queue_store.find_by_idempotency_key(ctx.database, new)
    if existing is not None:
        return existing

    training = await _load_explained_training(ctx, request)
    new = replace(new, project_id=await _project_of(ctx, request, training))
    new = await _check_data(ctx, new, request, training)

    queued = await queue_store.enqueue(ctx.database, new, waiting_limit=ctx.jobs.settings.jobs_waiting_per_user)
    return queued.id


def request_digest(body: Json) -> str:
    """Return a digest of a request's values that does not depend on the order of its keys."""
    return hashlib.sha256(msgspec.json.encode(body, order="deterministic")).hexdigest()


async def _load_explained_training(ctx: JobRequestContext, request: JobRequest) -> ExplainedTraining | None:
    """Return the training whose model the job explains, if any. Raises JobNotFound or JobNotSucceeded."""
    if request.explained_job_id is None:
        return None
    async with ctx.database.reading() as rows:
        job = await store.load_owned_job(rows, request.explained_job_id, ctx.caller.id, (TRAINING.name,))
        return ExplainedTraining(job, await load_trained_model(rows, job))


async def _project_of(ctx: JobRequestContext, request: JobRequest, training: ExplainedTraining | None) -> UUID | None:
    """Return the project that the job belongs to: the requested one, or that of the explained training.

    Raises:
        ProjectNotFound: the caller has no such project.
    """
    if request.project_id is not None:
        return await ctx.service.selection.require_project(request.project_id, ctx.caller)
    return training.job.project_id if training else None


async def _check_data(
    ctx: JobRequestContext, new: NewJob, request: JobRequest, training: ExplainedTraining | None
) -> NewJob:
    """Run the preflight task on the job's data, and return the job with its dataset, inputs and source.

    Raises:
        DatasetNotFound: the caller may see no such dataset.
        DataFileUnreadable: the dataset's file cannot be opened.
        InvalidJobRequest: the request contradicts the table or the model, or there is nothing to learn from.
    """
    dataset_id = training.job.dataset_id if training else request.dataset_id
    assert dataset_id is not None  # A training has its dataset, and a request without either is invalid.
    dataset = await ctx.service.selection.load_dataset_source(dataset_id, ctx.caller)

    source = JobSource(
        file_path=dataset.file_path,
        file_type=dataset.file_type,
        declared=dataset.declared,
        model_path=training.model.path if training else None,
        model_sha256=training.model.sha256 if training else None,
    )
    with contextlib.ExitStack() as stack:
        files = await asyncio.to_thread(stack.enter_context, ctx.jobs.input_files.open(source))
        facts = await ctx.jobs.synchronous_tasks.run(
            ctx.service.kind.preflight_task, new.request, source=source, files=files
        )

    inputs = msgspec.convert({"dataset_id": dataset.dataset_id, **facts}, JobInputs)
    return replace(
        new,
        dataset_id=dataset.dataset_id,
        inputs=inputs,
        source=replace(source, sha256=inputs.sha256),
        parent_job_id=training.job.id if training else None,
    )
