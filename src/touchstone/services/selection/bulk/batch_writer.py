"""Storing a batch of lines of a bulk import in one transaction."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple
from uuid import UUID

from touchstone.core.errors import Unavailable
from touchstone.database.engine import Database, Reader, Writer
from touchstone.services.selection.catalog.live_catalog import LiveCatalog
from touchstone.services.selection.catalog_writer import CatalogWriter
from touchstone.services.selection.datasets import record_usage_store, store
from touchstone.services.selection.datasets.dataset_record import DatasetDraft, DatasetRecord, content_size
from touchstone.services.selection.datasets.declared_record import DeclaredRecord
from touchstone.services.selection.datasets.measured_record import target_of
from touchstone.services.selection.datasets.store import SourceConflict
from touchstone.services.selection.evidence.record_claims import RecordClaims
from touchstone.services.selection.files.measurement import Measurement

# More than the records of one batch can take; the JSON of a record is a few times as long as its line at most.
_MAX_BATCH_BYTES: Final = 32 * 1024 * 1024
# How often a batch is tried, while others insert records with the same keys.
_MAX_ATTEMPTS: Final = 5


class RecordLine(NamedTuple):
    """A line with a valid record.

    Attributes:
        number: the number of the line.
        record: what the owner declares in it.
        source_digests: the digests under which the record may be stored already; the first is that of a new record.
    """

    number: int
    record: DeclaredRecord
    source_digests: Sequence[str]


class BatchResult(NamedTuple):
    """How many records a batch has created, updated and found unchanged, and which lines were over the quota."""

    created: int = 0
    updated: int = 0
    unchanged: int = 0
    lines_over_quota: Sequence[int] = ()


class _Update(NamedTuple):
    """A record before and after its owner's declarations are replaced."""

    stored: DatasetRecord
    draft: DatasetRecord


class _Quota:
    """The bytes that an owner may still store; None stands for more than a batch can take."""

    def __init__(self, free_bytes: int | None) -> None:
        self._free_bytes = free_bytes

    def admit(self, draft: DatasetDraft, *, replaced_bytes: int = 0) -> bool:
        """Count a draft that replaces a record of `replaced_bytes`, and return True, unless it exceeds the quota.

        A draft that is not larger than the record before is always admitted.
        """
        if self._free_bytes is None:
            return True

        added_bytes = content_size(draft) - replaced_bytes
        if added_bytes > 0 and added_bytes > self._free_bytes:
            return False

        self._free_bytes -= added_bytes
        return True


class BatchWriter:
    """Writes batches of records that belong to one owner, or to nobody."""

    def __init__(self, database: Database, catalog: LiveCatalog, owner: UUID | None, *, quota_bytes: int) -> None:
        """Prepare to write records of an owner, whose records may take `quota_bytes` altogether."""
        self._database = database
        self._catalog = catalog
        self._owner = owner
        self._quota_bytes = quota_bytes

    async def write(self, lines: Sequence[RecordLine]) -> BatchResult:
        """Create or update the records of some lines, each with a key of its own, in one transaction.

        Raises:
            Unavailable: the database cannot be reached, or others keep inserting records with the same keys.
            StorageFull: the disk is full, and nothing was written.
        """
        for _ in range(_MAX_ATTEMPTS):
            try:
                return await self._write(lines)
            except SourceConflict:
                continue  # The next attempt finds the new record, and updates it.
        raise Unavailable(retry_after=1)

    async def _write(self, lines: Sequence[RecordLine]) -> BatchResult:
        """Write the lines, unless another transaction has just inserted a record with one of their keys.

        Raises:
            SourceConflict: another transaction has done so.
        """
        # Most lines of a repeated import change nothing, and need no transaction.
        async with self._database.reading() as connection:
            stored_records = await _find_stored(connection, lines)
        outdated_lines = [line for line in lines if not _is_unchanged(line, stored_records)]
        unchanged_count = len(lines) - len(outdated_lines)
        if not outdated_lines:
            return BatchResult(unchanged=unchanged_count)

        async with self._catalog.writing(is_bulk=True) as writer:
            # Others may have changed the stored records since, so they are read again in the transaction.
            lines_with_record = [line for line in outdated_lines if line.number in stored_records]
            stored_records = await _find_stored(writer.transaction, lines_with_record)
            result = await self._store(writer, outdated_lines, stored_records)

        return result._replace(unchanged=unchanged_count)

    async def _store(
        self, writer: CatalogWriter, lines: Sequence[RecordLine], stored_records: Mapping[int, DatasetRecord]
    ) -> BatchResult:
        """Insert the new records among the lines and update the others, as far as the quota allows."""
        now = datetime.now(UTC)
        quota = _Quota(await self._read_free_bytes(writer.transaction))
        new_drafts: list[DatasetDraft] = []
        updates: list[_Update] = []
        lines_over_quota: list[int] = []

        for line in lines:
            stored = stored_records.get(line.number)
            if stored is None:
                source_digest = line.source_digests[0] if line.source_digests else None
                new_draft = line.record.new_draft(self._owner, source_digest, now)
                is_admitted = quota.admit(new_draft)
                if is_admitted:
                    new_drafts.append(new_draft)
            else:
                changed_draft = line.record.changed_draft(stored, now)
                is_admitted = quota.admit(changed_draft, replaced_bytes=stored.content_bytes)
                if is_admitted:
                    updates.append(_Update(stored, changed_draft))

            if not is_admitted:
                lines_over_quota.append(line.number)

        await writer.insert_many(new_drafts)
        await _update_records(writer, updates)
        return BatchResult(created=len(new_drafts), updated=len(updates), lines_over_quota=lines_over_quota)

    async def _read_free_bytes(self, transaction: Reader) -> int | None:
        """Return how many bytes of the owner's quota are left; None if one batch cannot use them up.

        Records without an owner have no quota.
        """
        if self._owner is None:
            return None

        free_bytes = self._quota_bytes - await record_usage_store.read_bytes(transaction, self._owner)
        return free_bytes if free_bytes < _MAX_BATCH_BYTES else None


async def _find_stored(connection: Reader, lines: Sequence[RecordLine]) -> dict[int, DatasetRecord]:
    """Return the stored record of each line whose key is stored already, by the number of the line."""
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
    """Return whether the stored record of a line already says what the line declares."""
    stored = stored_records.get(line.number)
    return stored is not None and line.record.is_declared_by(stored)


async def _update_records(writer: CatalogWriter, updates: Sequence[_Update]) -> None:
    """Store the drafts of some records; if others have made claims about a record, they are taken into account."""
    drafts: list[DatasetRecord] = []
    for update in updates:
        draft = update.draft
        if update.stored.attribute_evidence is not None:
            draft = await _resolve_claims(writer.transaction, update)
        drafts.append(draft)

    await writer.update_many(drafts)


async def _resolve_claims(transaction: Writer, update: _Update) -> DatasetRecord:
    """Replace the owner's claims about a record, and return its draft with the values that all claims amount to."""
    stored, draft = update
    claims = await RecordClaims.load(transaction, stored.id)
    await claims.replace_declarations(transaction, stored.owner, draft.attributes)

    measurement = Measurement.from_metadata(draft.metadata or {})
    await claims.replace_measurements(transaction, measurement.attribute_values(target_of(draft)))
    return claims.resolve(draft)
