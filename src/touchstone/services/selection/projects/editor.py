"""Projects: what is checked before one is stored, and what the catalog recommends for one."""

from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import msgspec

from touchstone.core.errors import ChosenDatasetNotFound, PreconditionFailed, ProjectNotFound, ProjectQuotaExceeded
from touchstone.core.identity import parse_uuid
from touchstone.database.engine import Database, Reader
from touchstone.services.selection import store
from touchstone.services.selection.datasets.scoring_request import Scoring, Weight, scoring_of, weights_of
from touchstone.services.selection.datasets.sort_and_page import Window
from touchstone.services.selection.filters import filters_of
from touchstone.services.selection.live_catalog import LiveCatalog
from touchstone.services.selection.store import Found


class Project(msgspec.Struct, frozen=True, kw_only=True):
    """A project as its owner sees it."""

    id: UUID
    user_id: UUID
    name: str
    description: str | None
    criteria: dict[str, Any]
    weights: list[Weight]
    chosen_dataset_id: int | None
    choice_reason: str | None
    created_at: datetime
    updated_at: datetime


class Projects:
    """The projects of everybody, each for its owner alone."""

    def __init__(self, database: Database, catalog: LiveCatalog, *, quota_bytes: int) -> None:
        self._database = database
        self._catalog = catalog
        self._quota = quota_bytes

    async def create(self, wanted: Mapping[str, Any], owner: UUID) -> Found:
        """A new project of the owner.

        Raises:
            Invalid and its kinds: what of it does not fit.
            ProjectQuotaExceeded: the owner's projects would take more bytes than allowed.
        """
        values = await self._checked(wanted, owner)
        now = datetime.now(UTC)
        start: dict[str, Any] = {
            "description": None,
            "criteria": {},
            "weights": [],
            "chosen_dataset_id": None,
            "choice_reason": None,
        }
        identity = {"id": uuid4(), "user_id": owner, "created_at": now, "updated_at": now, "version": 1}
        async with self._database.writing() as rows:
            made = await store.insert_project(rows, {**start, **values, **identity})
            await self._check_quota(rows, owner)
            return made

    async def get(self, project_id: str, owner: UUID) -> Found:
        """One project of the owner.

        Raises:
            ProjectNotFound: malformed, missing or somebody else's, which are one answer.
        """
        wanted = parse_uuid(project_id)
        if wanted is None:
            raise ProjectNotFound
        async with self._database.reading() as rows:
            found = await store.project(rows, wanted, owner)
        if found is None:
            raise ProjectNotFound
        return found

    async def page(self, owner: UUID, window: Window) -> tuple[list[Project], int]:
        """A window of the owner's projects, newest change first, and how many there are."""
        async with self._database.reading() as rows:
            total = await store.project_count(rows, owner)
            there = window.skip < total
            found = await store.project_page(rows, owner, skip=window.skip, limit=window.limit) if there else ()
        return [shown(one) for one in found], total

    async def change(self, known: Found, wanted: Mapping[str, Any], *, versions: Collection[int] | None) -> Found:
        """Change what is given of a project that was `known` a moment ago.

        Raises:
            ProjectNotFound, PreconditionFailed: gone by now, or at another version.
            Invalid and its kinds: what of the change does not fit.
            ProjectQuotaExceeded: the owner's projects would take more bytes than allowed.
        """
        project_id, owner = known["id"], known["user_id"]
        checked = await self._checked(wanted, owner, known["chosen_dataset_id"])
        values = {**checked, "updated_at": datetime.now(UTC)}
        async with self._database.writing() as rows:
            before = await store.used_project_bytes(rows, owner)
            found = await store.update_project(rows, project_id, owner, values=values, versions_allowed=versions)
            if found is None:
                await _refuse(rows, project_id, owner)
            await self._check_quota(rows, owner, before=before)
        assert found is not None
        return found

    async def remove(self, project_id: UUID, owner: UUID, *, versions: Collection[int] | None) -> None:
        """Delete a project that was there a moment ago.

        Raises:
            ProjectNotFound, PreconditionFailed: gone by now, or at another version.
        """
        async with self._database.writing(essential=True) as rows:
            if not await store.delete_project(rows, project_id, owner, versions_allowed=versions):
                await _refuse(rows, project_id, owner)

    async def _check_quota(self, rows: Reader, owner: UUID, *, before: int = 0) -> None:
        """Refuse a write after which the owner's projects take more than allowed, and more than before."""
        if await store.used_project_bytes(rows, owner) > max(self._quota, before):
            raise ProjectQuotaExceeded(limit=self._quota)

    async def _checked(self, wanted: Mapping[str, Any], owner: UUID, kept: int | None = None) -> dict[str, Any]:
        """The values to store, null where something is cleared turned into what stands for nothing.

        `kept`: the dataset chosen before, which may have gone since and still be sent back.
        """
        values = dict(wanted)
        if "criteria" in values:
            values["criteria"] = values["criteria"] or {}
            filters_of(values["criteria"], at=("body", "criteria"))
        if "weights" in values:
            weights = weights_of(values["weights"])
            values["weights"] = [{"criterion_name": name, "weight": weight} for name, weight in weights.items()]
        chosen = values.get("chosen_dataset_id")
        if chosen not in (None, kept) and not await self._catalog.entries([chosen], owner):
            raise ChosenDatasetNotFound
        return values


async def _refuse(rows: Reader, project_id: UUID, owner: UUID) -> None:
    there = await store.project(rows, project_id, owner)
    raise ProjectNotFound if there is None else PreconditionFailed


def shown(found: Found) -> Project:
    """A stored project as its owner sees it."""
    weights = [Weight(**one) for one in found["weights"]]
    return Project(**{name: found[name] for name in Project.__struct_fields__ if name != "weights"}, weights=weights)


def etag_of(found: Found) -> str:
    """The entity tag of a stored project."""
    return f'"{found["version"]}"'


def scoring_for(found: Found) -> Scoring:
    """The scoring request that a project stands for."""
    return scoring_of({"criteria": found["criteria"], "weights": found["weights"]})
