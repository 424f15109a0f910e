"""Storing batches of lines of a bulk import, each batch in a transaction of its own."""

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

# More than the records of one transaction can take; the JSON of a record is a few times as long as its line at most.
_MAX_TRANSACTION_BYTES: Final = 32 * 1024 * 1024
# How many lines are compared with the stored records at once, while other requests wait.
_LINES_PER_COMPARISON: Final = 1000
# How often a transaction is tried, while others insert records with the same keys.
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
    """A record before and after its owner's declarations are replaced, and the number of the line that does so."""

    line_number: int
    stored: DatasetRecord
    draft: DatasetRecord


class _NewLines(NamedTuple):
    """Lines with new records, and these records, prepared for being stored."""

    lines: Sequence[RecordLine]
    records: NewRecords


class PreparedBatch(NamedTuple):
    """A batch of lines that has been compared with the records in the database.

    Attributes:
        lines: all lines, each with a key of its own.
        new_lines: those whose records are not stored yet.
        outdated_lines: those whose records are stored, but do not say what the line declares. Values that a curator has
            rejected are left out of them.
    """

    lines: Sequence[RecordLine]
    new_lines: _NewLines
    outdated_lines: Sequence[RecordLine]

    @property
    def unchanged_count(self) -> int:
        """The number of lines whose records are stored and say what the line declares."""
        return len(self.lines) - len(self.new_lines.lines) - len(self.outdated_lines)


class BatchWriter:
    """Writes batches of records that belong to one owner, or to nobody."""

    def __init__(self, database: Database, catalog: LiveCatalog, owner: UUID | None, *, quota_bytes: int) -> None:
        """Prepare to write records of an owner, whose records may take `quota_bytes` altogether."""
        self._database = database
        self._catalog = catalog
        self._owner = owner
        self._quota_bytes = quota_bytes
        # Whether records may be stored under digests in the old form; None until the first batch is prepared.
        self._has_old_digests: bool | None = None

    async def prepare(self, lines: Sequence[RecordLine]) -> PreparedBatch:
        """Prepare to write some lines, each with a key of its own, without keeping other writers waiting.

        Raises:
            Unavailable: the database cannot be reached.
        """
        async with self._database.reading() as connection:
            if self._has_old_digests is None:
                self._has_old_digests = await store.has_old_source_digests(connection)

            new_lines: list[RecordLine] = []
            outdated_lines: list[RecordLine] = []
            for start in range(0, len(lines), _LINES_PER_COMPARISON):
                compared_lines = lines[start : start + _LINES_PER_COMPARISON]
                stored_records = await self._find_stored(connection, compared_lines)
                new_lines += [line for line in compared_lines if line.number not in stored_records]
                changed_lines = [line for line in compared_lines if _is_outdated(line, stored_records)]
                # A repeated import may differ from a record only in what was rejected.
                permitted_lines = await _without_rejected(connection, changed_lines, stored_records)
                outdated_lines += [line for line in permitted_lines if _is_outdated(line, stored_records)]

        return PreparedBatch(lines, await self._new_lines(new_lines), outdated_lines)

    async def write(self, batch: PreparedBatch) -> BatchResult:
        """Create or update the records of a batch in one transaction.

        Raises:
            Unavailable: the database cannot be reached, or others keep inserting records with the same keys.
            StorageFull: the disk is full, and nothing was written.
        """
        for _ in range(_MAX_ATTEMPTS):
            # Most lines of a repeated import change nothing, and need no transaction.
            if batch.unchanged_count == len(batch.lines):
                return BatchResult(unchanged=batch.unchanged_count)

            try:
                async with self._catalog.writing(is_bulk=True) as writer:
                    return await self._store(writer, batch)
            except SourceConflict:
                # Now that the other transaction has ended, its records are found.
                batch = await self.prepare(batch.lines)
        raise Unavailable(retry_after=1)

    async def _find_stored(self, connection: Reader, lines: Sequence[RecordLine]) -> dict[int, DatasetRecord]:
        """Return the stored record of each line whose key is stored already, by the number of the line."""
        digests_by_line = {line.number: self._possible_digests(line) for line in lines}
        digests = [*chain.from_iterable(digests_by_line.values())]
        if not digests:
            return {}

        records = await store.datasets_from_sources(connection, digests)
        if not records:
            return {}

        records_by_digest = {record.source_digest: record for record in records}
        stored_records: dict[int, DatasetRecord] = {}
        for number, digests_of_line in digests_by_line.items():
            for digest in digests_of_line:
                if digest in records_by_digest:
                    stored_records.setdefault(number, records_by_digest[digest])

        return stored_records

    def _possible_digests(self, line: RecordLine) -> Sequence[str]:
        """Return all digests under which the record of a line may be stored already."""
        if not self._has_old_digests:
            return line.source_digests
        return [*line.source_digests, *line.record.source_digests(self._owner, old_source_digest)]

    async def _read_updates(self, transaction: Reader, lines: Sequence[RecordLine]) -> list[_Update]:
        """Return the updates of the records of some lines.

        Others may have changed the records since they were found, so they are read again in the transaction.

        Raises:
            SourceConflict: another transaction has deleted one of the records.
        """
        stored_records = await self._find_stored(transaction, lines)
        if len(stored_records) < len(lines):
            raise SourceConflict

        now = datetime.now(UTC)
        updates: list[_Update] = []
        for line in await _without_rejected(transaction, lines, stored_records):
            stored = stored_records[line.number]
            updates.append(_Update(line.number, stored, line.record.changed_draft(stored, now)))
        return updates

    async def _new_lines(self, lines: Sequence[RecordLine]) -> _NewLines:
        """Prepare to store the new records of some lines."""
        records = [line.record for line in lines]
        source_digests = [line.source_digests[0] if line.source_digests else None for line in lines]
        new_records = await NewRecords.from_declared(
            self._database, self._owner, records, source_digests, now=datetime.now(UTC)
        )
        return _NewLines(lines, new_records)

    async def _store(self, writer: CatalogWriter, batch: PreparedBatch) -> BatchResult:
        """Insert the new records of a batch and update the outdated ones, as far as the quota allows.

        Raises:
            SourceConflict: another transaction has inserted or deleted a record with one of the keys.
        """
        updates = await self._read_updates(writer.transaction, batch.outdated_lines)
        free_bytes = await self._read_free_bytes(writer.transaction)
        lines_over_quota = _lines_over_quota(batch.new_lines, updates, free_bytes)

        new_lines = batch.new_lines
        if lines_over_quota:
            new_lines = await self._new_lines([line for line in new_lines.lines if line.number not in lines_over_quota])
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
        """Return how many bytes of the owner's quota are left, or None if one transaction cannot use them up.

        Records without an owner have no quota.
        """
        if self._owner is None:
            return None

        free_bytes = self._quota_bytes - await record_usage_store.read_bytes(transaction, self._owner)
        return free_bytes if free_bytes < _MAX_TRANSACTION_BYTES else None


def _is_outdated(line: RecordLine, stored_records: Mapping[int, DatasetRecord]) -> bool:
    """Return whether the record of a line is stored, but does not say what the line declares."""
    stored = stored_records.get(line.number)
    return stored is not None and not line.record.is_declared_by(stored)


async def _without_rejected(
    connection: Reader, lines: Sequence[RecordLine], stored_records: Mapping[int, DatasetRecord]
) -> list[RecordLine]:
    """Return some lines, whose records are stored, without the values that a curator has rejected.

    Otherwise every repetition of an import would overrule the curator.
    """
    dataset_ids = [stored_records[line.number].id for line in lines]
    rejected_claims = await claim_store.read_claims_by_dataset(connection, dataset_ids, ClaimStatus.REJECTED)

    permitted_lines: list[RecordLine] = []
    for line in lines:
        stored = stored_records[line.number]
        claims = rejected_claims.get(stored.id)
        if claims:
            names = rejected_attributes(stored, claims, line.record.attributes)
            line = line._replace(record=line.record.without_attributes(names))
        permitted_lines.append(line)
    return permitted_lines


def _lines_over_quota(new_lines: _NewLines, updates: Sequence[_Update], free_bytes: int | None) -> list[int]:
    """Return the numbers of the lines, in their order, that do not fit into what is left of the quota.

    A record that becomes smaller always fits. None stands for more free bytes than a batch can take.
    """
    if free_bytes is None:
        return []

    added_bytes: dict[int, int] = {}
    for line, byte_count in zip(new_lines.lines, new_lines.records.sizes, strict=True):
        added_bytes[line.number] = byte_count
    for update in updates:
        added_bytes[update.line_number] = content_size(update.draft) - update.stored.content_bytes

    lines_over_quota: list[int] = []
    for line_number in sorted(added_bytes):
        byte_count = added_bytes[line_number]
        if byte_count > 0 and byte_count > free_bytes:
            lines_over_quota.append(line_number)
        else:
            free_bytes -= byte_count
    return lines_over_quota


async def _update_records(writer: CatalogWriter, updates: Sequence[_Update]) -> None:
    """Store the drafts of some records; if others have made claims about a record, they are taken into account."""
    drafts: list[DatasetRecord] = []
    for update in updates:
        draft = update.draft
        if update.stored.attribute_evidence is not None:
            draft = await _resolve_claims(writer.transaction, update)
        drafts.append(with_declaration_times(draft, update.stored))

    await writer.update_many(drafts)


async def _resolve_claims(transaction: Writer, update: _Update) -> DatasetRecord:
    """Replace the owner's claims about a record, and return its draft with the values that all claims amount to."""
    _, stored, draft = update
    claims = await RecordClaims.load(transaction, stored.id)
    await claims.replace_declarations(transaction, stored.owner, draft.attributes, keep_supported=True)

    measurement = Measurement.from_metadata(draft.metadata or {})
    await claims.replace_measurements(transaction, measurement.attribute_values(target_of(draft)))
    return claims.resolve(draft)
