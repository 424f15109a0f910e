"""Types of the responses about evidence: claims, their reviews, and the resulting values of attributes."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from msgspec import Struct

from touchstone.client.response_parts import Page
from touchstone.core.evidence import Assurance, ClaimValue, EvidenceLevel

AssuranceName = Assurance | Literal["declared", "documented", "reviewed"]
ClaimStatus = Literal["active", "proposed", "rejected", "withdrawn"]
AwaitedDecision = Literal["acceptance", "confirmation"]
Decision = Literal["accept", "confirm", "reject"]


class Person(Struct, frozen=True, kw_only=True):
    """The public name of a user who declared a record, made a claim or reviewed one."""

    id: UUID
    pseudo: str | None = None


class ClaimSource(Struct, frozen=True, kw_only=True):
    """The document that a claim quotes.

    Attributes:
        original: The document that another catalog had quoted, if this document is its export. Nobody has verified it.
    """

    kind: str | None = None
    name: str | None = None
    url: str | None = None
    sha256: str | None = None
    original: "ClaimSource | None" = None


class Review(Struct, frozen=True, kw_only=True):
    """A decision on a claim, with the reviewer's note."""

    by: Person | None = None
    at: datetime | None = None
    decision: Decision
    note: str | None = None


class Claim(Struct, frozen=True, kw_only=True):
    """A statement about one attribute of a dataset, with its evidence.

    Attributes:
        id: The id of the claim, which is constant even for a mere declaration by the creator of the record.
        value: The claimed value, or None if the attribute does not apply to the dataset.
        level: The strength of the supporting evidence.
        scope: Whom a quote is about: `subjects` or `annotators`.
        place: The position of the quote in the source, such as a section or a page.
        standard, field: The metadata standard and the field that contain the value.
        note: An explanation of how the value follows from the quote.
        by: The author of the claim, or None for the service itself.
        until: The time when the claim ceases to count.
    """

    id: UUID
    dataset_id: int
    dataset_name: str | None = None
    attribute: str
    value: ClaimValue = None
    not_applicable: bool = False
    level: EvidenceLevel
    status: ClaimStatus = "active"
    scope: str | None = None
    quote: str | None = None
    place: str | None = None
    source: ClaimSource | None = None
    standard: str | None = None
    field: str | None = None
    note: str | None = None
    by: Person | None = None
    at: datetime | None = None
    until: datetime | None = None
    withdrawn_at: datetime | None = None
    review: Review | None = None


class AttributeState(Struct, frozen=True, kw_only=True):
    """The value of an attribute that results from all claims about it.

    Attributes:
        value: The value at the assurance `declared`, as in the record, or None if it is unknown.
        level: The level of the claim that determines the value, or None if there is no claim.
        declared: The value that the creator of the record declares, even if a stronger claim overrides it.
        documented, reviewed: The values at these assurances.
        conflicting: Whether active claims contradict one another.
    """

    value: ClaimValue = None
    not_applicable: bool = False
    level: EvidenceLevel | None = None
    declared: ClaimValue = None
    documented: ClaimValue = None
    reviewed: ClaimValue = None
    conflicting: bool = False


class Evidence(Struct, frozen=True, kw_only=True):
    """All claims about a dataset with their history, newest first, and the state of each attribute by name.

    Attributes:
        dataset_id: The id of the record.
        declared_by: The creator of the record, or None for a record of the service.
    """

    dataset_id: int | None = None
    declared_by: Person | None = None
    claims: list[Claim]
    attributes: dict[str, AttributeState] = {}


class ProposalPage(Page, frozen=True, kw_only=True):
    """One page of the open proposals that the caller may decide on."""

    proposals: list[Claim]
