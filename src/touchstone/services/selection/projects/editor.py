"""Creating, changing and deleting projects: validation, quotas and versions."""

from collections.abc import Collection
from datetime import UTC, datetime
from uuid import UUID, uuid4

from msgspec.structs import replace

from touchstone.core.errors import (
    ChosenDatasetNotFound,
    PreconditionFailed,
    ProjectNotFound,
    ProjectQuotaExceeded,
)
from touchstone.core.identity import parse_uuid
from touchstone.database.engine import Database, Reader
from touchstone.services.selection.filters import FILTER_PARAMETERS
from touchstone.services.selection.live_catalog import LiveCatalog
from touchstone.services.selection.projects import store
from touchstone.services.selection.projects.schemas import ProjectChange, ProjectCreate
from touchstone.services.selection.projects.store import ProjectDraft, ProjectRecord, ProjectUpdate
from touchstone.services.selection.weights import CriterionWeight, parse_weights


class ProjectEditor:
    """The projects of all users, each accessible to its owner only."""

    def __init__(self, database: Database, catalog: LiveCatalog, *, quota_bytes: int) -> None:
        self._database = database
        self._catalog = catalog
        self._quota_bytes = quota_bytes

    async def load(self, project_id: str, owner: UUID) -> ProjectRecord:
        """Return a project of the owner.

        Raises:
            ProjectNotFound: the id is malformed, or the owner has no such project.
        """
        uuid = parse_uuid(project_id)
        if uuid is None:
            raise ProjectNotFound

        async with self._database.reading() as rows:
            project = await store.load_project(rows, uuid, owner)
        if project is None:
            raise ProjectNotFound
        return project

    async def load_window(self, owner: UUID, *, skip: int, limit: int) -> tuple[list[ProjectRecord], int]:
        """Return a window of the owner's projects, the most recently changed one first, and their total number."""
        async with self._database.reading() as rows:
            total_count = await store.count_projects(rows, owner)
            # The database would refuse an offset that exceeds its integers.
            if skip >= total_count:
                return [], total_count

            return await store.load_projects(rows, owner, skip=skip, limit=limit), total_count

    async def create(self, body: ProjectCreate, owner: UUID) -> ProjectRecord:
        """Create a project of the owner.

        Raises:
            Invalid: the criteria, the weights or the chosen dataset do not fit; subclasses say in which way.
            ProjectQuotaExceeded: the owner's projects would take more bytes than allowed.
        """
        _check_criteria(body.criteria)
        draft = ProjectDraft(
            name=body.name,
            description=body.description,
            criteria=body.criteria or {},
            weights=_validate_weights(body.weights),
            chosen_dataset_id=body.chosen_dataset_id,
            choice_reason=body.choice_reason,
        )
        if draft.chosen_dataset_id is not None:
            await self._check_dataset_is_visible(draft.chosen_dataset_id, owner)

        async with self._database.writing() as rows:
            project = await store.insert_project(rows, draft, project_id=uuid4(), owner=owner, now=datetime.now(UTC))
            await self._check_quota(rows, owner)
        return project

    async def change(
        self, project: ProjectRecord, body: ProjectChange, *, versions: Collection[int] | None
    ) -> ProjectRecord:
        """Change those fields of a project that the body provides.

        Raises:
            ProjectNotFound: the project has been deleted in the meantime.
            PreconditionFailed: the project is not at one of `versions` (None: any).
            Invalid: the criteria, the weights or the chosen dataset do not fit; subclasses say in which way.
            ProjectQuotaExceeded: the owner's projects would take more bytes than allowed, and more than before.
        """
        update = _to_update(body)
        # A dataset that was chosen before may be sent back even if it has been deleted since.
        chosen_id = body.chosen_dataset_id
        if chosen_id is not None and chosen_id != project.chosen_dataset_id:
            await self._check_dataset_is_visible(chosen_id, project.user_id)

        async with self._database.writing() as rows:
            bytes_before = await store.total_project_bytes(rows, project.user_id)
            changed = await store.update_project(rows, project, update, now=datetime.now(UTC), versions=versions)
            if changed is None:
                raise await _missing_or_outdated(rows, project)
            await self._check_quota(rows, project.user_id, bytes_before=bytes_before)
        return changed

    async def delete(self, project: ProjectRecord, *, versions: Collection[int] | None) -> None:
        """Delete a project.

        Raises:
            ProjectNotFound: the project has been deleted in the meantime.
            PreconditionFailed: the project is not at one of `versions` (None: any).
        """
        async with self._database.writing(essential=True) as rows:
            if not await store.delete_project(rows, project, versions=versions):
                raise await _missing_or_outdated(rows, project)

    async def _check_quota(self, rows: Reader, owner: UUID, *, bytes_before: int = 0) -> None:
        """Raise ProjectQuotaExceeded if the owner's projects take more bytes than allowed, and more than before."""
        if await store.total_project_bytes(rows, owner) > max(self._quota_bytes, bytes_before):
            raise ProjectQuotaExceeded(limit=self._quota_bytes)

    async def _check_dataset_is_visible(self, dataset_id: int, owner: UUID) -> None:
        """Raise ChosenDatasetNotFound if the owner may see no dataset with this id."""
        if not await self._catalog.encoded_records([dataset_id], owner):
            raise ChosenDatasetNotFound


def _to_update(body: ProjectChange) -> ProjectUpdate:
    """Return the update for a change; null clears a field."""
    provided = body.provided_fields()
    names = ("name", "description", "chosen_dataset_id", "choice_reason")
    update = ProjectUpdate(**{name: provided[name] for name in names if name in provided})

    if "criteria" in provided:
        _check_criteria(body.criteria)
        update = replace(update, criteria=body.criteria or {})
    if "weights" in provided:
        update = replace(update, weights=_validate_weights(body.weights))
    return update


def _check_criteria(criteria: object) -> None:
    """Raise Invalid if the criteria of a project are not a valid filter object."""
    FILTER_PARAMETERS.parse_json(criteria or {}, "body", "criteria")


def _validate_weights(weights: object) -> list[CriterionWeight]:
    return [CriterionWeight(criterion, weight) for criterion, weight in parse_weights(weights).items()]


async def _missing_or_outdated(rows: Reader, project: ProjectRecord) -> ProjectNotFound | PreconditionFailed:
    """Return the error for a project that could not be written: it is gone, or at another version."""
    current = await store.load_project(rows, project.id, project.user_id)
    return ProjectNotFound() if current is None else PreconditionFailed()
