"""Putting records into the catalog, changing them and taking them out: who may, and what the service adds."""

from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Final
from uuid import UUID, uuid4

from touchstone.core.attributes import ATTRIBUTES
from touchstone.core.errors import (
    ConflictingValues,
    DatasetNotFound,
    FieldError,
    Forbidden,
    InvalidValue,
    PreconditionFailed,
    RecordQuotaExceeded,
)
from touchstone.core.identity import Caller
from touchstone.database.engine import Reader
from touchstone.services.selection import store
from touchstone.services.selection.datasets.records import Entry, encoded
from touchstone.services.selection.files.measurement import Measuring, filled, told
from touchstone.services.selection.live_catalog import LiveCatalog
from touchstone.services.selection.schemas import SERVICE_KEYS
from touchstone.services.selection.store import Found

_OWN_FIELDS: Final = ("description", "file_path", "file_type", "metadata", "visibility")
_ATTRIBUTES: Final = tuple(a.name for a in ATTRIBUTES)


class Recording:
    """Writes to the catalog."""

    def __init__(self, catalog: LiveCatalog, measuring: Measuring, *, quota_bytes: int) -> None:
        self._catalog = catalog
        self._measuring = measuring
        self._quota = quota_bytes

    async def create(self, wanted: Mapping[str, Any], caller: Caller | None) -> Entry:
        """Put in a record for the caller.

        Raises:
            ConflictingValues, InvalidValue: two names that differ; a private record of nobody.
            RecordQuotaExceeded: the caller's records would take more bytes than allowed.
        """
        owner = caller.id if caller else None
        declared = _named(wanted)
        _check_visibility(declared, owner)
        measurement = await self._measuring.measured(declared["file_path"], declared["file_type"], owner)
        now = datetime.now(UTC)
        start = {"visibility": "public", "metadata": None, **dict.fromkeys(_ATTRIBUTES), **declared}
        values = _completed(start, measurement)
        identity = {"dataset_id": uuid4(), "owner": owner, "created_at": now, "updated_at": now}
        async with self._catalog.changing() as change:
            made = await change.insert({**values, **identity})
            await self._check_quota(change.rows, owner)
        return (await self._catalog.entries([made["id"]], owner))[0]

    async def change(
        self, dataset_id: int, wanted: Mapping[str, Any], caller: Caller | None, *, etags: Collection[str] | None
    ) -> Entry:
        """Change a record of the caller's.

        Raises:
            DatasetNotFound, Forbidden, PreconditionFailed: not there, somebody else's, another version.
            ConflictingValues: two names that differ.
            RecordQuotaExceeded: the record grows, and its owner's records would take more bytes than allowed.
        """
        declared = _named(wanted)
        viewer = caller.id if caller else None
        before = _accessible(await self._catalog.row(dataset_id, viewer), caller, etags)
        _check_visibility(declared, before["owner"])
        measurement = await self._measurement(before, declared)
        async with self._catalog.changing() as change:
            current = _accessible(await store.visible_dataset(change.rows, dataset_id, viewer), caller, etags)
            values = _changed(current, declared, measurement)
            changed = await change.update(dataset_id, {**values, "updated_at": datetime.now(UTC)})
            if changed["bytes"] > current["bytes"]:
                await self._check_quota(change.rows, current["owner"])
        return (await self._catalog.entries([dataset_id], before["owner"]))[0]

    async def remove(self, dataset_id: int, caller: Caller | None, *, etags: Collection[str] | None) -> None:
        """Take out a record of the caller's.

        Raises:
            DatasetNotFound, Forbidden, PreconditionFailed: not there, somebody else's, another version.
        """
        viewer = caller.id if caller else None
        async with self._catalog.changing(essential=True) as change:
            _accessible(await store.visible_dataset(change.rows, dataset_id, viewer), caller, etags)
            await change.delete(dataset_id)

    async def _check_quota(self, rows: Reader, owner: UUID | None) -> None:
        # Inside the transaction, which holds the lock of the catalog: two writes together never pass the quota.
        if owner is not None and await store.used_record_bytes(rows, owner) > self._quota:
            raise RecordQuotaExceeded(limit=self._quota)

    async def _measurement(self, before: Found, declared: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """What `metadata` says about another file, measured anew; None when the file stays the same."""
        file_path, file_type = (declared.get(name, before[name]) for name in ("file_path", "file_type"))
        if (file_path, file_type) == (before["file_path"], before["file_type"]):
            return None
        return await self._measuring.measured(file_path, file_type, before["owner"])


def check_author(owner: UUID | None, caller: Caller | None) -> None:
    """Raises Forbidden: a record of this owner may be seen by the caller, but not changed."""
    if caller is None or not (caller.is_admin or owner == caller.id):
        raise Forbidden


def _accessible(found: Found | None, caller: Caller | None, etags: Collection[str] | None) -> Found:
    """The record that the caller sees, if the caller may change it and has seen this version of it."""
    if found is None:
        raise DatasetNotFound
    check_author(found["owner"], caller)
    if etags is not None and encoded([found])[found["id"]].etag not in etags:
        raise PreconditionFailed
    return found


def _check_visibility(declared: Mapping[str, Any], owner: UUID | None) -> None:
    # A private record without an owner would be seen by nobody, ever.
    if declared.get("visibility") == "private" and owner is None:
        raise InvalidValue(FieldError(("body", "visibility"), "no_owner"))


def _named(wanted: Mapping[str, Any]) -> dict[str, Any]:
    """What the caller declares, with the two names of the name put together."""
    names = {wanted[key] for key in ("name", "dataset_name") if key in wanted}
    if len(names) > 1:
        raise ConflictingValues(at=("body", "dataset_name"), other="name")
    rest = {key: value for key, value in wanted.items() if key not in ("name", "dataset_name")}
    return {**rest, "dataset_name": names.pop()} if names else rest


def _declared(found: Found) -> dict[str, Any]:
    """What was declared of a stored record: without what a measurement has filled in."""
    values = {name: found[name] for name in (*_OWN_FIELDS, *_ATTRIBUTES)}
    values |= dict.fromkeys(found["measured_attributes"] or ())
    own, service = _apart(found["metadata"] or {})
    return values | {"metadata": own or (None if service else found["metadata"])}


def _apart(metadata: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What callers have written in `metadata`, and what the service has."""
    own = {key: value for key, value in metadata.items() if key not in SERVICE_KEYS}
    return own, {key: value for key, value in metadata.items() if key in SERVICE_KEYS}


def _changed(current: Found, declared: Mapping[str, Any], measurement: Mapping[str, Any] | None) -> dict[str, Any]:
    """The values to store for a change; what an unchanged file has filled in stays as it is."""
    wanted = {**_declared(current), **declared}
    if measurement is not None:
        return _completed(wanted, measurement)
    kept = {name: current[name] for name in current["measured_attributes"] or () if name not in declared}
    return _completed(wanted, _apart(current["metadata"] or {})[1], kept)


def _completed(
    declared: Mapping[str, Any], measurement: Mapping[str, Any], kept: Mapping[str, Any] = MappingProxyType({})
) -> dict[str, Any]:
    """The values to store: what is declared, and what the measurement knows beside it."""
    given = declared["metadata"]
    fill = {**kept, **filled(declared, measurement)}
    found = told(measurement, fill)
    metadata = None if given is None and not found else {**_apart(given or {})[0], **found}
    return {**declared, **fill, "metadata": metadata, "measured_attributes": sorted(fill) or None}
