"""Storing the records of some lines of a bulk import in one transaction."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple
from uuid import UUID

from touchstone.core.errors import Unavailable
from touchstone.database.engine import Database, Reader, Writer
from touchstone.services.selection.bulk.declared_record import DeclaredRecord
from touchstone.services.selection.catalog.live_catalog import LiveCatalog
from touchstone.services.selection.catalog_writer import CatalogWriter
from touchstone.services.selection.datasets import record_usage_store, store
from touchstone.services.selection.datasets.dataset_record import DatasetDraft, DatasetRecord, content_size
from touchstone.services.selection.datasets.measured_record import target_of
from touchstone.services.selection.datasets.store import SourceConflict
from touchstone.services.selection.evidence.record_claims import RecordClaims
from touchstone.services.selection.files.measurement import Measurement

# More than the records of one batch can take; the JSON of a record is a few times as long as its line at most.
_MAX_BATCH_BYTES: Final = 32 * 1024 * 1024
# How often a batch is written again because somebody else has inserted a record with one of its keys meanwhile.
_MAX_ATTEMPTS: Final = 5


class RecordLine(NamedTuple):
    """A valid line: its number, the record that it declares, and what identifies the record by its key."""

    number: int
    record: DeclaredRecord
    source_digests: Sequence[str]


class BatchResult(NamedTuple):
    """How many records were created, changed or found unchanged, and the numbers of the lines beyond the quota."""

    created: int
    updated: int
    unchanged: int
    lines_over_quota: Sequence[int]


class _Change(NamedTuple):
    """A stored record, and what its owner declares about it from now on."""

    stored: DatasetRecord
    declared: DeclaredRecord


class BatchWriter:
    """Writes batches of records on behalf of one owner, or of nobody."""

    def __init__(self, database: Database, catalog: LiveCatalog, owner: UUID | None, *, quota_bytes: int) -> None:
        """Prepare to write records of an owner, which may take `quota_bytes` with those that exist already."""
        self._database = database
        self._catalog = catalog
        self._owner = owner
        self._quota_bytes = quota_bytes

    async def write(self, lines: Sequence[RecordLine]) -> BatchResult:
        """Make or update the records of some lines, no two of which have the same key, and return what was done.

        Raises:
            Unavailable: the database cannot be reached, or others keep inserting records with the same keys.
            StorageFull: the disk is full, and nothing was written.
        """
        for _ in range(_MAX_ATTEMPTS):
            try:
                return await self._write(lines)
            except SourceConflict:
                continue  # The record is found next time.
        raise Unavailable(retry_after=1)

    async def _write(self, lines: Sequence[RecordLine]) -> BatchResult:
        """Write the lines unless another transaction is in the way.

        Raises:
            SourceConflict: another transaction has inserted a record with one of the keys.
        """
        # Most lines of a repeated import change nothing, and need no transaction.
        async with self._database.reading() as connection:
            stored_records = await _find_stored(connection, lines)
        outdated_lines = [line for line in lines if not _is_unchanged(line, stored_records)]
        unchanged_count = len(lines) - len(outdated_lines)
        if not outdated_lines:
            return BatchResult(created=0, updated=0, unchanged=unchanged_count, lines_over_quota=[])

        async with self._catalog.writing(is_bulk=True) as writer:
            # Records that were found are read again, because others may have changed them since.
            lines_with_record = [line for line in outdated_lines if line.number in stored_records]
            stored_records = await _find_stored(writer.transaction, lines_with_record)
            created_count, updated_count, lines_over_quota = await self._store(writer, outdated_lines, stored_records)

        return BatchResult(created_count, updated_count, unchanged_count, lines_over_quota)

    async def _store(
        self, writer: CatalogWriter, lines: Sequence[RecordLine], stored_records: Mapping[int, DatasetRecord]
    ) -> tuple[int, int, list[int]]:
        """Insert and update records, and return how many of each, and the numbers of the lines beyond the quota."""
        now = datetime.now(UTC)
        free_bytes = await self._read_free_bytes(writer.transaction)
        new_drafts: list[DatasetDraft] = []
        changes: list[_Change] = []
        lines_over_quota: list[int] = []

        for line in lines:
            stored = stored_records.get(line.number)
            if stored is None:
                digest = line.source_digests[0] if line.source_digests else None
                draft = line.record.new_draft(self._owner, digest, now)
                added_bytes = content_size(draft) if free_bytes is not None else 0
            else:
                draft = line.record.changed_draft(stored, now)
                added_bytes = content_size(draft) - stored.content_bytes if free_bytes is not None else 0

            is_over_quota = free_bytes is not None and added_bytes > 0 and free_bytes < added_bytes
            if is_over_quota:
                lines_over_quota.append(line.number)
                continue
            if free_bytes is not None:
                free_bytes -= added_bytes
            if stored is None:
                new_drafts.append(draft)
            else:
                changes.append(_Change(stored, line.record))

        await writer.insert_many(new_drafts)
        await _update_records(writer, changes, now)
        return len(new_drafts), len(changes), lines_over_quota

    async def _read_free_bytes(self, transaction: Reader) -> int | None:
        """Return how many bytes are left of the owner's quota; None if one batch cannot use them up.

        Records without an owner have no quota.
        """
        if self._owner is None:
            return None
        free_bytes = self._quota_bytes - await record_usage_store.read_bytes(transaction, self._owner)
        return free_bytes if free_bytes < _MAX_BATCH_BYTES else None


async def _find_stored(connection: Reader, lines: Sequence[RecordLine]) -> dict[int, DatasetRecord]:
    """Return the stored records of those lines that have one, by the number of the line."""
    digests = [digest for line in lines for digest in line.source_digests]
    if not digests:
        return {}

    records = await store.datasets_from_sources(connection, digests)
    records_by_digest = {record.source_digest: record for record in records}
    stored_records: dict[int, DatasetRecord] = {}
    for line in lines:
        for digest in line.source_digests:
            if digest in records_by_digest:
                stored_records.setdefault(line.number, records_by_digest[digest])

    return stored_records


def _is_unchanged(line: RecordLine, stored_records: Mapping[int, DatasetRecord]) -> bool:
    """Return whether a line declares what its stored record declares already."""
    stored = stored_records.get(line.number)
    return stored is not None and line.record.is_declared_by(stored)


async def _update_records(writer: CatalogWriter, changes: Sequence[_Change], now: datetime) -> None:
    """Replace what the owner declares about some records, and what follows from it together with other claims."""
    drafts: list[DatasetRecord] = []
    for stored, declared in changes:
        draft = declared.changed_draft(stored, now)
        has_claims = stored.attribute_evidence is not None
        drafts.append(await _change_claims(writer.transaction, stored, draft) if has_claims else draft)

    await writer.update_many(drafts)


async def _change_claims(transaction: Writer, stored: DatasetRecord, draft: DatasetRecord) -> DatasetRecord:
    """Apply new declarations of a record's owner to the claims about it, and return what they amount to."""
    claims = await RecordClaims.load(transaction, stored.id)
    await claims.replace_declarations(transaction, stored.owner, draft.attributes)

    measurement = Measurement.from_metadata(draft.metadata or {})
    await claims.replace_measurements(transaction, measurement.attribute_values(target_of(draft)))
    return claims.resolve(draft)
