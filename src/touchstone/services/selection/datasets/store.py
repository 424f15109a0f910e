"""Queries on the table `datasets`: inserting, updating, deleting, reading and counting dataset records."""

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple, TypeVar
from uuid import UUID

import sqlalchemy as sa

from touchstone.core.attributes import FLAGS
from touchstone.database.engine import Reader, Writer
from touchstone.database.tables import dataset_deletions, datasets, users
from touchstone.database.text_list import is_one_of
from touchstone.services.selection.datasets import record_usage_store
from touchstone.services.selection.datasets.dataset_record import (
    COLUMNS_WITHOUT_METADATA,
    DatasetDraft,
    DatasetRecord,
    column_values,
    to_record,
    to_records,
    to_written_record,
)
from touchstone.services.selection.datasets.new_records import NewRecords
from touchstone.services.selection.datasets.packed_flags import PLACE_VALUES, UNKNOWN_DIGIT
from touchstone.services.selection.datasets.source_digests import is_old_source_digest

Id = TypeVar("Id", int, UUID)

# Both kinds of database accept more values in one IN list.
_IDS_PER_QUERY: Final = 1000
_COLUMNS_OUTSIDE_CATALOG: Final = (
    *FLAGS,
    "measured_attributes",
    "declared_at",
    "hidden_reason",
    "source_digest",
    "changed_at_version",
    "bytes",
)


def _pack_flags() -> sa.ColumnElement[int]:
    """Return an SQL expression that packs all flags of a row into one integer, for `unpack_flags`."""
    packed_flags: sa.ColumnElement[int] = sa.literal(0, sa.BigInteger)
    for name, place_value in PLACE_VALUES.items():
        digit = sa.func.coalesce(sa.cast(datasets.c[name], sa.Integer), UNKNOWN_DIGIT)
        packed_flags = packed_flags + sa.cast(digit, sa.BigInteger) * place_value
    return packed_flags


# All rows, with the columns that the in-memory catalog needs, and all flags in one column.
CATALOG_QUERY: Final = sa.select(
    *(column for column in datasets.c if column.name not in _COLUMNS_OUTSIDE_CATALOG), _pack_flags().label("flags")
)


def is_visible_to(viewer: UUID | sa.BindParameter[UUID | None] | None) -> sa.ColumnElement[bool]:
    """Return the SQL condition for records that a viewer may see.

    These are public records and the records of the viewer. Hidden records are not public. The condition must be part of
    the query, so that the response time does not reveal whether a private record exists.

    Args:
        viewer: the viewer, or None for anonymous viewers, or a query parameter that may be null.
    """
    is_public = (datasets.c.visibility == "public") & ~datasets.c.is_hidden
    if viewer is None:
        return is_public

    return is_public | (datasets.c.owner == viewer)


# Records contain the name that their owner has chosen.
_OWNER_PSEUDO: Final = users.c.pseudo.label("owner_pseudo")
_WITH_OWNERS: Final = datasets.outerjoin(users, users.c.id == datasets.c.owner)
_DATASETS_WITH_OWNERS: Final = sa.select(datasets, _OWNER_PSEUDO).select_from(_WITH_OWNERS)
_IS_VISIBLE: Final = is_visible_to(sa.bindparam("viewer", type_=sa.Uuid))
# Most requests read one record or one page of records. The queries are built only once, because building them for each
# request would take almost as long as running them, and create garbage with reference cycles.
_VISIBLE_DATASET: Final = _DATASETS_WITH_OWNERS.where(datasets.c.id == sa.bindparam("id"), _IS_VISIBLE)
_VISIBLE_DATASETS: Final = _DATASETS_WITH_OWNERS.where(
    datasets.c.id.in_(sa.bindparam("ids", expanding=True)),
    _IS_VISIBLE,
    datasets.c.bytes <= sa.bindparam("max_bytes"),
)
# The columns that statements for writing a record return. The subquery is literal SQL, because SQLAlchemy would add the
# table `datasets` to its FROM clause in an INSERT statement.
_PSEUDO_OF_OWNER: Final = sa.literal_column("(SELECT users.pseudo FROM users WHERE users.id = datasets.owner)", sa.Text)
_WRITTEN_COLUMNS: Final = (*datasets.c, _PSEUDO_OF_OWNER.label(_OWNER_PSEUDO.name))
# A limit that no record exceeds.
ANY_SIZE: Final = 2**62


class SourceConflict(Exception):
    """A concurrent transaction has inserted or deleted a record with the same source."""


async def insert_dataset(transaction: Writer, draft: DatasetDraft, version: int) -> DatasetRecord:
    """Insert a record at a version of the catalog, and return it as stored."""
    insert = sa.insert(datasets).values(**column_values(draft, version))
    row = await transaction.fetch_returned_row(insert.returning(*_WRITTEN_COLUMNS))
    assert row is not None, "an insertion returns its row"

    record = to_record(row)
    await record_usage_store.add_bytes(transaction, {record.owner: record.content_bytes})
    return record


async def insert_datasets(transaction: Writer, drafts: Sequence[DatasetDraft], version: int) -> None:
    """Insert many records with one statement. Either all drafts must have an id, or none of them."""
    rows = [column_values(draft, version) for draft in drafts]
    await transaction.insert_rows(datasets, rows)

    added_bytes: dict[UUID | None, int] = {}
    for row in rows:
        added_bytes[row["owner"]] = added_bytes.get(row["owner"], 0) + row["bytes"]
    await record_usage_store.add_bytes(transaction, added_bytes)


async def insert_new_datasets(transaction: Writer, new_records: NewRecords, version: int) -> list[int]:
    """Insert new records at a version of the catalog, and return their ids.

    Raises:
        SourceConflict: a concurrent transaction has inserted a record with the same source.
    """
    ids = await transaction.reserve_ids(datasets, len(new_records.sizes))
    assigned_columns = {"id": ids, "changed_at_version": [version] * len(ids)}
    try:
        await transaction.insert_columns(datasets, new_records.columns, assigned_columns)
    except sa.exc.IntegrityError as error:
        raise SourceConflict from error

    await record_usage_store.add_bytes(transaction, {new_records.owner: sum(new_records.sizes)})
    return ids


async def update_dataset(transaction: Writer, dataset_id: int, draft: DatasetDraft, version: int) -> DatasetRecord:
    """Replace the content of an existing record, which keeps its id, and return the record as stored."""
    bytes_query = sa.select(datasets.c.bytes).where(datasets.c.id == dataset_id)
    bytes_before = await transaction.scalar(bytes_query)

    values = column_values(draft, version)
    values.pop("id", None)
    update = sa.update(datasets).where(datasets.c.id == dataset_id).values(**values)
    row = await transaction.fetch_returned_row(update.returning(*_WRITTEN_COLUMNS))
    assert row is not None, "the record exists, because the transaction has read it"

    record = to_record(row)
    added_bytes = record.content_bytes - bytes_before
    await record_usage_store.add_bytes(transaction, {record.owner: added_bytes})
    return record


async def update_datasets(transaction: Writer, drafts: Sequence[DatasetRecord], version: int) -> list[DatasetRecord]:
    """Replace the content of many existing records with one statement, and return them as stored."""
    rows = [column_values(draft, version) for draft in drafts]

    # SQLAlchemy reserves the names of the columns, so the parameters have a prefix.
    parameters: dict[str, Any] = {name: sa.bindparam(f"new_{name}") for name in rows[0] if name != "id"}
    update = sa.update(datasets).where(datasets.c.id == sa.bindparam("new_id")).values(**parameters)
    parameter_values = [{f"new_{name}": value for name, value in row.items()} for row in rows]
    await transaction.execute(update, parameter_values)

    added_bytes: dict[UUID | None, int] = {}
    for draft, row in zip(drafts, rows, strict=True):
        growth = row["bytes"] - draft.content_bytes
        added_bytes[draft.owner] = added_bytes.get(draft.owner, 0) + growth
    await record_usage_store.add_bytes(transaction, added_bytes)
    return [to_written_record(draft, row) for draft, row in zip(drafts, rows, strict=True)]


async def delete_dataset(transaction: Writer, dataset_id: int, version: int) -> None:
    """Delete a record, and record the deletion for other processes."""
    deletion = sa.delete(datasets).where(datasets.c.id == dataset_id)
    row = await transaction.fetch_returned_row(deletion.returning(datasets.c.owner, datasets.c.bytes))
    if row is not None:
        await record_usage_store.add_bytes(transaction, {row["owner"]: -row["bytes"]})

    await transaction.execute(sa.insert(dataset_deletions).values(id=dataset_id, deleted_at_version=version))


async def visible_dataset(connection: Reader, dataset_id: int, viewer: UUID | None) -> DatasetRecord | None:
    """Return one record, or None if it does not exist or the viewer may not see it."""
    row = await connection.first(_VISIBLE_DATASET, {"id": dataset_id, "viewer": viewer})
    return None if row is None else to_record(row)


async def read_dataset(connection: Reader, dataset_id: int) -> DatasetRecord | None:
    """Return one record regardless of who may see it, or None if it does not exist."""
    row = await connection.first(_DATASETS_WITH_OWNERS.where(datasets.c.id == dataset_id))
    return None if row is None else to_record(row)


async def hidden_datasets(connection: Reader, *, offset: int, limit: int) -> tuple[list[DatasetRecord], int]:
    """Return a page of the hidden records, sorted by id, and the number of all hidden records."""
    query = sa.select(*COLUMNS_WITHOUT_METADATA, _OWNER_PSEUDO).select_from(_WITH_OWNERS).where(datasets.c.is_hidden)
    rows = await connection.all(query.order_by(datasets.c.id).offset(offset).limit(limit))
    count = sa.select(sa.func.count()).select_from(datasets).where(datasets.c.is_hidden)
    return to_records(rows), int(await connection.scalar(count))


async def ids_of_records_with_file(connection: Reader, file_name: str, owner: UUID) -> list[int]:
    """Return the ids of an owner's records whose file path ends with a file name."""
    has_file = datasets.c.file_path.endswith(file_name, autoescape=True)
    query = sa.select(datasets.c.id).where(datasets.c.owner == owner, has_file)
    return [row["id"] for row in await connection.all(query.order_by(datasets.c.id))]


async def dataset_from_source(connection: Reader, source_digests: Sequence[str]) -> DatasetRecord | None:
    """Return the record with one of the source digests, or None if there is none."""
    query = _DATASETS_WITH_OWNERS.where(datasets.c.source_digest.in_(source_digests))
    # If there are two, prefer the one with a digest in the new form, which sorts last.
    row = await connection.first(query.order_by(datasets.c.source_digest.desc()))
    return None if row is None else to_record(row)


async def datasets_from_sources(connection: Reader, source_digests: Sequence[str]) -> list[DatasetRecord]:
    """Return the records with these source digests, unordered and without the names of owners."""
    query = sa.select(datasets).where(is_one_of(datasets.c.source_digest, source_digests))
    return to_records(await connection.all(query))


async def has_old_source_digests(connection: Reader) -> bool:
    """Return whether any record has a digest in the old form, which sorts before digests in the new form."""
    first_digest = await connection.scalar(sa.select(sa.func.min(datasets.c.source_digest)))
    return first_digest is not None and is_old_source_digest(first_digest)


async def visible_datasets(
    connection: Reader, ids: Sequence[int], viewer: UUID | None, *, max_bytes: int = ANY_SIZE
) -> list[DatasetRecord]:
    """Return the records with these ids that the viewer may see, in no particular order.

    Records whose content takes more than `max_bytes` are left out.
    """
    records: list[DatasetRecord] = []
    for batch in _batches(ids):
        parameters = {"ids": batch, "viewer": viewer, "max_bytes": max_bytes}
        records += to_records(await connection.all(_VISIBLE_DATASETS, parameters))

    return records


async def visible_datasets_without_metadata(
    connection: Reader, ids: Sequence[int], viewer: UUID | None
) -> list[DatasetRecord]:
    """Return the records with these ids that the viewer may see, unordered and without `metadata`."""
    records: list[DatasetRecord] = []
    for batch in _batches(ids):
        query = sa.select(*COLUMNS_WITHOUT_METADATA, _OWNER_PSEUDO).select_from(_WITH_OWNERS)
        query = query.where(datasets.c.id.in_(batch), is_visible_to(viewer))
        records += to_records(await connection.all(query))

    return records


async def visible_dataset_id(connection: Reader, dataset_id: UUID, viewer: UUID | None) -> int | None:
    """Return the integer id of a record, or None if it does not exist or the viewer may not see it."""
    query = sa.select(datasets.c.id).where(datasets.c.dataset_id == dataset_id, is_visible_to(viewer))
    row_id: int | None = await connection.scalar(query)
    return row_id


async def visible_ids(connection: Reader, ids: Sequence[int], viewer: UUID | None) -> set[int]:
    """Return the ids in `ids` whose records the viewer may see."""
    ids_of_visible: set[int] = set()
    for batch in _batches(ids):
        query = sa.select(datasets.c.id).where(datasets.c.id.in_(batch), is_visible_to(viewer))
        rows = await connection.all(query)
        ids_of_visible.update(row["id"] for row in rows)

    return ids_of_visible


async def ids_of_uuids(connection: Reader, uuids: Sequence[UUID]) -> dict[UUID, int]:
    """Return the integer ids of the records with these UUIDs, regardless of who may see them."""
    ids: dict[UUID, int] = {}
    for batch in _batches(uuids):
        query = sa.select(datasets.c.id, datasets.c.dataset_id).where(datasets.c.dataset_id.in_(batch))
        ids |= {row["dataset_id"]: row["id"] for row in await connection.all(query)}

    return ids


async def content_sizes(connection: Reader, ids: Sequence[int]) -> dict[int, int]:
    """Return the sizes of the contents of records in bytes, keyed by id."""
    sizes: dict[int, int] = {}
    for batch in _batches(ids):
        query = sa.select(datasets.c.id, datasets.c.bytes).where(datasets.c.id.in_(batch))
        rows = await connection.all(query)
        sizes |= {row["id"]: row["bytes"] for row in rows}

    return sizes


async def count_datasets(connection: Reader) -> int:
    """Return the number of records in the catalog."""
    return int(await connection.scalar(sa.select(sa.func.count()).select_from(datasets)))


class NameAndMetadata(NamedTuple):
    """The name and the metadata of a record."""

    dataset_name: str
    metadata: dict[str, Any] | None


async def names_and_metadata(connection: Reader, ids: Sequence[int]) -> dict[int, NameAndMetadata]:
    """Return the names and the metadata of records, keyed by id, regardless of who may see them."""
    records: dict[int, NameAndMetadata] = {}
    for batch in _batches(ids):
        columns = (datasets.c.id, datasets.c.dataset_name, datasets.c.metadata)
        rows = await connection.all(sa.select(*columns).where(datasets.c.id.in_(batch)))
        records |= {row["id"]: NameAndMetadata(row["dataset_name"], row["metadata"]) for row in rows}

    return records


def _batches(ids: Sequence[Id]) -> Iterator[Sequence[Id]]:
    """Yield slices of `ids` that are short enough for the IN list of a query."""
    for start in range(0, len(ids), _IDS_PER_QUERY):
        yield ids[start : start + _IDS_PER_QUERY]
