"""Claims as the ledger stores them, and as their authors submit them."""

from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

import msgspec
from msgspec import UNSET, UnsetType

from touchstone.core.evidence import ClaimValue, EvidenceLevel
from touchstone.metadata.documents import DocumentSource


class ClaimStatus(StrEnum):
    """The status of a claim. Only active claims affect the attributes of their record."""

    ACTIVE = "active"  # effective until it is rejected, withdrawn or expired
    PROPOSED = "proposed"  # without effect until the creator of the record or a curator accepts it
    REJECTED = "rejected"  # closed by the creator of the record or a curator
    WITHDRAWN = "withdrawn"  # closed by its author or a curator, or because it has expired


OPEN_STATUSES: Final = (ClaimStatus.ACTIVE, ClaimStatus.PROPOSED)


class Decision(StrEnum):
    """The outcome of a review."""

    ACCEPT = "accept"  # a proposal becomes active
    CONFIRM = "confirm"  # a curator has verified the evidence: the claim becomes active, with the level `reviewed`
    REJECT = "reject"  # the claim is closed


class ClaimSource(msgspec.Struct, frozen=True, kw_only=True):
    """The document that a claim was taken from.

    Attributes:
        kind: the kind of document, for example the key of its metadata standard.
        name: the name of the document.
        url: the address of the document, which is shown but never fetched.
        sha256: the SHA-256 digest of its bytes, in hexadecimal.
        original: the document that another catalog had taken the claim from, if this document is its export. Nobody has
            verified it. It is unset in all other sources, so that it does not change their digests.
    """

    kind: str | None = None
    name: str | None = None
    url: str | None = None
    sha256: str | None = None
    original: DocumentSource | UnsetType = UNSET


class ClaimDraft(msgspec.Struct, frozen=True, kw_only=True):
    """A claim to be added to the ledger.

    Attributes:
        attribute: the attribute that the claim is about, one of `CLAIMED_ATTRIBUTES`.
        value: the claimed value, in the type of the attribute, or None with `is_not_applicable`.
        is_not_applicable: whether the claim states that the attribute does not apply to the dataset.
        level: the level of evidence before any review, which is never `reviewed`.
        status: `active`, or `proposed` if the claim has to be accepted first.
        author: the user who makes the claim, or None for the service itself.
        scope: the people whom the claim is about, `subjects` or `annotators`, or None. Claims about annotators are
            never effective.
        quote: the verbatim words that support the claim.
        place: the location of the quote in the source, such as the headings above it.
        standard: the key of the metadata standard of the source.
        field: the field of that standard that the value was taken from.
        note: the rule that derived the value from the quote.
        until: the time when the claim expires, or None.
    """

    attribute: str
    value: ClaimValue = None
    is_not_applicable: bool = False
    level: EvidenceLevel = EvidenceLevel.DECLARED
    status: ClaimStatus = ClaimStatus.ACTIVE
    author: UUID | None = None
    scope: str | None = None
    quote: str | None = None
    place: str | None = None
    source: ClaimSource | None = None
    standard: str | None = None
    field: str | None = None
    note: str | None = None
    until: datetime | None = None


class ClaimReview(msgspec.Struct, frozen=True, kw_only=True):
    """The last decision about a claim."""

    reviewer: UUID
    at: datetime
    decision: Decision
    note: str | None = None


class ClaimRecord(ClaimDraft, frozen=True, kw_only=True):
    """A claim in the ledger. Only its status, its review and `withdrawn_at` can change.

    Attributes:
        id: the id of the claim. The id of a creator's declaration is derived from the record, see `declarations.py`.
        dataset_id: the integer id of the record that the claim is about.
        created_at: the time of the claim.
        withdrawn_at: the time when the claim was withdrawn or expired, or None.
        review: the last decision about the claim, or None.
    """

    id: UUID
    dataset_id: int
    created_at: datetime
    withdrawn_at: datetime | None = None
    review: ClaimReview | None = None

    @property
    def effective_level(self) -> EvidenceLevel:
        """The level of the claim after its review."""
        is_confirmed = self.review is not None and self.review.decision is Decision.CONFIRM
        return EvidenceLevel.REVIEWED if is_confirmed else self.level

    @property
    def has_expired(self) -> bool:
        """Whether the claim was withdrawn because it had expired, not by a user."""
        return self.withdrawn_at is not None and self.withdrawn_at == self.until

    @property
    def has_identified_document(self) -> bool:
        """Whether the claim identifies its document by digest and standard, as imported claims do."""
        return self.standard is not None and self.source is not None and self.source.sha256 is not None

    def is_effective(self, now: datetime) -> bool:
        """Return whether the claim is active, has not expired, and is not about annotators."""
        status, _ = self.status_at(now)
        return status is ClaimStatus.ACTIVE and self.scope != "annotators"

    def status_at(self, now: datetime) -> tuple[ClaimStatus, datetime | None]:
        """Return the status at the given time, and the time of the withdrawal or None if it is not withdrawn.

        An expired claim has the status `withdrawn`, even if its row has not been updated yet.
        """
        if self.status in OPEN_STATUSES and self.until is not None and self.until <= now:
            return ClaimStatus.WITHDRAWN, self.until
        return self.status, self.withdrawn_at
