"""The claims about one record inside a transaction, and the resulting attributes of the record."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Self
from uuid import UUID, uuid4

from msgspec.structs import asdict, replace

from touchstone.core.evidence import AttributeEvidence, ClaimValue, EvidenceLevel
from touchstone.database.engine import Reader, Writer
from touchstone.services.selection.datasets.dataset_record import AttributeValue, Draft
from touchstone.services.selection.evidence import store
from touchstone.services.selection.evidence.claim_records import OPEN_STATUSES, ClaimDraft, ClaimRecord, ClaimStatus
from touchstone.services.selection.evidence.resolution import resolve_attribute


class RecordClaims:
    """The claims about one record, including the changes made by the current transaction.

    After a change, the caller must store the result of `resolve`, so that the attributes of the record match its
    claims.
    """

    def __init__(self, dataset_id: int, claims: Iterable[ClaimRecord], now: datetime) -> None:
        self.dataset_id = dataset_id
        self.now = now
        self._claims = {claim.id: claim for claim in claims}

    @classmethod
    async def load(cls, connection: Reader, dataset_id: int) -> Self:
        """Load the claims about a record from the ledger."""
        return cls(dataset_id, await store.read_claims(connection, dataset_id), datetime.now(UTC))

    @property
    def newest_first(self) -> list[ClaimRecord]:
        """All claims, the newest first."""
        return sorted(self._claims.values(), key=lambda claim: claim.created_at, reverse=True)

    def get(self, claim_id: UUID) -> ClaimRecord | None:
        """Return the claim with the given id, or None if there is none."""
        return self._claims.get(claim_id)

    def find_equal_open_claim(self, draft: ClaimDraft) -> ClaimRecord | None:
        """Return an open claim by the same author with the same statement, or None if there is none."""
        for claim in self._claims.values():
            if claim.status in OPEN_STATUSES and _comparison_key(claim) == _comparison_key(draft):
                return claim
        return None

    def count_claims_by(self, author: UUID, owner: UUID | None) -> int:
        """Return the number of claims by a user about the record, excluding imported claims of the owner.

        Only the owner of a record can import documents into it.
        """
        claims_by_author = [claim for claim in self._claims.values() if claim.author == author]
        if author != owner:
            return len(claims_by_author)
        return sum(not claim.has_identified_document for claim in claims_by_author)

    def resolve(self, draft: Draft) -> Draft:
        """Return the record with the attributes and evidence computed from its claims."""
        return with_resolved_attributes(draft, self.newest_first, self.now)

    async def insert(self, transaction: Writer, records: Sequence[ClaimRecord]) -> None:
        """Insert new claims into the ledger."""
        await store.insert_claims(transaction, records)
        self._claims |= {claim.id: claim for claim in records}

    async def update(self, transaction: Writer, claim: ClaimRecord) -> None:
        """Store the review or the withdrawal of a claim."""
        await store.update_claim(transaction, claim)
        self._claims[claim.id] = claim

    async def withdraw(self, transaction: Writer, claims: Iterable[ClaimRecord]) -> None:
        """Withdraw the given claims, skipping closed ones."""
        for claim in claims:
            if claim.status in OPEN_STATUSES:
                await self.update(transaction, withdrawn(claim, self.now))

    async def withdraw_contradicted_claims(
        self,
        transaction: Writer,
        author: UUID | None,
        values: Mapping[str, AttributeValue],
        *,
        keep_supported: bool = False,
    ) -> None:
        """Withdraw the claims of one author that contradict the new values of a record, except measured claims.

        Args:
            transaction: the transaction that changes the record.
            author: the author of the claims. If this is None, nothing changes.
            values: the new values, by attribute.
            keep_supported: whether claims above the level `declared` remain open if the new value is None.
        """
        contradicted_claims: list[ClaimRecord] = []
        for claim in self._claims.values():
            is_by_author = claim.author is not None and claim.author == author
            if not is_by_author or claim.level is EvidenceLevel.MEASURED or claim.attribute not in values:
                continue

            new_value = values[claim.attribute]
            is_supported = claim.effective_level is not EvidenceLevel.DECLARED
            is_kept = keep_supported and new_value is None and is_supported
            if not is_kept and not is_same_value(claim.value, new_value):
                contradicted_claims.append(claim)

        await self.withdraw(transaction, contradicted_claims)

    async def replace_measurements(self, transaction: Writer, values: Mapping[str, ClaimValue]) -> None:
        """Replace the claims of the last measurement with the values of a new one, given by attribute.

        A value that a curator has rejected is not claimed again.
        """
        unchanged_attributes: set[str] = set()
        for claim in list(self._claims.values()):
            if claim.level is not EvidenceLevel.MEASURED or claim.status is ClaimStatus.WITHDRAWN:
                continue
            if claim.attribute in values and is_same_value(claim.value, values[claim.attribute]):
                unchanged_attributes.add(claim.attribute)
            else:
                await self.withdraw(transaction, [claim])

        new_values = {name: value for name, value in values.items() if name not in unchanged_attributes}
        drafts = draft_measured_claims(new_values)
        await self.insert(transaction, [new_claim(draft, self.dataset_id, self.now) for draft in drafts])


def with_resolved_attributes(draft: Draft, claims: Sequence[ClaimRecord], now: datetime) -> Draft:
    """Return a copy of a record with the attributes and the evidence that result from its declarations and claims.

    The creator's declaration of an attribute and the claims about it may state different values. `resolve_attribute`
    decides which value the record shows.
    """
    claims_by_attribute: defaultdict[str, list[ClaimRecord]] = defaultdict(list)
    for claim in claims:
        claims_by_attribute[claim.attribute].append(claim)

    attributes: dict[str, AttributeValue] = dict(draft.attributes)
    evidence: dict[str, AttributeEvidence] = {}
    # Also resolve attributes with earlier evidence, because they may have lost their last claim.
    earlier_evidence = draft.attribute_evidence or {}
    for name in sorted(claims_by_attribute.keys() | earlier_evidence.keys()):
        declared_value = draft.declared_value(name)
        resolution = resolve_attribute(name, declared_value, claims_by_attribute[name], draft.owner, now)
        attributes[name] = resolution.shown_value
        if resolution.evidence is not None:
            evidence[name] = resolution.evidence

    # The columns of a record without evidence are null rather than empty.
    return replace(
        draft,
        attributes=attributes,
        attribute_evidence=evidence or None,
        measured_attributes=_measured_only_attributes(evidence) or None,
    )


def draft_measured_claims(values: Mapping[str, ClaimValue]) -> list[ClaimDraft]:
    """Return drafts of claims for the values measured in a data file, by attribute, without those that are None."""
    return [
        ClaimDraft(attribute=name, value=value, level=EvidenceLevel.MEASURED)
        for name, value in values.items()
        if value is not None
    ]


def new_claim(draft: ClaimDraft, dataset_id: int, now: datetime) -> ClaimRecord:
    """Create a claim with a new id from a draft. If the claim has already expired, it is withdrawn."""
    claim = ClaimRecord(id=uuid4(), dataset_id=dataset_id, created_at=now, **asdict(draft))
    if claim.until is not None and claim.until <= now:
        return withdrawn(claim, claim.until)
    return claim


def withdrawn(claim: ClaimRecord, at: datetime) -> ClaimRecord:
    """Return a copy of a claim that was withdrawn at the given time."""
    return replace(claim, status=ClaimStatus.WITHDRAWN, withdrawn_at=at)


def is_same_value(value: AttributeValue, other: AttributeValue) -> bool:
    """Return whether two values are equal. True and 1 are different values."""
    return value == other and isinstance(value, bool) == isinstance(other, bool)


def _comparison_key(draft: ClaimDraft) -> tuple[object, ...]:
    """Return a key that is the same for claims with the same author, statement and evidence.

    The digest of the source is not part of it, because it changes with every version of the document.
    """
    source = (draft.source.kind, draft.source.name, draft.source.url) if draft.source else None
    value = (isinstance(draft.value, bool), draft.value)  # because True == 1
    statement = (draft.attribute, value, draft.is_not_applicable, draft.level, draft.scope, draft.until)
    evidence = (draft.quote, draft.place, draft.field, draft.standard, source)
    return draft.author, statement, evidence


def _measured_only_attributes(evidence: Mapping[str, AttributeEvidence]) -> list[str]:
    """Return the names of the attributes with a measured value and without a declaration."""
    return [
        name
        for name, attribute_evidence in evidence.items()
        if attribute_evidence.level is EvidenceLevel.MEASURED and attribute_evidence.declared is None
    ]
