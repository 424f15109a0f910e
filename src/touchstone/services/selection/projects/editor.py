"""Reads, creates, changes and deletes projects, with validation, quotas and version checks."""

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from typing import Final
from uuid import UUID, uuid4

from msgspec.structs import replace

from touchstone.core.errors import (
    ChosenDatasetNotFound,
    PreconditionFailed,
    ProjectNotFound,
)
from touchstone.core.evidence import Assurance
from touchstone.core.identity import parse_uuid
from touchstone.database.engine import Database, Reader, Writer
from touchstone.services.selection.catalog.live_catalog import LiveCatalog
from touchstone.services.selection.catalog_tokens import CatalogTokens
from touchstone.services.selection.filters import FILTER_PARAMETERS
from touchstone.services.selection.gates import parse_gates
from touchstone.services.selection.projects import store
from touchstone.services.selection.projects.choice_history import (
    ChoiceHistory,
    append_choice,
    rank_choice,
    read_history,
)
from touchstone.services.selection.projects.choice_store import ChoiceRanking
from touchstone.services.selection.projects.chosen_dataset import ChosenDatasetView, load_chosen_datasets
from touchstone.services.selection.projects.project_quota import check_project_quota, total_bytes
from touchstone.services.selection.projects.project_ranking import ProjectNeed
from touchstone.services.selection.projects.schemas import ProjectChange, ProjectCreate
from touchstone.services.selection.projects.store import ProjectDraft, ProjectRecord, ProjectUpdate
from touchstone.services.selection.weights import CriterionWeight, parse_weights

# The chosen dataset and the reason of a project before any choice.
_NO_CHOICE: Final = (None, None)


class ProjectEditor:
    """Manages the projects of all users. Each project is only accessible to its owner."""

    def __init__(
        self, database: Database, catalog: LiveCatalog, catalog_tokens: CatalogTokens, *, quota_bytes: int
    ) -> None:
        self._database = database
        self._catalog = catalog
        self._catalog_tokens = catalog_tokens
        self._quota_bytes = quota_bytes

    async def load(self, project_id: str, owner: UUID) -> ProjectRecord:
        """Return a project of the owner by its id, which may be any string from a URL path.

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
        """Return a slice of the owner's projects, the latest change first, and the number of all projects."""
        async with self._database.reading() as connection:
            total_count = await store.count_projects(connection, owner)
            # The database rejects offsets that exceed its integer type.
            if skip >= total_count:
                return [], total_count

            projects = await store.load_projects(connection, owner, skip=skip, limit=limit)
            return projects, total_count

    async def load_chosen_datasets(
        self, projects: Sequence[ProjectRecord], owner: UUID
    ) -> dict[UUID, ChosenDatasetView]:
        """Return the chosen datasets of projects with their changes since the choice, by the id of the project."""
        async with self._database.reading() as connection:
            return await load_chosen_datasets(connection, projects, owner)

    async def load_chosen_dataset(self, project: ProjectRecord) -> ChosenDatasetView | None:
        """Return the chosen dataset of a project with its changes since the choice, or None if nothing is chosen."""
        chosen_datasets = await self.load_chosen_datasets([project], project.user_id)
        return chosen_datasets.get(project.id)

    async def load_history(self, project: ProjectRecord, *, skip: int, limit: int) -> ChoiceHistory:
        """Return a slice of the choices for a project, the newest first."""
        async with self._database.reading() as connection:
            return await read_history(connection, project, skip=skip, limit=limit)

    async def create(self, body: ProjectCreate, owner: UUID) -> ProjectRecord:
        """Create a project that belongs to the owner, and return it as stored.

        If the project has a chosen dataset or a reason, they become the first entry in the history of its choices.

        Raises:
            Invalid: the criteria, the weights or the gates are invalid; the subclass identifies the problem.
            ChosenDatasetNotFound: the owner cannot see the chosen dataset.
            ProjectQuotaExceeded: the total size of the owner's projects would exceed the quota.
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

        ranking = await self._rank_choice(ProjectNeed.from_project(draft), draft.chosen_dataset_id, owner)

        async with self._database.writing() as transaction:
            project = await store.insert_project(
                transaction, draft, project_id=uuid4(), owner=owner, now=datetime.now(UTC)
            )
            if _choice_of(project) != _NO_CHOICE:
                await append_choice(transaction, project, ranking)
            await check_project_quota(transaction, owner, self._quota_bytes)

        return project

    async def change(
        self, project: ProjectRecord, body: ProjectChange, *, versions: Collection[int] | None
    ) -> ProjectRecord:
        """Change the fields of a project that a request provides, and return the project as stored.

        If the chosen dataset or the reason changes, the new choice is appended to the history of choices in the same
        transaction.

        Args:
            project: the project as it was loaded for the request.
            body: the changes.
            versions: the versions of the project that the caller accepts, or None for any version.

        Raises:
            ProjectNotFound: the project has been deleted in the meantime.
            PreconditionFailed: the project is at another version.
            Invalid: the criteria, the weights or the gates are invalid; the subclass identifies the problem.
            ChosenDatasetNotFound: the owner cannot see the newly chosen dataset.
            ProjectQuotaExceeded: the total size of the owner's projects would exceed the quota and grow.
        """
        update = _to_update(body)

        # Clients may send the present choice again, even if its dataset has been deleted since.
        chosen_id = body.chosen_dataset_id
        if chosen_id is not None and chosen_id != project.chosen_dataset_id:
            await self._check_dataset_is_visible(chosen_id, project.user_id)

        known_project = project
        while True:
            # Rank before the transaction, because ranking takes time.
            ranking: ChoiceRanking | None = None
            updated_project = update.applied_to(known_project)
            if _choice_of(updated_project) != _choice_of(known_project):
                project_need = ProjectNeed.from_project(updated_project)
                ranking = await self._rank_choice(project_need, updated_project.chosen_dataset_id, project.user_id)

            async with self._database.writing() as transaction:
                stored_project = await store.lock_project(transaction, project)
                if stored_project is None:
                    raise ProjectNotFound
                if _has_same_choice_and_need(stored_project, known_project):
                    return await self._write_change(transaction, stored_project, update, ranking, versions)

            # Another request has changed the choice or the need in the meantime, so the ranking may be outdated.
            known_project = stored_project

    async def _write_change(
        self,
        transaction: Writer,
        project: ProjectRecord,
        update: ProjectUpdate,
        ranking: ChoiceRanking | None,
        versions: Collection[int] | None,
    ) -> ProjectRecord:
        """Update a locked project and the history of its choices, and return the project as stored.

        Args:
            transaction: the transaction that has locked the project.
            project: the stored project before the update.
            update: the new values of its fields.
            ranking: the rank of the newly chosen dataset, or None if the choice is unchanged or cannot be ranked.
            versions: the versions of the project that the caller accepts, or None for any version.

        Raises:
            PreconditionFailed: the project is at another version.
            ProjectQuotaExceeded: the total size of the owner's projects would exceed the quota and grow.
        """
        bytes_before = await total_bytes(transaction, project.user_id)
        changed_project = await store.update_project(
            transaction, project, update, now=datetime.now(UTC), versions=versions
        )
        if changed_project is None:
            raise PreconditionFailed

        if _choice_of(changed_project) != _choice_of(project):
            await append_choice(transaction, changed_project, ranking)
        await check_project_quota(transaction, project.user_id, self._quota_bytes, bytes_before=bytes_before)
        return changed_project

    async def delete(self, project: ProjectRecord, *, versions: Collection[int] | None) -> None:
        """Delete a project if it is at one of `versions`, or at any version if `versions` is None.

        Raises:
            ProjectNotFound: the project has been deleted in the meantime.
            PreconditionFailed: the project is at another version.
        """
        async with self._database.writing(may_use_reserve=True) as transaction:
            is_deleted = await store.delete_project(transaction, project, versions=versions)
            if not is_deleted:
                raise await _write_error(transaction, project)

    async def _rank_choice(
        self, project_need: ProjectNeed, dataset_id: int | None, owner: UUID
    ) -> ChoiceRanking | None:
        """Return the rank of a chosen dataset for its project, to be stored with the choice.

        Returns None if no dataset is chosen, or if the filters contain words and the word index is not ready yet.
        """
        if dataset_id is None:
            return None
        return await rank_choice(self._catalog, self._catalog_tokens, project_need, dataset_id=dataset_id, owner=owner)

    async def _check_dataset_is_visible(self, dataset_id: int, owner: UUID) -> None:
        """Check that the owner of a project can see the dataset to choose.

        Raises:
            ChosenDatasetNotFound: the dataset does not exist, or it is a private one of another user.
        """
        visible_records = await self._catalog.records.encoded_records([dataset_id], owner)
        if not visible_records:
            raise ChosenDatasetNotFound


def _choice_of(project: ProjectRecord) -> tuple[int | None, str | None]:
    """Return the chosen dataset of a project and the reason, which together are an entry of its history."""
    return project.chosen_dataset_id, project.choice_reason


def _has_same_choice_and_need(project: ProjectRecord, other: ProjectRecord) -> bool:
    """Return whether two states of a project have the same choice, and rank datasets in the same way."""
    has_same_choice = _choice_of(project) == _choice_of(other)
    has_same_need = ProjectNeed.from_project(project) == ProjectNeed.from_project(other)
    return has_same_choice and has_same_need


def _to_update(body: ProjectChange) -> ProjectUpdate:
    """Return the new values of the project fields that a request provides. The value null clears a field.

    Raises:
        Invalid: the criteria, the weights or the gates are invalid; the subclass identifies the problem.
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
    """Check that the criteria of a project are a valid filter object, or missing.

    Raises:
        Invalid: the criteria are invalid; the subclass identifies the problem.
    """
    FILTER_PARAMETERS.parse_json(criteria or {}, "body", "criteria")


def _validate_weights(weights: object) -> list[CriterionWeight]:
    """Validate the weights of a project, and return them in their stored form.

    Raises:
        Invalid: the weights are invalid; the subclass identifies the problem.
    """
    weights_by_criterion = parse_weights(weights)
    return [CriterionWeight(criterion, weight) for criterion, weight in weights_by_criterion.items()]


async def _write_error(connection: Reader, project: ProjectRecord) -> ProjectNotFound | PreconditionFailed:
    """Return the error for a project that could not be written because it was deleted or changed."""
    current = await store.load_project(connection, project.id, project.user_id)
    return ProjectNotFound() if current is None else PreconditionFailed()
