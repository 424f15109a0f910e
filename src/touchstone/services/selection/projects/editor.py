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
from touchstone.core.evidence import Assurance
from touchstone.core.identity import parse_uuid
from touchstone.database.engine import Database, Reader
from touchstone.services.selection.filters import FILTER_PARAMETERS
from touchstone.services.selection.gates import parse_gates
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
        """Return the project with this id, as it appears in a path, if it belongs to the owner.

        Raises:
            ProjectNotFound: the id is malformed, or the owner has no such project.
        """
        uuid = parse_uuid(project_id)
        if uuid is None:
            raise ProjectNotFound

        async with self._database.reading() as connection:
            project = await store.load_project(connection, uuid, owner)
        if project is None:
            raise ProjectNotFound

        return project

    async def load_window(self, owner: UUID, *, skip: int, limit: int) -> tuple[list[ProjectRecord], int]:
        """Return the owner's projects, the most recently changed one first, and the number of all of them.

        The first `skip` projects are left out, and at most `limit` are returned.
        """
        async with self._database.reading() as connection:
            total_count = await store.count_projects(connection, owner)
            # The database would refuse an offset that exceeds its integers.
            if skip >= total_count:
                return [], total_count

            projects = await store.load_projects(connection, owner, skip=skip, limit=limit)
            return projects, total_count

    async def create(self, body: ProjectCreate, owner: UUID) -> ProjectRecord:
        """Create a project that belongs to the owner, and return it as stored.

        Raises:
            Invalid: the criteria, the weights, the gates or the chosen dataset do not fit; subclasses say in which way.
            ProjectQuotaExceeded: the owner's projects would take more bytes than allowed.
        """
        _check_criteria(body.criteria)
        parse_gates(body.gates, "body", "gates")
        weights = _validate_weights(body.weights)
        draft = ProjectDraft(
            name=body.name,
            description=body.description,
            criteria=body.criteria or {},
            weights=weights,
            chosen_dataset_id=body.chosen_dataset_id,
            choice_reason=body.choice_reason,
            assurance=body.assurance or Assurance.DECLARED,
            gates=body.gates or {},
        )
        if draft.chosen_dataset_id is not None:
            await self._check_dataset_is_visible(draft.chosen_dataset_id, owner)

        async with self._database.writing() as transaction:
            project = await store.insert_project(
                transaction, draft, project_id=uuid4(), owner=owner, now=datetime.now(UTC)
            )
            await self._check_quota(transaction, owner)

        return project

    async def change(
        self, project: ProjectRecord, body: ProjectChange, *, versions: Collection[int] | None
    ) -> ProjectRecord:
        """Change the fields of a project that a request provides, and return the project as stored.

        `versions` are the versions of the project that the caller accepts; None stands for any version.

        Raises:
            ProjectNotFound: the project has been deleted in the meantime.
            PreconditionFailed: the project is at another version.
            Invalid: the criteria, the weights, the gates or the chosen dataset do not fit; subclasses say in which way.
            ProjectQuotaExceeded: the owner's projects would take more bytes than allowed, and more than before.
        """
        update = _to_update(body)

        # A dataset that was chosen before may be sent back even if it has been deleted since.
        chosen_id = body.chosen_dataset_id
        if chosen_id is not None and chosen_id != project.chosen_dataset_id:
            await self._check_dataset_is_visible(chosen_id, project.user_id)

        async with self._database.writing() as transaction:
            bytes_before = await store.total_project_bytes(transaction, project.user_id)
            changed = await store.update_project(transaction, project, update, now=datetime.now(UTC), versions=versions)
            if changed is None:
                raise await _missing_or_outdated(transaction, project)
            await self._check_quota(transaction, project.user_id, bytes_before=bytes_before)

        return changed

    async def delete(self, project: ProjectRecord, *, versions: Collection[int] | None) -> None:
        """Delete a project, if it is at one of `versions`; None stands for any version.

        Raises:
            ProjectNotFound: the project has been deleted in the meantime.
            PreconditionFailed: the project is at another version.
        """
        async with self._database.writing(even_if_disk_full=True) as transaction:
            is_deleted = await store.delete_project(transaction, project, versions=versions)
            if not is_deleted:
                raise await _missing_or_outdated(transaction, project)

    async def _check_quota(self, connection: Reader, owner: UUID, *, bytes_before: int = 0) -> None:
        """Check, within the transaction that has written a project, that the owner's projects fit into the quota.

        `bytes_before` is what they took before. An owner who is over the quota already may still make projects smaller.

        Raises:
            ProjectQuotaExceeded: the owner's projects take more bytes than allowed, and more than before.
        """
        used_bytes = await store.total_project_bytes(connection, owner)
        has_grown = used_bytes > bytes_before
        if used_bytes > self._quota_bytes and has_grown:
            raise ProjectQuotaExceeded(limit=self._quota_bytes)

    async def _check_dataset_is_visible(self, dataset_id: int, owner: UUID) -> None:
        """Check that the owner of a project may see the dataset that is chosen for it.

        Raises:
            ChosenDatasetNotFound: there is no such dataset, or it is somebody else's private one.
        """
        visible_records = await self._catalog.encoded_records([dataset_id], owner)
        if not visible_records:
            raise ChosenDatasetNotFound


def _to_update(body: ProjectChange) -> ProjectUpdate:
    """Return the new values of the fields of a project that a request changes; null clears a field.

    Raises:
        Invalid: the criteria, the weights or the gates do not fit; subclasses say in which way.
    """
    provided_fields = body.provided_fields()
    plain_fields = ("name", "description", "chosen_dataset_id", "choice_reason")
    plain_changes = {name: provided_fields[name] for name in plain_fields if name in provided_fields}
    update = ProjectUpdate(**plain_changes)

    if "criteria" in provided_fields:
        _check_criteria(body.criteria)
        update = replace(update, criteria=body.criteria or {})
    if "weights" in provided_fields:
        update = replace(update, weights=_validate_weights(body.weights))
    if "assurance" in provided_fields:
        update = replace(update, assurance=body.assurance or Assurance.DECLARED)
    if "gates" in provided_fields:
        parse_gates(body.gates, "body", "gates")
        update = replace(update, gates=body.gates or {})
    return update


def _check_criteria(criteria: object) -> None:
    """Check that the criteria of a project are a valid filter object; None stands for no criteria.

    Raises:
        Invalid: the criteria are not valid; subclasses say in which way.
    """
    FILTER_PARAMETERS.parse_json(criteria or {}, "body", "criteria")


def _validate_weights(weights: object) -> list[CriterionWeight]:
    """Return the weights of a project in the form in which they are stored.

    Raises:
        Invalid: the weights do not fit; subclasses say in which way.
    """
    weights_by_criterion = parse_weights(weights)
    return [CriterionWeight(criterion, weight) for criterion, weight in weights_by_criterion.items()]


async def _missing_or_outdated(connection: Reader, project: ProjectRecord) -> ProjectNotFound | PreconditionFailed:
    """Return the error for a project that could not be written: it is gone, or at another version."""
    current = await store.load_project(connection, project.id, project.user_id)
    return ProjectNotFound() if current is None else PreconditionFailed()
