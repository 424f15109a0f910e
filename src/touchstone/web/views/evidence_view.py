"""The evidence for the attributes of a dataset, and the permissions of the reader."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from touchstone.client import AttributeState, Claim, Dataset, Evidence, User
from touchstone.client.evidence_models import Decision, Person
from touchstone.core.attributes import ETHICAL, FLAGS, NUMBERS
from touchstone.core.evidence import Assurance, ClaimValue, EvidenceLevel
from touchstone.metadata.codebook import CODEBOOK, CriterionRule
from touchstone.web.localizer import Localizer

OTHER_ATTRIBUTES: Final = tuple(name for name in (*NUMBERS, *FLAGS) if name not in ETHICAL)
_CLOSED_STATUSES: Final = frozenset({"rejected", "withdrawn"})
_CONTEXT_CHARACTERS: Final = 300  # shown before and after a quote
# Shorter quotes are numbers, years and names of columns or licences. Prose contains them by chance, at the wrong place.
_MIN_CHARACTERS_OF_PROSE: Final = 12


@dataclass(frozen=True, slots=True)
class Reader:
    """The reader of a page, with permissions for the claims about one record.

    Attributes:
        user_id: the id of the reader.
        is_curator: whether the reader may review claims about all records.
        is_creator: whether the reader has created the record.
    """

    user_id: UUID
    is_curator: bool
    is_creator: bool

    @classmethod
    def from_user(cls, user: User, declared_by: Person | None) -> "Reader":
        """Return the permissions of a user for a record that `declared_by` has created.

        Administrators have the permissions of curators.
        """
        is_creator = declared_by is not None and declared_by.id == user.id
        return cls(user.id, is_curator=user.is_curator or user.is_superuser, is_creator=is_creator)

    def is_author(self, claim: Claim) -> bool:
        """Return whether the reader is the author of a claim."""
        return claim.by is not None and claim.by.id == self.user_id

    def decisions(self, claim: Claim) -> tuple[Decision, ...]:
        """Return the decisions that the reader may make on a claim.

        The creator of the record may accept or reject proposals, and may still reject a claim after accepting it. A
        curator may also reject any active claim, and confirm a claim of another author that is not confirmed yet.
        """
        if claim.status in _CLOSED_STATUSES:
            return ()

        may_decide_proposal = claim.status == "proposed" and (self.is_curator or self.is_creator)
        is_confirmed = claim.level is EvidenceLevel.REVIEWED
        may_confirm = self.is_curator and not self.is_author(claim) and not is_confirmed
        may_undo_acceptance = self.is_creator and self._has_accepted(claim)

        decisions: list[Decision] = []
        if may_decide_proposal:
            decisions.append("accept")
        if may_confirm:
            decisions.append("confirm")
        if may_decide_proposal or may_undo_acceptance or self.is_curator:
            decisions.append("reject")
        return tuple(decisions)

    def _has_accepted(self, claim: Claim) -> bool:
        """Return whether the last decision on a claim is the reader's acceptance."""
        review = claim.review
        if review is None or review.by is None:
            return False
        return review.decision == "accept" and review.by.id == self.user_id

    def may_withdraw(self, claim: Claim) -> bool:
        """Return whether the reader may withdraw a claim.

        Its author and curators may do so until the claim is closed. A claim that the service has measured cannot be
        withdrawn, but only rejected.
        """
        if claim.status in _CLOSED_STATUSES or claim.level is EvidenceLevel.MEASURED:
            return False
        return self.is_author(claim) or self.is_curator


@dataclass(frozen=True, slots=True)
class AttributeDetails:
    """The value, the claims and the rule that a page shows for one attribute of a dataset.

    Attributes:
        name: the name of the attribute.
        state: the values of the attribute that follow from its claims.
        active: the active claims, those with the strongest evidence first.
        proposed: the open proposals.
        closed: the claims that were rejected or withdrawn.
        rule: the rule of the codebook for an ethical criterion; None for other attributes.
        counts: whether the value counts at the required level of evidence.
    """

    name: str
    state: AttributeState
    active: tuple[Claim, ...]
    proposed: tuple[Claim, ...]
    closed: tuple[Claim, ...]
    rule: CriterionRule | None
    counts: bool

    @property
    def is_known(self) -> bool:
        """Whether the attribute has a value at any level of evidence."""
        return self.state.value is not None

    @property
    def is_merely_declared(self) -> bool:
        """Whether the attribute has a value that does not count at the required level of evidence."""
        return self.is_known and not self.counts

    @property
    def claim_count(self) -> int:
        """The number of all claims, including closed ones."""
        return len(self.active) + len(self.proposed) + len(self.closed)


def attribute_details(
    evidence: Evidence, dataset: Dataset, names: Iterable[str], assurance: Assurance
) -> tuple[AttributeDetails, ...]:
    """Return the details of the named attributes of a dataset, in the order of `names`.

    Args:
        evidence: the claims about the dataset and the states of its attributes.
        dataset: the record. Its values are shown for attributes without a state.
        names: the names of the attributes.
        assurance: the level of evidence that the reader requires.
    """
    return tuple(_collect_details(name, evidence, dataset, assurance) for name in names)


def _collect_details(name: str, evidence: Evidence, dataset: Dataset, assurance: Assurance) -> AttributeDetails:
    """Return the details of one attribute: its value, and its claims by status.

    Active claims are sorted by the strength of their evidence, strongest first.
    """
    state = evidence.attributes.get(name) or AttributeState(value=getattr(dataset, name))

    claims = [claim for claim in evidence.claims if claim.attribute == name]
    active_claims = [claim for claim in claims if claim.status == "active"]

    return AttributeDetails(
        name=name,
        state=state,
        active=tuple(sorted(active_claims, key=lambda claim: claim.level.strength, reverse=True)),
        proposed=tuple(claim for claim in claims if claim.status == "proposed"),
        closed=tuple(claim for claim in claims if claim.status in _CLOSED_STATUSES),
        rule=CODEBOOK.get(name),
        counts=value_at(state, assurance) is not None,
    )


def value_at(state: AttributeState, assurance: Assurance) -> ClaimValue:
    """Return the value of an attribute at a level of evidence, or None if it is unknown at that level."""
    if assurance is Assurance.DECLARED:
        return state.value
    return state.documented if assurance is Assurance.DOCUMENTED else state.reviewed


def values_at(evidence: Evidence, assurance: Assurance) -> Mapping[str, ClaimValue]:
    """Return the value of each attribute at a level of evidence, by attribute name."""
    return {name: value_at(state, assurance) for name, state in evidence.attributes.items()}


def merely_declared(details: Sequence[AttributeDetails]) -> tuple[AttributeDetails, ...]:
    """Return the attributes with values that do not count at the required level of evidence."""
    return tuple(attribute for attribute in details if attribute.is_merely_declared)


def find_claim(evidence: Evidence, claim_id: UUID) -> Claim | None:
    """Return the claim with the given id, or None if the dataset has no such claim."""
    for claim in evidence.claims:
        if claim.id == claim_id:
            return claim
    return None


def claim_value_text(claim: Claim, localizer: Localizer) -> str:
    """Format the value of a claim for readers."""
    if claim.not_applicable:
        return localizer.text("not_applicable")
    if claim.value is None:
        return localizer.text("unknown")
    if isinstance(claim.value, bool):
        return localizer.text("yes" if claim.value else "no")
    return str(claim.value) if claim.attribute == "year" else localizer.number(claim.value)


@dataclass(frozen=True, slots=True)
class QuoteInContext:
    """A quote with the text around it, at most 300 characters before and after the quote."""

    before: str
    quote: str
    after: str


def quote_in_context(quote: str | None, texts: Sequence[str | None]) -> QuoteInContext | None:
    """Return a quote with its context in the first text that contains it.

    Returns:
        the quote with its context, or None if no text contains it or the quote is too short to identify a passage.
    """
    if not quote or len(quote) < _MIN_CHARACTERS_OF_PROSE:
        return None

    for text in texts:
        before, separator, after = (text or "").partition(quote)
        if separator:
            return QuoteInContext(_last_characters(before), quote, _first_characters(after))
    return None


def _last_characters(text: str) -> str:
    """Return the end of a string, with an ellipsis before it if characters were omitted."""
    return text if len(text) <= _CONTEXT_CHARACTERS else "…" + text[-_CONTEXT_CHARACTERS:]


def _first_characters(text: str) -> str:
    """Return the beginning of a string, with an ellipsis after it if characters were omitted."""
    return text if len(text) <= _CONTEXT_CHARACTERS else text[:_CONTEXT_CHARACTERS] + "…"
