"""The one route of the explanation backend that is not the same for every kind of job."""

from fastapi import Depends
from starlette.requests import Request
from starlette.responses import Response

from touchstone.http.backend_auth import require_caller
from touchstone.http.routing import strict_router
from touchstone.jobs.routes import accepted, desk_of, signed_in
from touchstone.jobs.schemas import ACCEPTED, IDEMPOTENCY_KEY, JobView
from touchstone.jobs.start import idempotency_key, starting_of
from touchstone.services.explanation.schemas import ExplainWanted
from touchstone.services.explanation.starting import start_explanation

explanation = strict_router(tags=["explanation"], dependencies=[Depends(signed_in)])


@explanation.post(
    "/explain",
    status_code=202,
    summary="Start an explanation",
    response_model=JobView,
    responses=ACCEPTED,
    openapi_extra=IDEMPOTENCY_KEY,
)
async def explain(request: Request, wanted: ExplainWanted) -> Response:
    """Of a training's model, or of a dataset alone; an `Idempotency-Key` never starts two."""
    jobs, caller, key = desk_of(request).jobs, require_caller(request.scope), idempotency_key(request)
    job_id = await start_explanation(jobs, starting_of(request), wanted, caller=caller, key=key)
    return await accepted(request, job_id)
