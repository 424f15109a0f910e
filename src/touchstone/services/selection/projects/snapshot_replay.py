"""The replay of a snapshot: datasets are ranked again with the present catalog, and the differences are explained.

A replay ranks by the need that the project had when the snapshot was made, whatever the project asks for now.
"""

import asyncio
from typing import NamedTuple
from uuid import UUID

import msgspec

from touchstone.database.engine import Database
from touchstone.ranking.formula_version import FORMULA_VERSION
from touchstone.ranking.reasons.points import points_by_criterion
from touchstone.services.selection.catalog.live_catalog import LiveCatalog
from touchstone.services.selection.catalog_query import build_query
from touchstone.services.selection.datasets import store as dataset_store
from touchstone.services.selection.gates import judge_gates
from touchstone.services.selection.projects.dataset_content import ContentChange, read_contents
from touchstone.services.selection.projects.project_ranking import (
    DatasetRank,
    DatasetScore,
    ProjectNeed,
    find_ranks,
    score_dataset,
)
from touchstone.services.selection.projects.ranking_differences import (
    RankedDataset,
    ReplayedItem,
    ReplayStatus,
    replay_ranking,
)
from touchstone.services.selection.projects.snapshot_content import SnapshotContent
from touchstone.services.selection.projects.snapshot_store import SnapshotRecord
from touchstone.services.selection.projects.store import ProjectRecord


class Replay(msgspec.Struct, frozen=True, kw_only=True):
    """What has changed since a snapshot was made.

    Attributes:
        catalog_version: the version of the catalog that was ranked now.
        total_count_before, total_count: how many datasets matched in the snapshot, and match now.
        project_changes: the fields of the project that have changed; they have no influence on the replay.
        items: the datasets of both rankings.
    """

    snapshot: SnapshotRecord
    catalog_version: int
    total_count_before: int
    total_count: int
    project_changes: list[ContentChange]
    items: list[ReplayedItem]

    @property
    def is_identical(self) -> bool:
        """Whether the ranking is still the same, with the same scores and the same content of every dataset."""
        are_items_unchanged = all(item.status is ReplayStatus.UNCHANGED for item in self.items)
        return are_items_unchanged and self.total_count == self.total_count_before


class _PresentRanking(NamedTuple):
    """The present ranking by the need of a snapshot.

    Attributes:
        first_ids: the ids of the first datasets, in the order of the ranking.
        displaced_ids: the ids of those datasets in the snapshot that are not among the first ones any more.
        scores: the scores of all these datasets by id; those that have been withdrawn are missing.
        ranks: their ranks by id; those that do not match the filters are missing.
        total_count: how many datasets match the filters.
    """

    first_ids: list[int]
    displaced_ids: list[int]
    scores: dict[int, DatasetScore]
    ranks: dict[int, DatasetRank]
    total_count: int


class SnapshotReplayer:
    """Ranks the present catalog by the needs of snapshots, and compares the results with the snapshots."""

    def __init__(self, database: Database, catalog: LiveCatalog) -> None:
        self._database = database
        self._catalog = catalog

    async def replay(self, project: ProjectRecord, snapshot: SnapshotRecord) -> Replay:
        """Return the changes since a snapshot of a project was made, with their reasons.

        Raises:
            IndexBuilding: the snapshot searches words that have not been indexed yet.
        """
        content = msgspec.json.decode(snapshot.content, type=SnapshotContent)
        catalog_version = self._catalog.version
        ranking = await self._rank(content, project.user_id)
        datasets = await self._read_datasets(ranking, snapshot, project.user_id)

        # Comparing takes about a millisecond for each dataset, so it is done in a thread.
        items = await asyncio.to_thread(
            replay_ranking,
            before=content.ranked_datasets(),
            after=[datasets[dataset_id] for dataset_id in ranking.first_ids if dataset_id in datasets],
            displaced=[datasets[dataset_id] for dataset_id in ranking.displaced_ids if dataset_id in datasets],
            total_count_before=content.total_count,
            is_formula_changed=content.formula_version != FORMULA_VERSION,
        )
        return Replay(
            snapshot=snapshot,
            catalog_version=catalog_version,
            total_count_before=content.total_count,
            total_count=ranking.total_count,
            project_changes=content.project_changes(project),
            items=items,
        )

    async def _rank(self, content: SnapshotContent, viewer: UUID) -> _PresentRanking:
        """Return the present ranking by the need of a snapshot.

        It has as many of the first datasets as the snapshot was made for, and also all datasets that the snapshot has.
        """
        need = content.project.need()
        scores, ranks, total_count = await self._rank_first(need, content.limit, viewer)
        first_ids = list(scores)

        displaced_ids = [item["id"] for item in content.items if item["id"] not in scores]
        for dataset_id in displaced_ids:
            dataset_score = await score_dataset(self._catalog, need, dataset_id, viewer)
            if dataset_score is not None:
                scores[dataset_id] = dataset_score
        if displaced_ids:
            ranks |= await find_ranks(self._catalog, need, displaced_ids, viewer)

        return _PresentRanking(first_ids, displaced_ids, scores, ranks, total_count)

    async def _rank_first(
        self, need: ProjectNeed, limit: int, viewer: UUID
    ) -> tuple[dict[int, DatasetScore], dict[int, DatasetRank], int]:
        """Return the scores and ranks of the first datasets by id, in the order of the ranking.

        The last value is the number of all datasets that match.
        """
        scoring = need.scoring()
        query = build_query(scoring.filters, viewer)
        view, ranked = await self._catalog.rank(query, scoring.weights, skip=0, limit=limit, assurance=need.assurance)

        ids = view.ids(ranked.positions).tolist()
        points = points_by_criterion(view.criterion_scores(ranked.positions), scoring.weights)
        gate_outcomes = judge_gates(view, ranked.positions, scoring.gates)
        scores = map(DatasetScore, ranked.scores.tolist(), points, gate_outcomes)

        records = ranked.records()
        ranks = map(DatasetRank, records.ranks, records.places.tolist(), records.tied_with.tolist())
        scores_by_id, ranks_by_id = dict(zip(ids, scores, strict=True)), dict(zip(ids, ranks, strict=True))
        return scores_by_id, ranks_by_id, ranked.total_count

    async def _read_datasets(
        self, ranking: _PresentRanking, snapshot: SnapshotRecord, viewer: UUID
    ) -> dict[int, RankedDataset]:
        """Return the datasets of the present ranking with their contents, by id.

        Datasets that were withdrawn after they had been ranked are missing.
        """
        async with self._database.reading() as connection:
            contents = await read_contents(connection, list(ranking.scores), viewer)
            records = await dataset_store.visible_datasets_without_metadata(connection, list(contents), viewer)

        datasets: dict[int, RankedDataset] = {}
        for record in records:
            content = contents[record.id]
            dataset_score = ranking.scores[record.id]
            rank = ranking.ranks.get(record.id)
            datasets[record.id] = RankedDataset(
                id=record.id,
                dataset_id=record.dataset_id,
                name=content.name,
                rank=rank.rank if rank else None,
                place=rank.place if rank else None,
                tied_with=rank.tied_with if rank else None,
                score=dataset_score.score,
                points=dataset_score.points,
                content=content,
                is_added=record.created_at > snapshot.created_at,
                is_changed=record.changed_at_version > snapshot.catalog_version,
            )
        return datasets
