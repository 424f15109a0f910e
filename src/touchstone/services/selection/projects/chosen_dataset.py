"""How the dataset that was chosen for a project stands now, compared with the moment of the choice."""

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
    """What has become of a dataset since it was chosen."""

    UNCHANGED = "unchanged"  # its digest is the same
    CHANGED = "changed"  # its record or the claims about it have changed
    WITHDRAWN = "withdrawn"  # it was deleted, or the owner of the project may not see it any more
    UNKNOWN = "unknown"  # it was chosen before digests were kept


class ChosenDatasetView(msgspec.Struct, frozen=True, kw_only=True):
    """The chosen dataset as the API shows it in a project.

    Attributes:
        id, dataset_id: its two ids.
        name, digest: its name and its digest when it was chosen, as far as they were kept.
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
        """Text that completes the entity tag of the project; empty as long as the dataset is unchanged."""
        if self.state is ChosenDatasetState.UNCHANGED:
            return ""
        return f"-{canonical_digest([self.state, self.changes])[:16]}"


async def load_chosen_datasets(
    connection: Reader, projects: Sequence[ProjectRecord], owner: UUID
) -> dict[UUID, ChosenDatasetView]:
    """Return the chosen datasets of some projects of an owner as they stand now, by the id of the project.

    Projects for which nothing is chosen are missing from the result.
    """
    deciding_projects = [project for project in projects if project.chosen_dataset_id is not None]
    if not deciding_projects:
        return {}

    choices = await choice_store.load_last_choices(connection, deciding_projects)
    chosen_ids = {project.chosen_dataset_id for project in deciding_projects if project.chosen_dataset_id is not None}
    contents = await read_contents(connection, sorted(chosen_ids), owner)

    return {
        project.id: _chosen_dataset(project.chosen_dataset_id, choices.get(project.id), contents)
        for project in deciding_projects
        if project.chosen_dataset_id is not None
    }


def _chosen_dataset(
    dataset_id: int, choice: ChoiceRecord | None, contents: dict[int, DatasetContent]
) -> ChosenDatasetView:
    """Return a chosen dataset as it stands now; `contents` has those datasets that the owner of the project sees."""
    dataset = choice.dataset if choice else None
    before = dataset.content if dataset else None
    after = contents.get(dataset_id)
    state, changes = _compare(before, after)

    known_content = before or after
    return ChosenDatasetView(
        id=dataset_id,
        dataset_id=known_content.dataset_id if known_content else None,
        name=dataset.name if dataset else "",
        digest=dataset.digest if dataset else None,
        state=state,
        changes=changes,
    )


def _compare(
    before: DatasetContent | None, after: DatasetContent | None
) -> tuple[ChosenDatasetState, list[ContentChange]]:
    """Return what has become of a dataset that said `before` and says `after`, and the fields that have changed."""
    if after is None:
        return ChosenDatasetState.WITHDRAWN, []
    if before is None:
        return ChosenDatasetState.UNKNOWN, []

    changes = content_changes(before, after)
    return (ChosenDatasetState.CHANGED if changes else ChosenDatasetState.UNCHANGED), changes
