"""The route of the open proposals, which curators and creators of records decide about."""

from datetime import UTC, datetime

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from touchstone.http.responses import JsonResponse
from touchstone.http.routing import strict_router
from touchstone.services.selection.context import RequestContext
from touchstone.services.selection.evidence.schemas import ProposalPageView, claim_json
from touchstone.services.selection.openapi import describe_operation
from touchstone.services.selection.paging import PAGE_FORM_PARAMETERS, parse_page

router = strict_router(prefix="/evidence", tags=["evidence"])


@router.get(
    "/proposals",
    summary="Open proposals to decide about",
    response_model=ProposalPageView,
    openapi_extra=describe_operation(PAGE_FORM_PARAMETERS),
)
async def list_proposals(request: Request) -> Response:
    """Return a page of the proposals that the caller may decide about, the oldest first.

    A curator gets those about all records that the curator may see, and anybody else those about their own records.
    """
    ctx = RequestContext(request)
    caller = ctx.require_caller()
    window = parse_page(PAGE_FORM_PARAMETERS.parse_query(ctx.query_string))

    page = await ctx.services.evidence.open_proposals(caller, skip=window.skip, limit=window.limit)

    now = datetime.now(UTC)
    proposals = [
        {**claim_json(proposal.claim, page.pseudos, now), "dataset_name": proposal.dataset_name}
        for proposal in page.proposals
    ]
    page_info = window.page_info(page.total_count)
    assert page_info is not None
    return JsonResponse({"proposals": proposals, **msgspec.structs.asdict(page_info)})
