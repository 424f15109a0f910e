"""Creating, changing and deleting dataset records, with permissions, quotas and measurements."""

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
from touchstone.services.selection.datasets.measured_record import DataFile, target_of, with_measurement
from touchstone.services.selection.datasets.record_quota import check_record_quota
from touchstone.services.selection.datasets.schemas import DatasetChangeBody, DatasetCreateBody
from touchstone.services.selection.datasets.source_digests import digests_of_source, old_source_digest
from touchstone.services.selection.evidence.administrator_changes import store_administrator_changes
from touchstone.services.selection.evidence.ledger import insert_record
from touchstone.services.selection.evidence.record_claims import RecordClaims, draft_measured_claims
from touchstone.services.selection.files.measurement import FileMeasurer, Measurement
from touchstone.services.selection.json_fields import with_service_members

# How often a change is tried while other requests keep replacing the data file of the record.
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
        """Create an editor. The total size of an owner's records may not exceed `quota_bytes`."""
        self._catalog = catalog
        self._measurer = measurer
        self._background_measurer = background_measurer
        self._quota_bytes = quota_bytes

    async def create(self, body: DatasetCreateBody, caller: Caller | None) -> EncodedRecord:
        """Create a record that belongs to the caller, and return its encoded form.

        The data file is measured first, or later in the background if that takes long. Measured values become claims,
        which provide the values of attributes that the body leaves out.

        Raises:
            ConflictingValues: the two keys of the name have different values.
            InvalidValue: the record is private, but the caller is anonymous.
            RecordQuotaExceeded: the caller's records would exceed the quota.
            SourceTaken: the caller already has a record with the same source and key in its metadata.
        """
        owner = caller.id if caller else None
        draft = DeclaredRecord.from_body(body).new_draft(owner, source_digest=None, now=datetime.now(UTC))
        _check_visibility(draft)

        measurement = await self._measurer.measure_briefly(draft.file_path, draft.file_type, owner)
        measured_values = measurement.attribute_values(target_of(draft))
        draft = with_measurement(draft, measurement)

        async with self._catalog.writing() as writer:
            draft = await _with_source_digest(writer.transaction, draft, record_id=None)
            record = await insert_record(writer, draft, draft_measured_claims(measured_values))
            await check_record_quota(writer.transaction, owner, self._quota_bytes)
            await self._background_measurer.update_pending(writer.transaction, record.id, measurement)

        self._background_measurer.wake()
        return await self._read_encoded(record.id, owner)

    async def change(
        self, dataset_id: int, body: DatasetChangeBody, caller: Caller | None, *, if_match: Collection[str] | None
    ) -> EncodedRecord:
        """Change a record on behalf of its owner or an administrator, and return its encoded form.

        The data file is only measured again if the change replaces it. The attributes in the change replace previous
        declarations of the creator, both in the record and in claims. The attributes that an administrator changes
        become claims by the administrator.

        Args:
            dataset_id: the integer id of the record.
            body: the change.
            caller: the user who makes the change, or None for an anonymous caller.
            if_match: the entity tags of the versions that may be changed, or None for any version.

        Raises:
            DatasetNotFound: the record does not exist, or the caller may not see it.
            Forbidden: the caller may not change the record.
            PreconditionFailed: the current version is not in `if_match`, or other requests have replaced the data file
                during each attempt.
            ConflictingValues: the two keys of the name have different values.
            InvalidValue: a record without an owner would become private.
            RecordQuotaExceeded: the record grows, and its owner's records would exceed the quota.
            SourceTaken: the owner has another record with the same source and key in its metadata.
        """
        viewer = caller.id if caller else None
        stored_record = await self._catalog.records.stored_record(dataset_id, viewer)
        current_record = _require_changeable(stored_record, caller, if_match)
        _check_visibility(_with_changes(current_record, body))

        for _ in range(_MAX_MEASUREMENTS):
            # Measuring may take long, so do it before locking the catalog.
            new_file = _new_file(current_record, body)
            measurement: Measurement | None = None
            if new_file is not None:
                measurement = await self._measurer.measure_briefly(new_file.path, new_file.type, current_record.owner)

            # Read and check the record again, because it may have changed before the lock was acquired.
            async with self._catalog.writing() as writer:
                stored_record = await store.visible_dataset(writer.transaction, dataset_id, viewer)
                current_record = _require_changeable(stored_record, caller, if_match)
                # If another request has replaced the data file since then, the measurement is no longer valid.
                if _new_file(current_record, body) == new_file:
                    await self._write_change(writer, current_record, body, caller=caller, measurement=measurement)
                    break
        else:
            raise PreconditionFailed

        self._background_measurer.wake()
        return await self._read_encoded(dataset_id, current_record.owner)

    async def _write_change(
        self,
        writer: CatalogWriter,
        record: DatasetRecord,
        body: DatasetChangeBody,
        *,
        caller: Caller | None,
        measurement: Measurement | None,
    ) -> None:
        """Store a change to a record and to the claims about it, in the transaction of `writer`.

        Args:
            writer: the transaction.
            record: the record before the change.
            body: the change.
            caller: the user who makes the change.
            measurement: the measurement of the new data file, or None if the change does not replace the file.

        Raises:
            RecordQuotaExceeded: the record grows, and its owner's records would exceed the quota.
            SourceTaken: the owner has another record with the same source and key in its metadata.
        """
        assert caller is not None, "anonymous callers cannot change records"
        draft = await _change_claims(writer.transaction, record, body, caller_id=caller.id, measurement=measurement)
        draft = await _with_source_digest(writer.transaction, draft, record_id=record.id)
        changed_record = await writer.update(record.id, draft)

        # An owner whose records exceed a quota that was lowered can still make them smaller.
        has_grown = changed_record.content_bytes > record.content_bytes
        if has_grown:
            await check_record_quota(writer.transaction, record.owner, self._quota_bytes)

        if measurement is not None:
            await self._background_measurer.update_pending(writer.transaction, record.id, measurement)

    async def delete(self, dataset_id: int, caller: Caller | None, *, if_match: Collection[str] | None) -> None:
        """Delete a record on behalf of its owner or an administrator.

        Raises:
            DatasetNotFound: the record does not exist, or the caller may not see it.
            Forbidden: the caller may not delete the record.
            PreconditionFailed: the entity tag of the current version is not in `if_match`.
        """
        viewer = caller.id if caller else None
        async with self._catalog.writing(may_use_reserve=True) as writer:
            record = await store.visible_dataset(writer.transaction, dataset_id, viewer)
            _require_changeable(record, caller, if_match)
            await writer.delete(dataset_id)

    async def _read_encoded(self, dataset_id: int, owner: UUID | None) -> EncodedRecord:
        """Return the encoded form of a record that has just been written, as its owner may see it."""
        records = await self._catalog.records.encoded_records([dataset_id], owner)
        return records[0]


async def _with_source_digest(transaction: Reader, draft: Draft, *, record_id: int | None) -> Draft:
    """Return a draft with its source digest, so that imports of the same source and key update the record.

    A record without a source and a key in its metadata keeps its digest, which may come from an imported document.

    Args:
        transaction: the transaction that writes the record.
        draft: the content of the record.
        record_id: the id of the record if it exists already.

    Raises:
        SourceTaken: the owner has another record with the same source and key.
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
    """Check that a caller may change or delete the records of an owner.

    Raises:
        Forbidden: the caller is neither the owner nor an administrator.
    """
    if caller is None or not (caller.is_admin or owner == caller.id):
        raise Forbidden


def _require_changeable(
    record: DatasetRecord | None, caller: Caller | None, if_match: Collection[str] | None
) -> DatasetRecord:
    """Check that a caller may change a record, and return the record.

    Args:
        record: the record, or None if it does not exist or the caller may not see it.
        caller: the user who makes the change, or None for an anonymous caller.
        if_match: the entity tags of the versions that may be changed, or None for any version.

    Raises:
        DatasetNotFound: `record` is None.
        Forbidden: the caller is neither the owner nor an administrator.
        PreconditionFailed: the entity tag of the record is not in `if_match`.
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
    """Check that a private record has an owner, because no other user could see it.

    Raises:
        InvalidValue: the record is private and has no owner.
    """
    if draft.visibility == "private" and draft.owner is None:
        raise InvalidValue(FieldError(("body", "visibility"), "no_owner"))


def _with_declared_values(record: DatasetRecord) -> DatasetRecord:
    """Return a record with the attribute values that its creator declares, regardless of other claims."""
    return replace(record, attributes=record.declared_attributes(), attribute_evidence=None, measured_attributes=None)


def _with_changes(draft: Draft, body: DatasetChangeBody) -> Draft:
    """Return a record with the fields of a request, before claims are resolved.

    Fields that the request leaves out are kept, and so are metadata members that are reserved for the service.
    """
    provided_fields = body.provided_fields()
    plain_fields = ("visibility", "description", "file_path", "file_type")
    changes = {name: provided_fields[name] for name in plain_fields if name in provided_fields}
    if "metadata" in provided_fields:
        changes["metadata"] = with_service_members(provided_fields["metadata"], draft.metadata)

    attributes = {**draft.attributes, **body.provided_attributes()}
    return replace(draft, **changes, attributes=attributes)


def _new_file(record: DatasetRecord, body: DatasetChangeBody) -> DataFile | None:
    """Return the new data file of a changed record, or None if the change does not replace the file."""
    file = DataFile.from_record(_with_changes(record, body))
    return None if file == DataFile.from_record(record) else file


async def _change_claims(
    transaction: Writer,
    record: DatasetRecord,
    body: DatasetChangeBody,
    *,
    caller_id: UUID,
    measurement: Measurement | None,
) -> DatasetRecord:
    """Apply a change to a record and to the claims about it, and return the changed record.

    Args:
        transaction: the transaction that writes the record.
        record: the record before the change.
        body: the change.
        caller_id: the id of the user who makes the change.
        measurement: the measurement of the new data file, or None if the change does not replace the file.
    """
    changed_record = _with_changes(_with_declared_values(record), body)
    draft = replace(changed_record, updated_at=datetime.now(UTC))
    if measurement is not None:
        draft = with_measurement(draft, measurement)

    # Withdraw previous declarations of the changed attributes, by the creator and by an administrator.
    claims = await RecordClaims.load(transaction, record.id)
    changed_attributes = body.provided_attributes()
    is_administrator = caller_id != record.owner
    if is_administrator:
        draft = await store_administrator_changes(transaction, claims, record, draft, caller_id)
        await claims.withdraw_contradicted_claims(transaction, caller_id, changed_attributes)
    await claims.withdraw_contradicted_claims(transaction, record.owner, changed_attributes)

    # The target column is not a feature, so a new target may change the measured number of features.
    target = target_of(draft)
    if measurement is not None or target != target_of(record):
        last_measurement = Measurement.from_metadata(draft.metadata or {})
        measured_values = last_measurement.attribute_values(target)
        await claims.replace_measurements(transaction, measured_values)

    return with_declaration_times(claims.resolve(draft), record)
