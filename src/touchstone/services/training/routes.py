"""The routes that are specific to the training service."""

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from touchstone.http.responses import JsonResponse
from touchstone.http.routing import strict_router
from touchstone.jobs.job_kinds import JOB_KIND_NAMES, PREDICT_TASK
from touchstone.jobs.job_records import JobSource
from touchstone.jobs.job_responses import accepted_response, job_list_response
from touchstone.jobs.job_schemas import ACCEPTED, IDEMPOTENCY_KEY, JobPage, JobQuery, JobSummary, JobView
from touchstone.jobs.job_submission import preview_training, submit_job
from touchstone.jobs.request_context import Context
from touchstone.jobs.request_schemas import TrainingBody
from touchstone.jobs.trained_model_store import load_owned_model
from touchstone.services.training.schemas import PredictionRequest, PredictionsView, TrainingPreview

training = strict_router(tags=["training"])


@training.post(
    "/train",
    status_code=202,
    summary="Start a training",
    response_model=JobView,
    responses=ACCEPTED,
    openapi_extra=IDEMPOTENCY_KEY,
)
async def train(ctx: Context, request: TrainingBody) -> Response:
    """Start a training job, after all checks that are possible immediately.

    Requests with the same `Idempotency-Key` start only one job.
    """
    job_id = await submit_job(ctx, request)
    return await accepted_response(ctx, job_id)


@training.post("/train/preview", summary="Preview a training", response_model=TrainingPreview)
async def preview(ctx: Context, request: TrainingBody) -> Response:
    """Check a training without starting it, and say how its rows would be divided.

    The answer names the columns that form groups or order the rows in time, so that one can decide about them first.
    """
    return JsonResponse(await preview_training(ctx, request))


@training.post("/jobs/{job_id}/predict", summary="Predict rows with a trained model", response_model=PredictionsView)
async def predict(ctx: Context, job_id: str, body: PredictionRequest) -> Response:
    """Predict up to 1000 rows, each given as {column: value}, with the model of a finished training."""
    async with ctx.database.reading() as connection:
        model = await load_owned_model(connection, job_id, ctx.caller.id)

    source = JobSource(model_path=model.path, model_sha256=model.sha256)
    request = {"rows": body.rows}
    with ctx.jobs.input_files.open(source) as files_by_role:
        predictions = await ctx.jobs.synchronous_tasks.run(
            PREDICT_TASK, request, owner=ctx.caller.id, source=source, files_by_role=files_by_role
        )

    return JsonResponse(predictions)


@training.get(
    "/projects/{project_id}/jobs",
    summary="List a project's jobs",
    response_model=list[JobSummary] | JobPage,
    responses={200: {"headers": {"X-Total-Count": {"schema": {"type": "integer"}}}}},
)
async def list_project_jobs(ctx: Context, project_id: str, query: Annotated[JobQuery, Query()]) -> Response:
    """Return the trainings and explanations that were started in one of the caller's projects, newest first."""
    project = await ctx.service.selection.load_project(project_id, ctx.caller)
    return await job_list_response(ctx, JOB_KIND_NAMES, query, project.id)
