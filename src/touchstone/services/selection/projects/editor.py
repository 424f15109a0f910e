"""Creating, changing and deleting projects: validation, quotas and versions."""

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

# The values of the chosen dataset and the reason before any choice.
_NO_CHOICE: Final = (None, None)


class ProjectEditor:
    """The projects of all users, each accessible to its owner only."""

    def __init__(
        self, database: Database, catalog: LiveCatalog, catalog_tokens: CatalogTokens, *, quota_bytes: int
    ) -> None:
        self._database = database
        self._catalog = catalog
        self._catalog_tokens = catalog_tokens
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

    async def load_chosen_datasets(
        self, projects: Sequence[ProjectRecord], owner: UUID
    ) -> dict[UUID, ChosenDatasetView]:
        """Return the chosen datasets of some projects with their changes since the choice, by the id of the project."""
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

        If it has a chosen dataset or a reason, the history of its choices begins with them.

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

        ranking = await self._rank_choice(ProjectNeed.of(draft), draft.chosen_dataset_id, owner)

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

        If the chosen dataset or the reason changes, the new choice is added to the history of choices in the same
        transaction. `versions` are the versions of the project that the caller accepts; None stands for any version.

        Raises:
            ProjectNotFound: the project has been deleted in the meantime.
            PreconditionFailed: the project is at another version.
            Invalid: the criteria, the weights, the gates or the chosen dataset do not fit; subclasses say in which way.
            ProjectQuotaExceeded: the owner's projects would take more bytes than allowed, and more than before.
        """
        update = _to_update(body)

        # Clients may send back the dataset that is chosen already, even if it has been deleted since.
        chosen_id = body.chosen_dataset_id
        if chosen_id is not None and chosen_id != project.chosen_dataset_id:
            await self._check_dataset_is_visible(chosen_id, project.user_id)

        known_project = project
        while True:
            # Ranking takes time, so it is done before the transaction.
            ranking: ChoiceRanking | None = None
            updated_project = update.applied_to(known_project)
            if _choice_of(updated_project) != _choice_of(known_project):
                need = ProjectNeed.of(updated_project)
                ranking = await self._rank_choice(need, updated_project.chosen_dataset_id, project.user_id)

            async with self._database.writing() as transaction:
                stored_project = await store.lock_project(transaction, project)
                if stored_project is None:
                    raise ProjectNotFound
                if _has_same_choice_and_need(stored_project, known_project):
                    return await self._write_change(transaction, stored_project, update, ranking, versions)

            # Another request has changed the project since it was read, so the rank may be that of another dataset.
            known_project = stored_project

    async def _write_change(
        self,
        transaction: Writer,
        project: ProjectRecord,
        update: ProjectUpdate,
        ranking: ChoiceRanking | None,
        versions: Collection[int] | None,
    ) -> ProjectRecord:
        """Write an update of a locked project with the entry in its history, and return the project as stored.

        Args:
            transaction: the transaction that has locked the project.
            project: the project as it is stored before the update.
            update: the new values of its fields.
            ranking: the rank of the chosen dataset after the update; None if the choice stays or cannot be ranked.
            versions: the versions of the project that the caller accepts; None stands for any version.

        Raises:
            PreconditionFailed: the project is at another version.
            ProjectQuotaExceeded: the owner's projects would take more bytes than allowed, and more than before.
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
        """Delete a project, if it is at one of `versions`; None stands for any version.

        Raises:
            ProjectNotFound: the project has been deleted in the meantime.
            PreconditionFailed: the project is at another version.
        """
        async with self._database.writing(may_use_reserve=True) as transaction:
            is_deleted = await store.delete_project(transaction, project, versions=versions)
            if not is_deleted:
                raise await _missing_or_outdated(transaction, project)

    async def _rank_choice(self, need: ProjectNeed, dataset_id: int | None, owner: UUID) -> ChoiceRanking | None:
        """Return the rank of a chosen dataset for its project, to be stored with the choice.

        Returns None if no dataset is chosen, or if the words in the filters cannot be searched for yet.
        """
        if dataset_id is None:
            return None
        return await rank_choice(self._catalog, self._catalog_tokens, need, dataset_id=dataset_id, owner=owner)

    async def _check_dataset_is_visible(self, dataset_id: int, owner: UUID) -> None:
        """Check that the owner of a project may see the dataset that is chosen for it.

        Raises:
            ChosenDatasetNotFound: there is no such dataset, or it is somebody else's private one.
        """
        visible_records = await self._catalog.records.encoded_records([dataset_id], owner)
        if not visible_records:
            raise ChosenDatasetNotFound


def _choice_of(project: ProjectRecord) -> tuple[int | None, str | None]:
    """Return the chosen dataset of a project and the reason. The history records every change of either."""
    return project.chosen_dataset_id, project.choice_reason


def _has_same_choice_and_need(project: ProjectRecord, other: ProjectRecord) -> bool:
    """Return whether two states of a project have the same choice, and rank datasets in the same way."""
    return _choice_of(project) == _choice_of(other) and ProjectNeed.of(project) == ProjectNeed.of(other)


def _to_update(body: ProjectChange) -> ProjectUpdate:
    """Return the new values of the project fields that a request changes. Null clears a field.

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
    """Check that the criteria of a project, if there are any, form a valid filter object.

    Raises:
        Invalid: the criteria are not valid; subclasses say in which way.
    """
    FILTER_PARAMETERS.parse_json(criteria or {}, "body", "criteria")


def _validate_weights(weights: object) -> list[CriterionWeight]:
    """Validate the weights of a project, and return them in their stored form.

    Raises:
        Invalid: the weights do not fit; subclasses say in which way.
    """
    weights_by_criterion = parse_weights(weights)
    return [CriterionWeight(criterion, weight) for criterion, weight in weights_by_criterion.items()]


async def _missing_or_outdated(connection: Reader, project: ProjectRecord) -> ProjectNotFound | PreconditionFailed:
    """Return the error for a project that could not be written because it was deleted or changed."""
    current = await store.load_project(connection, project.id, project.user_id)
    return ProjectNotFound() if current is None else PreconditionFailed()
