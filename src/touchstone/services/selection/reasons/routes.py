"""Routes that explain a ranking.

They explain why one dataset is above another, how far a dataset would rise if more of its attributes were verified,
and how stable the first places are when the weights change a little.
"""

from starlette.requests import Request
from starlette.responses import Response

from touchstone.http.json_body import parse_json_allowing_infinity
from touchstone.http.responses import JsonResponse
from touchstone.http.routing import strict_router
from touchstone.services.selection.context import DatasetKey, RequestContext
from touchstone.services.selection.datasets.scoring_request import QUESTION_PARAMETERS
from touchstone.services.selection.openapi import describe_operation
from touchstone.services.selection.reasons.answers import answer_comparison, answer_lifts, answer_stability
from touchstone.services.selection.reasons.ranking_in_question import RankingInQuestion, answer_in_thread
from touchstone.services.selection.reasons.requests import (
    check_distinct_datasets,
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
    openapi_extra=describe_operation(QUESTION_PARAMETERS, body="ComparisonRequest"),
)
async def compare_datasets(request: Request) -> Response:
    """Compare two to five datasets criterion by criterion, in the order of the ranking.

    For each pair, the answer contains the smallest change of a single weight that reverses their order.
    """
    ctx = RequestContext(request)
    comparison = parse_comparison_request(parse_json_allowing_infinity(await request.body()))
    ranking = RankingInQuestion.from_request(ctx, comparison.scoring)
    ids = [(await ctx.load_record(key)).id for key in comparison.keys]
    check_distinct_datasets(ids)

    view = ctx.catalog.view.at(ranking.assurance)
    answer = await answer_in_thread(answer_comparison, view, ranking, ids)
    return JsonResponse(answer.model_dump(mode="json"))


@router.post(
    "/stability",
    summary="How stable the first places of a ranking are",
    response_model=StabilityView,
    openapi_extra=describe_operation(QUESTION_PARAMETERS, body="StabilityRequest"),
)
async def measure_stability(request: Request) -> Response:
    """Measure how often each of the first datasets remains among them if the weights change slightly at random.

    The same seed gives the same answer unless the catalog has changed.
    """
    ctx = RequestContext(request)
    stability = parse_stability_request(parse_json_allowing_infinity(await request.body()))
    ranking = RankingInQuestion.from_request(ctx, stability.scoring)

    view = ctx.catalog.view.at(ranking.assurance)
    answer = await answer_in_thread(
        answer_stability, view, ranking, stability.options, includes_unknown_ranks=stability.includes_unknown_ranks
    )
    return JsonResponse(answer.model_dump(mode="json"))


@router.post(
    "/{dataset_id}/lifts",
    summary="How far a dataset would rise if its attributes were established",
    response_model=LiftsView,
    openapi_extra=describe_operation(QUESTION_PARAMETERS, body="LiftsRequest"),
)
async def find_lifts(request: Request, dataset_id: DatasetKey) -> Response:
    """Return the scores and ranks that a dataset would have if its attributes were verified, one by one and together.

    With `rank` in the body, the answer contains the smallest set of attributes that reach this rank.
    """
    ctx = RequestContext(request)
    record = await ctx.load_record(dataset_id)
    lifts = parse_lifts_request(parse_json_allowing_infinity(await request.body()))
    ranking = RankingInQuestion.from_request(ctx, lifts.scoring)

    view = ctx.catalog.view.at(ranking.assurance)
    answer = await answer_in_thread(answer_lifts, view, ranking, record.id, lifts.target_rank)
    return JsonResponse(answer.model_dump(mode="json"))
