"""The changes to a chosen dataset since it was chosen for a project."""

from collections.abc import Sequence
from enum import StrEnum
from uuid import UUID

import msgspec

from touchstone.core.canonical_json import canonical_digest
from touchstone.database.engine import Reader
from touchstone.services.selection.projects import choice_store
from touchstone.services.selection.projects.choice_store import ChoiceRecord
from touchstone.services.selection.projects.dataset_content import (
    ContentChange,
    DatasetContent,
    content_changes,
    read_contents,
)
from touchstone.services.selection.projects.store import ProjectRecord


class ChosenDatasetState(StrEnum):
    """The state of a chosen dataset, compared with its state at the time of the choice."""

    UNCHANGED = "unchanged"  # its content is the same
    CHANGED = "changed"  # its record or the claims about it have changed
    WITHDRAWN = "withdrawn"  # it was deleted, or the owner of the project cannot see it any more
    UNKNOWN = "unknown"  # its content was not stored with the choice, so it cannot be compared


class ChosenDatasetView(msgspec.Struct, frozen=True, kw_only=True):
    """The chosen dataset as the API shows it in a project.

    Attributes:
        id: its integer id in this catalog.
        dataset_id: its id in every catalog, or None if neither its present nor its former content is known.
        name: its name at the time of the choice, or an empty string if it was not stored.
        digest: the digest of its content at the time of the choice, or None if the content was not stored.
        changes: the fields that have changed since.
    """

    id: int
    dataset_id: UUID | None
    name: str
    digest: str | None
    state: ChosenDatasetState
    changes: list[ContentChange]

    @property
    def version_suffix(self) -> str:
        """The suffix for the entity tag of the project, which changes with every change to the chosen dataset.

        It is empty if the dataset is unchanged since the choice.
        """
        if self.state is ChosenDatasetState.UNCHANGED:
            return ""
        return f"-{canonical_digest([self.state, self.changes])[:16]}"


async def load_chosen_datasets(
    connection: Reader, projects: Sequence[ProjectRecord], owner: UUID
) -> dict[UUID, ChosenDatasetView]:
    """Return the chosen datasets of an owner's projects with their changes since the choice, by the id of the project.

    Projects without a chosen dataset are left out.
    """
    chosen_ids = {
        project.id: project.chosen_dataset_id for project in projects if project.chosen_dataset_id is not None
    }
    if not chosen_ids:
        return {}

    projects_with_choice = [project for project in projects if project.id in chosen_ids]
    choices = await choice_store.load_last_choices(connection, projects_with_choice)
    contents = await read_contents(connection, sorted(set(chosen_ids.values())), owner)

    return {
        project_id: _compare_with_choice(dataset_id, choices.get(project_id), contents.get(dataset_id))
        for project_id, dataset_id in chosen_ids.items()
    }


def _compare_with_choice(
    dataset_id: int, choice: ChoiceRecord | None, present_content: DatasetContent | None
) -> ChosenDatasetView:
    """Return a chosen dataset with the changes since the choice.

    Args:
        dataset_id: the integer id of the chosen dataset.
        choice: the stored record of the last choice for the project, or None if there is none.
        present_content: the present content of the dataset, or None if the owner of the project cannot see it any more.
    """
    chosen_dataset = choice.dataset if choice else None
    chosen_content = chosen_dataset.content if chosen_dataset else None
    state, changes = _compare_contents(chosen_content, present_content)

    # The content at the time of the choice is known even if the dataset has been withdrawn since.
    known_content = chosen_content or present_content
    return ChosenDatasetView(
        id=dataset_id,
        dataset_id=known_content.dataset_id if known_content else None,
        name=chosen_dataset.name if chosen_dataset else "",
        digest=chosen_dataset.digest if chosen_dataset else None,
        state=state,
        changes=changes,
    )


def _compare_contents(
    chosen_content: DatasetContent | None, present_content: DatasetContent | None
) -> tuple[ChosenDatasetState, list[ContentChange]]:
    """Return the state of a dataset relative to the time of its choice, and the changed fields."""
    if present_content is None:
        return ChosenDatasetState.WITHDRAWN, []
    if chosen_content is None:
        return ChosenDatasetState.UNKNOWN, []

    changes = content_changes(chosen_content, present_content)
    state = ChosenDatasetState.CHANGED if changes else ChosenDatasetState.UNCHANGED
    return state, changes
