"""The ranking of datasets for a project, and the scores and ranks of single datasets in it."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple, Self
from uuid import UUID

import msgspec
import numpy as np

from touchstone.core.evidence import Assurance
from touchstone.ranking.array_types import Ints
from touchstone.ranking.catalog.results import RankedRecords
from touchstone.ranking.query.predicates import Range, Visible
from touchstone.ranking.reasons.points import points_by_criterion
from touchstone.services.selection.catalog.live_catalog import SHORT_WINDOW, LiveCatalog
from touchstone.services.selection.catalog_query import build_query
from touchstone.services.selection.datasets.scoring_request import ScoringRequest, parse_scoring_request
from touchstone.services.selection.gates import GateOutcome, judge_gates
from touchstone.services.selection.projects.store import ProjectDraft, ProjectRecord
from touchstone.services.selection.weights import CriterionWeight


class ProjectNeed(msgspec.Struct, frozen=True, kw_only=True):
    """The part of a project that determines how datasets rank for it.

    Attributes:
        criteria: the filters that datasets have to match, as a JSON object.
        weights: the weight of each criterion in the score.
        assurance: the weakest level of evidence that counts.
        gates: the requirements that are reported for each dataset without changing its score.
    """

    criteria: Mapping[str, Any]
    weights: Sequence[CriterionWeight]
    assurance: Assurance
    gates: Mapping[str, Any]

    @classmethod
    def from_project(cls, project: ProjectRecord | ProjectDraft) -> Self:
        """Return the need of a project that is stored or to be created."""
        return cls(criteria=project.criteria, weights=project.weights, assurance=project.assurance, gates=project.gates)

    def scoring(self) -> ScoringRequest:
        """Return the scoring request for this need."""
        weights = [msgspec.structs.asdict(weight) for weight in self.weights]
        return parse_scoring_request({"criteria": self.criteria, "weights": weights, "gates": self.gates})


class DatasetScore(NamedTuple):
    """The score of a dataset, the points of each criterion, and the outcome of each gate."""

    score: float
    points: dict[str, float]
    gate_outcomes: dict[str, GateOutcome]


class DatasetRank(NamedTuple):
    """The rank of a dataset for a project.

    Attributes:
        rank: its position in the ranking, counted from 1.
        place: 1 + the number of datasets with a higher score, which datasets of the same score share.
        tied_with: the number of other datasets with exactly the same score.
    """

    rank: int
    place: int
    tied_with: int


class Standing(NamedTuple):
    """The score and the rank of a dataset for a project.

    Attributes:
        rank, place, tied_with: as in `DatasetRank`, or None, None and 0 if the dataset does not match the filters.
        score: its score even if it does not match the filters, or None if it is not in the catalog.
        gate_outcomes: the outcome of each gate.
        total_count: the number of datasets that match the filters.
        catalog_version: the version of the ranked catalog.
    """

    rank: int | None
    place: int | None
    tied_with: int
    score: float | None
    gate_outcomes: dict[str, GateOutcome]
    total_count: int
    catalog_version: int


async def find_standing(catalog: LiveCatalog, project_need: ProjectNeed, dataset_id: int, viewer: UUID) -> Standing:
    """Return the score of a dataset for a project, and its rank among the datasets that the viewer can see.

    Raises:
        IndexBuilding: the filters contain words, and the word index of the catalog is not ready yet.
    """
    catalog_version = catalog.version
    dataset_score = await score_dataset(catalog, project_need, dataset_id, viewer)
    ranks = await find_ranks(catalog, project_need, [dataset_id], viewer)
    dataset_rank = ranks.get(dataset_id)

    scoring = project_need.scoring()
    query = build_query(scoring.filters, viewer)
    _, ranked = await catalog.rank(query, scoring.weights, skip=0, limit=1, assurance=project_need.assurance)

    return Standing(
        rank=dataset_rank.rank if dataset_rank else None,
        place=dataset_rank.place if dataset_rank else None,
        tied_with=dataset_rank.tied_with if dataset_rank else 0,
        score=dataset_score.score if dataset_score else None,
        gate_outcomes=dataset_score.gate_outcomes if dataset_score else {},
        total_count=ranked.total_count,
        catalog_version=catalog_version,
    )


async def score_dataset(
    catalog: LiveCatalog, project_need: ProjectNeed, dataset_id: int, viewer: UUID
) -> DatasetScore | None:
    """Return the score of a dataset even if it does not match the filters, or None if the viewer cannot see it."""
    scoring = project_need.scoring()
    # This query matches no other dataset.
    query = (Visible(viewer), Range("id", low=dataset_id, high=dataset_id))
    view, ranked = await catalog.rank(query, scoring.weights, skip=0, limit=1, assurance=project_need.assurance)
    if not len(ranked.positions):
        return None

    points = points_by_criterion(view.criterion_scores(ranked.positions), scoring.weights)
    gate_outcomes = judge_gates(view, ranked.positions, scoring.gates)
    return DatasetScore(float(ranked.scores[0]), points[0], gate_outcomes[0])


async def find_ranks(
    catalog: LiveCatalog, project_need: ProjectNeed, dataset_ids: Collection[int], viewer: UUID
) -> dict[int, DatasetRank]:
    """Return the ranks of the given datasets for a project by id, without datasets that do not match the filters.

    The catalog computes the first `SHORT_WINDOW` datasets of a ranking much faster than the whole ranking. The whole
    ranking is therefore only searched for datasets that are not among the first ones.

    Raises:
        IndexBuilding: the filters contain words, and the word index of the catalog is not ready yet.
    """
    scoring = project_need.scoring()
    query = build_query(scoring.filters, viewer)
    searched_ids = np.array(sorted(dataset_ids), np.int64)
    ranks: dict[int, DatasetRank] = {}

    for limit in (SHORT_WINDOW, None):
        view, ranked = await catalog.rank(query, scoring.weights, skip=0, limit=limit, assurance=project_need.assurance)
        ranked_ids = view.ids(ranked.positions)
        offsets = np.flatnonzero(np.isin(ranked_ids, searched_ids))
        ranks = _ranks_at_offsets(offsets, ranked_ids, ranked.records())

        has_found_all = len(ranks) == len(searched_ids)
        is_whole_ranking = limit is None or len(ranked_ids) < limit
        if has_found_all or is_whole_ranking:
            break

    return ranks


def _ranks_at_offsets(offsets: Ints, ranked_ids: Ints, records: RankedRecords) -> dict[int, DatasetRank]:
    """Return the ranks of the datasets at the given offsets from the start of a ranking, by dataset id."""
    rows = zip(
        ranked_ids[offsets].tolist(),
        (offsets + 1).tolist(),
        records.places[offsets].tolist(),
        records.tied_with[offsets].tolist(),
        strict=True,
    )
    return {dataset_id: DatasetRank(rank, place, tied_with) for dataset_id, rank, place, tied_with in rows}
