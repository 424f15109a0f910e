"""The rows of the selection backend: datasets, projects and uploaded files. The only place here that speaks SQL."""

import functools
import operator
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from typing import Any, Final, TypeAlias
from uuid import UUID

import msgspec
import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from touchstone.core.attributes import ATTRIBUTES
from touchstone.database.engine import Database, Reader, Writer
from touchstone.database.tables import dataset_deletions, datasets, files, projects, versions
from touchstone.database.versions import CATALOG

Found: TypeAlias = Mapping[str, Any]

UPLOADS: Final = "uploads"
_AT_ONCE: Final = 1000  # values in one IN list; both databases take several thousand
# What a record says, as opposed to which record it is, whose, and since when.
_CONTENT: Final = (
    *("description", "file_path", "file_type", "metadata", "measured_attributes"),
    *(attribute.name for attribute in ATTRIBUTES),
)
_PROJECT_TEXTS: Final = ("name", "description", "criteria", "weights", "choice_reason")
_FACTS: Final = tuple(c for c in datasets.c if c.name not in ("metadata", "measured_attributes"))


async def prepare_versions(database: Database) -> None:
    """Make the counters of this backend, so that two first writers never race for them."""
    for name in (CATALOG, UPLOADS):
        try:
            async with database.writing(essential=True) as rows:
                there = await rows.scalar(sa.select(versions.c.name).where(versions.c.name == name))
                if there is None:
                    await rows.execute(sa.insert(versions).values(name=name, version=0))
        except IntegrityError:  # another process was faster
            continue


async def insert_dataset(rows: Writer, values: Found) -> Found:
    """Put in one record; the whole row as it is stored."""
    return await _written(rows, sa.insert(datasets).values(**_sized(values)).returning(*datasets.c))


async def insert_datasets(rows: Writer, many: Sequence[Found]) -> None:
    """Put in many records, whose members are all the same."""
    if many:
        await rows.execute(sa.insert(datasets), [_sized(values) for values in many])


async def update_dataset(rows: Writer, dataset_id: int, values: Found) -> Found:
    """Change a record that is there, all of its content given; the whole row as it is stored."""
    change = sa.update(datasets).where(datasets.c.id == dataset_id).values(**_sized(values))
    return await _written(rows, change.returning(*datasets.c))


async def delete_dataset(rows: Writer, dataset_id: int, version: int) -> None:
    """Delete a record, and leave a note of it for the other processes."""
    await rows.execute(sa.delete(datasets).where(datasets.c.id == dataset_id))
    await rows.execute(sa.insert(dataset_deletions).values(id=dataset_id, deleted_at_version=version))


async def visible_dataset(rows: Reader, dataset_id: int, viewer: UUID | None) -> Found | None:
    """Return one record with every column, or None if the viewer may see no such record."""
    query = sa.select(datasets).where(datasets.c.id == dataset_id, _visible_to(viewer))
    return _plain_or_none(await rows.first(query))


async def visible_datasets(rows: Reader, ids: Sequence[int], viewer: UUID | None) -> list[Found]:
    """Return the records with these ids that the viewer may see, in any order, with every column."""
    found: list[Found] = []
    for start in range(0, len(ids), _AT_ONCE):
        batch = datasets.c.id.in_(ids[start : start + _AT_ONCE])
        found += _plain(await rows.all(sa.select(datasets).where(batch, _visible_to(viewer))))
    return found


async def dataset_sizes(rows: Reader, ids: Sequence[int]) -> dict[int, int]:
    """Return how many bytes the content of each of these records takes."""
    sizes: dict[int, int] = {}
    for start in range(0, len(ids), _AT_ONCE):
        batch = datasets.c.id.in_(ids[start : start + _AT_ONCE])
        sizes |= {
            row["id"]: row["bytes"] for row in await rows.all(sa.select(datasets.c.id, datasets.c.bytes).where(batch))
        }
    return sizes


async def visible_without_metadata(rows: Reader, ids: Sequence[int], viewer: UUID | None) -> list[Found]:
    """Return the records with these ids that the viewer may see, in any order, each with its `metadata` as None."""
    found: list[Found] = []
    for start in range(0, len(ids), _AT_ONCE):
        batch = datasets.c.id.in_(ids[start : start + _AT_ONCE])
        found += _plain(await rows.all(sa.select(*_FACTS).where(batch, _visible_to(viewer))))
    return [{**row, "metadata": None} for row in found]


async def used_record_bytes(rows: Reader, owner: UUID) -> int:
    """Return how many bytes the records of an owner take together."""
    return int(await rows.scalar(sa.select(sa.func.sum(datasets.c.bytes)).where(datasets.c.owner == owner)) or 0)


async def visible_dataset_id(rows: Reader, dataset_id: UUID, viewer: UUID | None) -> int | None:
    """Return the integer id of the record with a UUID, or None if the viewer may see no such record."""
    query = sa.select(datasets.c.id).where(datasets.c.dataset_id == dataset_id, _visible_to(viewer))
    number: int | None = await rows.scalar(query)
    return number


async def every_dataset(rows: Reader, size: int) -> AsyncIterator[Sequence[Found]]:
    """All records in chunks, by id, with what the columns hold of them."""
    async for chunk in rows.stream(sa.select(*_FACTS).order_by(datasets.c.id), size):
        yield _plain(chunk)


async def count_datasets(rows: Reader) -> int:
    """How many records there are."""
    return int(await rows.scalar(sa.select(sa.func.count()).select_from(datasets)))


async def datasets_since(rows: Reader, version: int) -> Sequence[Found]:
    """The records that changed after a version of the catalog, with what the columns hold of them."""
    return _plain(await rows.all(sa.select(*_FACTS).where(datasets.c.changed_at_version > version)))


async def deletions_since(rows: Reader, version: int) -> list[int]:
    """The ids that were deleted after a version of the catalog."""
    query = sa.select(dataset_deletions.c.id).where(dataset_deletions.c.deleted_at_version > version)
    return [row["id"] for row in await rows.all(query)]


async def insert_project(rows: Writer, values: Found) -> Found:
    """Put in a project; the row as it is stored."""
    return await _written(rows, sa.insert(projects).values(**values).returning(*projects.c))


async def project(rows: Reader, project_id: UUID, owner: UUID) -> Found | None:
    """One project of an owner."""
    return _plain_or_none(await rows.first(sa.select(projects).where(_own_project(project_id, owner))))


async def project_count(rows: Reader, owner: UUID) -> int:
    """How many projects an owner has."""
    return int(await rows.scalar(sa.select(sa.func.count()).where(projects.c.user_id == owner)) or 0)


async def used_project_bytes(rows: Reader, owner: UUID) -> int:
    """Return about how many bytes the projects of an owner take together: their texts, and a kilobyte for each."""
    texts = [sa.func.length(sa.cast(projects.c[name], sa.Text)) for name in _PROJECT_TEXTS]
    size = functools.reduce(operator.add, (sa.func.coalesce(length, 0) for length in texts)) + 1000
    return int(await rows.scalar(sa.select(sa.func.sum(size)).where(projects.c.user_id == owner)) or 0)


async def project_page(rows: Reader, owner: UUID, *, skip: int, limit: int) -> Sequence[Found]:
    """A part of an owner's projects, newest change first."""
    order = (projects.c.updated_at.desc(), projects.c.id)
    query = sa.select(projects).where(projects.c.user_id == owner).order_by(*order)
    return _plain(await rows.all(query.offset(skip).limit(limit)))


async def update_project(
    rows: Writer, project_id: UUID, owner: UUID, *, values: Found, versions_allowed: Collection[int] | None
) -> Found | None:
    """Change a project of an owner, if it is at one of the versions (None: any); the row as it is stored."""
    wanted = _own_project(project_id, owner) & _at_version(versions_allowed)
    change = sa.update(projects).where(wanted).values(**values, version=projects.c.version + 1)
    return _plain_or_none(await rows.returning(change.returning(*projects.c)))


async def delete_project(
    rows: Writer, project_id: UUID, owner: UUID, *, versions_allowed: Collection[int] | None
) -> bool:
    """Delete a project of an owner, if it is at one of the versions (None: any); whether it was."""
    wanted = _own_project(project_id, owner) & _at_version(versions_allowed)
    return await rows.returning(sa.delete(projects).where(wanted).returning(projects.c.id)) is not None


async def insert_file(rows: Writer, values: Found) -> Found:
    """Note an uploaded file; the row as it is stored."""
    return await _written(rows, sa.insert(files).values(**values).returning(*files.c))


async def files_of(rows: Reader, owner: UUID) -> Sequence[Found]:
    """An owner's uploads, newest first."""
    query = sa.select(files).where(files.c.owner == owner).order_by(files.c.created_at.desc(), files.c.id)
    return _plain(await rows.all(query))


async def delete_file(rows: Writer, file_id: UUID, owner: UUID) -> Found | None:
    """Forget an upload of an owner; the row as it was."""
    wanted = (files.c.id == file_id) & (files.c.owner == owner)
    return _plain_or_none(await rows.returning(sa.delete(files).where(wanted).returning(*files.c)))


async def used_bytes(rows: Reader, owner: UUID) -> int:
    """How much an owner's uploads take together, in bytes."""
    return int(await rows.scalar(sa.select(sa.func.sum(files.c.bytes)).where(files.c.owner == owner)) or 0)


async def file_owner(rows: Reader, file_path: str) -> UUID | None:
    """Who uploaded the file at a path of ours; None when nobody did."""
    owner: UUID | None = await rows.scalar(sa.select(files.c.owner).where(files.c.file_path == file_path))
    return owner


def _sized(values: Found) -> Found:
    """Return the values of a record with the size of its content, names included: an empty record takes room too."""
    return {**values, "bytes": len(msgspec.json.encode({name: values.get(name) for name in _CONTENT}))}


def _visible_to(viewer: UUID | None) -> sa.ColumnElement[bool]:
    # Part of the query rather than a check of its result: a private record of somebody else then costs exactly what
    # a missing one does, and response times do not tell the two apart.
    public = datasets.c.visibility == "public"
    return public if viewer is None else public | (datasets.c.owner == viewer)


def _own_project(project_id: UUID, owner: UUID) -> sa.ColumnElement[bool]:
    # Every query on projects goes through here: a project without its owner is never asked for.
    return (projects.c.id == project_id) & (projects.c.user_id == owner)


def _at_version(allowed: Collection[int] | None) -> sa.ColumnElement[bool]:
    return sa.true() if allowed is None else projects.c.version.in_(allowed)


async def _written(rows: Writer, statement: Any) -> Found:
    found = await rows.returning(statement)
    assert found is not None
    return _plain((found,))[0]


def _plain(found: Sequence[sa.RowMapping]) -> list[Found]:
    """Rows as plain dictionaries: several times faster to read, and free of the database's library."""
    return [{str(name): value for name, value in row.items()} for row in found]


def _plain_or_none(found: sa.RowMapping | None) -> Found | None:
    return None if found is None else _plain((found,))[0]
