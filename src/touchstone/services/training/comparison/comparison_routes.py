"""The routes for starting, listing, getting, following, cancelling and deleting comparisons."""

from collections.abc import Mapping
from functools import partial
from typing import Annotated
from uuid import UUID

from fastapi import Query
from starlette.responses import Response, StreamingResponse

from touchstone.http.query_checks import require_single_values
from touchstone.http.responses import JsonResponse
from touchstone.http.routing import strict_router
from touchstone.http.stop_event import stop_event
from touchstone.jobs.comparisons import comparison_store
from touchstone.jobs.comparisons.comparison_records import Comparison
from touchstone.jobs.job_event_stream import HEADERS
from touchstone.jobs.job_responses import list_response
from touchstone.jobs.job_schemas import IDEMPOTENCY_KEY, LAST_EVENT_ID
from touchstone.jobs.job_states import FINAL_STATES
from touchstone.jobs.request_context import Context, JobRequestContext
from touchstone.jobs.request_schemas import ComparisonBody
from touchstone.services.training.comparison.comparison_event_stream import ComparisonEvent, stream_comparison
from touchstone.services.training.comparison.comparison_json import comparison_json
from touchstone.services.training.comparison.comparison_schemas import (
    ACCEPTED,
    ComparisonQuery,
    TrainingComparisonPage,
    TrainingComparisonView,
)
from touchstone.services.training.comparison.comparison_submission import submit_comparison

comparison_router = strict_router(prefix="/compare", tags=["comparisons"])


@comparison_router.post(
    "",
    status_code=202,
    summary="Compare datasets by training on them",
    response_model=TrainingComparisonView,
    responses=ACCEPTED,
    openapi_extra=IDEMPOTENCY_KEY,
)
async def compare(ctx: Context, request: ComparisonBody) -> Response:
    """Train on several datasets in the same way, with one job each: those named, or the first tables of a ranking.

    Everything that can be checked is checked before the first job is queued. Requests with the same `Idempotency-Key`
    start only one comparison.
    """
    comparison_id = await submit_comparison(ctx, request)
    comparison = await _load_comparison(ctx, str(comparison_id))
    headers = {"Location": f"/compare/{comparison_id}", "Retry-After": "1"}
    return _comparison_response(ctx, comparison, status_code=202, headers=headers)


@comparison_router.get(
    "",
    summary="List your comparisons",
    response_model=list[TrainingComparisonView] | TrainingComparisonPage,
    responses={200: {"headers": {"X-Total-Count": {"schema": {"type": "integer"}}}}},
)
async def list_comparisons(ctx: Context, query: Annotated[ComparisonQuery, Query()]) -> Response:
    """List the caller's comparisons, newest first, as an array or, on request, as one page."""
    require_single_values(ctx.request)
    project_id = UUID(query.project_id) if query.project_id else None

    async with ctx.database.reading() as connection:
        total_count = await comparison_store.count_comparisons(connection, ctx.caller.id, project_id)
        comparisons = await comparison_store.list_comparisons(
            connection, ctx.caller.id, project_id, skip=query.offset, limit=query.size
        )
    items = [comparison_json(comparison, ctx.locale) for comparison in comparisons]
    return list_response("comparisons", items, query, total_count)


@comparison_router.get("/{comparison_id}", summary="Get a comparison", response_model=TrainingComparisonView)
async def get_comparison(ctx: Context, comparison_id: str) -> Response:
    """Return one of the caller's comparisons, with the scores of the trainings that have succeeded so far."""
    return _comparison_response(ctx, await _load_comparison(ctx, comparison_id))


@comparison_router.get(
    "/{comparison_id}/events",
    summary="Follow a comparison",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "Events named `comparison`, whose data is the whole comparison as JSON.",
            "content": {"text/event-stream": {"schema": {"type": "string"}}},
        },
        204: {"description": "All trainings have ended, and the client has received the last state."},
    },
    openapi_extra=LAST_EVENT_ID,
)
async def follow_comparison(ctx: Context, comparison_id: str) -> Response:
    """Stream the comparison as a server-sent event whenever it changes, until all trainings have ended."""
    comparison = await _load_comparison(ctx, comparison_id)
    last_event_id = ctx.request.headers.get("last-event-id")

    # A browser reconnects whenever a stream ends, unless the status is 204.
    if comparison.state in FINAL_STATES and last_event_id == ComparisonEvent.from_comparison(comparison, ctx.locale).id:
        return Response(status_code=204)

    stop = stop_event(ctx.request.scope) or ctx.jobs.closing
    reload = partial(_load_comparison, ctx, comparison_id)
    events = stream_comparison(comparison, reload, last_event_id, locale=ctx.locale, stop=stop)
    return StreamingResponse(events, media_type="text/event-stream", headers=HEADERS)


@comparison_router.post("/{comparison_id}/cancel", summary="Cancel a comparison", response_model=TrainingComparisonView)
async def cancel_comparison(ctx: Context, comparison_id: str) -> Response:
    """Cancel all trainings of a comparison that have not ended, and return it."""
    comparison = await _load_comparison(ctx, comparison_id)
    await comparison_store.cancel_comparison(ctx.database, comparison)

    # The dispatcher stops running jobs. Wake it, so that it does not wait for its next tick.
    ctx.jobs.wake()
    return _comparison_response(ctx, await _load_comparison(ctx, comparison_id))


@comparison_router.delete("/{comparison_id}", status_code=204, summary="Delete a comparison that has ended")
async def delete_comparison(ctx: Context, comparison_id: str) -> Response:
    """Delete a comparison whose trainings have ended; the trainings themselves stay."""
    await comparison_store.delete_comparison(ctx.database, await _load_comparison(ctx, comparison_id))
    return Response(status_code=204)


async def _load_comparison(ctx: JobRequestContext, comparison_id: str) -> Comparison:
    """Return one of the caller's comparisons.

    Raises:
        JobNotFound: the caller has no such comparison.
    """
    async with ctx.database.reading() as connection:
        return await comparison_store.load_comparison(connection, comparison_id, ctx.caller.id)


def _comparison_response(
    ctx: JobRequestContext,
    comparison: Comparison,
    *,
    status_code: int = 200,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Return the response with one comparison, which changes by itself, so no cache may store it."""
    all_headers = {"Cache-Control": "no-store", **(headers or {})}
    return JsonResponse(comparison_json(comparison, ctx.locale), status_code=status_code, headers=all_headers)
