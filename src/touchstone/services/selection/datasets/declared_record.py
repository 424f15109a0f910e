"""A dataset record as declared by its owner, in a single request or in a line of a bulk import."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import msgspec
from msgspec.structs import replace

from touchstone.services.selection.datasets.dataset_ids import new_dataset_id
from touchstone.services.selection.datasets.dataset_record import (
    ATTRIBUTE_NAMES,
    AttributeValue,
    DatasetDraft,
    DatasetRecord,
)
from touchstone.services.selection.datasets.measured_record import DataFile, with_measurement
from touchstone.services.selection.datasets.schemas import DatasetCreateBody
from touchstone.services.selection.datasets.source_digests import DigestOf, digests_of_source, source_digest
from touchstone.services.selection.files.measurement import Measurement
from touchstone.services.selection.json_fields import with_service_members, without_service_keys

DEFAULT_VISIBILITY: Final = "public"


class DeclaredRecord(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The declarations of an owner about a dataset.

    Attributes:
        visibility: the visibility, or None if it was left out. A new record is then public, and a stored record keeps
            its visibility.
        is_hidden: whether the declarations are the export of a hidden record. Such a record is exported as private,
            whatever visibility its owner has set, so a stored record keeps its visibility.
        attribute_values: the value of each of `core.attributes`, in their order; None means unknown.
        metadata: further information, as it was sent.
    """

    visibility: str | None
    is_hidden: bool = False
    description: str
    file_path: str
    file_type: str
    attribute_values: tuple[AttributeValue, ...]
    metadata: dict[str, Any] | None

    @classmethod
    def from_body(cls, body: DatasetCreateBody) -> "DeclaredRecord":
        """Return the declarations in the body of a request for a single record.

        Raises:
            ConflictingValues: the two keys of the name have different values.
        """
        attributes = body.provided_attributes()
        return cls(
            visibility=body.visibility if "visibility" in body.model_fields_set else None,
            description=body.description,
            file_path=body.file_path,
            file_type=body.file_type,
            attribute_values=tuple(attributes.get(name) for name in ATTRIBUTE_NAMES),
            metadata=body.metadata,
        )

    def without_attributes(self, names: Collection[str]) -> "DeclaredRecord":
        """Return the declarations without the attributes in `names`."""
        attributes = self.attributes
        return replace(self, attribute_values=tuple(None if name in names else attributes[name] for name in attributes))

    @property
    def attributes(self) -> Mapping[str, AttributeValue]:
        """The value of each attribute by name, or None if it is unknown."""
        return dict(zip(ATTRIBUTE_NAMES, self.attribute_values, strict=True))

    def source_digests(self, owner: UUID | None, digest_of: DigestOf = source_digest) -> list[str]:
        """Return the digests that may identify the stored record, like `digests_of_source`."""
        return digests_of_source(self.metadata, owner, digest_of)

    def new_draft(self, owner: UUID | None, source_digest: str | None, now: datetime) -> DatasetDraft:
        """Return the draft of a new record with these declarations."""
        return DatasetDraft(
            dataset_id=new_dataset_id(now),
            owner=owner,
            visibility=self.visibility or DEFAULT_VISIBILITY,
            description=self.description,
            file_path=self.file_path,
            file_type=self.file_type,
            attributes=self.attributes,
            metadata=self.metadata_without_service_keys(),
            measured_attributes=None,
            source_digest=source_digest,
            created_at=now,
            updated_at=now,
        )

    def changed_draft(self, record: DatasetRecord, now: datetime) -> DatasetRecord:
        """Return a stored record with its owner's declarations replaced by these, before claims are resolved.

        Metadata that the service itself has added is kept, except for the measurement of a data file that is replaced.
        """
        draft = replace(
            record,
            visibility=self._visibility_of(record),
            description=self.description,
            file_path=self.file_path,
            file_type=self.file_type,
            attributes=self.attributes,
            metadata=with_service_members(self.metadata, record.metadata),
            attribute_evidence=None,
            measured_attributes=None,
            updated_at=now,
        )
        if DataFile.from_record(draft) == DataFile.from_record(record):
            return draft
        return with_measurement(draft, Measurement())

    def matches(self, record: DatasetRecord) -> bool:
        """Return whether a stored record already contains exactly these declarations."""
        stored_attributes = record.declared_attributes()
        stored_metadata = without_service_keys(record.metadata or {})

        stored_fields = (record.visibility, record.description, record.file_path, record.file_type, stored_attributes)
        declared_fields = (
            self._visibility_of(record),
            self.description,
            self.file_path,
            self.file_type,
            self.attributes,
        )
        declared_metadata = self.metadata_without_service_keys() or {}
        return declared_fields == stored_fields and _is_equal_json(declared_metadata, stored_metadata)

    def _visibility_of(self, record: DatasetRecord) -> str:
        """Return the visibility of a stored record after its declarations are replaced by these."""
        if self.visibility is None or self.is_hidden:
            return record.visibility
        return self.visibility

    def metadata_without_service_keys(self) -> dict[str, Any] | None:
        """Return the metadata without the members that are reserved for the service."""
        return None if self.metadata is None else without_service_keys(self.metadata)


def _is_equal_json(value: object, other: object) -> bool:
    """Return whether two JSON values are equal. Unlike in Python, `true` and 1 differ."""
    if value != other:
        return False
    return msgspec.json.encode(value, order="deterministic") == msgspec.json.encode(other, order="deterministic")
