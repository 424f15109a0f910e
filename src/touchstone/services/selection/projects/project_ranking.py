"""The ranking of datasets for a project, and the scores and ranks of single datasets in it."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple, Self
from uuid import UUID

import msgspec
import numpy as np

from touchstone.core.evidence import Assurance
from touchstone.ranking.array_types import Ints
from touchstone.ranking.catalog.results import RankedRecords, RankedWindow
from touchstone.ranking.catalog.view import View
from touchstone.ranking.query.predicates import Query, Range, Visible
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


class FirstDatasets(NamedTuple):
    """The first datasets of a ranking.

    Attributes:
        scores: their scores by id, in the order of the ranking.
        ranks: their ranks by id, in the same order.
        total_count: the number of all datasets that match the filters.
    """

    scores: dict[int, DatasetScore]
    ranks: dict[int, DatasetRank]
    total_count: int


class ProjectRanker:
    """Ranks the datasets that one user can see for the need of a project."""

    def __init__(self, catalog: LiveCatalog, project_need: ProjectNeed, viewer: UUID) -> None:
        self._catalog = catalog
        self._assurance = project_need.assurance
        self._scoring = project_need.scoring()
        self._viewer = viewer
        self._query = build_query(self._scoring.filters, viewer)

    async def rank_first(self, limit: int) -> FirstDatasets:
        """Return the first `limit` datasets of the ranking.

        Raises:
            IndexBuilding: the filters contain words, and the word index of the catalog is not ready yet.
        """
        view, ranked = await self._rank(self._query, limit)
        ids = view.ids(ranked.positions).tolist()
        scores = self._dataset_scores(view, ranked)

        records = ranked.records()
        ranks = map(DatasetRank, records.ranks, records.places.tolist(), records.tied_with.tolist())
        return FirstDatasets(
            scores=dict(zip(ids, scores, strict=True)),
            ranks=dict(zip(ids, ranks, strict=True)),
            total_count=ranked.total_count,
        )

    async def find_standing(self, dataset_id: int) -> Standing:
        """Return the score and the rank of a dataset, whether or not it matches the filters.

        Raises:
            IndexBuilding: the filters contain words, and the word index of the catalog is not ready yet.
        """
        catalog_version = self._catalog.version
        dataset_score = await self.score(dataset_id)
        ranks = await self.find_ranks([dataset_id])
        dataset_rank = ranks.get(dataset_id)
        _view, ranked = await self._rank(self._query, limit=1)

        return Standing(
            rank=dataset_rank.rank if dataset_rank else None,
            place=dataset_rank.place if dataset_rank else None,
            tied_with=dataset_rank.tied_with if dataset_rank else 0,
            score=dataset_score.score if dataset_score else None,
            gate_outcomes=dataset_score.gate_outcomes if dataset_score else {},
            total_count=ranked.total_count,
            catalog_version=catalog_version,
        )

    async def score(self, dataset_id: int) -> DatasetScore | None:
        """Return the score of a dataset even if it does not match the filters, or None if it is not visible."""
        only_this_dataset = (Visible(self._viewer), Range("id", low=dataset_id, high=dataset_id))
        view, ranked = await self._rank(only_this_dataset, limit=1)
        return next(iter(self._dataset_scores(view, ranked)), None)

    async def find_ranks(self, dataset_ids: Collection[int]) -> dict[int, DatasetRank]:
        """Return the ranks of the given datasets by id, without datasets that do not match the filters.

        The catalog computes the first `SHORT_WINDOW` datasets of a ranking much faster than the whole ranking. The
        whole ranking is therefore only searched for datasets that are not among the first ones.

        Raises:
            IndexBuilding: the filters contain words, and the word index of the catalog is not ready yet.
        """
        searched_ids = np.array(sorted(dataset_ids), np.int64)
        ranks: dict[int, DatasetRank] = {}

        for limit in (SHORT_WINDOW, None):
            view, ranked = await self._rank(self._query, limit)
            ranked_ids = view.ids(ranked.positions)
            offsets = np.flatnonzero(np.isin(ranked_ids, searched_ids))
            ranks = _ranks_at_offsets(offsets, ranked_ids, ranked.records())

            has_found_all = len(ranks) == len(searched_ids)
            is_whole_ranking = limit is None or len(ranked_ids) < limit
            if has_found_all or is_whole_ranking:
                break

        return ranks

    async def _rank(self, query: Query, limit: int | None) -> tuple[View, RankedWindow]:
        """Rank the datasets that match a query with the weights of the project, and return the first ones."""
        return await self._catalog.rank(query, self._scoring.weights, skip=0, limit=limit, assurance=self._assurance)

    def _dataset_scores(self, view: View, ranked: RankedWindow) -> list[DatasetScore]:
        """Return the scores of ranked datasets, in the order of the ranking."""
        points = points_by_criterion(view.criterion_scores(ranked.positions), self._scoring.weights)
        gate_outcomes = judge_gates(view, ranked.positions, self._scoring.gates)
        return list(map(DatasetScore, ranked.scores.tolist(), points, gate_outcomes))


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
