"""Dataset records, and their conversion to and from rows of the table `datasets`."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, TypeAlias, TypeVar
from uuid import UUID

import msgspec
import numpy as np
from msgspec.structs import replace

from touchstone.core.attributes import ATTRIBUTES, Kind
from touchstone.core.evidence import CLAIMED_ATTRIBUTES, AttributeEvidence, ClaimValue, EvidenceByAttribute
from touchstone.database.tables import datasets

AttributeValue: TypeAlias = str | int | float | bool | list[str] | None

ATTRIBUTE_NAMES: Final = tuple(attribute.name for attribute in ATTRIBUTES)
_PERCENTAGES: Final = tuple(attribute.name for attribute in ATTRIBUTES if attribute.kind is Kind.PERCENTAGE)
# The columns whose size counts towards the owner's quota, and the size of their names as keys of a JSON object.
_CONTENT_COLUMNS: Final = (
    "description",
    "file_path",
    "file_type",
    "metadata",
    "measured_attributes",
    *ATTRIBUTE_NAMES,
)
_BYTES_OF_NAMES: Final = sum(len(f'"{name}":') for name in _CONTENT_COLUMNS)
# The members of `metadata` that the in-memory catalog needs, and the prefix of their names in query results.
_LABEL_PREFIX: Final = "label_"
_LABEL_COLUMNS: Final = (
    datasets.c.metadata["licence"].label(f"{_LABEL_PREFIX}licence"),
    datasets.c.metadata["language"].label(f"{_LABEL_PREFIX}language"),
    datasets.c.metadata["tags"].label(f"{_LABEL_PREFIX}tags"),
    datasets.c.metadata[("source", "name")].label(f"{_LABEL_PREFIX}source"),
    datasets.c.metadata[("measured", "rows")].label(f"{_LABEL_PREFIX}measured_rows"),
)
# All columns except large JSON columns, which the in-memory catalog does not need as a whole.
COLUMNS_WITHOUT_METADATA: Final = (
    *(column for column in datasets.c if column.name not in ("metadata", "measured_attributes", "declared_at")),
    *_LABEL_COLUMNS,
)


class DatasetDraft(msgspec.Struct, frozen=True, kw_only=True):
    """A dataset record to be written.

    Attributes:
        id: the integer id of the record, or None if the database has not assigned it yet.
        attributes: the displayed value of each of `core.attributes`, by name; None means unknown.
        metadata: further information as JSON.
        measured_attributes: the attributes whose value was measured in the data file and not declared.
        attribute_evidence: the evidence resolved from all claims about an attribute, by name. An attribute without an
            entry is merely declared by the creator of the record.
        declared_at: when the creator declared a flag or a number, by name. An attribute without an entry was declared
            when the record was created.
        is_hidden: whether an administrator has hidden the record from everyone except its owner.
        hidden_reason: why the record is hidden, for the owner.
        source_digest: a digest of the owner, the source and the key in the source of an imported record.
    """

    id: int | None = None
    dataset_id: UUID
    owner: UUID | None
    visibility: str
    description: str
    file_path: str
    file_type: str
    attributes: Mapping[str, AttributeValue]
    metadata: dict[str, Any] | None
    measured_attributes: list[str] | None
    attribute_evidence: EvidenceByAttribute | None = None
    declared_at: Mapping[str, datetime] | None = None
    is_hidden: bool = False
    hidden_reason: str | None = None
    source_digest: str | None = None
    created_at: datetime
    updated_at: datetime

    def declared_value(self, attribute: str) -> ClaimValue:
        """Return the value that the creator declares for a flag or a number, even if another value is displayed."""
        evidence = (self.attribute_evidence or {}).get(attribute)
        if evidence is not None:
            return evidence.declared

        shown_value = self.attributes[attribute]
        assert not isinstance(shown_value, (str, list))
        return shown_value

    def declared_attributes(self) -> dict[str, AttributeValue]:
        """Return the values that the creator declares for all attributes, regardless of other claims."""
        return {**self.attributes, **{name: self.declared_value(name) for name in CLAIMED_ATTRIBUTES}}


Draft = TypeVar("Draft", bound=DatasetDraft)
"""The type of a draft or a stored record, for functions that return the type that they receive."""


def with_declaration_times(draft: Draft, before: DatasetDraft) -> Draft:
    """Return a changed record with the time at which each of its flags and numbers was declared.

    Values that the creator declares differently than before get the time of the change.

    Args:
        draft: the record after the change.
        before: the record before the change.
    """
    earlier_times = before.declared_at or {}
    times: dict[str, datetime] = {}
    for name in CLAIMED_ATTRIBUTES:
        value = draft.declared_value(name)
        if value is not None and value != before.declared_value(name):
            times[name] = draft.updated_at
        elif value is not None and name in earlier_times:
            times[name] = earlier_times[name]
    return replace(draft, declared_at=times or None)


class RecordLabels(msgspec.Struct, frozen=True, kw_only=True):
    """The members of the `metadata` of a record that the catalog uses as filters.

    Metadata is free-form, so the values may be of any type.

    Attributes:
        measured_rows: the number of rows in the data file, if the file was a readable table.
    """

    licence: Any = None
    language: Any = None
    tags: Any = None
    source: Any = None
    measured_rows: Any = None

    @classmethod
    def from_metadata(cls, metadata: Mapping[str, Any] | None) -> "RecordLabels":
        """Return the labels in the `metadata` of a record.

        A source or a measurement that is not an object counts as missing.
        """
        metadata = metadata or {}

        source = metadata.get("source")
        source_name = source.get("name") if isinstance(source, dict) else None

        measured = metadata.get("measured")
        measured_rows = measured.get("rows") if isinstance(measured, dict) else None

        return cls(
            licence=metadata.get("licence"),
            language=metadata.get("language"),
            tags=metadata.get("tags"),
            source=source_name,
            measured_rows=measured_rows,
        )


class DatasetRecord(DatasetDraft, frozen=True, kw_only=True):
    """A dataset record as it is stored.

    Attributes:
        labels: the licence, language, source and tags, even if the record was read without metadata.
        changed_at_version: the version of the catalog at which the record last changed.
        content_bytes: the size of the content as JSON, which counts towards the owner's quota.
        owner_pseudo: the name that the owner has chosen, or None if there is none or it was not queried.
    """

    id: int
    labels: RecordLabels
    changed_at_version: int
    content_bytes: int
    owner_pseudo: str | None = None

    @property
    def is_public(self) -> bool:
        """Whether everyone may see the record, and not only its owner."""
        return self.visibility == "public" and not self.is_hidden


def column_values(draft: DatasetDraft, version: int) -> dict[str, Any]:
    """Return the values of all columns of a record to be written, keyed by column name.

    The id is only included if the draft has one.

    Args:
        draft: the record.
        version: the version of the catalog that the write creates.
    """
    content = _content_of(draft)
    values = {
        **content,
        "dataset_id": draft.dataset_id,
        "owner": draft.owner,
        "visibility": draft.visibility,
        "attribute_evidence": draft.attribute_evidence or None,
        "declared_at": draft.declared_at or None,
        "is_hidden": draft.is_hidden,
        "hidden_reason": draft.hidden_reason,
        "source_digest": draft.source_digest,
        "created_at": draft.created_at,
        "updated_at": draft.updated_at,
        "changed_at_version": version,
        "bytes": _size_of(content),
    }
    if draft.id is not None:
        values["id"] = draft.id

    return values


def _content_of(draft: DatasetDraft) -> dict[str, Any]:
    """Return the values of the columns whose size counts towards the owner's quota."""
    return {
        "description": draft.description,
        "file_path": draft.file_path,
        "file_type": draft.file_type,
        "metadata": draft.metadata,
        "measured_attributes": draft.measured_attributes,
        **draft.attributes,
    }


def _size_of(content: Mapping[str, Any]) -> int:
    """Return the size of the content of a record as JSON, which includes the names of the columns."""
    return len(msgspec.json.encode(content))


def sizes_of_values(values_of_records: Sequence[Sequence[object]]) -> list[int]:
    """Return the size of each of many records, like `content_size` but faster.

    All records are encoded with a single call as JSON arrays, one per line. The size of the column names is added,
    because arrays do not contain them.

    Args:
        values_of_records: for each record, the values of `_CONTENT_COLUMNS` in this order. Values that are JSON already
            may be given as `msgspec.Raw`.
    """
    lines = msgspec.json.Encoder().encode_lines(values_of_records)
    line_ends = np.flatnonzero(np.frombuffer(lines, np.uint8) == ord("\n"))
    line_lengths = np.diff(line_ends, prepend=-1) - 1
    sizes: list[int] = (line_lengths + _BYTES_OF_NAMES).tolist()
    return sizes


def content_size(draft: DatasetDraft) -> int:
    """Return the size of the content of a record as JSON, which counts towards the owner's quota."""
    return _size_of(_content_of(draft))


def to_written_record(draft: DatasetDraft, row: Mapping[str, Any]) -> DatasetRecord:
    """Convert a draft that has been written to the database to a stored record.

    Args:
        draft: the draft.
        row: the written row. Only the id, the version and the size are taken from it.
    """
    return DatasetRecord(
        id=row["id"],
        labels=RecordLabels.from_metadata(draft.metadata),
        dataset_id=draft.dataset_id,
        owner=draft.owner,
        visibility=draft.visibility,
        description=draft.description,
        file_path=draft.file_path,
        file_type=draft.file_type,
        attributes=draft.attributes,
        metadata=draft.metadata,
        measured_attributes=draft.measured_attributes,
        attribute_evidence=draft.attribute_evidence,
        declared_at=draft.declared_at,
        is_hidden=draft.is_hidden,
        hidden_reason=draft.hidden_reason,
        source_digest=draft.source_digest,
        created_at=draft.created_at,
        updated_at=draft.updated_at,
        changed_at_version=row["changed_at_version"],
        content_bytes=row["bytes"],
    )


def to_records(rows: Sequence[Mapping[str, Any]]) -> list[DatasetRecord]:
    """Convert rows of the table to records."""
    return [to_record(row) for row in rows]


def to_record(row: Mapping[str, Any]) -> DatasetRecord:
    """Convert a row of the table to a record, with None for JSON columns that were not selected.

    The result of a RETURNING clause may contain integers for percentages that a query returns as floats. They are
    converted to floats, so that the JSON of a record and its entity tag are always the same.
    """
    attributes = {name: row[name] for name in ATTRIBUTE_NAMES}
    for name in _PERCENTAGES:
        if attributes[name] is not None:
            attributes[name] = float(attributes[name])

    return DatasetRecord(
        id=row["id"],
        labels=_to_labels(row),
        dataset_id=row["dataset_id"],
        owner=row["owner"],
        visibility=row["visibility"],
        description=row["description"],
        file_path=row["file_path"],
        file_type=row["file_type"],
        attributes=attributes,
        metadata=row.get("metadata"),
        measured_attributes=row.get("measured_attributes"),
        attribute_evidence=_to_evidence(row["attribute_evidence"]),
        declared_at=_to_times(row.get("declared_at")),
        is_hidden=row["is_hidden"],
        hidden_reason=row["hidden_reason"],
        source_digest=row["source_digest"],
        created_at=row["created_at"],
        updated_at=row["updated_at"],
        changed_at_version=row["changed_at_version"],
        content_bytes=row["bytes"],
        owner_pseudo=row.get("owner_pseudo"),
    )


def _to_evidence(stored_evidence: Mapping[str, Any] | None) -> EvidenceByAttribute | None:
    """Convert the JSON column with the evidence about the attributes of a record."""
    if stored_evidence is None:
        return None
    return msgspec.convert(stored_evidence, dict[str, AttributeEvidence])


def _to_times(stored_times: Mapping[str, str] | None) -> Mapping[str, datetime] | None:
    """Convert the JSON column with the times at which attributes were declared."""
    return None if stored_times is None else msgspec.convert(stored_times, dict[str, datetime])


def _to_labels(values: Mapping[str, Any]) -> RecordLabels:
    """Return the labels of a row, which contains either `metadata` or `_LABEL_COLUMNS`."""
    if "metadata" in values:
        return RecordLabels.from_metadata(values["metadata"])

    return RecordLabels(**{name: values[_LABEL_PREFIX + name] for name in RecordLabels.__struct_fields__})
