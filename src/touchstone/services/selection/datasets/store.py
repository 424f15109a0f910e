"""Rows of the catalog: reading, writing and counting dataset records."""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, TypeAlias
from uuid import UUID

import msgspec
import sqlalchemy as sa

from touchstone.core.attributes import ATTRIBUTES, Kind
from touchstone.database.engine import Reader, Writer
from touchstone.database.tables import dataset_deletions, datasets

AttributeValue: TypeAlias = str | int | float | bool | list[str] | None

ATTRIBUTE_NAMES: Final = tuple(attribute.name for attribute in ATTRIBUTES)
_PERCENTAGES: Final = tuple(attribute.name for attribute in ATTRIBUTES if attribute.kind is Kind.PERCENTAGE)
# Both databases accept several thousand values in one IN list.
_IDS_PER_QUERY: Final = 1000
# Everything except the two JSON columns, which can be large and which the columns in memory do not need.
_COLUMNS_WITHOUT_METADATA: Final = tuple(
    column for column in datasets.c if column.name not in ("metadata", "measured_attributes")
)


class DatasetDraft(msgspec.Struct, frozen=True, kw_only=True):
    """A dataset record to be written.

    Attributes:
        id: the number of the record; None lets the database assign the next one.
        attributes: one value for each of `core.attributes`, by name; None stands for "not known".
        metadata: what else is known, as JSON.
        measured_attributes: the attributes that were filled in from the data file and not declared by anybody.
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
    created_at: datetime
    updated_at: datetime


class DatasetRecord(DatasetDraft, frozen=True, kw_only=True):
    """A dataset record as it is stored.

    Attributes:
        changed_at_version: the version of the catalog at which the record last changed.
        content_bytes: the size of its content as JSON, which counts towards the owner's quota.
    """

    id: int
    changed_at_version: int
    content_bytes: int


async def insert_dataset(transaction: Writer, draft: DatasetDraft, version: int) -> DatasetRecord:
    """Insert a record at a version of the catalog and return it as stored."""
    insert = sa.insert(datasets).values(**_column_values(draft, version))
    row = await transaction.returning(insert.returning(*datasets.c))
    assert row is not None

    return _to_record(row)


async def insert_datasets(transaction: Writer, drafts: Sequence[DatasetDraft], version: int) -> None:
    """Insert many records with one statement; either all of them have an id, or none has."""
    if not drafts:
        return

    new_rows = [_column_values(draft, version) for draft in drafts]
    await transaction.execute(sa.insert(datasets), new_rows)


async def update_dataset(transaction: Writer, dataset_id: int, draft: DatasetDraft, version: int) -> DatasetRecord:
    """Replace everything but the id of an existing record and return it as stored."""
    values = _column_values(draft, version)
    values.pop("id", None)
    update = sa.update(datasets).where(datasets.c.id == dataset_id).values(**values)
    row = await transaction.returning(update.returning(*datasets.c))
    assert row is not None

    return _to_record(row)


async def delete_dataset(transaction: Writer, dataset_id: int, version: int) -> None:
    """Delete a record and log the deletion for the other processes."""
    await transaction.execute(sa.delete(datasets).where(datasets.c.id == dataset_id))
    await transaction.execute(sa.insert(dataset_deletions).values(id=dataset_id, deleted_at_version=version))


async def visible_dataset(connection: Reader, dataset_id: int, viewer: UUID | None) -> DatasetRecord | None:
    """Return one record, or None if it does not exist or the viewer may not see it."""
    row = await connection.first(sa.select(datasets).where(datasets.c.id == dataset_id, _is_visible_to(viewer)))
    return None if row is None else _to_record(row)


async def visible_datasets(connection: Reader, ids: Sequence[int], viewer: UUID | None) -> list[DatasetRecord]:
    """Return the records with these ids that the viewer may see, in no particular order."""
    records: list[DatasetRecord] = []
    for batch in _batches(ids):
        query = sa.select(datasets).where(datasets.c.id.in_(batch), _is_visible_to(viewer))
        records += _to_records(await connection.all(query))

    return records


async def visible_datasets_without_metadata(
    connection: Reader, ids: Sequence[int], viewer: UUID | None
) -> list[DatasetRecord]:
    """Return the records with these ids that the viewer may see, in no particular order and without `metadata`."""
    records: list[DatasetRecord] = []
    for batch in _batches(ids):
        query = sa.select(*_COLUMNS_WITHOUT_METADATA).where(datasets.c.id.in_(batch), _is_visible_to(viewer))
        records += _to_records(await connection.all(query))

    return records


async def visible_dataset_id(connection: Reader, dataset_id: UUID, viewer: UUID | None) -> int | None:
    """Return the integer id that belongs to a UUID, or None if the viewer may see no such record."""
    query = sa.select(datasets.c.id).where(datasets.c.dataset_id == dataset_id, _is_visible_to(viewer))
    row_id: int | None = await connection.scalar(query)
    return row_id


async def content_sizes(connection: Reader, ids: Sequence[int]) -> dict[int, int]:
    """Return the content size in bytes of each of these records, by id."""
    sizes: dict[int, int] = {}
    for batch in _batches(ids):
        query = sa.select(datasets.c.id, datasets.c.bytes).where(datasets.c.id.in_(batch))
        sizes |= {row["id"]: row["bytes"] for row in await connection.all(query)}

    return sizes


async def total_content_bytes(connection: Reader, owner: UUID) -> int:
    """Return the size in bytes of all records of an owner together."""
    total = await connection.scalar(sa.select(sa.func.sum(datasets.c.bytes)).where(datasets.c.owner == owner))
    return int(total or 0)  # the sum over no rows is NULL


async def count_datasets(connection: Reader) -> int:
    """Return the number of records in the catalog."""
    return int(await connection.scalar(sa.select(sa.func.count()).select_from(datasets)))


async def stream_datasets(connection: Reader, chunk_size: int) -> AsyncIterator[list[DatasetRecord]]:
    """Yield all records in chunks, ordered by id and without `metadata`."""
    query = sa.select(*_COLUMNS_WITHOUT_METADATA).order_by(datasets.c.id)
    async for chunk in connection.stream(query, chunk_size):
        yield _to_records(chunk)


async def datasets_changed_since(connection: Reader, version: int) -> list[DatasetRecord]:
    """Return the records that changed after a version of the catalog, without `metadata`."""
    query = sa.select(*_COLUMNS_WITHOUT_METADATA).where(datasets.c.changed_at_version > version)
    return _to_records(await connection.all(query))


async def datasets_deleted_since(connection: Reader, version: int) -> list[int]:
    """Return the ids of the records that were deleted after a version of the catalog."""
    query = sa.select(dataset_deletions.c.id).where(dataset_deletions.c.deleted_at_version > version)
    return [row["id"] for row in await connection.all(query)]


def _is_visible_to(viewer: UUID | None) -> sa.ColumnElement[bool]:
    """Return the SQL condition for records that a viewer may see: public ones, and the viewer's own.

    As the condition is part of the query, somebody else's private record takes as long as a missing one, and the
    response time does not reveal that it exists.
    """
    is_public = datasets.c.visibility == "public"
    if viewer is None:
        return is_public

    return is_public | (datasets.c.owner == viewer)


def _batches(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    """Yield slices of the ids that are short enough for the IN list of one query."""
    for start in range(0, len(ids), _IDS_PER_QUERY):
        yield ids[start : start + _IDS_PER_QUERY]


def _column_values(draft: DatasetDraft, version: int) -> dict[str, Any]:
    """Return the values of all columns of a record that is about to be written, by the name of the column.

    `version` is the version of the catalog that the write creates. The id is included only if the draft has one.
    """
    content = {
        "description": draft.description,
        "file_path": draft.file_path,
        "file_type": draft.file_type,
        "metadata": draft.metadata,
        "measured_attributes": draft.measured_attributes,
        **draft.attributes,
    }
    # The size counts towards the quota of the owner. It includes the names of the attributes, so no record is empty.
    content_bytes = len(msgspec.json.encode(content))

    values = {
        **content,
        "dataset_id": draft.dataset_id,
        "owner": draft.owner,
        "visibility": draft.visibility,
        "created_at": draft.created_at,
        "updated_at": draft.updated_at,
        "changed_at_version": version,
        "bytes": content_bytes,
    }
    if draft.id is not None:
        values["id"] = draft.id

    return values


def _to_records(rows: Sequence[sa.RowMapping]) -> list[DatasetRecord]:
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
        dataset_id=values["dataset_id"],
        owner=values["owner"],
        visibility=values["visibility"],
        description=values["description"],
        file_path=values["file_path"],
        file_type=values["file_type"],
        attributes=attributes,
        metadata=values.get("metadata"),
        measured_attributes=values.get("measured_attributes"),
        created_at=values["created_at"],
        updated_at=values["updated_at"],
        changed_at_version=values["changed_at_version"],
        content_bytes=values["bytes"],
    )
