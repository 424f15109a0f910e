"""Creating, changing and deleting dataset records: permissions, quotas, and what the service adds by itself."""

from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar
from uuid import UUID, uuid4

from msgspec.structs import replace

from touchstone.core.errors import (
    DatasetNotFound,
    FieldError,
    Forbidden,
    InvalidValue,
    PreconditionFailed,
    RecordQuotaExceeded,
)
from touchstone.core.identity import Caller
from touchstone.database.engine import Reader
from touchstone.services.selection.datasets import store
from touchstone.services.selection.datasets.encoded_records import EncodedRecord, encode_records
from touchstone.services.selection.datasets.schemas import DatasetChangeBody, DatasetCreateBody
from touchstone.services.selection.datasets.store import ATTRIBUTE_NAMES, DatasetDraft, DatasetRecord
from touchstone.services.selection.files.measurement import FileMeasurer, Measurement
from touchstone.services.selection.json_fields import SERVICE_KEYS
from touchstone.services.selection.live_catalog import LiveCatalog

Draft = TypeVar("Draft", bound=DatasetDraft)


class DatasetEditor:
    """Creates, changes and deletes records of the catalog."""

    def __init__(self, catalog: LiveCatalog, measurer: FileMeasurer, *, quota_bytes: int) -> None:
        self._catalog = catalog
        self._measurer = measurer
        self._quota_bytes = quota_bytes

    async def create(self, body: DatasetCreateBody, caller: Caller | None) -> EncodedRecord:
        """Create a record that belongs to the caller, and return it as a client receives it.

        The data file is measured first, which fills in attributes that the body leaves out.

        Raises:
            ConflictingValues: the two keys of the name have different values.
            InvalidValue: an anonymous caller asks for a private record.
            RecordQuotaExceeded: the caller's records would take more bytes than allowed.
        """
        owner = caller.id if caller else None
        declared_draft = _new_draft(body, owner)
        _check_visibility(declared_draft)

        measurement = await self._measurer.measure(declared_draft.file_path, declared_draft.file_type, owner)
        draft = _with_measurement(declared_draft, measurement, retained={})

        async with self._catalog.writing() as writer:
            record = await writer.insert(draft)
            await self._check_quota(writer.transaction, owner)

        return await self._read_encoded(record.id, owner)

    async def change(
        self, dataset_id: int, body: DatasetChangeBody, caller: Caller | None, *, if_match: Collection[str] | None
    ) -> EncodedRecord:
        """Change a record on behalf of its owner or an administrator, and return it as a client receives it.

        The data file is measured again only if the change names another file.

        Raises:
            DatasetNotFound, Forbidden: the caller may not see or not change the record.
            PreconditionFailed: the record is not at one of the versions in `if_match`.
            ConflictingValues: the two keys of the name have different values.
            InvalidValue: a record without an owner would become private.
            RecordQuotaExceeded: the record grows, and its owner's records would take more bytes than allowed.
        """
        viewer = caller.id if caller else None
        stored_record = await self._catalog.stored_record(dataset_id, viewer)
        before = _require_changeable(stored_record, caller, if_match)
        draft = _with_changes(_declared_part(before), body)
        _check_visibility(draft)

        # Measuring can take a minute, so it happens before the catalog is locked.
        measurement: Measurement | None = None
        is_other_file = (draft.file_path, draft.file_type) != (before.file_path, before.file_type)
        if is_other_file:
            measurement = await self._measurer.measure(draft.file_path, draft.file_type, before.owner)

        # The record is read and checked again, because it may have changed before the lock was free.
        async with self._catalog.writing() as writer:
            stored_record = await store.visible_dataset(writer.transaction, dataset_id, viewer)
            current = _require_changeable(stored_record, caller, if_match)
            changed = await writer.update(dataset_id, _changed_draft(current, body, measurement))
            if changed.content_bytes > current.content_bytes:
                await self._check_quota(writer.transaction, current.owner)

        return await self._read_encoded(dataset_id, before.owner)

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

    async def _check_quota(self, connection: Reader, owner: UUID | None) -> None:
        """Check, within the transaction that has written a record, that the owner's records fit into the quota.

        Records without an owner are not limited. The transaction has locked the catalog, so concurrent writes cannot
        exceed the limit together.

        Raises:
            RecordQuotaExceeded: the owner's records take more.
        """
        if owner is None:
            return

        used_bytes = await store.total_content_bytes(connection, owner)
        if used_bytes > self._quota_bytes:
            raise RecordQuotaExceeded(limit=self._quota_bytes)

    async def _read_encoded(self, dataset_id: int, owner: UUID | None) -> EncodedRecord:
        """Return a record that has just been written, encoded for its owner."""
        records = await self._catalog.encoded_records([dataset_id], owner)
        return records[0]


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


def _new_draft(body: DatasetCreateBody, owner: UUID | None) -> DatasetDraft:
    """Return a new record as its creator declares it, before anything is measured.

    Attributes that the body leaves out are None.
    """
    unknown_attributes = dict.fromkeys(ATTRIBUTE_NAMES)
    now = datetime.now(UTC)
    return DatasetDraft(
        dataset_id=uuid4(),
        owner=owner,
        visibility=body.visibility,
        description=body.description,
        file_path=body.file_path,
        file_type=body.file_type,
        attributes={**unknown_attributes, **body.provided_attributes()},
        metadata=body.metadata,
        measured_attributes=None,
        created_at=now,
        updated_at=now,
    )


def _declared_part(record: DatasetRecord) -> DatasetRecord:
    """Return what users have declared about a dataset: its record without anything that was measured in its file."""
    measured_names = record.measured_attributes or ()
    declared_attributes = {**record.attributes, **dict.fromkeys(measured_names)}

    declared_metadata = record.metadata
    if declared_metadata:
        # If nothing is left, the metadata was only added to hold the measurement.
        declared_metadata = _without_service_keys(declared_metadata) or None

    return replace(record, attributes=declared_attributes, metadata=declared_metadata, measured_attributes=None)


def _with_changes(draft: Draft, body: DatasetChangeBody) -> Draft:
    """Return a record with the changes that a request asks for; fields that the request leaves out stay as they are."""
    provided_fields = body.provided_fields()
    plain_fields = ("visibility", "description", "file_path", "file_type", "metadata")
    changes = {name: provided_fields[name] for name in plain_fields if name in provided_fields}

    attributes = {**draft.attributes, **body.provided_attributes()}
    return replace(draft, **changes, attributes=attributes)


def _with_measurement(draft: Draft, measurement: Measurement, *, retained: Mapping[str, Any]) -> Draft:
    """Complete a record by what the measurement of its data file has found.

    The measurement is stored in the metadata, and fills in attributes that nobody has declared. `retained` are values
    of attributes that an earlier measurement has filled in, and that stay.
    """
    declared_metadata = draft.metadata or {}
    target = declared_metadata.get("target")
    filled_attributes = {**retained, **measurement.fill_attributes(draft.attributes, target)}
    measured_metadata = measurement.to_metadata(filled_attributes)

    metadata: dict[str, Any] | None = {**_without_service_keys(declared_metadata), **measured_metadata}
    if draft.metadata is None and not measured_metadata:
        metadata = None

    return replace(
        draft,
        attributes={**draft.attributes, **filled_attributes},
        metadata=metadata,
        measured_attributes=sorted(filled_attributes) or None,
    )


def _changed_draft(current: DatasetRecord, body: DatasetChangeBody, measurement: Measurement | None) -> DatasetRecord:
    """Return a record with a change applied, ready to be written.

    `measurement` is the new measurement if the change names another data file. Otherwise the values that were measured
    before stay, except for attributes that the change declares.
    """
    declared_record = _with_changes(_declared_part(current), body)
    declared_record = replace(declared_record, updated_at=datetime.now(UTC))
    if measurement is not None:
        return _with_measurement(declared_record, measurement, retained={})

    newly_declared = body.provided_attributes()
    retained_names = [name for name in current.measured_attributes or () if name not in newly_declared]
    retained = {name: current.attributes[name] for name in retained_names}
    last_measurement = Measurement.from_metadata(current.metadata or {})
    return _with_measurement(declared_record, last_measurement, retained=retained)


def _without_service_keys(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return metadata without the members that only the service writes."""
    return {key: value for key, value in metadata.items() if key not in SERVICE_KEYS}
