"""The replay of a snapshot, which ranks the present catalog again and explains the differences.

A replay uses the need of the project at the time of the snapshot, even if the project has been changed since.
"""

import asyncio
from typing import NamedTuple
from uuid import UUID

import msgspec

from touchstone.database.engine import Database
from touchstone.ranking.formula_version import FORMULA_VERSION
from touchstone.services.selection.catalog.live_catalog import LiveCatalog
from touchstone.services.selection.datasets import store as dataset_store
from touchstone.services.selection.projects.dataset_content import ContentChange, read_contents
from touchstone.services.selection.projects.project_ranking import DatasetRank, DatasetScore, ProjectRanker
from touchstone.services.selection.projects.ranking_differences import (
    RankedDataset,
    ReplayedItem,
    ReplayStatus,
    compare_rankings,
)
from touchstone.services.selection.projects.snapshot_content import SnapshotContent
from touchstone.services.selection.projects.snapshot_store import SnapshotRecord
from touchstone.services.selection.projects.store import ProjectRecord


class Replay(msgspec.Struct, frozen=True, kw_only=True):
    """The changes since a snapshot was made.

    Attributes:
        catalog_version: the present version of the catalog.
        total_count_before, total_count: the number of datasets that matched in the snapshot, and that match now.
        project_changes: the changed fields of the project, which do not affect the replay.
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
        """Whether the ranking has the same datasets with the same ranks, scores and contents as before."""
        are_items_unchanged = all(item.status is ReplayStatus.UNCHANGED for item in self.items)
        return are_items_unchanged and self.total_count == self.total_count_before


class _PresentRanking(NamedTuple):
    """The present ranking for the need of a snapshot.

    Attributes:
        first_ids: the ids of the first datasets, in the order of the ranking.
        displaced_ids: the ids of the datasets in the snapshot that are not among the first ones any more.
        scores: the scores of all these datasets by id, without withdrawn datasets.
        ranks: their ranks by id, without datasets that do not match the filters.
        total_count: the number of datasets that match the filters.
    """

    first_ids: list[int]
    displaced_ids: list[int]
    scores: dict[int, DatasetScore]
    ranks: dict[int, DatasetRank]
    total_count: int


class SnapshotReplayer:
    """Replays snapshots by ranking the present catalog again."""

    def __init__(self, database: Database, catalog: LiveCatalog) -> None:
        self._database = database
        self._catalog = catalog

    async def replay(self, project: ProjectRecord, snapshot: SnapshotRecord) -> Replay:
        """Return the changes since a snapshot of a project was made, with their reasons.

        Raises:
            IndexBuilding: the filters contain words, and the word index of the catalog is not ready yet.
        """
        content = msgspec.json.decode(snapshot.content, type=SnapshotContent)
        catalog_version = self._catalog.version
        ranking = await self._rank(content, project.user_id)
        datasets = await self._read_datasets(ranking, snapshot, project.user_id)

        # Comparing takes about a millisecond per dataset, so it runs in a thread.
        items = await asyncio.to_thread(
            compare_rankings,
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
        """Return the present ranking for the need of a snapshot.

        It contains the first `content.limit` datasets, and all datasets of the snapshot.
        """
        ranker = ProjectRanker(self._catalog, content.project.project_need(), viewer)
        scores, ranks, total_count = await ranker.rank_first(content.limit)
        first_ids = list(scores)

        displaced_ids = [item["id"] for item in content.items if item["id"] not in scores]
        for dataset_id in displaced_ids:
            dataset_score = await ranker.score(dataset_id)
            if dataset_score is not None:
                scores[dataset_id] = dataset_score
        if displaced_ids:
            ranks |= await ranker.find_ranks(displaced_ids)

        return _PresentRanking(first_ids, displaced_ids, scores, ranks, total_count)

    async def _read_datasets(
        self, ranking: _PresentRanking, snapshot: SnapshotRecord, viewer: UUID
    ) -> dict[int, RankedDataset]:
        """Return the datasets of the present ranking with their contents, by id.

        Datasets that were withdrawn after the ranking are left out.
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
