"""Creating, changing and deleting dataset records: permissions, quotas, and what the service adds by itself."""

from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from types import MappingProxyType
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

D = TypeVar("D", bound=DatasetDraft)


class DatasetEditor:
    """Creates, changes and deletes records of the catalog."""

    def __init__(self, catalog: LiveCatalog, measurer: FileMeasurer, *, quota_bytes: int) -> None:
        self._catalog = catalog
        self._measurer = measurer
        self._quota_bytes = quota_bytes

    async def create(self, body: DatasetCreateBody, caller: Caller | None) -> EncodedRecord:
        """Create a record that belongs to the caller.

        Raises:
            ConflictingValues: the two keys of the name have different values.
            InvalidValue: an anonymous caller asks for a private record.
            RecordQuotaExceeded: the caller's records would take more bytes than allowed.
        """
        owner = caller.id if caller else None
        draft = _new_draft(body, owner)
        _check_visibility(draft)

        measurement = await self._measurer.measure(draft.file_path, draft.file_type, owner)
        draft = _with_measurement(draft, measurement)

        async with self._catalog.writing() as writer:
            record = await writer.insert(draft)
            await self._check_quota(writer.rows, owner)

        return (await self._catalog.encoded_records([record.id], owner))[0]

    async def change(
        self, dataset_id: int, body: DatasetChangeBody, caller: Caller | None, *, if_match: Collection[str] | None
    ) -> EncodedRecord:
        """Change a record, on behalf of its owner or an administrator.

        Raises:
            DatasetNotFound, Forbidden: the caller may not see or not change the record.
            PreconditionFailed: the record is not at one of the versions in `if_match`.
            ConflictingValues: the two keys of the name have different values.
            InvalidValue: a record without an owner would become private.
            RecordQuotaExceeded: the record grows, and its owner's records would take more bytes than allowed.
        """
        viewer = caller.id if caller else None
        before = await self._catalog.stored_record(dataset_id, viewer)
        before = _require_changeable(before, caller, if_match)
        draft = _with_changes(_declared_part(before), body)
        _check_visibility(draft)

        # Measuring can take a minute, so it happens before the catalog is locked.
        measurement: Measurement | None = None
        if (draft.file_path, draft.file_type) != (before.file_path, before.file_type):
            measurement = await self._measurer.measure(draft.file_path, draft.file_type, before.owner)

        async with self._catalog.writing() as writer:
            current = await store.visible_dataset(writer.rows, dataset_id, viewer)
            current = _require_changeable(current, caller, if_match)
            changed = await writer.update(dataset_id, _changed_draft(current, body, measurement))
            if changed.content_bytes > current.content_bytes:
                await self._check_quota(writer.rows, current.owner)

        return (await self._catalog.encoded_records([dataset_id], before.owner))[0]

    async def delete(self, dataset_id: int, caller: Caller | None, *, if_match: Collection[str] | None) -> None:
        """Delete a record, on behalf of its owner or an administrator.

        Raises:
            DatasetNotFound, Forbidden: the caller may not see or not change the record.
            PreconditionFailed: the record is not at one of the versions in `if_match`.
        """
        viewer = caller.id if caller else None
        async with self._catalog.writing(essential=True) as writer:
            record = await store.visible_dataset(writer.rows, dataset_id, viewer)
            _require_changeable(record, caller, if_match)
            await writer.delete(dataset_id)

    async def _check_quota(self, rows: Reader, owner: UUID | None) -> None:
        """Raise RecordQuotaExceeded if the owner's records take more bytes than allowed.

        It is called inside the transaction, which locks the catalog: two concurrent writes cannot both pass.
        """
        if owner is not None and await store.total_content_bytes(rows, owner) > self._quota_bytes:
            raise RecordQuotaExceeded(limit=self._quota_bytes)


def check_may_change(owner: UUID | None, caller: Caller | None) -> None:
    """Raise Forbidden unless the caller owns the record or is an administrator."""
    if caller is None or not (caller.is_admin or owner == caller.id):
        raise Forbidden


def _require_changeable(
    record: DatasetRecord | None, caller: Caller | None, if_match: Collection[str] | None
) -> DatasetRecord:
    """Return the record if the caller may change it and it is at one of the versions in `if_match` (None: any).

    Raises:
        DatasetNotFound, Forbidden, PreconditionFailed: it is missing, the caller may not change it, or it is at
            another version.
    """
    if record is None:
        raise DatasetNotFound
    check_may_change(record.owner, caller)

    if if_match is not None:
        encoded = encode_records([record])[record.id]
        if encoded.etag not in if_match:
            raise PreconditionFailed
    return record


def _check_visibility(draft: DatasetDraft) -> None:
    """Raise InvalidValue for a private record without an owner, which nobody could ever see."""
    if draft.visibility == "private" and draft.owner is None:
        raise InvalidValue(FieldError(("body", "visibility"), "no_owner"))


def _new_draft(body: DatasetCreateBody, owner: UUID | None) -> DatasetDraft:
    """Return the draft of a new record, before anything is measured."""
    now = datetime.now(UTC)
    return DatasetDraft(
        dataset_id=uuid4(),
        owner=owner,
        visibility=body.visibility,
        description=body.description,
        file_path=body.file_path,
        file_type=body.file_type,
        attributes={**dict.fromkeys(ATTRIBUTE_NAMES), **body.provided_attributes()},
        metadata=body.metadata,
        measured_attributes=None,
        created_at=now,
        updated_at=now,
    )


def _declared_part(record: DatasetRecord) -> DatasetRecord:
    """Return a record with only what callers have declared, without anything that was measured."""
    undeclared = dict.fromkeys(record.measured_attributes or ())
    metadata = record.metadata
    if metadata:
        # Metadata that consists of nothing but a measurement was never declared.
        metadata = _without_service_keys(metadata) or None

    return replace(record, attributes={**record.attributes, **undeclared}, metadata=metadata, measured_attributes=None)


def _with_changes(draft: D, body: DatasetChangeBody) -> D:
    """Return a draft with the fields that a change provides."""
    provided = body.provided_fields()
    fields = ("visibility", "description", "file_path", "file_type", "metadata")
    changes = {name: provided[name] for name in fields if name in provided}
    return replace(draft, **changes, attributes={**draft.attributes, **body.provided_attributes()})


def _with_measurement(draft: D, measurement: Measurement, retained: Mapping[str, Any] = MappingProxyType({})) -> D:
    """Return a draft completed with a measurement; `retained` attributes were filled in by an earlier one."""
    declared_metadata = draft.metadata or {}
    filled = {**retained, **measurement.fill_attributes(draft.attributes, target=declared_metadata.get("target"))}
    measured_metadata = measurement.to_metadata(filled)

    metadata: dict[str, Any] | None = {**_without_service_keys(declared_metadata), **measured_metadata}
    if draft.metadata is None and not measured_metadata:
        metadata = None

    return replace(
        draft,
        attributes={**draft.attributes, **filled},
        metadata=metadata,
        measured_attributes=sorted(filled) or None,
    )


def _changed_draft(current: DatasetRecord, body: DatasetChangeBody, measurement: Measurement | None) -> DatasetRecord:
    """Return the record with a change applied; without a new measurement, the attributes it has filled in stay."""
    draft = replace(_with_changes(_declared_part(current), body), updated_at=datetime.now(UTC))
    if measurement is not None:
        return _with_measurement(draft, measurement)

    provided = body.provided_attributes()
    measured_names = [name for name in current.measured_attributes or () if name not in provided]
    retained = {name: current.attributes[name] for name in measured_names}
    return _with_measurement(draft, Measurement.from_metadata(current.metadata or {}), retained)


def _without_service_keys(metadata: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in metadata.items() if key not in SERVICE_KEYS}
