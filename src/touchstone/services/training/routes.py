"""The routes of the training backend that are not the same for every kind of job."""

from typing import Annotated

from fastapi import Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from touchstone.http.backend_auth import require_caller
from touchstone.http.responses import JsonResponse
from touchstone.http.routing import strict_router
from touchstone.jobs import store
from touchstone.jobs.job_inputs import MODEL
from touchstone.jobs.kinds import KINDS, PREDICT, TRAIN
from touchstone.jobs.routes import accepted, desk_of, listed, signed_in
from touchstone.jobs.schemas import ACCEPTED, IDEMPOTENCY_KEY, JobPage, JobQuery, JobSummary, JobView
from touchstone.jobs.start import idempotency_key, starting_of
from touchstone.jobs.trained_models import model_of
from touchstone.services.training.schemas import PredictionsView, PredictWanted, TrainWanted
from touchstone.services.training.starting import start_training

training = strict_router(tags=["training"], dependencies=[Depends(signed_in)])


@training.post(
    "/train",
    status_code=202,
    summary="Start a training",
    response_model=JobView,
    responses=ACCEPTED,
    openapi_extra=IDEMPOTENCY_KEY,
)
async def train(request: Request, wanted: TrainWanted) -> Response:
    """Everything that can be checked is checked before the answer; an `Idempotency-Key` never starts two."""
    jobs, caller = desk_of(request).jobs, require_caller(request.scope)
    job_id = await start_training(jobs, starting_of(request), wanted, caller=caller, key=idempotency_key(request))
    return await accepted(request, job_id)


@training.post("/jobs/{job_id}/predict", summary="Predict rows with a trained model", response_model=PredictionsView)
async def predict(request: Request, job_id: str, wanted: PredictWanted) -> Response:
    """Up to 1000 rows, each as {column: value}."""
    jobs, caller = desk_of(request).jobs, require_caller(request.scope)
    async with jobs.database.reading() as rows:
        source = await model_of(rows, await store.owned(rows, job_id, caller.id, (TRAIN,)))
    with jobs.inputs.opened({"model_path": source["model_path"]}) as files:
        order = {"rows": wanted.model_dump(mode="json")["rows"]}
        return JsonResponse(await jobs.errands.run(PREDICT, order, source=source, files={MODEL: files[MODEL]}))


@training.get(
    "/projects/{project_id}/jobs",
    summary="List a project's jobs",
    response_model=list[JobSummary] | JobPage,
    responses={200: {"headers": {"X-Total-Count": {"schema": {"type": "integer"}}}}},
)
async def list_project_jobs(request: Request, project_id: str, query: Annotated[JobQuery, Query()]) -> Response:
    """Trainings and explanations that were started in one of one's projects, newest first."""
    project = await starting_of(request).project(project_id, require_caller(request.scope))
    return await listed(request, KINDS, query, project)
