"""Routes that explain a ranking: why one dataset is above another, what would raise it, and how stable its place is."""

from starlette.requests import Request
from starlette.responses import Response

from touchstone.core.evidence import Assurance
from touchstone.http.json_body import parse_json_allowing_infinity
from touchstone.http.responses import JsonResponse
from touchstone.http.routing import strict_router
from touchstone.services.selection.assurance import ASSURANCE_PARAMETERS, merge_assurances, parse_assurance
from touchstone.services.selection.catalog_query import build_query
from touchstone.services.selection.context import DatasetKey, RequestContext
from touchstone.services.selection.datasets.scoring_request import ScoringRequest
from touchstone.services.selection.openapi import describe_operation
from touchstone.services.selection.reasons.answers import answer_comparison, answer_lifts, answer_stability
from touchstone.services.selection.reasons.evaluation import evaluate_in_thread
from touchstone.services.selection.reasons.requests import (
    parse_comparison_request,
    parse_lifts_request,
    parse_stability_request,
)
from touchstone.services.selection.reasons.schemas import ComparisonView, LiftsView, StabilityView

router = strict_router(prefix="/datasets", tags=["reasons"])


@router.post(
    "/compare",
    summary="Why one dataset is above another",
    response_model=ComparisonView,
    openapi_extra=describe_operation(ASSURANCE_PARAMETERS, body="ComparisonRequest"),
)
async def compare_datasets(request: Request) -> Response:
    """Compare two to five datasets criterion by criterion, in the order of the ranking.

    For every pair, the answer names the smallest change of one weight that reverses it.
    """
    ctx = RequestContext(request)
    comparison = parse_comparison_request(parse_json_allowing_infinity(await request.body()))
    assurance = _request_assurance(ctx, comparison.scoring)
    query = build_query(comparison.scoring.filters, ctx.viewer)
    ids = [(await ctx.load_record(key)).id for key in comparison.keys]

    answer = await evaluate_in_thread(
        ctx.catalog, lambda view: answer_comparison(view, query, comparison.scoring, ids, ctx.locale), assurance
    )

    return JsonResponse(answer.model_dump(mode="json"))


@router.post(
    "/stability",
    summary="How stable the first places of a ranking are",
    response_model=StabilityView,
    openapi_extra=describe_operation(ASSURANCE_PARAMETERS, body="StabilityRequest"),
)
async def measure_stability(request: Request) -> Response:
    """Rank by weights that differ a little, at random, and say how often each of the first datasets stays among them.

    The same seed gives the same answer, as long as the catalog does not change.
    """
    ctx = RequestContext(request)
    stability = parse_stability_request(parse_json_allowing_infinity(await request.body()))
    assurance = _request_assurance(ctx, stability.scoring)
    query = build_query(stability.scoring.filters, ctx.viewer)

    answer = await evaluate_in_thread(
        ctx.catalog, lambda view: answer_stability(view, query, stability, ctx.locale), assurance
    )

    return JsonResponse(answer.model_dump(mode="json"))


@router.post(
    "/{dataset_id}/lifts",
    summary="What would raise a dataset",
    response_model=LiftsView,
    openapi_extra=describe_operation(ASSURANCE_PARAMETERS, body="LiftsRequest"),
)
async def find_lifts(request: Request, dataset_id: DatasetKey) -> Response:
    """Return the score and rank that a dataset would have if its attributes were established, one by one and together.

    With `rank` in the body, the answer names the smallest set of attributes that reaches this rank.
    """
    ctx = RequestContext(request)
    record = await ctx.load_record(dataset_id)
    lifts = parse_lifts_request(parse_json_allowing_infinity(await request.body()))
    assurance = _request_assurance(ctx, lifts.scoring)
    query = build_query(lifts.scoring.filters, ctx.viewer)

    answer = await evaluate_in_thread(
        ctx.catalog, lambda view: answer_lifts(view, query, lifts, record.id, ctx.locale), assurance
    )

    return JsonResponse(answer.model_dump(mode="json"))


def _request_assurance(ctx: RequestContext, scoring: ScoringRequest) -> Assurance:
    """Return the assurance that a request gives in its query string, in its body, in both or not at all.

    Raises:
        UnknownName, InvalidValue: the query string does not fit.
        ConflictingValues: the two differ.
    """
    in_query = parse_assurance(ASSURANCE_PARAMETERS.parse_query(ctx.query_string))
    return merge_assurances(in_query, scoring.assurance)
