"""Creating, changing and deleting dataset records: permissions, quotas, and what the service adds by itself."""

from collections.abc import Collection
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from msgspec.structs import replace

from touchstone.core.errors import (
    DatasetNotFound,
    FieldError,
    Forbidden,
    InvalidValue,
    PreconditionFailed,
    SourceTaken,
)
from touchstone.core.identity import Caller
from touchstone.database.engine import Reader, Writer
from touchstone.services.selection.catalog.live_catalog import LiveCatalog
from touchstone.services.selection.catalog_writer import CatalogWriter
from touchstone.services.selection.datasets import store
from touchstone.services.selection.datasets.background_measurement import BackgroundMeasurer
from touchstone.services.selection.datasets.dataset_record import (
    DatasetDraft,
    DatasetRecord,
    Draft,
    with_declaration_times,
)
from touchstone.services.selection.datasets.declared_record import DeclaredRecord
from touchstone.services.selection.datasets.encoded_records import EncodedRecord, encode_records
from touchstone.services.selection.datasets.measured_record import (
    DataFile,
    FileMeasurement,
    target_of,
    with_measurement,
)
from touchstone.services.selection.datasets.record_quota import check_record_quota
from touchstone.services.selection.datasets.schemas import DatasetChangeBody, DatasetCreateBody
from touchstone.services.selection.datasets.source_digests import digests_of_source, old_source_digest
from touchstone.services.selection.evidence.administrator_changes import with_claims_of_administrator
from touchstone.services.selection.evidence.ledger import insert_record
from touchstone.services.selection.evidence.record_claims import RecordClaims, measured_claims
from touchstone.services.selection.files.measurement import FileMeasurer, Measurement
from touchstone.services.selection.json_fields import with_service_members

# How often a change measures a data file before it gives up, because others keep changing the record meanwhile.
_MAX_MEASUREMENTS: Final = 5


class DatasetEditor:
    """Creates, changes and deletes records of the catalog."""

    def __init__(
        self,
        catalog: LiveCatalog,
        measurer: FileMeasurer,
        background_measurer: BackgroundMeasurer,
        *,
        quota_bytes: int,
    ) -> None:
        """Create an editor for the records of a catalog; the records of one owner may take `quota_bytes` in all."""
        self._catalog = catalog
        self._measurer = measurer
        self._background_measurer = background_measurer
        self._quota_bytes = quota_bytes

    async def create(self, body: DatasetCreateBody, caller: Caller | None) -> EncodedRecord:
        """Create a record that belongs to the caller, and return it as a client receives it.

        The data file is measured first, or in the background if that takes long. What is measured becomes claims, which
        fill in attributes that the body leaves out.

        Raises:
            ConflictingValues: the two keys of the name have different values.
            InvalidValue: an anonymous caller asks for a private record.
            RecordQuotaExceeded: the caller's records would take more bytes than allowed.
            SourceTaken: the caller has another record with the key in the source that the metadata name.
        """
        owner = caller.id if caller else None
        draft = DeclaredRecord.from_body(body).new_draft(owner, source_digest=None, now=datetime.now(UTC))
        _check_visibility(draft)

        measurement = await self._measurer.measure_briefly(draft.file_path, draft.file_type, owner)
        measured_values = measurement.attribute_values(target_of(draft))
        draft = with_measurement(draft, measurement)

        async with self._catalog.writing() as writer:
            draft = await _with_source_digest(writer.transaction, draft, record_id=None)
            record = await insert_record(writer, draft, measured_claims(measured_values))
            await check_record_quota(writer.transaction, owner, self._quota_bytes)
            await self._background_measurer.note(writer.transaction, record.id, measurement)

        self._background_measurer.wake()
        return await self._read_encoded(record.id, owner)

    async def change(
        self, dataset_id: int, body: DatasetChangeBody, caller: Caller | None, *, if_match: Collection[str] | None
    ) -> EncodedRecord:
        """Change a record on behalf of its owner or an administrator, and return it as a client receives it.

        The data file is measured again only if the change names another file, and then as that of a new record.
        Attributes in the change replace what the creator has declared before, in the record and in claims; those by an
        administrator become claims.

        Raises:
            DatasetNotFound, Forbidden: the caller may not see or not change the record.
            PreconditionFailed: the record is not at one of the versions in `if_match`, or others have named another
                data file each time that one was measured.
            ConflictingValues: the two keys of the name have different values.
            InvalidValue: a record without an owner would become private.
            RecordQuotaExceeded: the record grows, and its owner's records would take more bytes than allowed.
            SourceTaken: its owner has another record with the key in the source that the metadata name.
        """
        viewer = caller.id if caller else None
        stored_record = await self._catalog.records.stored_record(dataset_id, viewer)
        current = _require_changeable(stored_record, caller, if_match)
        _check_visibility(_with_changes(current, body))

        for _ in range(_MAX_MEASUREMENTS):
            # Measuring takes a while, so it happens before the catalog is locked.
            measured = await self._measure_other_file(current, body)

            # The record is read and checked again, because it may have changed before the lock was free.
            async with self._catalog.writing() as writer:
                stored_record = await store.visible_dataset(writer.transaction, dataset_id, viewer)
                current = _require_changeable(stored_record, caller, if_match)
                # A measurement is useless if the record names yet another file by now.
                measured_file = measured.file if measured else None
                if _other_file(current, body) == measured_file:
                    await self._write_change(writer, current, body, caller, measured)
                    break
        else:
            raise PreconditionFailed

        self._background_measurer.wake()
        return await self._read_encoded(dataset_id, current.owner)

    async def _measure_other_file(self, record: DatasetRecord, body: DatasetChangeBody) -> FileMeasurement | None:
        """Measure the data file that a change makes a record name; return None if it names the same one as before."""
        file = _other_file(record, body)
        if file is None:
            return None
        return FileMeasurement(file, await self._measurer.measure_briefly(file.path, file.type, record.owner))

    async def _write_change(
        self,
        writer: CatalogWriter,
        current: DatasetRecord,
        body: DatasetChangeBody,
        caller: Caller | None,
        measured: FileMeasurement | None,
    ) -> None:
        """Store a change of a record and of the claims about it, within the transaction of `writer`.

        Raises:
            RecordQuotaExceeded: the record grows, and its owner's records would take more bytes than allowed.
            SourceTaken: its owner has another record with the key in the source that the metadata name.
        """
        assert caller is not None, "nobody may change a record without an identity"
        changed_draft = await _change_claims(writer.transaction, current, body, caller.id, measured)
        changed_draft = await _with_source_digest(writer.transaction, changed_draft, record_id=current.id)
        changed = await writer.update(current.id, changed_draft)

        # An owner who is over the quota, because it was lowered, can still make records smaller.
        has_grown = changed.content_bytes > current.content_bytes
        if has_grown:
            await check_record_quota(writer.transaction, current.owner, self._quota_bytes)

        if measured is not None:
            await self._background_measurer.note(writer.transaction, current.id, measured.measurement)

    async def delete(self, dataset_id: int, caller: Caller | None, *, if_match: Collection[str] | None) -> None:
        """Delete a record, on behalf of its owner or an administrator.

        Raises:
            DatasetNotFound, Forbidden: the caller may not see or not change the record.
            PreconditionFailed: the record is not at one of the versions in `if_match`.
        """
        viewer = caller.id if caller else None
        async with self._catalog.writing(even_if_disk_full=True) as writer:
            record = await store.visible_dataset(writer.transaction, dataset_id, viewer)
            _require_changeable(record, caller, if_match)
            await writer.delete(dataset_id)

    async def _read_encoded(self, dataset_id: int, owner: UUID | None) -> EncodedRecord:
        """Return a record that has just been written, encoded for its owner."""
        records = await self._catalog.records.encoded_records([dataset_id], owner)
        return records[0]


async def _with_source_digest(transaction: Reader, draft: Draft, *, record_id: int | None) -> Draft:
    """Return a draft that bulk imports recognize by the source and the key that its metadata name.

    A record whose metadata name no key stays as it is, because a document may have been imported as this record.
    `record_id` is the id of a record that is changed.

    Raises:
        SourceTaken: another record of the owner has the key.
    """
    digests = digests_of_source(draft.metadata, draft.owner)
    old_digests = digests_of_source(draft.metadata, draft.owner, old_source_digest)
    if not digests or draft.source_digest in (*digests, *old_digests):
        return draft

    other = await store.dataset_from_source(transaction, [*digests, *old_digests])
    if other is not None and other.id != record_id:
        raise SourceTaken(id=other.id)
    return replace(draft, source_digest=digests[0])


def check_may_change(owner: UUID | None, caller: Caller | None) -> None:
    """Check that a caller may change or delete a record of this owner.

    Raises:
        Forbidden: the caller is neither the owner nor an administrator.
    """
    if caller is None or not (caller.is_admin or owner == caller.id):
        raise Forbidden


def _require_changeable(
    record: DatasetRecord | None, caller: Caller | None, if_match: Collection[str] | None
) -> DatasetRecord:
    """Check that a caller may change a record that has been looked up, and return the record.

    `if_match` contains the entity tags of the versions that the caller accepts; None stands for any version.

    Raises:
        DatasetNotFound: there is no record, or none that the caller may see.
        Forbidden: the caller is neither the owner nor an administrator.
        PreconditionFailed: the record is at another version.
    """
    if record is None:
        raise DatasetNotFound
    check_may_change(record.owner, caller)

    if if_match is not None:
        encoded_record = encode_records([record])[record.id]
        if encoded_record.etag not in if_match:
            raise PreconditionFailed

    return record


def _check_visibility(draft: DatasetDraft) -> None:
    """Check that a private record has an owner, because nobody else would be able to see it.

    Raises:
        InvalidValue: the record is private and has no owner.
    """
    if draft.visibility == "private" and draft.owner is None:
        raise InvalidValue(FieldError(("body", "visibility"), "no_owner"))


def _declared_part(record: DatasetRecord) -> DatasetRecord:
    """Return a record with the attributes that its creator declares, whatever claims say about them."""
    return replace(record, attributes=record.declared_attributes(), attribute_evidence=None, measured_attributes=None)


def _with_changes(draft: Draft, body: DatasetChangeBody) -> Draft:
    """Return a record with the changes that a request asks for; fields that the request leaves out stay as they are.

    The members of the metadata that only the service writes stay, too.
    """
    provided_fields = body.provided_fields()
    plain_fields = ("visibility", "description", "file_path", "file_type")
    changes = {name: provided_fields[name] for name in plain_fields if name in provided_fields}
    if "metadata" in provided_fields:
        changes["metadata"] = with_service_members(provided_fields["metadata"], draft.metadata)

    attributes = {**draft.attributes, **body.provided_attributes()}
    return replace(draft, **changes, attributes=attributes)


def _other_file(record: DatasetRecord, body: DatasetChangeBody) -> DataFile | None:
    """Return the data file that a change makes a record name, or None if it names the same one as before."""
    file = DataFile.of(_with_changes(record, body))
    return None if file == DataFile.of(record) else file


async def _change_claims(
    transaction: Writer,
    current: DatasetRecord,
    body: DatasetChangeBody,
    caller_id: UUID,
    measured: FileMeasurement | None,
) -> DatasetRecord:
    """Apply a change to a record and to the claims about it, and return the record as it is to be written.

    `measured` is the new measurement if the change names another data file.
    """
    changed_record = _with_changes(_declared_part(current), body)
    draft = replace(changed_record, updated_at=datetime.now(UTC))
    if measured is not None:
        draft = with_measurement(draft, measured.measurement)

    # What the creator and, if it is somebody else, the administrator have declared before is withdrawn.
    claims = await RecordClaims.load(transaction, current.id)
    changed_attributes = body.provided_attributes()
    is_administrator = caller_id != current.owner
    if is_administrator:
        draft = await with_claims_of_administrator(transaction, claims, current, draft, caller_id)
        await claims.replace_declarations(transaction, caller_id, changed_attributes)
    await claims.replace_declarations(transaction, current.owner, changed_attributes)

    # The target column does not count as a feature, so another target changes the measured number of features.
    target = target_of(draft)
    if measured is not None or target != target_of(current):
        last_measurement = Measurement.from_metadata(draft.metadata or {})
        measured_values = last_measurement.attribute_values(target)
        await claims.replace_measurements(transaction, measured_values)

    return with_declaration_times(claims.resolve(draft), current)
