"""The claims of a document: as they enter the ledger, and what a new version of the document changes among them.

The ledger is append-only. A claim that the new version still makes is kept with its review, one that it no longer
makes is withdrawn, and only new ones are added.
"""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import NamedTuple
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


class ClaimAuthor(NamedTuple):
    """Who imports a document: the user (None is the service itself), and the level of what the document states."""

    id: UUID | None
    level: EvidenceLevel


class ClaimChanges(NamedTuple):
    """What an import changes among the claims of a record.

    Attributes:
        of_document: all claims of the document after the import, in its order.
        added: new claims.
        closed_or_accepted: claims with a new status.
        others: claims of the record that the import leaves alone.
        dropped: claims that the document made before and no longer makes, as they were before the import.
    """

    of_document: list[ClaimRecord]
    added: list[ClaimRecord]
    closed_or_accepted: list[ClaimRecord]
    others: list[ClaimRecord]
    dropped: list[ClaimRecord]

    @property
    def all(self) -> list[ClaimRecord]:
        """All claims of the record after the import."""
        return [*self.added, *self.closed_or_accepted, *self.others]

    def with_measurements_withdrawn(self, now: datetime) -> "ClaimChanges":
        """Return these changes together with the withdrawal of what was measured in the data file."""
        measured = [
            claim for claim in self.others if claim.level is EvidenceLevel.MEASURED and claim.status in OPEN_STATUSES
        ]
        return self._replace(
            closed_or_accepted=[*self.closed_or_accepted, *(withdrawn(claim, now) for claim in measured)],
            others=[claim for claim in self.others if claim not in measured],
        )


def drafts_of(dataset: ReadDataset, author: ClaimAuthor, source: ClaimSource, *, accept: bool) -> list[ClaimDraft]:
    """Return drafts of the claims that a document makes about a dataset.

    Claims from the fields of the document are active. Claims found in its prose are proposals, which somebody has to
    accept, unless `accept` is set.
    """
    standard = dataset.dataset.standard
    status_of_proposals = ClaimStatus.ACTIVE if accept else ClaimStatus.PROPOSED
    claims = [(claim, ClaimStatus.ACTIVE) for claim in _one_for_each_number(dataset.dataset.claims)]
    claims += [(claim, status_of_proposals) for claim in dataset.proposals]

    return [
        draft_from_document(
            claim,
            author=author.id,
            # Anyone can write that another catalog has made a claim.
            level=EvidenceLevel.DECLARED if claim.is_restated else author.level,
            status=status,
            source=source,
            standard=standard,
        )
        for claim, status in claims
    ]


def _one_for_each_number(claims: Sequence[Claim]) -> list[Claim]:
    """Return claims without further values for a number; readers state the most specific one first."""
    stated_numbers: set[str] = set()
    remaining: list[Claim] = []
    for claim in claims:
        if claim.attribute in stated_numbers:
            continue
        if claim.attribute in NUMBERS:
            stated_numbers.add(claim.attribute)
        remaining.append(claim)
    return remaining


def edited_attributes(
    record: DatasetRecord, claims: Iterable[ClaimRecord], entries: Iterable[DocumentEntry]
) -> frozenset[str]:
    """Return the attributes that somebody has changed in a record since its documents were imported.

    Either the creator declares a value that no document has stated, or whatever the documents have stated about the
    attribute was withdrawn. `claims` are the claims about the record, and `entries` its documents.
    """
    imported_ids = {claim_id for entry in entries for claim_id in entry.claims}
    imported_claims: dict[str, list[ClaimRecord]] = {}
    for claim in claims:
        if claim.id in imported_ids:
            imported_claims.setdefault(claim.attribute, []).append(claim)

    return frozenset(name for name in CLAIMED if _is_edited(record.declared_value(name), imported_claims.get(name, ())))


def _is_edited(declared_value: ClaimValue, imported_claims: Sequence[ClaimRecord]) -> bool:
    """Return whether an attribute is no longer as documents have stated it.

    `declared_value` is what the creator of the record declares, and `imported_claims` are what the documents state.
    """
    if declared_value is not None:
        return not any(is_same_value(claim.value, declared_value) for claim in imported_claims)

    statuses = {claim.status for claim in imported_claims}
    return ClaimStatus.WITHDRAWN in statuses and statuses.isdisjoint(OPEN_STATUSES)


def change_claims(
    current: Sequence[ClaimRecord],
    earlier_ids: Collection[UUID],
    drafts: Sequence[ClaimDraft],
    edited: Collection[str],
    now: datetime,
) -> ClaimChanges:
    """Compare the claims of a document with the current claims of a record, and return what the import changes.

    `earlier_ids` are the claims from the version of the document that was imported before. Those that the document no
    longer makes are withdrawn. Those that somebody has rejected or withdrawn are not made again, nor those of an older
    version that somebody has rejected. New declarations about attributes that somebody has `edited` are withdrawn from
    the beginning, so that they do not replace the edit.
    """
    earlier = {statement_of(claim): claim for claim in current if claim.id in earlier_ids}
    rejected = {_evidence_of(claim): claim for claim in current if claim.status is ClaimStatus.REJECTED}
    statements: set[tuple[object, ...]] = set()
    of_document: list[ClaimRecord] = []
    added: list[ClaimRecord] = []
    changed: dict[UUID, ClaimRecord] = {}

    for draft in drafts:
        statement = statement_of(draft)
        if statement in statements:
            continue

        statements.add(statement)
        claim = _take_earlier(earlier, draft) or rejected.get(_evidence_of(draft))
        if claim is None:
            claim = new_claim(draft, dataset_id=0, now=now)  # the record may not have an id yet
            is_active_declaration = claim.level is EvidenceLevel.DECLARED and claim.status is ClaimStatus.ACTIVE
            if is_active_declaration and claim.attribute in edited:
                claim = withdrawn(claim, now)
            added.append(claim)
        elif claim.status is ClaimStatus.PROPOSED and draft.status is ClaimStatus.ACTIVE:
            claim = _accepted(claim, draft.author, now)
            changed[claim.id] = claim
        of_document.append(claim)

    # Only the claims that the document no longer makes are left.
    for claim in earlier.values():
        if claim.status in OPEN_STATUSES:
            changed[claim.id] = withdrawn(claim, now)

    others = [claim for claim in current if claim.id not in changed]
    return ClaimChanges(of_document, added, list(changed.values()), others, list(earlier.values()))


def without_dropped_declarations(draft: Draft, changes: ClaimChanges) -> Draft:
    """Return a record without declarations that repeat what its document has stated before and no longer states.

    A creator who sends a record back with the values of the document has not edited them.
    """
    for claim in changes.dropped:
        is_repeated = claim.value is not None and is_same_value(claim.value, draft.declared_value(claim.attribute))
        if is_repeated and not any(_has_same_value(claim, other) for other in changes.of_document):
            draft = without_declaration(draft, claim.attribute)
    return draft


def _has_same_value(claim: ClaimRecord, other: ClaimRecord) -> bool:
    """Return whether two claims state the same value of the same attribute."""
    return claim.attribute == other.attribute and is_same_value(claim.value, other.value)


def limit_proposals(changes: ClaimChanges, limit: int) -> tuple[ClaimChanges, list[ClaimRecord]]:
    """Return changes that add at most so many proposals, and the proposals that were left out."""
    proposals = [claim for claim in changes.added if claim.status is ClaimStatus.PROPOSED]
    left_out = proposals[max(0, limit) :]
    left_out_ids = {claim.id for claim in left_out}

    of_document = [claim for claim in changes.of_document if claim.id not in left_out_ids]
    added = [claim for claim in changes.added if claim.id not in left_out_ids]
    return changes._replace(of_document=of_document, added=added), left_out


def statement_of(draft: ClaimDraft) -> tuple[object, ...]:
    """Return what two versions of a claim have in common; the digest of the document may differ, and the status."""
    source = (draft.source.kind, draft.source.name, draft.source.url) if draft.source else None
    value = (type(draft.value).__name__, draft.value)
    statement = (draft.attribute, value, draft.is_not_applicable, draft.level, draft.scope)
    return (*statement, draft.quote, draft.place, draft.field, source)


def _take_earlier(earlier: dict[tuple[object, ...], ClaimRecord], draft: ClaimDraft) -> ClaimRecord | None:
    """Remove the claim that repeats a draft from the claims of the earlier version, and return it, or None.

    A document that this service has exported states its claims as mere declarations. If it is imported again, they
    must not replace the better supported claims that they were made from.
    """
    claim = earlier.pop(statement_of(draft), None)
    if claim is not None or draft.level is not EvidenceLevel.DECLARED:
        return claim

    for statement, candidate in earlier.items():
        if candidate.status in OPEN_STATUSES and _evidence_of(candidate) == _evidence_of(draft):
            return earlier.pop(statement)
    return None


def _evidence_of(draft: ClaimDraft) -> tuple[object, ...]:
    """Return what a claim says and what supports it, whatever its level and the place of its quote."""
    source = (draft.source.name, draft.source.url) if draft.source else None
    value = (type(draft.value).__name__, draft.value)
    return (draft.attribute, value, draft.is_not_applicable, draft.scope, draft.quote, source)


def _accepted(claim: ClaimRecord, reviewer: UUID | None, now: datetime) -> ClaimRecord:
    """Return a proposal as its importer accepts it; the service itself leaves no review."""
    review = ClaimReview(reviewer=reviewer, at=now, decision=Decision.ACCEPT) if reviewer else None
    return replace(claim, status=ClaimStatus.ACTIVE, review=review)
