"""The ranking that a project asks for, and the place of single datasets in it."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple, Self
from uuid import UUID

import msgspec
import numpy as np

from touchstone.core.evidence import Assurance
from touchstone.ranking.query.predicates import Range, Visible
from touchstone.ranking.reasons.points import points_by_criterion
from touchstone.services.selection.catalog_query import build_query
from touchstone.services.selection.datasets.scoring_request import ScoringRequest, parse_scoring_request
from touchstone.services.selection.gates import GateOutcome, judge_gates
from touchstone.services.selection.live_catalog import SHORT_WINDOW, LiveCatalog
from touchstone.services.selection.projects.store import ProjectDraft, ProjectRecord
from touchstone.services.selection.weights import CriterionWeight


class ProjectNeed(msgspec.Struct, frozen=True, kw_only=True):
    """What a project asks of datasets."""

    criteria: Mapping[str, Any]
    weights: Sequence[CriterionWeight]
    assurance: Assurance
    gates: Mapping[str, Any]

    @classmethod
    def of(cls, project: ProjectRecord | ProjectDraft) -> Self:
        """Return what a project asks for."""
        return cls(criteria=project.criteria, weights=project.weights, assurance=project.assurance, gates=project.gates)

    def scoring(self) -> ScoringRequest:
        """Return the scoring request that gives the same ranking as the project."""
        weights = [msgspec.structs.asdict(weight) for weight in self.weights]
        return parse_scoring_request({"criteria": self.criteria, "weights": weights, "gates": self.gates})


class DatasetScore(NamedTuple):
    """The score of a dataset, the points of each criterion that add up to it, and what each gate says of it."""

    score: float
    points: dict[str, float]
    gate_outcomes: dict[str, GateOutcome]


class Standing(NamedTuple):
    """The place of a dataset in a ranking.

    Attributes:
        rank: its position; None if it does not match the filters.
        score: its score, whether or not it matches; None if it is not in the catalog.
        gate_outcomes: what each gate says of it.
        total_count: how many datasets match.
        catalog_version: the version of the catalog that was ranked.
    """

    rank: int | None
    score: float | None
    gate_outcomes: dict[str, GateOutcome]
    total_count: int
    catalog_version: int


async def find_standing(catalog: LiveCatalog, need: ProjectNeed, dataset_id: int, viewer: UUID) -> Standing:
    """Return the place of a dataset in the ranking of the datasets that a viewer sees.

    Raises:
        IndexBuilding: the need contains words, and those of the catalog have not been indexed yet.
    """
    catalog_version = catalog.version
    dataset_score = await score_dataset(catalog, need, dataset_id, viewer)
    ranks = await find_ranks(catalog, need, [dataset_id], viewer)

    scoring = need.scoring()
    query = build_query(scoring.filters, viewer)
    _, ranked = await catalog.rank(query, scoring.weights, skip=0, limit=1, assurance=need.assurance)

    return Standing(
        rank=ranks.get(dataset_id),
        score=dataset_score.score if dataset_score else None,
        gate_outcomes=dataset_score.gate_outcomes if dataset_score else {},
        total_count=ranked.total_count,
        catalog_version=catalog_version,
    )


async def score_dataset(catalog: LiveCatalog, need: ProjectNeed, dataset_id: int, viewer: UUID) -> DatasetScore | None:
    """Return the score of a dataset, whether or not it matches the filters; None if the viewer sees no such dataset."""
    scoring = need.scoring()
    query = (Visible(viewer), Range("id", low=dataset_id, high=dataset_id))
    view, ranked = await catalog.rank(query, scoring.weights, skip=0, limit=1, assurance=need.assurance)
    if not len(ranked.positions):
        return None

    points = points_by_criterion(view.criterion_scores(ranked.positions), scoring.weights)
    gate_outcomes = judge_gates(view, ranked.positions, scoring.gates)
    return DatasetScore(float(ranked.scores[0]), points[0], gate_outcomes[0])


async def find_ranks(
    catalog: LiveCatalog, need: ProjectNeed, dataset_ids: Collection[int], viewer: UUID
) -> dict[int, int]:
    """Return the positions of datasets in a ranking, by id; those that do not match the filters are missing.

    They are first searched in the beginning of the ranking, which an index finds at once, and then in all of it.

    Raises:
        IndexBuilding: the need contains words, and those of the catalog have not been indexed yet.
    """
    scoring = need.scoring()
    query = build_query(scoring.filters, viewer)
    ids = np.array(sorted(dataset_ids), np.int64)
    ranks: dict[int, int] = {}

    for limit in (SHORT_WINDOW, None):
        view, ranked = await catalog.rank(query, scoring.weights, skip=0, limit=limit, assurance=need.assurance)
        ranked_ids = view.ids(ranked.positions)
        places = np.flatnonzero(np.isin(ranked_ids, ids))
        ranks = {int(ranked_ids[place]): int(place) + 1 for place in places}

        is_complete = limit is None or len(ranked_ids) < limit
        if is_complete or len(ranks) == len(ids):
            break

    return ranks
