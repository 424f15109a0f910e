"""Changes the ledger of claims together with the records that the claims are about.

Code that changes claims must also call `store_resolution`, or store the result of `with_resolved_attributes`, in the
same transaction. Otherwise, the attributes of the record would not match its claims.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

from msgspec.structs import replace

from touchstone.database.engine import Writer
from touchstone.metadata.documents import Claim as DocumentClaim
from touchstone.services.selection.catalog_writer import CatalogWriter
from touchstone.services.selection.datasets import store as dataset_store
from touchstone.services.selection.datasets.dataset_record import DatasetDraft, DatasetRecord
from touchstone.services.selection.evidence import store
from touchstone.services.selection.evidence.claim_records import OPEN_STATUSES, ClaimDraft, ClaimRecord
from touchstone.services.selection.evidence.record_claims import (
    RecordClaims,
    new_claim,
    with_resolved_attributes,
    withdrawn,
)

_EXPIRED_RECORDS_PER_TRANSACTION: Final = 100
# The record id of claims until their record is inserted.
_ID_BEFORE_INSERTION: Final = 0


def draft_from_document(claim: DocumentClaim, **details: Any) -> ClaimDraft:
    """Convert a claim found in a document to a draft for the ledger.

    Args:
        claim: the claim from a metadata reader.
        details: the remaining fields of `ClaimDraft`, such as `author`, `level`, `status`, `source` and `standard`.
    """
    return ClaimDraft(
        attribute=claim.attribute,
        value=claim.value,
        is_not_applicable=claim.is_not_applicable,
        scope=claim.scope.value if claim.scope else None,
        quote=claim.quote or None,
        place=claim.place or None,
        field=claim.field,
        note=claim.note or None,
        until=claim.until,
        **details,
    )


async def insert_record(
    writer: CatalogWriter, draft: DatasetDraft, claim_drafts: Sequence[ClaimDraft]
) -> DatasetRecord:
    """Insert a record together with claims about it, and return the stored record."""
    now = datetime.now(UTC)
    # The claims determine the attributes of the record, so they are created before the record has an id.
    claims = [new_claim(claim_draft, _ID_BEFORE_INSERTION, now) for claim_draft in claim_drafts]
    record = await writer.insert(with_resolved_attributes(draft, claims, now))

    await store.insert_claims(writer.transaction, [replace(claim, dataset_id=record.id) for claim in claims])
    return record


async def insert_records(
    transaction: Writer, records: Sequence[tuple[DatasetDraft, Sequence[ClaimDraft]]], version: int
) -> None:
    """Insert many records with their claims into the database, without updating the catalog in memory.

    Args:
        transaction: the transaction that inserts the records.
        records: each record with the claims about it.
        version: the version of the catalog that the records belong to.
    """
    now = datetime.now(UTC)
    drafts: list[DatasetDraft] = []
    claims_by_uuid: dict[UUID, list[ClaimRecord]] = {}
    for draft, claim_drafts in records:
        claims = [new_claim(claim_draft, _ID_BEFORE_INSERTION, now) for claim_draft in claim_drafts]
        drafts.append(with_resolved_attributes(draft, claims, now))
        claims_by_uuid[draft.dataset_id] = claims

    await dataset_store.insert_datasets(transaction, drafts, version)
    claimed_uuids = [uuid for uuid, claims in claims_by_uuid.items() if claims]
    row_ids = await dataset_store.ids_of_uuids(transaction, claimed_uuids)
    claims_with_ids = [
        replace(claim, dataset_id=row_ids[uuid]) for uuid in claimed_uuids for claim in claims_by_uuid[uuid]
    ]
    await store.insert_claims(transaction, claims_with_ids)


async def store_resolution(writer: CatalogWriter, record: DatasetRecord, claims: RecordClaims) -> DatasetRecord:
    """Update a record if its claims result in other attributes, and return the record."""
    resolved = claims.resolve(record)
    if resolved == record:
        return record
    return await writer.update(record.id, resolved)


async def withdraw_expired_claims(writer: CatalogWriter) -> None:
    """Withdraw expired claims, and update the records that they are about.

    Each call processes a limited number of records, to keep the transaction short.
    """
    now = datetime.now(UTC)
    limit = _EXPIRED_RECORDS_PER_TRANSACTION
    for dataset_id in await store.dataset_ids_with_expired_claims(writer.transaction, now, limit):
        await _withdraw_expired_claims_of(writer, dataset_id)


async def _withdraw_expired_claims_of(writer: CatalogWriter, dataset_id: int) -> None:
    """Withdraw the expired claims about one record, and update the record."""
    claims = await RecordClaims.load(writer.transaction, dataset_id)
    for claim in claims.newest_first:
        if claim.until is not None and claim.until <= claims.now and claim.status in OPEN_STATUSES:
            await claims.update(writer.transaction, withdrawn(claim, claim.until))

    record = await dataset_store.read_dataset(writer.transaction, dataset_id)
    assert record is not None, "claims are deleted with their record"
    await store_resolution(writer, record, claims)
