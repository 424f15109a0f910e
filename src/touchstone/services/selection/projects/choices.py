"""The history of the choices for a project: how a choice is kept, and how its history is read."""

from typing import NamedTuple
from uuid import UUID

from touchstone.core.errors import ChosenDatasetNotFound, IndexBuilding
from touchstone.database.engine import Reader, Writer
from touchstone.ranking.formula_version import FORMULA_VERSION
from touchstone.services.selection.catalog_tokens import CatalogTokens
from touchstone.services.selection.datasets import store as dataset_store
from touchstone.services.selection.live_catalog import LiveCatalog
from touchstone.services.selection.people_store import Pseudos, read_pseudos
from touchstone.services.selection.projects import choice_store
from touchstone.services.selection.projects.choice_store import (
    ChoiceDraft,
    ChoiceRanking,
    ChoiceRecord,
    ChosenDataset,
)
from touchstone.services.selection.projects.dataset_content import read_contents
from touchstone.services.selection.projects.project_ranking import ProjectNeed, find_standing
from touchstone.services.selection.projects.store import ProjectRecord
from touchstone.services.selection.weights import CriterionWeight


class ChoiceHistory(NamedTuple):
    """A slice of the choices for a project, the newest first.

    Attributes:
        total_count: the number of all choices for the project.
        visible_ids: the ids of those chosen datasets that the owner of the project still sees.
        pseudos: the names of the authors.
    """

    choices: list[ChoiceRecord]
    total_count: int
    visible_ids: set[int]
    pseudos: Pseudos


async def append_choice(transaction: Writer, project: ProjectRecord, ranking: ChoiceRanking | None) -> None:
    """Keep the choice that a project has now, with what its dataset says at this moment.

    Raises:
        ChosenDatasetNotFound: the dataset has been deleted or hidden before the project was written.
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
    # The database would refuse an offset that exceeds its integers.
    if skip >= total_count:
        return ChoiceHistory([], total_count, set(), {})

    choices = await choice_store.load_choices(connection, project, skip=skip, limit=limit)
    dataset_ids = sorted({choice.dataset.id for choice in choices if choice.dataset})
    visible_ids = await dataset_store.visible_ids(connection, dataset_ids, project.user_id)
    pseudos = await read_pseudos(connection, {choice.author for choice in choices})
    return ChoiceHistory(choices, total_count, visible_ids, pseudos)


async def rank_choice(
    catalog: LiveCatalog, tokens: CatalogTokens, need: ProjectNeed, dataset_id: int, owner: UUID
) -> ChoiceRanking | None:
    """Return the place of a dataset in the ranking of a project, to be kept with the choice.

    Returns None if the project searches words that cannot be searched yet, shortly after the start of the service: a
    choice does not wait for them.
    """
    try:
        standing = await find_standing(catalog, need, dataset_id, owner)
    except IndexBuilding:
        return None

    return ChoiceRanking(
        rank=standing.rank,
        score=standing.score,
        total_count=standing.total_count,
        weights=[CriterionWeight(name, weight) for name, weight in need.scoring().weights.items()],
        filters=dict(need.criteria),
        gates=dict(need.gates),
        gate_outcomes=standing.gate_outcomes,
        assurance=need.assurance,
        formula_version=FORMULA_VERSION,
        catalog_version=tokens.token(standing.catalog_version),
    )


async def _read_chosen_dataset(connection: Reader, project: ProjectRecord) -> ChosenDataset | None:
    """Return the chosen dataset of a project as it is now; one that has gone is as it was when it was chosen.

    Raises:
        ChosenDatasetNotFound: the dataset has gone, and was not chosen before.
    """
    dataset_id = project.chosen_dataset_id
    if dataset_id is None:
        return None

    contents = await read_contents(connection, [dataset_id], project.user_id)
    if dataset_id in contents:
        content = contents[dataset_id]
        return ChosenDataset(id=dataset_id, name=content.name, digest=content.digest, content=content)

    last_choices = await choice_store.load_last_choices(connection, [project])
    last_choice = last_choices.get(project.id)
    if last_choice is None or last_choice.dataset is None or last_choice.dataset.id != dataset_id:
        raise ChosenDatasetNotFound
    return last_choice.dataset
