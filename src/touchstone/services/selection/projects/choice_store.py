"""The table of choices: each dataset that was chosen for a project, with its content and its rank at that time.

Functions expect a `ProjectRecord` rather than an id, because records are only loaded for their owners. Access to the
choices of somebody else's project is therefore impossible.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import msgspec
import sqlalchemy as sa

from touchstone.core.evidence import Assurance
from touchstone.database.engine import Reader, Row, Writer
from touchstone.database.tables import project_choices, projects
from touchstone.services.selection.gates import GateOutcome
from touchstone.services.selection.projects.dataset_content import DatasetContent
from touchstone.services.selection.projects.store import ProjectRecord
from touchstone.services.selection.weights import CriterionWeight

# The estimated storage of a choice in addition to its JSON.
_OVERHEAD_BYTES: Final = 200
_IDS_PER_QUERY: Final = 1000


class ChosenDataset(msgspec.Struct, frozen=True, kw_only=True):
    """A dataset at the time when it was chosen.

    Attributes:
        id: its integer id in this catalog.
        name: its name, or an empty string if it was not stored.
        digest, content: its content and the digest of the content, or None for choices of releases that did not store
            contents.
    """

    id: int
    name: str
    digest: str | None
    content: DatasetContent | None


class ChoiceRanking(msgspec.Struct, frozen=True, kw_only=True):
    """The rank of a dataset for a project at the time of the choice, with everything that determined this rank.

    Attributes:
        rank: its position, or None if it did not match the filters.
        place, tied_with: the rank that datasets of the same score shared, and the number of other datasets with this
            score. They are None and 0 for choices of releases that did not store them.
        score: its score, or None if it had just been removed from the catalog.
        total_count: the number of datasets that matched the filters.
        weights: the weights of the project, or the default weights if the project had none.
        gates: the requirements of the project that do not change the score.
        gate_outcomes: the outcome of each gate for the dataset.
        catalog_version: an opaque token of the state of the catalog.
    """

    rank: int | None
    score: float | None
    total_count: int
    weights: list[CriterionWeight]
    filters: dict[str, Any]
    gates: dict[str, Any]
    gate_outcomes: dict[str, GateOutcome]
    assurance: Assurance
    formula_version: str
    catalog_version: str
    place: int | None = None
    tied_with: int = 0


class ChoiceDraft(msgspec.Struct, frozen=True, kw_only=True):
    """A choice to be stored. Without a dataset, it records that the previous choice was taken back."""

    author: UUID
    created_at: datetime
    dataset: ChosenDataset | None
    reason: str | None
    ranking: ChoiceRanking | None


class ChoiceRecord(ChoiceDraft, frozen=True, kw_only=True):
    """A stored choice.

    Attributes:
        superseded_at: the time of the next choice for the same project, or None for the last choice.
    """

    id: int
    project_id: UUID
    superseded_at: datetime | None


async def insert_choice(transaction: Writer, project: ProjectRecord, draft: ChoiceDraft) -> None:
    """Append a choice to the history of a project."""
    dataset = draft.dataset
    values = {
        "dataset_id": dataset.id if dataset else None,
        "dataset_name": dataset.name if dataset else None,
        "digest": dataset.digest if dataset else None,
        "content": dataset.content if dataset else None,
        "reason": draft.reason,
        "ranking": draft.ranking,
    }
    # The size counts towards the quota of the project's owner.
    byte_count = len(msgspec.json.encode(values)) + _OVERHEAD_BYTES
    insert = sa.insert(project_choices).values(
        **values, project_id=project.id, author=draft.author, created_at=draft.created_at, bytes=byte_count
    )
    await transaction.execute(insert)


async def load_choices(connection: Reader, project: ProjectRecord, *, skip: int, limit: int) -> list[ChoiceRecord]:
    """Return a slice of the choices for a project, the newest first."""
    query = _choices_with_successors().where(project_choices.c.project_id == project.id)
    rows = await connection.all(query.order_by(project_choices.c.id.desc()).offset(skip).limit(limit))
    return [_to_record(row) for row in rows]


async def count_choices(connection: Reader, project: ProjectRecord) -> int:
    """Return the number of choices for a project."""
    count = sa.select(sa.func.count()).select_from(project_choices)
    return int(await connection.scalar(count.where(project_choices.c.project_id == project.id)))


async def load_last_choice(connection: Reader, project: ProjectRecord) -> ChoiceRecord | None:
    """Return the last choice for a project, or None if nothing has ever been chosen."""
    last_choices = await load_last_choices(connection, [project])
    return last_choices.get(project.id)


async def load_last_choices(connection: Reader, records: Sequence[ProjectRecord]) -> dict[UUID, ChoiceRecord]:
    """Return the last choice for each project, by the id of the project.

    The result lacks projects without any choice.
    """
    last_choices: dict[UUID, ChoiceRecord] = {}
    for start in range(0, len(records), _IDS_PER_QUERY):
        project_ids = [project.id for project in records[start : start + _IDS_PER_QUERY]]
        last_choice_ids = (
            sa.select(sa.func.max(project_choices.c.id))
            .where(project_choices.c.project_id.in_(project_ids))
            .group_by(project_choices.c.project_id)
        )
        # Last choices have no successor, so the join for the time of the next choice is unnecessary.
        query = sa.select(project_choices, sa.null().label("superseded_at"))
        rows = await connection.all(query.where(project_choices.c.id.in_(last_choice_ids)))
        choices = [_to_record(row) for row in rows]
        last_choices |= {choice.project_id: choice for choice in choices}

    return last_choices


async def total_choice_bytes(connection: Reader, owner: UUID) -> int:
    """Return the total size in bytes of the choices for all projects of an owner."""
    query = sa.select(sa.func.sum(project_choices.c.bytes)).join(projects).where(projects.c.user_id == owner)
    return int(await connection.scalar(query) or 0)  # the sum over no rows is NULL


def _choices_with_successors() -> sa.Select[Any]:
    """Return the query for choices with the column `superseded_at`, the time of the next choice for the project.

    The column is null for the last choice. Ids ascend, so the next choice has the smallest of the higher ids.
    """
    later = project_choices.alias("later")
    successor_id = (
        sa.select(sa.func.min(later.c.id))
        .where(later.c.project_id == project_choices.c.project_id, later.c.id > project_choices.c.id)
        .scalar_subquery()
    )

    successor = project_choices.alias("successor")
    choices_with_successor = project_choices.outerjoin(successor, successor.c.id == successor_id)
    superseded_at = successor.c.created_at.label("superseded_at")
    return sa.select(project_choices, superseded_at).select_from(choices_with_successor)


def _to_record(row: Row) -> ChoiceRecord:
    """Convert a row of the table."""
    ranking = row["ranking"]
    return ChoiceRecord(
        id=row["id"],
        project_id=row["project_id"],
        author=row["author"],
        created_at=row["created_at"],
        dataset=_to_dataset(row),
        reason=row["reason"],
        ranking=None if ranking is None else msgspec.convert(ranking, ChoiceRanking),
        superseded_at=row["superseded_at"],
    )


def _to_dataset(row: Row) -> ChosenDataset | None:
    """Return the chosen dataset in a row, or None if the row records that a choice was taken back."""
    if row["dataset_id"] is None:
        return None

    content = row["content"]
    return ChosenDataset(
        id=row["dataset_id"],
        name=row["dataset_name"] or "",
        digest=row["digest"],
        content=None if content is None else msgspec.convert(content, DatasetContent),
    )
