"""Routes of the claims about a dataset."""

from datetime import UTC, datetime
from typing import Annotated
from uuid import UUID

from pydantic import WithJsonSchema
from starlette.requests import Request
from starlette.responses import Response

from touchstone.core.errors import ClaimNotFound
from touchstone.core.identity import parse_uuid
from touchstone.http.responses import JsonResponse
from touchstone.http.routing import strict_router
from touchstone.services.selection.context import DatasetKey, RequestContext
from touchstone.services.selection.evidence.attribute_states import attribute_states
from touchstone.services.selection.evidence.claim_editor import NamedClaim
from touchstone.services.selection.evidence.schemas import (
    AttributeStateView,
    ClaimCreate,
    ClaimView,
    EvidenceView,
    ReviewCreate,
    claim_json,
    claims_json,
)
from touchstone.services.selection.openapi import describe_operation
from touchstone.services.selection.user_name_store import person_json

router = strict_router(prefix="/datasets/{dataset_id}/evidence", tags=["evidence"])
ClaimKey = Annotated[str, WithJsonSchema({"type": "string", "format": "uuid"})]


@router.get("", summary="The claims about a dataset", response_model=EvidenceView)
async def get_evidence(request: Request, dataset_id: DatasetKey) -> Response:
    """Return all claims with their history, the newest first, and the resulting state of each attribute.

    The claims include the declarations of the record's creator.
    """
    ctx = RequestContext(request)
    record = await ctx.load_record(dataset_id)

    evidence = await ctx.services.evidence.read(record.id, ctx.viewer)

    states = attribute_states(evidence.record, evidence.ledger_claims, datetime.now(UTC))
    content = {
        "dataset_id": record.id,
        "declared_by": person_json(evidence.record.owner, evidence.pseudos),
        "claims": claims_json(evidence.claims, evidence.pseudos),
        "attributes": {name: AttributeStateView.from_state(state).model_dump() for name, state in states.items()},
    }
    return JsonResponse(content)


@router.post(
    "",
    status_code=201,
    summary="Add a claim about a dataset",
    response_model=ClaimView,
    openapi_extra=describe_operation(body="ClaimCreate"),
)
async def add_claim(request: Request, dataset_id: DatasetKey) -> Response:
    """Add a claim, which is active at once if the caller created the record, and a proposal otherwise.

    If the caller has made the same claim before and it is still open, that claim is returned.
    """
    ctx = RequestContext(request)
    caller = ctx.require_caller()
    record = await ctx.load_record(dataset_id)
    body = await ctx.body(ClaimCreate)

    claim = await ctx.services.evidence.add(record.id, body.to_draft(), caller)

    return _claim_response(claim, status_code=201)


@router.post(
    "/{claim_id}/review",
    summary="Decide about a claim",
    response_model=ClaimView,
    openapi_extra=describe_operation(body="ReviewCreate"),
)
async def review_claim(request: Request, dataset_id: DatasetKey, claim_id: ClaimKey) -> Response:
    """Accept, confirm or reject a claim.

    Curators may decide about all claims, but not confirm their own. The creator of the record may accept or reject
    proposals.
    """
    ctx = RequestContext(request)
    caller = ctx.require_caller()
    record = await ctx.load_record(dataset_id)
    body = await ctx.body(ReviewCreate)

    claim = await ctx.services.evidence.review(record.id, _parse_claim_id(claim_id), body, caller)

    return _claim_response(claim)


@router.post("/{claim_id}/withdraw", summary="Withdraw a claim", response_model=ClaimView)
async def withdraw_claim(request: Request, dataset_id: DatasetKey, claim_id: ClaimKey) -> Response:
    """Withdraw a claim of the caller, or any claim if the caller is a curator. It remains in the history."""
    ctx = RequestContext(request)
    caller = ctx.require_caller()
    record = await ctx.load_record(dataset_id)

    claim = await ctx.services.evidence.withdraw(record.id, _parse_claim_id(claim_id), caller)

    return _claim_response(claim)


def _claim_response(claim: NamedClaim, *, status_code: int = 200) -> Response:
    """Return a response with one claim."""
    return JsonResponse(claim_json(claim.claim, claim.pseudos, datetime.now(UTC)), status_code=status_code)


def _parse_claim_id(text: str) -> UUID:
    """Parse the id of a claim in a URL path.

    Raises:
        ClaimNotFound: the value is not a UUID.
    """
    claim_id = parse_uuid(text)
    if claim_id is None:
        raise ClaimNotFound
    return claim_id
