"""Appends choices to the history of a project, and reads this history.

A choice is the dataset that the owner of a project has chosen, with the reason. The history also stores the content of
the dataset and its rank at that time, because both may change later.
"""

from typing import NamedTuple
from uuid import UUID

from touchstone.core.errors import ChosenDatasetNotFound, IndexBuilding
from touchstone.database.engine import Reader, Writer
from touchstone.ranking.formula_version import FORMULA_VERSION
from touchstone.services.selection.catalog.live_catalog import LiveCatalog
from touchstone.services.selection.catalog_tokens import CatalogTokens
from touchstone.services.selection.datasets import store as dataset_store
from touchstone.services.selection.projects import choice_store
from touchstone.services.selection.projects.choice_store import (
    ChoiceDraft,
    ChoiceRanking,
    ChoiceRecord,
    ChosenDataset,
)
from touchstone.services.selection.projects.dataset_content import read_contents
from touchstone.services.selection.projects.project_ranking import ProjectNeed, ProjectRanker
from touchstone.services.selection.projects.store import ProjectRecord
from touchstone.services.selection.user_name_store import Pseudos, read_pseudos
from touchstone.services.selection.weights import CriterionWeight


class ChoiceHistory(NamedTuple):
    """A slice of the choices for a project, the newest first.

    Attributes:
        total_count: the number of all choices for the project.
        visible_ids: the ids of the chosen datasets that the owner of the project can still see.
        pseudos: the names of the authors, by user id.
    """

    choices: list[ChoiceRecord]
    total_count: int
    visible_ids: set[int]
    pseudos: Pseudos


async def append_choice(transaction: Writer, project: ProjectRecord, ranking: ChoiceRanking | None) -> None:
    """Append the present choice of a project to its history, with a copy of the content of the chosen dataset.

    Raises:
        ChosenDatasetNotFound: the dataset was deleted or hidden just before the project was saved.
    """
    draft = ChoiceDraft(
        author=project.user_id,
        created_at=project.updated_at,
        dataset=await _read_chosen_dataset(transaction, project),
        reason=project.choice_reason,
        ranking=ranking,
    )
    await choice_store.insert_choice(transaction, project, draft)


async def read_history(connection: Reader, project: ProjectRecord, *, skip: int, limit: int) -> ChoiceHistory:
    """Return a slice of the choices for a project, the newest first."""
    total_count = await choice_store.count_choices(connection, project)
    # The database rejects offsets that exceed its integer type.
    if skip >= total_count:
        return ChoiceHistory([], total_count, set(), {})

    choices = await choice_store.load_choices(connection, project, skip=skip, limit=limit)
    dataset_ids = sorted({choice.dataset.id for choice in choices if choice.dataset})
    visible_ids = await dataset_store.visible_ids(connection, dataset_ids, project.user_id)
    pseudos = await read_pseudos(connection, {choice.author for choice in choices})
    return ChoiceHistory(choices, total_count, visible_ids, pseudos)


async def rank_choice(
    catalog: LiveCatalog, tokens: CatalogTokens, project_need: ProjectNeed, *, dataset_id: int, owner: UUID
) -> ChoiceRanking | None:
    """Return the present rank of a dataset for a project, to be stored with the choice.

    Returns None if the filters of the project contain words and the word index is not ready yet, as shortly after the
    start of the service. The owner can choose a dataset without waiting for the index.
    """
    try:
        standing = await ProjectRanker(catalog, project_need, owner).find_standing(dataset_id)
    except IndexBuilding:
        return None

    return ChoiceRanking(
        rank=standing.rank,
        place=standing.place,
        tied_with=standing.tied_with,
        score=standing.score,
        total_count=standing.total_count,
        weights=[CriterionWeight(name, weight) for name, weight in project_need.scoring().weights.items()],
        filters=dict(project_need.criteria),
        gates=dict(project_need.gates),
        gate_outcomes=standing.gate_outcomes,
        assurance=project_need.assurance,
        formula_version=FORMULA_VERSION,
        catalog_version=tokens.token(standing.catalog_version),
    )


async def _read_chosen_dataset(connection: Reader, project: ProjectRecord) -> ChosenDataset | None:
    """Return the chosen dataset of a project with its present content, or None if nothing is chosen.

    The owner may change the reason for a choice even after the dataset has been deleted or hidden. The result then has
    the content that was stored with the last choice.

    Raises:
        ChosenDatasetNotFound: the owner cannot see the dataset, and the last choice was another one.
    """
    dataset_id = project.chosen_dataset_id
    if dataset_id is None:
        return None

    contents = await read_contents(connection, [dataset_id], project.user_id)
    content = contents.get(dataset_id)
    if content is not None:
        return ChosenDataset(id=dataset_id, name=content.name, digest=content.digest, content=content)

    last_choice = await choice_store.load_last_choice(connection, project)
    last_dataset = last_choice.dataset if last_choice else None
    if last_dataset is None or last_dataset.id != dataset_id:
        raise ChosenDatasetNotFound
    return last_dataset
