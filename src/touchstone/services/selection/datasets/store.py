"""Rows of the catalog: reading, writing and counting dataset records."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, TypeAlias
from uuid import UUID

import msgspec
import sqlalchemy as sa

from touchstone.core.attributes import ATTRIBUTES, Kind
from touchstone.core.evidence import AttributeEvidence, ClaimValue, EvidenceByAttribute
from touchstone.database.engine import Reader, Writer
from touchstone.database.tables import dataset_deletions, datasets, users
from touchstone.database.text_list import is_one_of
from touchstone.services.selection.datasets import record_usage_store

AttributeValue: TypeAlias = str | int | float | bool | list[str] | None

ATTRIBUTE_NAMES: Final = tuple(attribute.name for attribute in ATTRIBUTES)
_PERCENTAGES: Final = tuple(attribute.name for attribute in ATTRIBUTES if attribute.kind is Kind.PERCENTAGE)
# Both databases accept several thousand values in one IN list.
_IDS_PER_QUERY: Final = 1000
# The members of `metadata` that the columns in memory need, by the prefix under which queries select them.
_LABEL_PREFIX: Final = "label_"
_LABEL_COLUMNS: Final = (
    datasets.c.metadata["licence"].label(f"{_LABEL_PREFIX}licence"),
    datasets.c.metadata["language"].label(f"{_LABEL_PREFIX}language"),
    datasets.c.metadata["tags"].label(f"{_LABEL_PREFIX}tags"),
    datasets.c.metadata[("source", "name")].label(f"{_LABEL_PREFIX}source"),
    datasets.c.metadata[("measured", "rows")].label(f"{_LABEL_PREFIX}measured_rows"),
)
# Everything except the JSON columns that can be large and that the columns in memory do not need as a whole.
COLUMNS_WITHOUT_METADATA: Final = (
    *(column for column in datasets.c if column.name not in ("metadata", "measured_attributes")),
    *_LABEL_COLUMNS,
)
# All rows, with the columns from which the catalog in memory is filled.
_COLUMNS_OUTSIDE_CATALOG: Final = (
    "measured_attributes",
    "hidden_reason",
    "source_digest",
    "changed_at_version",
    "bytes",
)
CATALOG_QUERY: Final = sa.select(*(column for column in datasets.c if column.name not in _COLUMNS_OUTSIDE_CATALOG))
# Readers see who declares a record by the name that this user has chosen.
_OWNER_PSEUDO: Final = users.c.pseudo.label("owner_pseudo")
_WITH_OWNERS: Final = datasets.outerjoin(users, users.c.id == datasets.c.owner)


class DatasetDraft(msgspec.Struct, frozen=True, kw_only=True):
    """A dataset record to be written.

    Attributes:
        id: the number of the record; None lets the database assign the next one.
        attributes: the value that the record shows for each of `core.attributes`, by name; None is "not known".
        metadata: what else is known, as JSON.
        measured_attributes: the attributes that were filled in from the data file and not declared by anybody.
        attribute_evidence: what the claims about an attribute amount to; an attribute without an entry is merely
            declared by the creator of the record.
        is_hidden: whether an administrator has hidden the record from everybody but its owner.
        hidden_reason: why it is hidden, for the owner.
        source_digest: identifies the owner, the source and the key in the source of an imported record.
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
    is_hidden: bool = False
    hidden_reason: str | None = None
    source_digest: str | None = None
    created_at: datetime
    updated_at: datetime

    def declared_value(self, attribute: str) -> ClaimValue:
        """Return what the creator of the record declares about a flag or a number, even if the record shows another."""
        evidence = (self.attribute_evidence or {}).get(attribute)
        if evidence is not None:
            return evidence.declared

        shown_value = self.attributes[attribute]
        assert not isinstance(shown_value, (str, list))
        return shown_value


class SourceConflict(Exception):
    """Another transaction has inserted a record with the same source in the meantime."""


class RecordLabels(msgspec.Struct, frozen=True, kw_only=True):
    """What the `metadata` of a record says about its licence, language, source and tags, however it is written.

    Attributes:
        measured_rows: the number of rows of its data file, if the file was a readable table.
    """

    licence: Any = None
    language: Any = None
    tags: Any = None
    source: Any = None
    measured_rows: Any = None

    @classmethod
    def from_metadata(cls, metadata: Mapping[str, Any] | None) -> "RecordLabels":
        """Return what the `metadata` of a record says."""
        metadata = metadata or {}
        source, measured = metadata.get("source"), metadata.get("measured")
        return cls(
            licence=metadata.get("licence"),
            language=metadata.get("language"),
            tags=metadata.get("tags"),
            source=source.get("name") if isinstance(source, dict) else None,
            measured_rows=measured.get("rows") if isinstance(measured, dict) else None,
        )


class DatasetRecord(DatasetDraft, frozen=True, kw_only=True):
    """A dataset record as it is stored.

    Attributes:
        labels: what its metadata says about licence, language, source and tags, even if it was read without metadata.
        changed_at_version: the version of the catalog at which the record last changed.
        content_bytes: the size of its content as JSON, which counts towards the owner's quota.
        owner_pseudo: the name that the owner has chosen; None if there is none, or if it was not asked for.
    """

    id: int
    labels: RecordLabels
    changed_at_version: int
    content_bytes: int
    owner_pseudo: str | None = None

    @property
    def is_public(self) -> bool:
        """Whether everybody sees the record; otherwise its owner alone does."""
        return self.visibility == "public" and not self.is_hidden


async def insert_dataset(transaction: Writer, draft: DatasetDraft, version: int) -> DatasetRecord:
    """Insert a record at a version of the catalog and return it as stored."""
    insert = sa.insert(datasets).values(**_column_values(draft, version))
    row = await transaction.returning(insert.returning(*datasets.c))
    assert row is not None

    record = _to_record(row)
    await record_usage_store.add_bytes(transaction, {record.owner: record.content_bytes})
    return await _with_owner_pseudo(transaction, record)


async def insert_datasets(transaction: Writer, drafts: Sequence[DatasetDraft], version: int) -> None:
    """Insert many records with one statement; either all of them have an id, or none has."""
    await _insert_rows(transaction, [_column_values(draft, version) for draft in drafts])


async def insert_new_datasets(transaction: Writer, drafts: Sequence[DatasetDraft], version: int) -> list[DatasetRecord]:
    """Insert many records that have no id yet, and return them as stored, without the names of their owners.

    Raises:
        SourceConflict: a record with the same source has been inserted in the meantime.
    """
    ids = await transaction.reserve_ids(datasets, len(drafts))
    rows = [{**_column_values(draft, version), "id": id_} for draft, id_ in zip(drafts, ids, strict=True)]
    try:
        await _insert_rows(transaction, rows)
    except sa.exc.IntegrityError as error:
        raise SourceConflict from error
    return [_as_stored(draft, row) for draft, row in zip(drafts, rows, strict=True)]


async def _insert_rows(transaction: Writer, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows of the table, and count their sizes towards the quotas of their owners."""
    await transaction.insert_rows(datasets, rows)

    added_bytes: dict[UUID | None, int] = {}
    for row in rows:
        added_bytes[row["owner"]] = added_bytes.get(row["owner"], 0) + row["bytes"]
    await record_usage_store.add_bytes(transaction, added_bytes)


async def update_dataset(transaction: Writer, dataset_id: int, draft: DatasetDraft, version: int) -> DatasetRecord:
    """Replace everything but the id of an existing record and return it as stored."""
    bytes_before = await transaction.scalar(sa.select(datasets.c.bytes).where(datasets.c.id == dataset_id))
    values = _column_values(draft, version)
    values.pop("id", None)
    update = sa.update(datasets).where(datasets.c.id == dataset_id).values(**values)
    row = await transaction.returning(update.returning(*datasets.c))
    assert row is not None

    record = _to_record(row)
    await record_usage_store.add_bytes(transaction, {record.owner: record.content_bytes - bytes_before})
    return await _with_owner_pseudo(transaction, record)


async def update_datasets(transaction: Writer, drafts: Sequence[DatasetRecord], version: int) -> list[DatasetRecord]:
    """Replace the content of many existing records with one statement, and return them as stored."""
    rows = [_column_values(draft, version) for draft in drafts]
    parameters: dict[str, Any] = {name: sa.bindparam(f"new_{name}") for name in rows[0] if name != "id"}
    update = sa.update(datasets).where(datasets.c.id == sa.bindparam("new_id")).values(**parameters)
    await transaction.execute(update, [{f"new_{name}": value for name, value in row.items()} for row in rows])

    added_bytes: dict[UUID | None, int] = {}
    for draft, row in zip(drafts, rows, strict=True):
        added_bytes[draft.owner] = added_bytes.get(draft.owner, 0) + row["bytes"] - draft.content_bytes
    await record_usage_store.add_bytes(transaction, added_bytes)
    return [_as_stored(draft, row) for draft, row in zip(drafts, rows, strict=True)]


async def delete_dataset(transaction: Writer, dataset_id: int, version: int) -> None:
    """Delete a record and log the deletion for the other processes."""
    deletion = sa.delete(datasets).where(datasets.c.id == dataset_id)
    row = await transaction.returning(deletion.returning(datasets.c.owner, datasets.c.bytes))
    if row is not None:
        await record_usage_store.add_bytes(transaction, {row["owner"]: -row["bytes"]})

    await transaction.execute(sa.insert(dataset_deletions).values(id=dataset_id, deleted_at_version=version))


async def visible_dataset(connection: Reader, dataset_id: int, viewer: UUID | None) -> DatasetRecord | None:
    """Return one record, or None if it does not exist or the viewer may not see it."""
    query = sa.select(datasets, _OWNER_PSEUDO).select_from(_WITH_OWNERS)
    row = await connection.first(query.where(datasets.c.id == dataset_id, is_visible_to(viewer)))
    return None if row is None else _to_record(row)


async def read_dataset(connection: Reader, dataset_id: int) -> DatasetRecord | None:
    """Return one record whoever may see it, or None if it does not exist."""
    query = sa.select(datasets, _OWNER_PSEUDO).select_from(_WITH_OWNERS)
    row = await connection.first(query.where(datasets.c.id == dataset_id))
    return None if row is None else _to_record(row)


async def hidden_datasets(connection: Reader, *, offset: int, limit: int) -> tuple[list[DatasetRecord], int]:
    """Return a page of the records that administrators have hidden, by id, and the number of all of them."""
    query = sa.select(*COLUMNS_WITHOUT_METADATA, _OWNER_PSEUDO).select_from(_WITH_OWNERS).where(datasets.c.is_hidden)
    rows = await connection.all(query.order_by(datasets.c.id).offset(offset).limit(limit))
    count = sa.select(sa.func.count()).select_from(datasets).where(datasets.c.is_hidden)
    return to_records(rows), int(await connection.scalar(count))


async def dataset_from_source(connection: Reader, source_digest: str) -> DatasetRecord | None:
    """Return the record that was imported with this source, or None; the digest contains the owner."""
    query = sa.select(datasets, _OWNER_PSEUDO).select_from(_WITH_OWNERS)
    row = await connection.first(query.where(datasets.c.source_digest == source_digest))
    return None if row is None else _to_record(row)


async def datasets_from_sources(connection: Reader, source_digests: Sequence[str]) -> list[DatasetRecord]:
    """Return the records that were imported with these sources, in no particular order, without owners' names."""
    query = sa.select(datasets).where(is_one_of(datasets.c.source_digest, source_digests))
    return to_records(await connection.all(query))


async def visible_datasets(connection: Reader, ids: Sequence[int], viewer: UUID | None) -> list[DatasetRecord]:
    """Return the records with these ids that the viewer may see, in no particular order."""
    records: list[DatasetRecord] = []
    for batch in _batches(ids):
        query = sa.select(datasets, _OWNER_PSEUDO).select_from(_WITH_OWNERS)
        query = query.where(datasets.c.id.in_(batch), is_visible_to(viewer))
        records += to_records(await connection.all(query))

    return records


async def visible_datasets_without_metadata(
    connection: Reader, ids: Sequence[int], viewer: UUID | None
) -> list[DatasetRecord]:
    """Return the records with these ids that the viewer may see, in no particular order and without `metadata`."""
    records: list[DatasetRecord] = []
    for batch in _batches(ids):
        query = sa.select(*COLUMNS_WITHOUT_METADATA, _OWNER_PSEUDO).select_from(_WITH_OWNERS)
        query = query.where(datasets.c.id.in_(batch), is_visible_to(viewer))
        records += to_records(await connection.all(query))

    return records


async def visible_dataset_id(connection: Reader, dataset_id: UUID, viewer: UUID | None) -> int | None:
    """Return the integer id that belongs to a UUID, or None if the viewer may see no such record."""
    query = sa.select(datasets.c.id).where(datasets.c.dataset_id == dataset_id, is_visible_to(viewer))
    row_id: int | None = await connection.scalar(query)
    return row_id


async def visible_ids(connection: Reader, ids: Sequence[int], viewer: UUID | None) -> set[int]:
    """Return those of the ids that belong to records which the viewer may see."""
    seen_ids: set[int] = set()
    for batch in _batches(ids):
        query = sa.select(datasets.c.id).where(datasets.c.id.in_(batch), is_visible_to(viewer))
        seen_ids |= {row["id"] for row in await connection.all(query)}

    return seen_ids


async def ids_of_uuids(connection: Reader, uuids: Sequence[UUID]) -> dict[UUID, int]:
    """Return the integer ids of the records with these UUIDs, whoever may see them."""
    ids: dict[UUID, int] = {}
    for start in range(0, len(uuids), _IDS_PER_QUERY):
        batch = uuids[start : start + _IDS_PER_QUERY]
        query = sa.select(datasets.c.id, datasets.c.dataset_id).where(datasets.c.dataset_id.in_(batch))
        ids |= {row["dataset_id"]: row["id"] for row in await connection.all(query)}

    return ids


async def content_sizes(connection: Reader, ids: Sequence[int]) -> dict[int, int]:
    """Return the content size in bytes of each of these records, by id."""
    sizes: dict[int, int] = {}
    for batch in _batches(ids):
        query = sa.select(datasets.c.id, datasets.c.bytes).where(datasets.c.id.in_(batch))
        sizes |= {row["id"]: row["bytes"] for row in await connection.all(query)}

    return sizes


async def count_datasets(connection: Reader) -> int:
    """Return the number of records in the catalog."""
    return int(await connection.scalar(sa.select(sa.func.count()).select_from(datasets)))


async def names_and_metadata(connection: Reader, ids: Sequence[int]) -> dict[int, tuple[str, dict[str, Any] | None]]:
    """Return the name and the `metadata` of each of these records, by id, whoever may see the records."""
    records: dict[int, tuple[str, dict[str, Any] | None]] = {}
    for batch in _batches(ids):
        columns = (datasets.c.id, datasets.c.dataset_name, datasets.c.metadata)
        rows = await connection.all(sa.select(*columns).where(datasets.c.id.in_(batch)))
        records |= {row["id"]: (row["dataset_name"], row["metadata"]) for row in rows}

    return records


def is_visible_to(viewer: UUID | None) -> sa.ColumnElement[bool]:
    """Return the SQL condition for records that a viewer may see: the viewer's own, and public ones unless hidden.

    As the condition is part of the query, somebody else's private record takes as long as a missing one, and the
    response time does not reveal that it exists.
    """
    is_public = (datasets.c.visibility == "public") & ~datasets.c.is_hidden
    if viewer is None:
        return is_public

    return is_public | (datasets.c.owner == viewer)


async def _with_owner_pseudo(transaction: Writer, record: DatasetRecord) -> DatasetRecord:
    """Return a record that was just written with the name of its owner, which is in another table."""
    if record.owner is None:
        return record

    pseudo = await transaction.scalar(sa.select(users.c.pseudo).where(users.c.id == record.owner))
    return msgspec.structs.replace(record, owner_pseudo=pseudo)


def _batches(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    """Yield slices of the ids that are short enough for the IN list of one query."""
    for start in range(0, len(ids), _IDS_PER_QUERY):
        yield ids[start : start + _IDS_PER_QUERY]


def _column_values(draft: DatasetDraft, version: int) -> dict[str, Any]:
    """Return the values of all columns of a record that is about to be written, by the name of the column.

    `version` is the version of the catalog that the write creates. The id is included only if the draft has one.
    """
    content = _content_of(draft)
    values = {
        **content,
        "dataset_id": draft.dataset_id,
        "owner": draft.owner,
        "visibility": draft.visibility,
        "attribute_evidence": draft.attribute_evidence or None,
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
    """Return the columns of a record whose size counts towards the quota of its owner."""
    return {
        "description": draft.description,
        "file_path": draft.file_path,
        "file_type": draft.file_type,
        "metadata": draft.metadata,
        "measured_attributes": draft.measured_attributes,
        **draft.attributes,
    }


def _size_of(content: Mapping[str, Any]) -> int:
    """Return the size of the content of a record; it includes the names of the attributes, so no record is empty."""
    return len(msgspec.json.encode(content))


def content_size(draft: DatasetDraft) -> int:
    """Return the size of a record as JSON, which counts towards the quota of its owner."""
    return _size_of(_content_of(draft))


def _as_stored(draft: DatasetDraft, row: Mapping[str, Any]) -> DatasetRecord:
    """Return a draft that has been inserted as a row of the table as a record."""
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
        is_hidden=draft.is_hidden,
        hidden_reason=draft.hidden_reason,
        source_digest=draft.source_digest,
        created_at=draft.created_at,
        updated_at=draft.updated_at,
        changed_at_version=row["changed_at_version"],
        content_bytes=row["bytes"],
    )


def to_records(rows: Sequence[sa.RowMapping]) -> list[DatasetRecord]:
    """Return rows of the table as records."""
    return [_to_record(row) for row in rows]


def _to_record(row: sa.RowMapping) -> DatasetRecord:
    """Return the record that a row of the table describes; JSON columns that were not selected are None.

    A RETURNING clause may return a percentage as an integer that a query returns as a float. Both become floats here,
    so that the JSON of a record, and the entity tag that is derived from it, are always the same.
    """
    # Looking values up in a plain dictionary is several times faster than in a RowMapping.
    values = {str(name): value for name, value in row.items()}

    attributes = {name: values[name] for name in ATTRIBUTE_NAMES}
    for name in _PERCENTAGES:
        if attributes[name] is not None:
            attributes[name] = float(attributes[name])

    return DatasetRecord(
        id=values["id"],
        labels=_to_labels(values),
        dataset_id=values["dataset_id"],
        owner=values["owner"],
        visibility=values["visibility"],
        description=values["description"],
        file_path=values["file_path"],
        file_type=values["file_type"],
        attributes=attributes,
        metadata=values.get("metadata"),
        measured_attributes=values.get("measured_attributes"),
        attribute_evidence=_to_evidence(values["attribute_evidence"]),
        is_hidden=values["is_hidden"],
        hidden_reason=values["hidden_reason"],
        source_digest=values["source_digest"],
        created_at=values["created_at"],
        updated_at=values["updated_at"],
        changed_at_version=values["changed_at_version"],
        content_bytes=values["bytes"],
        owner_pseudo=values.get("owner_pseudo"),
    )


def _to_evidence(stored_evidence: Mapping[str, Any] | None) -> EvidenceByAttribute | None:
    """Return the evidence about the attributes of a record from its JSON column."""
    if stored_evidence is None:
        return None
    return msgspec.convert(stored_evidence, dict[str, AttributeEvidence])


def _to_labels(values: Mapping[str, Any]) -> RecordLabels:
    """Return the labels of a row, which was read either with its metadata or with the members that labels need."""
    if "metadata" in values:
        return RecordLabels.from_metadata(values["metadata"])

    return RecordLabels(**{name: values[_LABEL_PREFIX + name] for name in RecordLabels.__struct_fields__})
