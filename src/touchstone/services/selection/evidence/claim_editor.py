"""Reads, adds, reviews and withdraws claims on behalf of a caller, and withdraws expired claims."""

from collections.abc import Iterable
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final, NamedTuple
from uuid import UUID

import structlog
from msgspec.structs import replace

from touchstone.core.errors import ClaimNotFound, ClaimQuotaExceeded, DatasetNotFound, ReviewForbidden
from touchstone.core.identity import Caller
from touchstone.core.uninterrupted import repeat_uninterrupted
from touchstone.database.engine import Database, Reader
from touchstone.services.selection.catalog.live_catalog import LiveCatalog
from touchstone.services.selection.catalog_writer import CatalogWriter
from touchstone.services.selection.datasets import store as dataset_store
from touchstone.services.selection.datasets.dataset_record import DatasetRecord
from touchstone.services.selection.evidence import store
from touchstone.services.selection.evidence.claim_records import (
    OPEN_STATUSES,
    ClaimDraft,
    ClaimRecord,
    ClaimReview,
    ClaimStatus,
    Decision,
)
from touchstone.services.selection.evidence.declarations import (
    declarations_outside_ledger,
    is_declaration,
    without_declaration,
)
from touchstone.services.selection.evidence.ledger import store_resolution, withdraw_expired_claims
from touchstone.services.selection.evidence.permissions import check_may_review, check_may_withdraw
from touchstone.services.selection.evidence.record_claims import RecordClaims, new_claim, withdrawn
from touchstone.services.selection.evidence.schemas import ReviewCreate
from touchstone.services.selection.evidence.store import QueuedClaim
from touchstone.services.selection.user_name_store import Pseudos, read_pseudos

EXPIRY_POLL_SECONDS: Final = 1.0
"""The interval between two searches for expired claims."""

log = structlog.get_logger("touchstone.evidence")


class ClaimLimits(NamedTuple):
    """The limits for one author, which prevent the flooding of a record or of the curators' queue.

    Attributes:
        per_record: the maximum number of claims about one record. Claims that creators import into their own records
            do not count.
        open_proposals: the maximum number of open proposals about all records.
    """

    per_record: int = 200
    open_proposals: int = 1000


class RecordEvidence(NamedTuple):
    """The claims about a record.

    Attributes:
        record: the record.
        ledger_claims: the claims in the ledger.
        claims: the claims in the ledger and the declarations of the creator, the newest first.
        pseudos: the names of the authors, the reviewers and the creator of the record, by user id.
    """

    record: DatasetRecord
    ledger_claims: list[ClaimRecord]
    claims: list[ClaimRecord]
    pseudos: Pseudos


class NamedClaim(NamedTuple):
    """A claim with the names of its author and its reviewer."""

    claim: ClaimRecord
    pseudos: Pseudos


class AwaitedDecision(StrEnum):
    """The decision that a claim in the queue waits for."""

    ACCEPTANCE = "acceptance"
    CONFIRMATION = "confirmation"


class QueuePage(NamedTuple):
    """A page of the claims that wait for a decision, and their total number."""

    claims: list[QueuedClaim]
    total_count: int
    pseudos: Pseudos


class _ClaimContext(NamedTuple):
    """A claim with its record and all claims about the record in the ledger.

    The claim may be a declaration that is stored in the record, and not in the ledger before the first decision.
    """

    record: DatasetRecord
    claims: RecordClaims
    claim: ClaimRecord


class EvidenceEditor:
    """Reads and changes the claims about records that are visible to the caller."""

    def __init__(self, database: Database, catalog: LiveCatalog) -> None:
        self.limits = ClaimLimits()
        self._database = database
        self._catalog = catalog

    async def read(self, dataset_id: int, viewer: UUID | None) -> RecordEvidence:
        """Return all claims about a record.

        Raises:
            DatasetNotFound: the record does not exist or is not visible to the viewer.
        """
        async with self._database.reading() as connection:
            record, claims = await _load_record(connection, dataset_id, viewer)
            all_claims = [*declarations_outside_ledger(record, claims.newest_first), *claims.newest_first]
            all_claims.sort(key=lambda claim: claim.created_at, reverse=True)
            pseudos = await read_claim_names(connection, all_claims, record.owner)

        return RecordEvidence(record, claims.newest_first, all_claims, pseudos)

    async def add(self, dataset_id: int, draft: ClaimDraft, caller: Caller) -> NamedClaim:
        """Add a claim of the caller, or return the caller's equal claim if one is still open.

        A claim by the creator of the record is active at once. A claim by anybody else is a proposal.

        Raises:
            DatasetNotFound: the record does not exist or is not visible to the caller.
            ClaimQuotaExceeded: the caller has made too many claims.
        """
        async with self._catalog.writing() as writer:
            record, claims = await _load_record(writer.transaction, dataset_id, caller.id)
            is_creator = record.owner == caller.id
            status = ClaimStatus.ACTIVE if is_creator else ClaimStatus.PROPOSED
            draft = replace(draft, author=caller.id, status=status)

            claim = claims.find_equal_open_claim(draft)
            if claim is None:
                await self._check_limits(writer.transaction, record, claims, caller.id)
                claim = new_claim(draft, dataset_id, claims.now)
                await claims.insert(writer.transaction, [claim])
                await store_resolution(writer, record, claims)

            return NamedClaim(claim, await read_claim_names(writer.transaction, [claim]))

    async def review(self, dataset_id: int, claim_id: UUID, body: ReviewCreate, caller: Caller) -> NamedClaim:
        """Accept, confirm or reject a claim, and return it.

        Raises:
            DatasetNotFound, ClaimNotFound: the claim does not exist or is not visible to the caller.
            ReviewForbidden, OwnClaim: the caller may not make this decision.
            ClaimClosed: the claim is closed, or has been accepted or confirmed already.
        """
        decision = Decision(body.decision)

        # The check before the transaction prevents callers without permission from locking the catalog.
        async with self._database.reading() as connection:
            context = await _load_claim(connection, dataset_id, claim_id, caller.id)
        check_may_review(context.claim, decision, context.record.owner, caller)

        async with self._catalog.writing() as writer:
            context = await _load_claim(writer.transaction, dataset_id, claim_id, caller.id)
            check_may_review(context.claim, decision, context.record.owner, caller)

            review = ClaimReview(reviewer=caller.id, at=datetime.now(UTC), decision=decision, note=body.note)
            status = ClaimStatus.REJECTED if decision is Decision.REJECT else ClaimStatus.ACTIVE
            claim = replace(context.claim, status=status, review=review)
            await _store_decision(writer, context, claim)
            return NamedClaim(claim, await read_claim_names(writer.transaction, [claim]))

    async def withdraw(self, dataset_id: int, claim_id: UUID, caller: Caller) -> NamedClaim:
        """Withdraw a claim, and return it.

        Raises:
            DatasetNotFound, ClaimNotFound: the claim does not exist or is not visible to the caller.
            WithdrawalForbidden: the caller is neither the author of the claim nor a curator, or the claim was measured.
            ClaimClosed: the claim is closed.
        """
        async with self._database.reading() as connection:
            context = await _load_claim(connection, dataset_id, claim_id, caller.id)
        check_may_withdraw(context.claim, caller)

        async with self._catalog.writing() as writer:
            context = await _load_claim(writer.transaction, dataset_id, claim_id, caller.id)
            check_may_withdraw(context.claim, caller)

            claim = withdrawn(context.claim, datetime.now(UTC))
            await _store_decision(writer, context, claim)
            return NamedClaim(claim, await read_claim_names(writer.transaction, [claim]))

    async def load_queue(self, awaited: AwaitedDecision, caller: Caller, *, skip: int, limit: int) -> QueuePage:
        """Return a page of the claims that wait for a decision of the caller, the oldest first.

        Proposals wait for acceptance by the creator of the record or a curator. Claims with a quote wait for
        confirmation by a curator.

        Args:
            awaited: the kind of decision.
            caller: the user who asks. Only curators see claims about other users' records.
            skip: the number of claims to skip.
            limit: the maximum number of claims to return.

        Raises:
            ReviewForbidden: the caller asks for claims to confirm, but is not a curator.
        """
        now = datetime.now(UTC)
        if awaited is AwaitedDecision.ACCEPTANCE:
            condition = store.open_proposal_condition(caller, now)
        elif caller.is_curator:
            condition = store.unconfirmed_claim_condition(caller.id, now)
        else:
            raise ReviewForbidden

        async with self._database.reading() as connection:
            queued_claims = await store.read_queue(connection, condition, offset=skip, limit=limit)
            total_count = await store.count_queue(connection, condition)
            pseudos = await read_claim_names(connection, [queued.claim for queued in queued_claims])
        return QueuePage(queued_claims, total_count, pseudos)

    async def _check_limits(
        self, connection: Reader, record: DatasetRecord, claims: RecordClaims, author: UUID
    ) -> None:
        """Check that an author may make one more claim about a record.

        Raises:
            ClaimQuotaExceeded: the author has too many claims about this record, or too many open proposals.
        """
        if claims.count_claims_by(author, record.owner) >= self.limits.per_record:
            raise ClaimQuotaExceeded(limit=self.limits.per_record)
        if await store.count_open_proposals_by(connection, author) >= self.limits.open_proposals:
            raise ClaimQuotaExceeded(limit=self.limits.open_proposals)

    async def withdraw_expired_claims(self) -> None:
        """Withdraw claims soon after they expire, until cancelled.

        Errors are logged, and the next round tries again. Every process runs this task. The lock on the catalog ensures
        that only one of them withdraws each claim.
        """
        await repeat_uninterrupted(
            self._withdraw_expired_claims_once, EXPIRY_POLL_SECONDS, log, failure="expired claims not withdrawn"
        )

    async def _withdraw_expired_claims_once(self) -> None:
        """Withdraw the claims that have expired, locking the catalog only if there are any."""
        async with self._database.reading() as connection:
            expired = await store.dataset_ids_with_expired_claims(connection, datetime.now(UTC), limit=1)
        if not expired:
            return

        async with self._catalog.writing() as writer:
            await withdraw_expired_claims(writer)


async def _load_record(connection: Reader, dataset_id: int, viewer: UUID | None) -> tuple[DatasetRecord, RecordClaims]:
    """Return a record and the claims about it in the ledger.

    Raises:
        DatasetNotFound: the record does not exist or is not visible to the viewer.
    """
    record = await dataset_store.visible_dataset(connection, dataset_id, viewer)
    if record is None:
        raise DatasetNotFound
    return record, await RecordClaims.load(connection, dataset_id)


async def _load_claim(connection: Reader, dataset_id: int, claim_id: UUID, viewer: UUID) -> _ClaimContext:
    """Return a claim in the ledger or a declaration, together with its record.

    Raises:
        DatasetNotFound, ClaimNotFound: the claim does not exist or is not visible to the viewer.
    """
    record, claims = await _load_record(connection, dataset_id, viewer)
    for claim in (*claims.newest_first, *declarations_outside_ledger(record, claims.newest_first)):
        if claim.id == claim_id:
            return _ClaimContext(record, claims, claim)

    raise ClaimNotFound


async def _store_decision(writer: CatalogWriter, context: _ClaimContext, claim: ClaimRecord) -> None:
    """Store a claim that was reviewed or withdrawn, and update its record.

    A declaration is inserted into the ledger by the first decision about it. If it is rejected or withdrawn, its value
    is also removed from the record.
    """
    record = context.record
    claims = context.claims
    is_closed = claim.status not in OPEN_STATUSES
    if is_closed and is_declaration(record, claim):
        record = without_declaration(record, claim.attribute)

    is_new_in_ledger = claims.get(claim.id) is None
    if is_new_in_ledger:
        await claims.insert(writer.transaction, [claim])
    else:
        await claims.update(writer.transaction, claim)

    await writer.update(record.id, claims.resolve(record))


async def read_claim_names(connection: Reader, claims: Iterable[ClaimRecord], *other_users: UUID | None) -> Pseudos:
    """Return the names of the authors and reviewers of claims, and of other users, by user id."""
    user_ids = set(other_users)
    for claim in claims:
        user_ids.add(claim.author)
        if claim.review is not None:
            user_ids.add(claim.review.reviewer)
    return await read_pseudos(connection, [user_id for user_id in user_ids if user_id is not None])
