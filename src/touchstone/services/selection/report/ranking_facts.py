"""The ranking of a project for its report, and the place of the chosen dataset in it."""

from typing import Final, NamedTuple
from uuid import UUID

import numpy as np

from touchstone.core.evidence import Assurance
from touchstone.ranking.catalog.results import RankedWindow
from touchstone.ranking.catalog.view import View
from touchstone.ranking.query.predicates import Query
from touchstone.ranking.reasons.notes import NoteCollector
from touchstone.ranking.reasons.rank_lookup import RankLookup
from touchstone.ranking.weighted_mean import score_matrix
from touchstone.services.selection.catalog.live_catalog import LiveCatalog
from touchstone.services.selection.catalog_query import build_query
from touchstone.services.selection.datasets.ranking_response import ExplainedItem, RankingResult
from touchstone.services.selection.datasets.scoring_request import RankingOptions, ScoringRequest
from touchstone.services.selection.report.fact_types import ReportedNote, ReportedRanking

MAX_ITEMS: Final = 10
"""The number of datasets of the ranking that a report shows."""
_OPTIONS: Final = RankingOptions(skip=0, limit=MAX_ITEMS, explain=True)


class ProjectRanking(NamedTuple):
    """The ranking of a project in one state of the catalog, and the part of it that a report shows."""

    view: View
    query: Query
    scoring: ScoringRequest
    reported: ReportedRanking


async def rank_for_report(
    catalog: LiveCatalog, scoring: ScoringRequest, assurance: Assurance, owner: UUID
) -> ProjectRanking:
    """Rank the datasets that satisfy the filters of a project by its weights.

    Raises:
        IndexBuilding: the filters contain words, and the word index of the catalog is not ready yet.
    """
    query = build_query(scoring.filters, owner)
    view, window = await catalog.rank(query, scoring.weights, skip=0, limit=MAX_ITEMS, assurance=assurance)

    notes = NoteCollector(view, scoring.weights)
    notes.add(window.positions)
    reported = ReportedRanking(
        total_count=window.total_count,
        items=_explained_items(view, window, scoring),
        notes=[ReportedNote(note.code, note.criterion_name, note.value) for note in notes.notes()],
    )
    return ProjectRanking(view, query, scoring, reported)


def find_item(ranking: ProjectRanking, dataset_id: int) -> ExplainedItem | None:
    """Return the item of one dataset at any rank, or None if it does not satisfy the filters.

    Call it in a thread, since it scores all records if the dataset is not among the first ones.
    """
    for item in ranking.reported.items:
        if item.id == dataset_id:
            return item

    view, query, scoring, _ = ranking
    position = view.find_position(dataset_id)
    lookup = RankLookup.for_query(view, query, scoring.weights)
    if position is None or not lookup.contains(position):
        return None

    criterion_scores = view.criterion_scores(np.array([position]))
    [score] = score_matrix(criterion_scores.T, scoring.weights).tolist()
    rank = lookup.rank_of(position, score)
    window = view.rank(query, scoring.weights, skip=rank - 1, limit=1)
    return _explained_items(view, window, scoring)[0]


def _explained_items(view: View, window: RankedWindow, scoring: ScoringRequest) -> list[ExplainedItem]:
    """Return the datasets of a window of the ranking, with their explanations and the outcomes of the gates."""
    result = RankingResult(view, window, scoring.weights, _OPTIONS, scoring.gates)
    return [item for records in window.chunks() for item in result.items(records) if isinstance(item, ExplainedItem)]
