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
        criteria: the filters that datasets have to match.
        weights: how much each criterion counts in the score.
        assurance: the weakest level of evidence that counts.
        gates: requirements that are reported for each dataset, and do not change its score.
    """

    criteria: Mapping[str, Any]
    weights: Sequence[CriterionWeight]
    assurance: Assurance
    gates: Mapping[str, Any]

    @classmethod
    def of(cls, project: ProjectRecord | ProjectDraft) -> Self:
        """Return the need of a project that is stored, or about to be."""
        return cls(criteria=project.criteria, weights=project.weights, assurance=project.assurance, gates=project.gates)

    def scoring(self) -> ScoringRequest:
        """Return the scoring request that gives the same ranking as the project."""
        weights = [msgspec.structs.asdict(weight) for weight in self.weights]
        return parse_scoring_request({"criteria": self.criteria, "weights": weights, "gates": self.gates})


class DatasetScore(NamedTuple):
    """The score of a dataset, the points that each criterion adds to it, and whether the dataset passes each gate."""

    score: float
    points: dict[str, float]
    gate_outcomes: dict[str, GateOutcome]


class DatasetRank(NamedTuple):
    """The rank of a dataset for a project.

    Attributes:
        rank: its position, from 1; no two datasets share one.
        place: 1 + the number of datasets with a higher score.
        tied_with: how many other datasets have exactly its score.
    """

    rank: int
    place: int
    tied_with: int


class Standing(NamedTuple):
    """The score and the rank of a dataset for a project.

    Attributes:
        rank: its position; None if it does not match the filters.
        place, tied_with: the rank that it shares with datasets of the same score, and how many others these are; None
            and 0 if it does not match.
        score: its score, whether or not it matches; None if it is not in the catalog.
        gate_outcomes: for each gate, whether the dataset passes it.
        total_count: how many datasets match.
        catalog_version: the version of the catalog that was ranked.
    """

    rank: int | None
    place: int | None
    tied_with: int
    score: float | None
    gate_outcomes: dict[str, GateOutcome]
    total_count: int
    catalog_version: int


async def find_standing(catalog: LiveCatalog, need: ProjectNeed, dataset_id: int, viewer: UUID) -> Standing:
    """Return the score of a dataset for a project, and its rank among the datasets that a viewer sees.

    Raises:
        IndexBuilding: the need contains words, and those of the catalog have not been indexed yet.
    """
    catalog_version = catalog.version
    dataset_score = await score_dataset(catalog, need, dataset_id, viewer)
    ranks = await find_ranks(catalog, need, [dataset_id], viewer)
    dataset_rank = ranks.get(dataset_id)

    scoring = need.scoring()
    query = build_query(scoring.filters, viewer)
    _, ranked = await catalog.rank(query, scoring.weights, skip=0, limit=1, assurance=need.assurance)

    return Standing(
        rank=dataset_rank.rank if dataset_rank else None,
        place=dataset_rank.place if dataset_rank else None,
        tied_with=dataset_rank.tied_with if dataset_rank else 0,
        score=dataset_score.score if dataset_score else None,
        gate_outcomes=dataset_score.gate_outcomes if dataset_score else {},
        total_count=ranked.total_count,
        catalog_version=catalog_version,
    )


async def score_dataset(catalog: LiveCatalog, need: ProjectNeed, dataset_id: int, viewer: UUID) -> DatasetScore | None:
    """Return the score of a dataset, whether or not it matches the filters, or None if the viewer cannot see it."""
    scoring = need.scoring()
    # A ranking that has only this dataset in it.
    query = (Visible(viewer), Range("id", low=dataset_id, high=dataset_id))
    view, ranked = await catalog.rank(query, scoring.weights, skip=0, limit=1, assurance=need.assurance)
    if not len(ranked.positions):
        return None

    points = points_by_criterion(view.criterion_scores(ranked.positions), scoring.weights)
    gate_outcomes = judge_gates(view, ranked.positions, scoring.gates)
    return DatasetScore(float(ranked.scores[0]), points[0], gate_outcomes[0])


async def find_ranks(
    catalog: LiveCatalog, need: ProjectNeed, dataset_ids: Collection[int], viewer: UUID
) -> dict[int, DatasetRank]:
    """Return the ranks of the given datasets for a project by id, without datasets that do not match the filters.

    The catalog returns the beginning of a ranking at once, and needs longer for all of it. The whole ranking is
    therefore only searched if some of the datasets are not among the first ones.

    Raises:
        IndexBuilding: the need contains words, and those of the catalog have not been indexed yet.
    """
    scoring = need.scoring()
    query = build_query(scoring.filters, viewer)
    searched_ids = np.array(sorted(dataset_ids), np.int64)
    ranks: dict[int, DatasetRank] = {}

    for limit in (SHORT_WINDOW, None):
        view, ranked = await catalog.rank(query, scoring.weights, skip=0, limit=limit, assurance=need.assurance)
        ranked_ids = view.ids(ranked.positions)
        offsets = np.flatnonzero(np.isin(ranked_ids, searched_ids))
        ranks = _ranks_at(offsets, ranked_ids, ranked.records())

        has_found_all = len(ranks) == len(searched_ids)
        is_whole_ranking = limit is None or len(ranked_ids) < limit
        if has_found_all or is_whole_ranking:
            break

    return ranks


def _ranks_at(offsets: Ints, ranked_ids: Ints, records: RankedRecords) -> dict[int, DatasetRank]:
    """Return the ranks of the records at some offsets of a ranking that is read from its beginning, by id."""
    ids = ranked_ids[offsets].tolist()
    places = records.places[offsets].tolist()
    tied_with = records.tied_with[offsets].tolist()
    return dict(zip(ids, map(DatasetRank, (offsets + 1).tolist(), places, tied_with), strict=True))
