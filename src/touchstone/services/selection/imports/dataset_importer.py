"""Import of datasets that were read from documents, in one transaction per dataset."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

import msgspec
from msgspec.structs import replace
from pydantic import ValidationError

from touchstone.core.errors import RecordQuotaExceeded
from touchstone.core.evidence import EvidenceLevel
from touchstone.core.identity import Caller
from touchstone.database.engine import Database, Reader
from touchstone.metadata.documents import DatasetDocument, ImportedDocument, RejectedPart
from touchstone.metadata.reading_protocol import ReadDataset
from touchstone.services.selection.catalog.live_catalog import LiveCatalog
from touchstone.services.selection.catalog_writer import CatalogWriter
from touchstone.services.selection.datasets import store
from touchstone.services.selection.datasets.dataset_ids import new_dataset_id
from touchstone.services.selection.datasets.dataset_record import ATTRIBUTE_NAMES, DatasetDraft, DatasetRecord
from touchstone.services.selection.datasets.measured_record import DataFile, target_of, with_measurement
from touchstone.services.selection.datasets.record_quota import check_record_quota
from touchstone.services.selection.datasets.schemas import DatasetCreate, DatasetCreateBody
from touchstone.services.selection.evidence import store as claim_store
from touchstone.services.selection.evidence.claim_records import ClaimDraft, ClaimRecord, ClaimSource, ClaimStatus
from touchstone.services.selection.evidence.record_claims import with_resolved_attributes
from touchstone.services.selection.files.measurement import Measurement
from touchstone.services.selection.imports.document_entries import (
    CLAIMED,
    DocumentEntry,
    content_digest,
    earlier_version,
    entries_to_json,
    merge_values,
    read_entries,
    source_digests,
    stated_values,
    with_version,
)
from touchstone.services.selection.imports.imported_claims import (
    ClaimAuthor,
    ClaimChanges,
    change_claims,
    draft_claims,
    edited_attributes,
    limit_proposals,
    without_dropped_declarations,
)
from touchstone.services.selection.imports.schemas import ImportOrder, ImportStatus
from touchstone.services.selection.json_fields import IMPORTED, service_members, without_service_keys

_TEXT_FIELDS: Final = ("description", "file_path", "file_type")


class ImportLimits(NamedTuple):
    """The limits for one user.

    Attributes:
        record_bytes: the maximum total size of the records, in bytes.
        open_proposals: the maximum number of proposals that have not been reviewed yet.
    """

    record_bytes: int
    open_proposals: int


class ImportedFile(msgspec.Struct, frozen=True, kw_only=True):
    """The name and the digest of a document."""

    name: str
    sha256: str


class ImportOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of the import of one dataset.

    Attributes:
        record: the record as stored, or as a dry run would store it; None if the dataset was rejected.
        claims: the claims that the document makes about the dataset.
        error: the reason why the dataset was rejected.
        skipped: the proposals that were left out, with the reason.
        is_new_in_dry_run: whether the record was created by a dry run, and so does not exist.
    """

    status: ImportStatus
    record: DatasetRecord | None = None
    claims: tuple[ClaimRecord, ...] = ()
    error: RejectedPart | None = None
    skipped: tuple[RejectedPart, ...] = ()
    is_new_in_dry_run: bool = False


class _DryRunRollback(Exception):
    """Raised at the end of a dry run to roll back its transaction."""


class DocumentImporter:
    """Imports datasets on behalf of one caller, or of the service itself."""

    def __init__(
        self,
        database: Database,
        catalog: LiveCatalog,
        caller: Caller | None,
        order: ImportOrder,
        limits: ImportLimits,
    ) -> None:
        """Create an importer.

        Args:
            database: the database to read from.
            catalog: the catalog to write to.
            caller: the owner of all records and claims that are created, or None for the service itself.
            order: the options of the import.
            limits: the limits for the caller.
        """
        self._database = database
        self._catalog = catalog
        self._order = order
        self._limits = limits
        self._owner = caller.id if caller else None
        self._author = ClaimAuthor(self._owner, _claim_level(caller, order))

    async def put(self, dataset: ReadDataset, file: ImportedFile) -> ImportOutcome:
        """Create or update the record of a dataset, unless exactly the same content was imported before.

        An existing record is identified by its owner, the metadata standard, the name of the source, and the key of
        the dataset in the source.
        """
        try:
            entry = self._new_entry(dataset, file)
        except ValidationError as error:
            return ImportOutcome(status=ImportStatus.REJECTED, error=_invalid_record(error))

        digests = source_digests(self._owner, dataset, self._order)
        async with self._database.reading() as connection:
            outcome = await self._find_unchanged(connection, digests, entry)
        if outcome is not None:
            return outcome

        try:
            async with self._catalog.writing() as writer:
                # Another request may have imported the same document before the lock was acquired.
                outcome = await self._find_unchanged(writer.transaction, digests, entry)
                if outcome is None:
                    outcome = await self._write(writer, digests, dataset, entry)
                if self._order.dry_run:
                    raise _DryRunRollback
        except RecordQuotaExceeded as error:
            part = RejectedPart("", error.code, error.facts)
            return ImportOutcome(status=ImportStatus.REJECTED, error=part)
        except _DryRunRollback:
            pass
        assert outcome is not None
        return outcome

    def _new_entry(self, dataset: ReadDataset, file: ImportedFile) -> DocumentEntry:
        """Return the entry about a document that its record will store, with validated values.

        Raises:
            ValidationError: one of the values is not valid for a record.
        """
        document = dataset.dataset
        source = {
            "kind": document.standard,
            "name": self._order.source_name,
            "url": self._order.source_url,
            "sha256": file.sha256,
            "key": document.key,
        }
        return DocumentEntry(
            standard=document.standard,
            standard_version=document.standard_version,
            document=file.name,
            key=document.key,
            sha256=file.sha256,
            digest=content_digest(dataset, self._author.level.value, self._order.source_url),
            record=_validated_values(dataset, source),
            unmapped=dict(document.unmapped),
        )

    async def _find_unchanged(
        self, connection: Reader, digests: Sequence[str], entry: DocumentEntry
    ) -> ImportOutcome | None:
        """Return the outcome if the document was imported before and nothing has to change, or None otherwise.

        Nothing has to change if the content of the document is the same, the record has the requested visibility, and
        there is no proposal that the order would accept.

        Args:
            connection: a connection to the database.
            digests: the digests that may identify the record.
            entry: the entry about the document.
        """
        record = await store.dataset_from_source(connection, digests)
        if record is None:
            return None

        earlier = earlier_version(read_entries(record.metadata), entry)
        if earlier is None or earlier.digest != entry.digest or not earlier.is_complete:
            return None

        claims = await claim_store.read_claims(connection, record.id)
        if self._order.visibility not in (None, record.visibility):
            return None

        claims_of_document = [claim for claim in claims if claim.id in earlier.claims]
        has_proposals = any(claim.status is ClaimStatus.PROPOSED for claim in claims_of_document)
        if self._order.accept and has_proposals:
            return None

        return ImportOutcome(status=ImportStatus.UNCHANGED, record=record, claims=tuple(claims_of_document))

    async def _write(
        self, writer: CatalogWriter, digests: Sequence[str], dataset: ReadDataset, entry: DocumentEntry
    ) -> ImportOutcome:
        """Create or update the record of a dataset and its claims in the transaction of `writer`.

        Raises:
            RecordQuotaExceeded: the record grows, and its owner's records would exceed the quota.
        """
        now = datetime.now(UTC)
        document = dataset.dataset
        current = await store.dataset_from_source(writer.transaction, digests)
        draft = current or _new_draft(self._owner, digests[0], document, now)
        old_entries = read_entries(draft.metadata)

        record_claims = await claim_store.read_claims(writer.transaction, current.id) if current else []
        edited = edited_attributes(current, record_claims, old_entries) if current else ()
        previous_version = earlier_version(old_entries, entry)
        changes = change_claims(record_claims, previous_version, self._draft_claims(dataset, entry), edited, now)
        draft = without_dropped_declarations(draft, changes)
        draft = _with_stated_values(draft, old_entries, with_version(old_entries, entry))

        # A measurement is only valid for the data file and the target column that were measured.
        if current is not None and _is_measurement_outdated(current, draft):
            changes = changes.with_measurements_withdrawn(now)
            draft = with_measurement(draft, Measurement())

        # Closed proposals make room for new ones.
        for claim in changes.closed_or_accepted:
            await claim_store.update_claim(writer.transaction, claim)
        changes, skipped = await self._without_excess_proposals(writer, changes)

        entry_with_claims = replace(
            entry,
            claims=tuple(claim.id for claim in changes.of_document),
            remembered_claims=tuple(claim.id for claim in changes.remembered),
            is_complete=not skipped,
        )
        draft = _with_entries(draft, with_version(old_entries, entry_with_claims), document.earlier)
        draft = replace(draft, visibility=self._order.visibility or draft.visibility, updated_at=now)
        record = await _store(writer, with_resolved_attributes(draft, changes.all, now), changes)
        if current is None or record.content_bytes > current.content_bytes:
            await check_record_quota(writer.transaction, self._owner, self._limits.record_bytes)

        return ImportOutcome(
            status=ImportStatus.UPDATED if current else ImportStatus.CREATED,
            record=record,
            claims=tuple(replace(claim, dataset_id=record.id) for claim in changes.of_document),
            skipped=skipped,
            is_new_in_dry_run=self._order.dry_run and current is None,
        )

    async def _without_excess_proposals(
        self, writer: CatalogWriter, changes: ClaimChanges
    ) -> tuple[ClaimChanges, tuple[RejectedPart, ...]]:
        """Remove the new proposals that exceed the limit on open proposals.

        The limit does not apply to the service itself.

        Returns:
            the remaining changes, and the removed proposals as skipped parts of the document.
        """
        adds_proposals = any(claim.status is ClaimStatus.PROPOSED for claim in changes.added)
        if self._owner is None or not adds_proposals:
            return changes, ()

        limit = self._limits.open_proposals
        open_count = await claim_store.count_open_proposals_by(writer.transaction, self._owner)
        changes, left_out = limit_proposals(changes, limit - open_count)
        facts = {"limit": limit}
        skipped = [RejectedPart(claim.place or "", "too_many_proposals", facts) for claim in left_out]
        return changes, tuple(skipped)

    def _draft_claims(self, dataset: ReadDataset, entry: DocumentEntry) -> list[ClaimDraft]:
        """Return drafts of the claims that a document makes."""
        source = ClaimSource(
            kind=entry.standard, name=self._order.source_name, url=self._order.source_url, sha256=entry.sha256
        )
        return draft_claims(dataset, self._author, source, accept=self._order.accept)


def _claim_level(caller: Caller | None, order: ImportOrder) -> EvidenceLevel:
    """Return the evidence level of the claims that a document makes in fields.

    Anyone can write a document. Its claims only count as documented if it is imported from a named source by a curator
    or by the service itself.
    """
    is_trusted = caller is None or caller.is_curator
    return EvidenceLevel.DOCUMENTED if is_trusted and order.source_name else EvidenceLevel.DECLARED


def _validated_values(dataset: ReadDataset, source: dict[str, Any]) -> dict[str, Any]:
    """Return the values of a document, validated like the body of a request that creates a record.

    Claimed attributes are left out, because their values come from claims.

    Raises:
        ValidationError: one of the values is not valid for a record.
    """
    values = {name: value for name, value in dataset.dataset.record.items() if name not in CLAIMED}
    metadata = {**values.pop("metadata", {}), "source": source}
    text_values = {name: values.pop(name, "") for name in _TEXT_FIELDS}

    body: DatasetCreateBody = DatasetCreate.model_validate(
        {"name": values.get("dataset_name", ""), **text_values, **values, "metadata": metadata}
    )
    fields = body.provided_fields()
    texts_and_metadata = {name: fields[name] for name in (*_TEXT_FIELDS, "metadata")}
    return {**body.provided_attributes(), **texts_and_metadata}


def _invalid_record(error: ValidationError) -> RejectedPart:
    """Return the reason for rejecting a dataset, which is its first invalid value."""
    first_error = error.errors(include_url=False, include_input=False)[0]
    path = ".".join(map(str, first_error["loc"]))
    context = {
        name: value for name, value in first_error.get("ctx", {}).items() if isinstance(value, str | int | float)
    }
    facts = {"place": path, "type": first_error["type"], "reason": first_error["msg"], **context}
    return RejectedPart(path, "invalid_record", facts)


def _new_draft(owner: UUID | None, digest: str, document: DatasetDocument, now: datetime) -> DatasetDraft:
    """Return a record without any values, which is public unless a document says that its original is private.

    A record without an owner is always public, because nobody could see it otherwise.
    """
    return DatasetDraft(
        dataset_id=new_dataset_id(now),
        owner=owner,
        visibility="private" if document.is_private and owner else "public",
        description="",
        file_path="",
        file_type="",
        attributes=dict.fromkeys(ATTRIBUTE_NAMES),
        metadata=None,
        measured_attributes=None,
        source_digest=digest,
        created_at=now,
        updated_at=now,
    )


def _with_stated_values(
    draft: DatasetDraft, old_entries: Sequence[DocumentEntry], new_entries: Sequence[DocumentEntry]
) -> DatasetDraft:
    """Return a record with the values that its documents state now, except for values that were edited since.

    Args:
        draft: the record.
        old_entries: the entries about its documents before the import.
        new_entries: the entries about its documents after the import.
    """
    old_values = stated_values(old_entries)
    new_values = stated_values(new_entries)

    text_values = {name: getattr(draft, name) for name in _TEXT_FIELDS}
    if old_entries:
        text_values = merge_values(text_values, old_values, {name: new_values.get(name) for name in _TEXT_FIELDS})
    else:
        text_values |= {name: new_values[name] for name in _TEXT_FIELDS}

    attribute_names = [name for name in ATTRIBUTE_NAMES if name not in CLAIMED]
    attributes = merge_values(
        {name: draft.attributes[name] for name in attribute_names},
        {name: old_values.get(name) for name in attribute_names},
        {name: new_values.get(name) for name in attribute_names},
    )

    declared_metadata = without_service_keys(draft.metadata or {})
    merged_metadata = merge_values(declared_metadata, old_values["metadata"], new_values["metadata"])
    known_metadata = {key: value for key, value in merged_metadata.items() if value is not None}

    return replace(
        draft,
        **text_values,
        attributes={**draft.attributes, **attributes},
        metadata={**known_metadata, **service_members(draft.metadata)},
    )


def _with_entries(
    draft: DatasetDraft, entries: Sequence[DocumentEntry], foreign_documents: Sequence[ImportedDocument]
) -> DatasetDraft:
    """Return a record with the entries about its documents in its metadata.

    Args:
        draft: the record.
        entries: the entries about its documents after the import.
        foreign_documents: documents that another catalog had imported before it exported the dataset.
    """
    imported_documents = entries_to_json(draft.metadata, entries, foreign_documents)
    return replace(draft, metadata={**(draft.metadata or {}), IMPORTED: imported_documents})


def _is_measurement_outdated(current: DatasetRecord, draft: DatasetDraft) -> bool:
    """Return whether a change replaces the data file of a record or its target column."""
    return DataFile.from_record(draft) != DataFile.from_record(current) or target_of(draft) != target_of(current)


async def _store(writer: CatalogWriter, draft: DatasetDraft, changes: ClaimChanges) -> DatasetRecord:
    """Insert or update a record, and insert its new claims."""
    if draft.id is None:
        record = await writer.insert(draft)
    else:
        record = await writer.update(draft.id, draft)

    new_claims = [replace(claim, dataset_id=record.id) for claim in changes.added]
    await claim_store.insert_claims(writer.transaction, new_claims)
    return record
