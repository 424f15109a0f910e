"""The present and earlier choices for a project, with the stored content of the chosen dataset, for its report."""

from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from touchstone.database.engine import Reader
from touchstone.services.selection.projects.choice_history import ChoiceHistory, read_history
from touchstone.services.selection.projects.choice_store import ChoiceRecord
from touchstone.services.selection.projects.chosen_dataset import ChosenDatasetView, load_chosen_datasets
from touchstone.services.selection.projects.dataset_content import DatasetContent
from touchstone.services.selection.projects.store import ProjectRecord
from touchstone.services.selection.report.dataset_facts import chosen_dataset
from touchstone.services.selection.report.fact_types import ReportedDataset, ReportedDecision

MAX_DECISIONS: Final = 50
"""The maximum number of choices that a report lists."""


class StoredContent(NamedTuple):
    """The content of a dataset as it was stored with a choice."""

    dataset: ReportedDataset
    content: DatasetContent
    chosen_at: datetime


class ChoiceFacts(NamedTuple):
    """The choice for a project, read from the database.

    Attributes:
        chosen: the chosen dataset in its present state, or None if nothing is chosen.
        stored_content: the content of the chosen dataset at the time of the choice, or None if it was not stored.
        history: at most `MAX_DECISIONS` choices for the project, the newest first.
        history_count: the number of all choices for the project.
    """

    chosen: ChosenDatasetView | None
    stored_content: StoredContent | None
    history: list[ReportedDecision]
    history_count: int


async def load_choice_facts(connection: Reader, project: ProjectRecord) -> ChoiceFacts:
    """Load the present choice for a project, and the history of its choices."""
    chosen_datasets = await load_chosen_datasets(connection, [project], project.user_id)
    history = await read_history(connection, project, skip=0, limit=MAX_DECISIONS)

    return ChoiceFacts(
        chosen=chosen_datasets.get(project.id),
        stored_content=_find_stored_content(history),
        history=[_reported_decision(choice, history, project.user_id) for choice in history.choices],
        history_count=history.total_count,
    )


def _find_stored_content(history: ChoiceHistory) -> StoredContent | None:
    """Return the content that was stored with the last choice, or None if there is none."""
    if not history.choices:
        return None

    last_choice = history.choices[0]
    dataset = last_choice.dataset
    if dataset is None or dataset.content is None:
        return None
    return StoredContent(chosen_dataset(dataset), dataset.content, last_choice.created_at)


def _reported_decision(choice: ChoiceRecord, history: ChoiceHistory, project_owner: UUID) -> ReportedDecision:
    """Convert a choice for the history in a report.

    A choice has no dataset if it records a withdrawal, and no ranking if the dataset could not be ranked at the time.
    """
    dataset = choice.dataset
    ranking = choice.ranking

    return ReportedDecision(
        at=choice.created_at,
        by=history.pseudos.get(choice.author),
        is_by_owner=choice.author == project_owner,
        dataset=None if dataset is None else chosen_dataset(dataset),
        digest=dataset.digest if dataset else None,
        is_withdrawn=dataset is not None and dataset.id not in history.visible_ids,
        reason=choice.reason,
        rank=ranking.rank if ranking else None,
        place=ranking.place if ranking else None,
        tied_with=ranking.tied_with if ranking else 0,
        score=ranking.score if ranking else None,
        total_count=ranking.total_count if ranking else None,
        weights=ranking.weights if ranking else [],
        filters=ranking.filters if ranking else {},
        gates=ranking.gates if ranking else {},
        gate_outcomes=ranking.gate_outcomes if ranking else {},
        assurance=ranking.assurance if ranking else None,
        formula_version=ranking.formula_version if ranking else None,
        superseded_at=choice.superseded_at,
    )
