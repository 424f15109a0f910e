"""The table of snapshots, which preserve the recommendations for projects.

Functions expect a `ProjectRecord` rather than an id, because records are only loaded for their owners. Access to the
snapshots of somebody else's project is therefore impossible.
"""

from datetime import datetime
from typing import Final
from uuid import UUID

import msgspec
import sqlalchemy as sa

from touchstone.database.engine import Reader, Writer
from touchstone.database.tables import project_snapshots, projects
from touchstone.services.selection.projects.store import ProjectRecord

# The estimated storage of a snapshot in addition to its content and its note.
_OVERHEAD_BYTES: Final = 500
_SUMMARY_COLUMNS: Final = tuple(column for column in project_snapshots.c if column.name != "content")


class SnapshotSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A snapshot without its content.

    Attributes:
        sha256: the digest of the content.
        catalog_version: the version of the catalog. Responses contain an opaque token instead.
        total_count: the number of datasets that matched. The content has the first `item_count` of them.
        bytes: the size of the snapshot, which counts towards the quota of the owner.
    """

    id: UUID
    project_id: UUID
    author: UUID
    created_at: datetime
    note: str | None
    sha256: str
    formula_version: str
    catalog_version: int
    total_count: int
    item_count: int
    bytes: int


class SnapshotRecord(SnapshotSummary, frozen=True, kw_only=True):
    """A stored snapshot. `content` is canonical JSON."""

    content: str


def snapshot_bytes(content: bytes, note: str | None) -> int:
    """Return the size in bytes of a snapshot, which counts towards the quota."""
    return len(content) + len((note or "").encode()) + _OVERHEAD_BYTES


async def insert_snapshot(transaction: Writer, record: SnapshotRecord) -> None:
    """Insert a snapshot."""
    await transaction.execute(sa.insert(project_snapshots).values(**msgspec.structs.asdict(record)))


async def load_snapshots(connection: Reader, project: ProjectRecord, *, skip: int, limit: int) -> list[SnapshotSummary]:
    """Return a slice of the snapshots of a project, the newest first."""
    query = sa.select(*_SUMMARY_COLUMNS).where(project_snapshots.c.project_id == project.id)
    query = query.order_by(project_snapshots.c.created_at.desc(), project_snapshots.c.id)
    return await connection.all_as(SnapshotSummary, query.offset(skip).limit(limit))


async def count_snapshots(connection: Reader, project: ProjectRecord) -> int:
    """Return the number of snapshots of a project."""
    count = sa.select(sa.func.count()).select_from(project_snapshots)
    return int(await connection.scalar(count.where(project_snapshots.c.project_id == project.id)))


async def load_snapshot(connection: Reader, project: ProjectRecord, snapshot_id: UUID) -> SnapshotRecord | None:
    """Return a snapshot of a project, or None if the project has no such snapshot."""
    is_snapshot = (project_snapshots.c.id == snapshot_id) & (project_snapshots.c.project_id == project.id)
    return await connection.first_as(SnapshotRecord, sa.select(project_snapshots).where(is_snapshot))


async def delete_snapshot(transaction: Writer, project: ProjectRecord, snapshot_id: UUID) -> bool:
    """Delete a snapshot of a project, and return whether it existed."""
    is_snapshot = (project_snapshots.c.id == snapshot_id) & (project_snapshots.c.project_id == project.id)
    statement = sa.delete(project_snapshots).where(is_snapshot).returning(project_snapshots.c.id)
    row = await transaction.fetch_returned_row(statement)
    return row is not None


async def total_snapshot_bytes(connection: Reader, owner: UUID) -> int:
    """Return the total size in bytes of the snapshots of all projects of an owner."""
    query = sa.select(sa.func.sum(project_snapshots.c.bytes)).join(projects).where(projects.c.user_id == owner)
    return int(await connection.scalar(query) or 0)  # the sum over no rows is NULL
