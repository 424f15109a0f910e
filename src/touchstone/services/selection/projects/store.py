"""The table of projects. Every query contains the owner, so that nobody can access somebody else's project."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import msgspec
import sqlalchemy as sa
from msgspec import UNSET, UnsetType

from touchstone.core.evidence import Assurance
from touchstone.database.engine import Reader, Row, Writer
from touchstone.database.octet_length import OctetLength
from touchstone.database.tables import projects
from touchstone.services.selection.weights import CriterionWeight

# The estimated storage of a project in addition to its texts.
_OVERHEAD_BYTES: Final = 1000
_TEXT_COLUMNS: Final = (
    projects.c.name,
    projects.c.description,
    projects.c.criteria,
    projects.c.weights,
    projects.c.choice_reason,
    projects.c.gates,
)


class ProjectDraft(msgspec.Struct, frozen=True, kw_only=True):
    """The content of a project to be created."""

    name: str
    description: str | None = None
    criteria: dict[str, Any] = {}
    weights: Sequence[CriterionWeight] = ()
    chosen_dataset_id: int | None = None
    choice_reason: str | None = None
    assurance: Assurance = Assurance.DECLARED
    gates: dict[str, Any] = {}


class ProjectUpdate(msgspec.Struct, frozen=True, kw_only=True):
    """The new values of a project. Fields that are UNSET keep their values."""

    name: str | UnsetType = UNSET
    description: str | UnsetType | None = UNSET
    criteria: dict[str, Any] | UnsetType = UNSET
    weights: Sequence[CriterionWeight] | UnsetType = UNSET
    chosen_dataset_id: int | UnsetType | None = UNSET
    choice_reason: str | UnsetType | None = UNSET
    assurance: Assurance | UnsetType = UNSET
    gates: dict[str, Any] | UnsetType = UNSET

    def new_values(self) -> dict[str, Any]:
        """Return the values of the fields that are set, by name."""
        return {name: value for name, value in msgspec.structs.asdict(self).items() if value is not UNSET}

    def applied_to(self, project: "ProjectRecord") -> "ProjectRecord":
        """Return a copy of a project with the new values."""
        return msgspec.structs.replace(project, **self.new_values())


class ProjectRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A stored project. Its `version` increases with every change."""

    id: UUID
    user_id: UUID
    name: str
    description: str | None
    criteria: dict[str, Any]
    weights: list[CriterionWeight]
    chosen_dataset_id: int | None
    choice_reason: str | None
    assurance: Assurance
    gates: dict[str, Any]
    created_at: datetime
    updated_at: datetime
    version: int


async def insert_project(
    transaction: Writer, draft: ProjectDraft, *, project_id: UUID, owner: UUID, now: datetime
) -> ProjectRecord:
    """Insert a project and return it as stored."""
    insert = sa.insert(projects).values(
        **msgspec.structs.asdict(draft), id=project_id, user_id=owner, created_at=now, updated_at=now, version=1
    )
    row = await transaction.fetch_returned_row(insert.returning(*projects.c))
    assert row is not None

    return _to_record(row)


async def load_project(connection: Reader, project_id: UUID, owner: UUID) -> ProjectRecord | None:
    """Return a project of the owner, or None if the owner has no such project."""
    row = await connection.first(sa.select(projects).where(_is_project_of(project_id, owner)))
    return None if row is None else _to_record(row)


async def lock_project(transaction: Writer, project: ProjectRecord) -> ProjectRecord | None:
    """Lock a project against changes until the transaction ends, and return its stored state.

    Returns None if the project has been deleted.
    """
    query = sa.select(projects).where(_is_project_of(project.id, project.user_id))
    row = await transaction.first(query.with_for_update())
    return None if row is None else _to_record(row)


async def load_projects(connection: Reader, owner: UUID, *, skip: int, limit: int) -> list[ProjectRecord]:
    """Return a slice of the owner's projects, the most recently changed one first."""
    query = sa.select(projects).where(projects.c.user_id == owner)
    query = query.order_by(projects.c.updated_at.desc(), projects.c.id).offset(skip).limit(limit)
    return [_to_record(row) for row in await connection.all(query)]


async def count_projects(connection: Reader, owner: UUID) -> int:
    """Return the number of the owner's projects."""
    return int(await connection.scalar(sa.select(sa.func.count()).where(projects.c.user_id == owner)) or 0)


async def total_project_bytes(connection: Reader, owner: UUID) -> int:
    """Return the approximate total size of the owner's projects in bytes."""
    project_bytes: sa.ColumnElement[int] = sa.literal(_OVERHEAD_BYTES)
    for column in _TEXT_COLUMNS:
        text_bytes = OctetLength(sa.cast(column, sa.Text))
        project_bytes += sa.func.coalesce(text_bytes, 0)

    total = await connection.scalar(sa.select(sa.func.sum(project_bytes)).where(projects.c.user_id == owner))
    return int(total or 0)  # the sum over no rows is NULL


async def update_project(
    transaction: Writer,
    project: ProjectRecord,
    update: ProjectUpdate,
    *,
    now: datetime,
    versions: Collection[int] | None,
) -> ProjectRecord | None:
    """Update a project and return it as stored, or return None if it is deleted or at another version.

    Args:
        transaction: the transaction of the change.
        project: the project to update.
        update: the new values of its fields.
        now: the time of the change.
        versions: the versions of the project that may be updated, or None for any version.
    """
    statement = (
        sa.update(projects)
        .where(_is_project_of(project.id, project.user_id), _is_at_version(versions))
        .values(**update.new_values(), updated_at=now, version=projects.c.version + 1)
        .returning(*projects.c)
    )
    row = await transaction.fetch_returned_row(statement)
    return None if row is None else _to_record(row)


async def delete_project(transaction: Writer, project: ProjectRecord, *, versions: Collection[int] | None) -> bool:
    """Delete a project if it is at one of `versions`, where None is any version, and return whether it was deleted."""
    statement = (
        sa.delete(projects)
        .where(_is_project_of(project.id, project.user_id), _is_at_version(versions))
        .returning(projects.c.id)
    )
    row = await transaction.fetch_returned_row(statement)
    return row is not None


def _is_project_of(project_id: UUID, owner: UUID) -> sa.ColumnElement[bool]:
    """Return the condition that selects a project by its id and its owner."""
    return (projects.c.id == project_id) & (projects.c.user_id == owner)


def _is_at_version(versions: Collection[int] | None) -> sa.ColumnElement[bool]:
    """Return the condition that selects projects at the given versions, or at any version if `versions` is None."""
    return sa.true() if versions is None else projects.c.version.in_(versions)


def _to_record(row: Row) -> ProjectRecord:
    """Convert a row of the table."""
    weights = [CriterionWeight(**weight) for weight in row["weights"]]
    assurance = Assurance(row["assurance"])
    return ProjectRecord(**{**row, "weights": weights, "assurance": assurance})
