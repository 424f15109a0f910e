"""The route that is specific to the explanation service."""

from starlette.responses import Response

from touchstone.http.routing import strict_router
from touchstone.jobs.job_responses import accepted_response
from touchstone.jobs.job_schemas import ACCEPTED, IDEMPOTENCY_KEY, JobView
from touchstone.jobs.job_submission import submit_job
from touchstone.jobs.request_context import Context
from touchstone.jobs.request_schemas import ExplanationBody

explanation = strict_router(tags=["explanation"])


@explanation.post(
    "/explain",
    status_code=202,
    summary="Start an explanation",
    response_model=JobView,
    responses=ACCEPTED,
    openapi_extra=IDEMPOTENCY_KEY,
)
async def explain(ctx: Context, request: ExplanationBody) -> Response:
    """Start a job that explains the model of a training, or a dataset alone.

    Requests with the same `Idempotency-Key` start only one job.
    """
    job_id = await submit_job(ctx, request)
    return await accepted_response(ctx, job_id)
