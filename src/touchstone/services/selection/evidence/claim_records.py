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
    """The state of a claim; only active claims count."""

    ACTIVE = "active"  # counts until it is rejected, withdrawn or past its date
    PROPOSED = "proposed"  # changes nothing until the creator of the record or a curator accepts it
    REJECTED = "rejected"  # closed by the creator of the record or a curator
    WITHDRAWN = "withdrawn"  # closed by its author or a curator, or because its date has passed


OPEN_STATUSES: Final = (ClaimStatus.ACTIVE, ClaimStatus.PROPOSED)


class Decision(StrEnum):
    """The outcome of a review."""

    ACCEPT = "accept"  # a proposal becomes active
    CONFIRM = "confirm"  # a curator has read the evidence: the claim is active, and its level `reviewed`
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
    """A claim that is to be added to the ledger.

    Attributes:
        attribute: the attribute that the claim is about, one of `CLAIMED_ATTRIBUTES`.
        value: the claimed value, in the type of the attribute, or None with `is_not_applicable`.
        is_not_applicable: whether the claim states that the attribute does not apply to the dataset.
        level: the level of evidence before any review; never `reviewed`.
        status: `active`, or `proposed` if somebody has to accept the claim before it counts.
        author: the user who makes the claim, or None for the service itself.
        scope: `subjects` or `annotators` if the claim is about people; claims about annotators never count.
        quote: the verbatim words that support the claim.
        place: the position of the quote in the source, such as its headings.
        standard: the key of the metadata standard of the source.
        field: the field of that standard that the value was taken from.
        note: the rule by which the value was derived from the quote.
        until: when the claim ceases to count.
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
    """A claim in the ledger, which never changes except by a review or a withdrawal.

    Attributes:
        id: the id of the claim; for a creator's declaration it is derived from the record, see `declarations`.
        dataset_id: the integer id of the record that the claim is about.
        created_at: when the claim was made.
        withdrawn_at: when the claim was withdrawn or ceased to count.
        review: the last decision about the claim.
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
        """Whether the claim was withdrawn because it had ceased to count, and not by somebody."""
        return self.withdrawn_at is not None and self.withdrawn_at == self.until

    @property
    def names_its_document(self) -> bool:
        """Whether the claim identifies its document by digest and standard, as imported claims do."""
        return self.standard is not None and self.source is not None and self.source.sha256 is not None

    def is_counted(self, now: datetime) -> bool:
        """Return whether the claim is active, has not expired, and is not about annotators."""
        status, _ = self.status_at(now)
        return status is ClaimStatus.ACTIVE and self.scope != "annotators"

    def status_at(self, now: datetime) -> tuple[ClaimStatus, datetime | None]:
        """Return the status at the given time, and the time of the withdrawal or None.

        An expired claim counts as withdrawn from its date on, even before its row has been updated.
        """
        if self.status in OPEN_STATUSES and self.until is not None and self.until <= now:
            return ClaimStatus.WITHDRAWN, self.until
        return self.status, self.withdrawn_at
