"""The replay of a snapshot: its ranking is made again with the present catalog, and the differences are explained."""

import asyncio
from collections.abc import Sequence
from uuid import UUID

import msgspec

from touchstone.database.engine import Database
from touchstone.ranking.formula_version import FORMULA_VERSION
from touchstone.ranking.reasons.points import points_by_criterion
from touchstone.services.selection.catalog_query import build_query
from touchstone.services.selection.datasets import store as dataset_store
from touchstone.services.selection.datasets.store import DatasetRecord
from touchstone.services.selection.gates import judge_gates
from touchstone.services.selection.live_catalog import LiveCatalog
from touchstone.services.selection.projects.dataset_content import ContentChange, DatasetContent, read_contents
from touchstone.services.selection.projects.project_ranking import (
    DatasetScore,
    ProjectNeed,
    find_ranks,
    score_dataset,
)
from touchstone.services.selection.projects.replay import (
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
        project_changes: what the project asks for now that it did not ask for in the snapshot; the replay does not use
            it.
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
        is_unchanged = all(item.status is ReplayStatus.UNCHANGED for item in self.items)
        return is_unchanged and self.total_count == self.total_count_before


class SnapshotReplayer:
    """Ranks with the present catalog as snapshots did, and says what has changed."""

    def __init__(self, database: Database, catalog: LiveCatalog) -> None:
        self._database = database
        self._catalog = catalog

    async def replay(self, project: ProjectRecord, snapshot: SnapshotRecord) -> Replay:
        """Return what has changed since a snapshot of a project was made, and why.

        Raises:
            IndexBuilding: the snapshot searches words that have not been indexed yet.
        """
        content = msgspec.json.decode(snapshot.content, type=SnapshotContent)
        need = content.project.need()
        catalog_version = self._catalog.version

        before = content.ranked_datasets()
        scores, total_count = await self._rank(need, content.limit, project.user_id)
        gone_ids = [dataset.id for dataset in before if dataset.id not in scores]
        outside_scores, outside_ranks = await self._rank_others(need, gone_ids, project.user_id)

        ranks = {dataset_id: index + 1 for index, dataset_id in enumerate(scores)} | outside_ranks
        present = await self._read_present(scores | outside_scores, ranks, snapshot, project.user_id)
        # Comparing takes about a millisecond for each dataset.
        items = await asyncio.to_thread(
            replay_ranking,
            before,
            [present[dataset_id] for dataset_id in scores if dataset_id in present],
            [present[dataset_id] for dataset_id in outside_scores if dataset_id in present],
            is_formula_changed=content.formula_version != FORMULA_VERSION,
        )
        return Replay(
            snapshot=snapshot,
            catalog_version=catalog_version,
            total_count_before=content.total_count,
            total_count=total_count,
            project_changes=content.project_changes(project),
            items=items,
        )

    async def _rank(self, need: ProjectNeed, limit: int, viewer: UUID) -> tuple[dict[int, DatasetScore], int]:
        """Return the scores of the first datasets of the present ranking in its order, and how many match in all."""
        scoring = need.scoring()
        query = build_query(scoring.filters, viewer)
        view, ranked = await self._catalog.rank(query, scoring.weights, skip=0, limit=limit, assurance=need.assurance)

        ids = view.ids(ranked.positions).tolist()
        points = points_by_criterion(view.criterion_scores(ranked.positions), scoring.weights)
        gate_outcomes = judge_gates(view, ranked.positions, scoring.gates)
        scores = map(DatasetScore, ranked.scores.tolist(), points, gate_outcomes)
        return dict(zip(ids, scores, strict=True)), ranked.total_count

    async def _rank_others(
        self, need: ProjectNeed, dataset_ids: Sequence[int], viewer: UUID
    ) -> tuple[dict[int, DatasetScore], dict[int, int]]:
        """Return the scores of datasets that are not among the first ones, and the ranks of those that match."""
        if not dataset_ids:
            return {}, {}

        scores: dict[int, DatasetScore] = {}
        for dataset_id in dataset_ids:
            dataset_score = await score_dataset(self._catalog, need, dataset_id, viewer)
            if dataset_score is not None:
                scores[dataset_id] = dataset_score

        return scores, await find_ranks(self._catalog, need, dataset_ids, viewer)

    async def _read_present(
        self, scores: dict[int, DatasetScore], ranks: dict[int, int], snapshot: SnapshotRecord, viewer: UUID
    ) -> dict[int, RankedDataset]:
        """Return ranked datasets with what they say now, by id, without those that have just been withdrawn."""
        async with self._database.reading() as connection:
            contents = await read_contents(connection, list(scores), viewer)
            records = await dataset_store.visible_datasets_without_metadata(connection, list(contents), viewer)

        return {
            record.id: _ranked_dataset(record, contents[record.id], scores[record.id], ranks.get(record.id), snapshot)
            for record in records
        }


def _ranked_dataset(
    record: DatasetRecord, content: DatasetContent, score: DatasetScore, rank: int | None, snapshot: SnapshotRecord
) -> RankedDataset:
    """Return a dataset as it is ranked now, and whether its record is newer than a snapshot."""
    return RankedDataset(
        id=record.id,
        dataset_id=record.dataset_id,
        name=content.name,
        rank=rank,
        score=score.score,
        points=score.points,
        content=content,
        is_added=record.created_at > snapshot.created_at,
        is_changed=record.changed_at_version > snapshot.catalog_version,
    )
