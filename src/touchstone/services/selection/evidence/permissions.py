"""Permissions to review and to withdraw claims."""

from datetime import UTC, datetime
from uuid import UUID

from touchstone.core.errors import ClaimClosed, OwnClaim, ReviewForbidden, WithdrawalForbidden
from touchstone.core.evidence import EvidenceLevel
from touchstone.core.identity import Caller
from touchstone.services.selection.evidence.claim_records import OPEN_STATUSES, ClaimRecord, ClaimStatus, Decision


def check_may_review(claim: ClaimRecord, decision: Decision, owner: UUID | None, caller: Caller) -> None:
    """Check that a caller may make a decision about a claim.

    A curator may make every decision, except to confirm a claim of their own. The creator of the record (`owner`) may
    accept or reject a proposal, and may reject it after having accepted it, as long as no curator has decided about it.

    Raises:
        ReviewForbidden, OwnClaim: the caller may not make this decision.
        ClaimClosed: the claim is closed, or has been accepted or confirmed already.
    """
    is_confirmation = decision is Decision.CONFIRM
    may_decide_as_creator = owner == caller.id and not is_confirmation
    if not (caller.is_curator or may_decide_as_creator):
        raise ReviewForbidden
    if is_confirmation and claim.author == caller.id:
        raise OwnClaim

    _check_open(claim)
    if decision is Decision.ACCEPT and claim.status is ClaimStatus.ACTIVE:
        raise ClaimClosed
    if is_confirmation and claim.effective_level is EvidenceLevel.REVIEWED:
        raise ClaimClosed
    # Creators who are not curators only decide about proposals, and about claims that they have accepted themselves.
    is_proposal = claim.status is ClaimStatus.PROPOSED
    if not (caller.is_curator or is_proposal or _has_accepted(claim, caller.id)):
        raise ReviewForbidden


def check_may_withdraw(claim: ClaimRecord, caller: Caller) -> None:
    """Check that a caller may withdraw a claim.

    The author of a claim and curators may withdraw it while it is open. Measured claims can only be rejected, because
    the next measurement of the same file would create a withdrawn claim again.

    Raises:
        WithdrawalForbidden: the caller is neither the author nor a curator, or the claim was measured.
        ClaimClosed: the claim is closed.
    """
    is_entitled = caller.is_curator or claim.author == caller.id
    if not is_entitled or claim.level is EvidenceLevel.MEASURED:
        raise WithdrawalForbidden
    _check_open(claim)


def _has_accepted(claim: ClaimRecord, user_id: UUID) -> bool:
    """Return whether a user has accepted a claim, and nobody has decided about it since."""
    review = claim.review
    return review is not None and review.decision is Decision.ACCEPT and review.reviewer == user_id


def _check_open(claim: ClaimRecord) -> None:
    """Check that a claim is open.

    Raises:
        ClaimClosed: the claim was rejected or withdrawn, or has expired.
    """
    status, _ = claim.status_at(datetime.now(UTC))
    if status not in OPEN_STATUSES:
        raise ClaimClosed
