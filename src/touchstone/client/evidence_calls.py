"""API calls for evidence: the claims about a dataset, and the review of proposals."""

from typing import Any, Unpack
from uuid import UUID

from touchstone.client.call import Call, build_path, read_json, without_none
from touchstone.client.evidence_models import AwaitedDecision, Claim, Decision, Evidence, ProposalPage
from touchstone.client.fields import ClaimDetails
from touchstone.core.evidence import ClaimValue


def get_evidence(dataset_id: int | str | UUID) -> Call[Evidence]:
    """Return all claims about a dataset with their history, and the state of each attribute."""
    return Call("GET", build_path("datasets", dataset_id, "evidence"), read_json(Evidence))


def add_claim(
    dataset_id: int | str | UUID, attribute: str, value: ClaimValue, **details: Unpack[ClaimDetails]
) -> Call[Claim]:
    """Claim that an attribute of a dataset has a value.

    A claim by the creator of the record takes effect at once. A claim by anybody else is a proposal, which takes effect
    when the creator or a curator accepts it.
    """
    body: dict[str, Any] = {"attribute": attribute, "value": value, **without_none(**details)}
    return Call("POST", build_path("datasets", dataset_id, "evidence"), read_json(Claim), json=body)


def review_claim(
    dataset_id: int | str | UUID, claim_id: str | UUID, decision: Decision, *, note: str | None = None
) -> Call[Claim]:
    """Accept, confirm or reject a claim.

    The creator of the record and curators may accept or reject proposals. Only a curator may confirm a claim, and only
    if another user is its author.
    """
    path = build_path("datasets", dataset_id, "evidence", claim_id, "review")
    return Call("POST", path, read_json(Claim), json={"decision": decision, **without_none(note=note)})


def withdraw_claim(dataset_id: int | str | UUID, claim_id: str | UUID) -> Call[Claim]:
    """Withdraw a claim of the caller, or any claim as a curator; it stays in the history."""
    path = build_path("datasets", dataset_id, "evidence", claim_id, "withdraw")
    return Call("POST", path, read_json(Claim))


def page_proposals(
    *, page: int = 1, page_size: int = 12, awaiting: AwaitedDecision | None = None
) -> Call[ProposalPage]:
    """Return one page of the claims that wait for a decision of the caller, the oldest first.

    By default, these are open proposals, which wait for acceptance. With `awaiting="confirmation"`, they are quoted
    claims that no curator has confirmed yet, and the caller must be a curator.
    """
    query = {"page": page, "page_size": page_size, "awaiting": awaiting}
    return Call("GET", build_path("evidence", "proposals"), read_json(ProposalPage), query=query)
