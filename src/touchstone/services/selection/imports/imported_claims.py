"""The claims of an imported document, and how a new version of the document changes them.

Claims are never deleted. If the new version of a document still makes a claim, the claim is kept with its review.
Otherwise it is withdrawn. Only new claims are added.
"""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import NamedTuple, Self, TypeAlias
from uuid import UUID

from msgspec.structs import replace

from touchstone.core.attributes import NUMBERS
from touchstone.core.evidence import ClaimValue, EvidenceLevel
from touchstone.metadata.documents import Claim
from touchstone.metadata.reading_protocol import ReadDataset
from touchstone.services.selection.datasets.dataset_record import DatasetRecord, Draft
from touchstone.services.selection.evidence.claim_records import (
    OPEN_STATUSES,
    ClaimDraft,
    ClaimRecord,
    ClaimReview,
    ClaimSource,
    ClaimStatus,
    Decision,
)
from touchstone.services.selection.evidence.declarations import without_declaration
from touchstone.services.selection.evidence.ledger import draft_from_document
from touchstone.services.selection.evidence.record_claims import is_same_value, new_claim, withdrawn
from touchstone.services.selection.imports.document_entries import CLAIMED, DocumentEntry

ClaimKey: TypeAlias = tuple[object, ...]


class ClaimAuthor(NamedTuple):
    """The author of imported claims and their evidence level.

    Attributes:
        id: the user who imports the document, or None for the service itself.
        level: the evidence level of claims from the fields of the document.
    """

    id: UUID | None
    level: EvidenceLevel


class ClaimChanges(NamedTuple):
    """The changes that an import makes to the claims about a record.

    Attributes:
        of_document: all claims of the document after the import, in the order of the document.
        added: the new claims.
        closed_or_accepted: the claims whose status has changed.
        others: the claims that the import does not change.
        dropped: the claims that only the previous version of the document made, as they were before the import.
        remembered: the claims that only earlier versions made and that somebody has closed.
    """

    of_document: list[ClaimRecord]
    added: list[ClaimRecord]
    closed_or_accepted: list[ClaimRecord]
    others: list[ClaimRecord]
    dropped: list[ClaimRecord]
    remembered: list[ClaimRecord]

    @property
    def all(self) -> list[ClaimRecord]:
        """All claims about the record after the import."""
        return [*self.added, *self.closed_or_accepted, *self.others]

    def with_measurements_withdrawn(self, now: datetime) -> "ClaimChanges":
        """Return the changes extended by the withdrawal of all measured claims."""
        measured = [
            claim for claim in self.others if claim.level is EvidenceLevel.MEASURED and claim.status in OPEN_STATUSES
        ]
        return self._replace(
            closed_or_accepted=[*self.closed_or_accepted, *(withdrawn(claim, now) for claim in measured)],
            others=[claim for claim in self.others if claim not in measured],
        )


def draft_claims(dataset: ReadDataset, author: ClaimAuthor, source: ClaimSource, *, accept: bool) -> list[ClaimDraft]:
    """Return drafts of the claims that a document makes about a dataset.

    Claims from the fields of the document are active. Claims found in its prose are proposals, unless `accept` is set.
    """
    document = dataset.dataset
    status_of_proposals = ClaimStatus.ACTIVE if accept else ClaimStatus.PROPOSED
    claims = [(claim, ClaimStatus.ACTIVE) for claim in _keep_first_claim_per_number(document.claims)]
    claims += [(claim, status_of_proposals) for claim in dataset.proposals]

    return [
        draft_from_document(
            claim,
            author=author.id,
            # It has not been verified that another catalog really made a restated claim.
            level=EvidenceLevel.DECLARED if claim.is_restated else author.level,
            status=status,
            source=replace(source, original=claim.original_source),
            standard=document.standard,
        )
        for claim, status in claims
    ]


def _keep_first_claim_per_number(claims: Sequence[Claim]) -> list[Claim]:
    """Return the claims with only the first one about each number, which is the most specific.

    All claims that another catalog exported are kept: they agree with each other, and each has its own source.
    """
    stated_numbers: set[str] = set()
    remaining: list[Claim] = []
    for claim in claims:
        if claim.attribute in stated_numbers:
            continue
        if claim.attribute in NUMBERS and not claim.is_restated:
            stated_numbers.add(claim.attribute)
        remaining.append(claim)
    return remaining


def edited_attributes(
    record: DatasetRecord, claims: Sequence[ClaimRecord], entries: Sequence[DocumentEntry]
) -> frozenset[str]:
    """Return the attributes of a record that were edited since its documents were imported.

    An attribute was edited if the creator declares a value that no document states, or if all claims about it that the
    documents make or once made are closed and at least one was withdrawn.

    Args:
        record: the record.
        claims: all claims about the record.
        entries: the entries about its documents.
    """
    document_claim_ids = {claim_id for entry in entries for claim_id in entry.claims}
    remembered_claim_ids = {claim_id for entry in entries for claim_id in entry.remembered_claims}
    document_claims = _claims_by_attribute(claims, document_claim_ids)
    remembered_claims = _claims_by_attribute(claims, remembered_claim_ids)

    return frozenset(
        name
        for name in CLAIMED
        if _is_edited(record.declared_value(name), document_claims.get(name, ()), remembered_claims.get(name, ()))
    )


def _claims_by_attribute(claims: Iterable[ClaimRecord], claim_ids: Collection[UUID]) -> dict[str, list[ClaimRecord]]:
    """Return the claims with the given ids, by attribute."""
    claims_by_attribute: dict[str, list[ClaimRecord]] = {}
    for claim in claims:
        if claim.id in claim_ids:
            claims_by_attribute.setdefault(claim.attribute, []).append(claim)
    return claims_by_attribute


def _is_edited(
    declared_value: ClaimValue, document_claims: Sequence[ClaimRecord], remembered_claims: Sequence[ClaimRecord]
) -> bool:
    """Return whether an attribute was edited since its documents were imported.

    Args:
        declared_value: the value that the creator of the record declares, or None.
        document_claims: the claims about the attribute that the documents make.
        remembered_claims: the claims about it that only earlier versions of the documents made and that are closed.
    """
    if declared_value is not None:
        return not any(is_same_value(claim.value, declared_value) for claim in document_claims)

    statuses = {claim.status for claim in (*document_claims, *remembered_claims)}
    return ClaimStatus.WITHDRAWN in statuses and statuses.isdisjoint(OPEN_STATUSES)


def change_claims(
    record_claims: Sequence[ClaimRecord],
    previous_version: DocumentEntry | None,
    drafts: Sequence[ClaimDraft],
    edited: Collection[str],
    now: datetime,
) -> ClaimChanges:
    """Compare the claims of a document with all claims about a record, and return the changes.

    Claims of the previous version that the document no longer makes are withdrawn. Claims that somebody has withdrawn
    or rejected are not made again, even if a version in between lacked them. New declarations about edited attributes
    are withdrawn at once, so that they do not replace the edit.

    Args:
        record_claims: all claims about the record.
        previous_version: the entry about the previous version of the document, or None if there is none.
        drafts: the claims that the document makes.
        edited: the names of attributes that were edited since the last import.
        now: the time of the changes.
    """
    earlier = _EarlierClaims.of_record(record_claims, previous_version)
    of_document: list[ClaimRecord] = []
    added: list[ClaimRecord] = []
    changed: dict[UUID, ClaimRecord] = {}

    distinct_drafts: dict[ClaimKey, ClaimDraft] = {}
    for draft in drafts:
        distinct_drafts.setdefault(statement_key(draft), draft)

    for draft in distinct_drafts.values():
        is_edited = draft.attribute in edited
        claim = earlier.pop_repeated(draft, is_edited=is_edited)
        if claim is None:
            claim = _create_claim(draft, now, is_edited=is_edited)
            added.append(claim)
        elif claim.status is ClaimStatus.PROPOSED and draft.status is ClaimStatus.ACTIVE:
            claim = _accept(claim, draft.author, now)
            changed[claim.id] = claim
        of_document.append(claim)

    # The remaining claims are the ones that the document no longer makes.
    dropped = list(earlier.previous.values())
    remembered = dict(earlier.remembered)
    for claim in dropped:
        if claim.status in OPEN_STATUSES:
            changed[claim.id] = withdrawn(claim, now)
        elif not claim.has_expired:
            remembered[statement_key(claim)] = claim

    others = [claim for claim in record_claims if claim.id not in changed]
    return ClaimChanges(of_document, added, list(changed.values()), others, dropped, list(remembered.values()))


class _EarlierClaims(NamedTuple):
    """The claims about a record that a new version of a document may repeat.

    Attributes:
        previous: the claims of the previous version, by `statement_key`.
        remembered: the closed claims that only older versions made, by `statement_key`.
        rejected: the rejected claims about the record, by `_evidence_key`.
    """

    previous: dict[ClaimKey, ClaimRecord]
    remembered: dict[ClaimKey, ClaimRecord]
    rejected: dict[ClaimKey, ClaimRecord]

    @classmethod
    def of_record(cls, record_claims: Sequence[ClaimRecord], previous_version: DocumentEntry | None) -> Self:
        """Select the claims, given all claims about the record and the entry about the previous version, if any."""
        previous_ids = previous_version.claims if previous_version else ()
        remembered_ids = previous_version.remembered_claims if previous_version else ()
        rejected_claims = [claim for claim in record_claims if claim.status is ClaimStatus.REJECTED]
        return cls(
            previous={statement_key(claim): claim for claim in record_claims if claim.id in previous_ids},
            remembered={statement_key(claim): claim for claim in record_claims if claim.id in remembered_ids},
            rejected={_evidence_key(claim): claim for claim in rejected_claims},
        )

    def pop_repeated(self, draft: ClaimDraft, *, is_edited: bool) -> ClaimRecord | None:
        """Return the claim that a draft repeats, or None if the draft is new.

        Except for rejected ones, the claim is removed, so that the remaining claims are not repeated.

        Args:
            draft: the draft of a claim in the new version.
            is_edited: whether its attribute was edited since the last import.
        """
        claim = self._pop_previous(draft) or self.rejected.get(_evidence_key(draft))
        if claim is None and is_edited:
            return self.remembered.pop(statement_key(draft), None)
        return claim

    def _pop_previous(self, draft: ClaimDraft) -> ClaimRecord | None:
        """Remove and return the claim of the previous version that a draft repeats, or return None if there is none.

        A document that this service exported contains its claims as mere declarations. If the document is imported
        again, the declarations must not replace the better supported claims that they were exported from.
        """
        claim = self.previous.pop(statement_key(draft), None)
        if claim is not None or draft.level is not EvidenceLevel.DECLARED:
            return claim

        for statement, candidate in self.previous.items():
            if candidate.status in OPEN_STATUSES and _evidence_key(candidate) == _evidence_key(draft):
                return self.previous.pop(statement)
        return None


def _create_claim(draft: ClaimDraft, now: datetime, *, is_edited: bool) -> ClaimRecord:
    """Return a new claim, which is withdrawn at once if it is a declaration about an edited attribute."""
    claim = new_claim(draft, dataset_id=0, now=now)  # The record may not have an id yet.
    is_active_declaration = claim.level is EvidenceLevel.DECLARED and claim.status is ClaimStatus.ACTIVE
    return withdrawn(claim, now) if is_edited and is_active_declaration else claim


def without_dropped_declarations(draft: Draft, changes: ClaimChanges) -> Draft:
    """Return a record without declared values that the new version of its document has dropped.

    A creator who sends back a record with the values of the document has not edited these values.
    """
    for claim in changes.dropped:
        is_repeated = claim.value is not None and is_same_value(claim.value, draft.declared_value(claim.attribute))
        if is_repeated and not any(_has_same_value(claim, other) for other in changes.of_document):
            draft = without_declaration(draft, claim.attribute)
    return draft


def _has_same_value(claim: ClaimRecord, other: ClaimRecord) -> bool:
    """Return whether two claims have the same value of the same attribute."""
    return claim.attribute == other.attribute and is_same_value(claim.value, other.value)


def limit_proposals(changes: ClaimChanges, limit: int) -> tuple[ClaimChanges, list[ClaimRecord]]:
    """Return the changes with at most `limit` new proposals, and the proposals that were left out."""
    proposals = [claim for claim in changes.added if claim.status is ClaimStatus.PROPOSED]
    left_out = proposals[max(0, limit) :]
    left_out_ids = {claim.id for claim in left_out}

    of_document = [claim for claim in changes.of_document if claim.id not in left_out_ids]
    added = [claim for claim in changes.added if claim.id not in left_out_ids]
    return changes._replace(of_document=of_document, added=added), left_out


def statement_key(draft: ClaimDraft) -> ClaimKey:
    """Return a key that identifies a claim in all versions of its document, whatever its status."""
    source = (draft.source.kind, draft.source.name, draft.source.url) if draft.source else None
    value = (type(draft.value).__name__, draft.value)
    statement = (draft.attribute, value, draft.is_not_applicable, draft.level, draft.scope)
    return (*statement, draft.quote, draft.place, draft.field, source)


def _evidence_key(draft: ClaimDraft) -> ClaimKey:
    """Return a key for the value of a claim and its support, ignoring its level and its location."""
    source = (draft.source.name, draft.source.url) if draft.source else None
    value = (type(draft.value).__name__, draft.value)
    return (draft.attribute, value, draft.is_not_applicable, draft.scope, draft.quote, source)


def _accept(claim: ClaimRecord, reviewer: UUID | None, now: datetime) -> ClaimRecord:
    """Return an accepted proposal, with a review unless the service itself accepts it."""
    review = ClaimReview(reviewer=reviewer, at=now, decision=Decision.ACCEPT) if reviewer else None
    return replace(claim, status=ClaimStatus.ACTIVE, review=review)
