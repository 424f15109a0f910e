"""The route that lists the claims that wait for a decision by a curator or by the creator of a record."""

from datetime import UTC, datetime
from typing import Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from touchstone.http.responses import JsonResponse
from touchstone.http.routing import strict_router
from touchstone.services.selection.context import RequestContext
from touchstone.services.selection.evidence.claim_editor import AwaitedDecision
from touchstone.services.selection.evidence.schemas import ProposalPageView, claim_json
from touchstone.services.selection.openapi import describe_operation
from touchstone.services.selection.paging import PAGE, PAGE_SIZE, parse_page
from touchstone.services.selection.parameters import Parameter, ParameterTable, ParameterType

router = strict_router(prefix="/evidence", tags=["evidence"])

_AWAITING: Final = Parameter(
    name="awaiting",
    type=ParameterType.CHOICE,
    description="`acceptance`: open proposals; `confirmation`: active claims with a quote that nobody has confirmed.",
    choices=tuple(decision.value for decision in AwaitedDecision),
    default=AwaitedDecision.ACCEPTANCE.value,
)
QUEUE_PARAMETERS: Final = ParameterTable(_AWAITING, PAGE, PAGE_SIZE)


@router.get(
    "/proposals",
    summary="Claims to decide about",
    response_model=ProposalPageView,
    openapi_extra=describe_operation(QUEUE_PARAMETERS),
)
async def list_proposals(request: Request) -> Response:
    """Return a page of the claims that wait for a decision of the caller, the oldest first.

    Curators get the proposals about all records that are visible to them, and other users get the proposals about their
    own records. With `awaiting=confirmation`, curators get the claims with a quote that they may confirm.
    """
    ctx = RequestContext(request)
    caller = ctx.require_caller()
    values = QUEUE_PARAMETERS.parse_query(ctx.query_string)
    awaited = AwaitedDecision(_AWAITING.text_in(values))
    window = parse_page(values)

    page = await ctx.services.evidence.load_queue(awaited, caller, skip=window.skip, limit=window.limit)

    now = datetime.now(UTC)
    proposals = [
        {**claim_json(queued.claim, page.pseudos, now), "dataset_name": queued.dataset_name} for queued in page.claims
    ]
    page_info = window.page_info(page.total_count)
    assert page_info is not None
    return JsonResponse({"proposals": proposals, **msgspec.structs.asdict(page_info)})
