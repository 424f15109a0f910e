"""Writing the batches of a bulk import, in one transaction per batch."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain
from typing import Final, NamedTuple
from uuid import UUID

from touchstone.core.errors import Unavailable
from touchstone.database.engine import Database, Reader, Writer
from touchstone.services.selection.catalog.live_catalog import LiveCatalog
from touchstone.services.selection.catalog_writer import CatalogWriter
from touchstone.services.selection.datasets import record_usage_store, store
from touchstone.services.selection.datasets.dataset_record import DatasetRecord, content_size, with_declaration_times
from touchstone.services.selection.datasets.declared_record import DeclaredRecord
from touchstone.services.selection.datasets.measured_record import target_of
from touchstone.services.selection.datasets.new_records import NewRecords
from touchstone.services.selection.datasets.source_digests import old_source_digest
from touchstone.services.selection.datasets.store import SourceConflict
from touchstone.services.selection.evidence import store as claim_store
from touchstone.services.selection.evidence.claim_records import ClaimStatus
from touchstone.services.selection.evidence.declarations import rejected_attributes
from touchstone.services.selection.evidence.record_claims import RecordClaims
from touchstone.services.selection.files.measurement import Measurement

# An upper limit on the size of all records in one transaction. A record takes at most a few times as many bytes as
# its line.
_MAX_TRANSACTION_BYTES: Final = 32 * 1024 * 1024
# The number of lines to compare with stored records in one step, during which other requests wait.
_LINES_PER_COMPARISON: Final = 1000
# How often a batch is retried while other transactions insert records with the same keys.
_MAX_ATTEMPTS: Final = 5


class RecordLine(NamedTuple):
    """A line with a valid record.

    Attributes:
        number: the line number.
        record: the declarations in the line.
        source_digests: the digests that may identify the stored record; a new record gets the first one.
    """

    number: int
    record: DeclaredRecord
    source_digests: Sequence[str]


class BatchResult(NamedTuple):
    """The result of writing a batch.

    Attributes:
        created: the number of created records.
        updated: the number of updated records.
        unchanged: the number of lines that did not change their record.
        lines_over_quota: the numbers of the lines that exceeded the quota.
    """

    created: int = 0
    updated: int = 0
    unchanged: int = 0
    lines_over_quota: Sequence[int] = ()


class _Update(NamedTuple):
    """The update of a record by a line, with the record before and after the update."""

    line_number: int
    before: DatasetRecord
    after: DatasetRecord


class _NewLines(NamedTuple):
    """Lines with new records, and these records in the form in which they are inserted."""

    lines: Sequence[RecordLine]
    records: NewRecords


class PreparedBatch(NamedTuple):
    """A batch of lines that has been compared with the records in the database.

    Attributes:
        lines: all lines, with distinct keys.
        new_lines: the lines whose records are not stored yet.
        changed_lines: the lines whose declarations differ from the stored record, without values that a curator has
            rejected.
    """

    lines: Sequence[RecordLine]
    new_lines: _NewLines
    changed_lines: Sequence[RecordLine]

    @property
    def unchanged_count(self) -> int:
        """The number of lines whose declarations are the same as in the stored record."""
        return len(self.lines) - len(self.new_lines.lines) - len(self.changed_lines)


class BatchWriter:
    """Writes batches of records that belong to one owner, or have no owner."""

    def __init__(self, database: Database, catalog: LiveCatalog, owner: UUID | None, *, quota_bytes: int) -> None:
        """Create a writer for the records of an owner, whose total size may not exceed `quota_bytes`."""
        self._database = database
        self._catalog = catalog
        self._owner = owner
        self._quota_bytes = quota_bytes
        # Whether any record has a digest in the old form; None until the first batch is prepared.
        self._has_old_digests: bool | None = None

    async def prepare(self, lines: Sequence[RecordLine]) -> PreparedBatch:
        """Compare lines, which must have distinct keys, with the stored records, without blocking other writers.

        Raises:
            Unavailable: the database cannot be reached.
        """
        async with self._database.reading() as connection:
            if self._has_old_digests is None:
                self._has_old_digests = await store.has_old_source_digests(connection)

            new_lines: list[RecordLine] = []
            changed_lines: list[RecordLine] = []
            for start in range(0, len(lines), _LINES_PER_COMPARISON):
                compared_lines = lines[start : start + _LINES_PER_COMPARISON]
                stored_records = await self._find_stored(connection, compared_lines)
                new_lines += [line for line in compared_lines if line.number not in stored_records]
                candidates = [line for line in compared_lines if _is_changed(line, stored_records)]
                # In a repeated import, rejected values may be the only difference from the stored record.
                permitted_lines = await _remove_rejected_values(connection, candidates, stored_records)
                changed_lines += [line for line in permitted_lines if _is_changed(line, stored_records)]

        return PreparedBatch(lines, await self._convert_new_lines(new_lines), changed_lines)

    async def write(self, batch: PreparedBatch) -> BatchResult:
        """Create or update the records of a batch in one transaction.

        Raises:
            Unavailable: the database cannot be reached, or other writers repeatedly changed the same records.
            StorageFull: the disk is full, and nothing was written.
        """
        for _ in range(_MAX_ATTEMPTS):
            # Most batches of a repeated import change nothing, and need no transaction.
            if batch.unchanged_count == len(batch.lines):
                return BatchResult(unchanged=batch.unchanged_count)

            try:
                async with self._catalog.writing(is_bulk=True) as writer:
                    return await self._store(writer, batch)
            except SourceConflict:
                # The other transaction has ended, so the comparison takes its changes into account now.
                batch = await self.prepare(batch.lines)
        raise Unavailable(retry_after=1)

    async def _find_stored(self, connection: Reader, lines: Sequence[RecordLine]) -> dict[int, DatasetRecord]:
        """Return the stored records of the lines that have one, keyed by line number."""
        digests_by_line = {line.number: self._possible_digests(line) for line in lines}
        all_digests = list(chain.from_iterable(digests_by_line.values()))
        if not all_digests:
            return {}

        records = await store.datasets_from_sources(connection, all_digests)
        if not records:
            return {}

        records_by_digest = {record.source_digest: record for record in records}
        stored_records: dict[int, DatasetRecord] = {}
        for number, digests in digests_by_line.items():
            # If several digests of a line belong to stored records, the first one counts.
            stored_digest = next((digest for digest in digests if digest in records_by_digest), None)
            if stored_digest is not None:
                stored_records[number] = records_by_digest[stored_digest]

        return stored_records

    def _possible_digests(self, line: RecordLine) -> Sequence[str]:
        """Return all digests that may identify the stored record of a line."""
        if not self._has_old_digests:
            return line.source_digests
        return [*line.source_digests, *line.record.source_digests(self._owner, old_source_digest)]

    async def _read_updates(self, transaction: Reader, lines: Sequence[RecordLine]) -> list[_Update]:
        """Return the updates of stored records by changed lines.

        The records are read again, because they may have changed since the lines were prepared.

        Raises:
            SourceConflict: another transaction has deleted one of the records.
        """
        stored_records = await self._find_stored(transaction, lines)
        if len(stored_records) < len(lines):
            raise SourceConflict

        now = datetime.now(UTC)
        permitted_lines = await _remove_rejected_values(transaction, lines, stored_records)
        updates: list[_Update] = []
        for line in permitted_lines:
            stored_record = stored_records[line.number]
            draft = line.record.changed_draft(stored_record, now)
            updates.append(_Update(line.number, stored_record, draft))
        return updates

    async def _convert_new_lines(self, lines: Sequence[RecordLine]) -> _NewLines:
        """Convert lines to new records."""
        records = [line.record for line in lines]
        source_digests = [line.source_digests[0] if line.source_digests else None for line in lines]
        new_records = await NewRecords.from_declared(
            self._database, self._owner, records, source_digests, now=datetime.now(UTC)
        )
        return _NewLines(lines, new_records)

    async def _store(self, writer: CatalogWriter, batch: PreparedBatch) -> BatchResult:
        """Insert the new records of a batch and update the changed ones, up to the quota.

        Raises:
            SourceConflict: another transaction has inserted or deleted a record with one of the keys.
        """
        updates = await self._read_updates(writer.transaction, batch.changed_lines)
        free_bytes = await self._read_free_bytes(writer.transaction)
        lines_over_quota = _find_lines_over_quota(batch.new_lines, updates, free_bytes)

        new_lines = batch.new_lines
        if lines_over_quota:
            remaining_lines = [line for line in new_lines.lines if line.number not in lines_over_quota]
            new_lines = await self._convert_new_lines(remaining_lines)
            updates = [update for update in updates if update.line_number not in lines_over_quota]

        if new_lines.lines:
            await writer.insert_new(new_lines.records)
        await _update_records(writer, updates)
        return BatchResult(
            created=len(new_lines.lines),
            updated=len(updates),
            unchanged=batch.unchanged_count,
            lines_over_quota=lines_over_quota,
        )

    async def _read_free_bytes(self, transaction: Reader) -> int | None:
        """Return the number of bytes left in the owner's quota, or None if one batch cannot exceed it.

        Records without an owner are not limited.
        """
        if self._owner is None:
            return None

        free_bytes = self._quota_bytes - await record_usage_store.read_bytes(transaction, self._owner)
        return free_bytes if free_bytes < _MAX_TRANSACTION_BYTES else None


def _is_changed(line: RecordLine, stored_records: Mapping[int, DatasetRecord]) -> bool:
    """Return whether a line has a stored record, and differs from it."""
    stored_record = stored_records.get(line.number)
    return stored_record is not None and not line.record.matches(stored_record)


async def _remove_rejected_values(
    connection: Reader, lines: Sequence[RecordLine], stored_records: Mapping[int, DatasetRecord]
) -> list[RecordLine]:
    """Return the lines without the values of claims that a curator has rejected.

    A repeated import must not restore these values. All of the lines must have a stored record.
    """
    dataset_ids = [stored_records[line.number].id for line in lines]
    rejected_claims = await claim_store.read_claims_by_dataset(connection, dataset_ids, ClaimStatus.REJECTED)

    permitted_lines: list[RecordLine] = []
    for line in lines:
        stored_record = stored_records[line.number]
        claims = rejected_claims.get(stored_record.id)
        if not claims:
            permitted_lines.append(line)
            continue

        rejected_names = rejected_attributes(stored_record, claims, line.record.attributes)
        permitted_lines.append(line._replace(record=line.record.without_attributes(rejected_names)))
    return permitted_lines


def _find_lines_over_quota(new_lines: _NewLines, updates: Sequence[_Update], free_bytes: int | None) -> list[int]:
    """Return the numbers of the lines that exceed the quota, in ascending order.

    A record that becomes smaller never exceeds the quota.

    Args:
        new_lines: the lines with new records.
        updates: the updates of existing records.
        free_bytes: the number of bytes left in the quota, or None if a batch cannot exceed it.
    """
    if free_bytes is None:
        return []

    added_bytes: dict[int, int] = {}
    for line, byte_count in zip(new_lines.lines, new_lines.records.sizes, strict=True):
        added_bytes[line.number] = byte_count
    for update in updates:
        added_bytes[update.line_number] = content_size(update.after) - update.before.content_bytes

    lines_over_quota: list[int] = []
    for line_number in sorted(added_bytes):
        byte_count = added_bytes[line_number]
        if byte_count > 0 and byte_count > free_bytes:
            lines_over_quota.append(line_number)
        else:
            free_bytes -= byte_count
    return lines_over_quota


async def _update_records(writer: CatalogWriter, updates: Sequence[_Update]) -> None:
    """Store updated records, with values resolved from all claims about them."""
    drafts: list[DatasetRecord] = []
    for update in updates:
        draft = update.after
        if update.before.attribute_evidence is not None:
            draft = await _replace_claims(writer.transaction, update)
        drafts.append(with_declaration_times(draft, update.before))

    await writer.update_many(drafts)


async def _replace_claims(transaction: Writer, update: _Update) -> DatasetRecord:
    """Replace the owner's claims about a record, and return its draft with resolved values."""
    record, draft = update.before, update.after
    claims = await RecordClaims.load(transaction, record.id)
    await claims.withdraw_contradicted_claims(transaction, record.owner, draft.attributes, keep_supported=True)

    measurement = Measurement.from_metadata(draft.metadata or {})
    await claims.replace_measurements(transaction, measurement.attribute_values(target_of(draft)))
    return claims.resolve(draft)
