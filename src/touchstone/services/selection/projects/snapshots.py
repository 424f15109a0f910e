"""Creates, reads and deletes snapshots of the recommendations for projects."""

import asyncio
from datetime import UTC, datetime
from hashlib import sha256
from typing import NamedTuple
from uuid import uuid4

from touchstone.core.canonical_json import canonical_json
from touchstone.core.errors import ProjectNotFound, SnapshotNotFound
from touchstone.core.identity import parse_uuid
from touchstone.database.engine import Database
from touchstone.ranking.formula_version import FORMULA_VERSION
from touchstone.services.selection.catalog.live_catalog import LiveCatalog
from touchstone.services.selection.catalog_query import build_query
from touchstone.services.selection.datasets.ranking_response import RankingResult
from touchstone.services.selection.datasets.scoring_request import RankingOptions
from touchstone.services.selection.projects import choice_store, snapshot_store, store
from touchstone.services.selection.projects.dataset_content import read_contents
from touchstone.services.selection.projects.project_quota import check_project_quota
from touchstone.services.selection.projects.project_ranking import ProjectNeed
from touchstone.services.selection.projects.snapshot_content import (
    FrozenChoice,
    FrozenProject,
    SnapshotContent,
    freeze_items,
)
from touchstone.services.selection.projects.snapshot_store import SnapshotRecord, SnapshotSummary
from touchstone.services.selection.projects.store import ProjectRecord
from touchstone.services.selection.user_name_store import Pseudos, read_pseudos


class SnapshotPage(NamedTuple):
    """A slice of the snapshots of a project, the number of all of them, and the names of their authors."""

    snapshots: list[SnapshotSummary]
    total_count: int
    pseudos: Pseudos


class SnapshotEditor:
    """Creates, reads and deletes the snapshots of projects.

    A snapshot preserves the first recommendations for a project with the content of the recommended datasets.
    """

    def __init__(self, database: Database, catalog: LiveCatalog, *, quota_bytes: int) -> None:
        self._database = database
        self._catalog = catalog
        self._quota_bytes = quota_bytes

    async def create(self, project: ProjectRecord, *, note: str | None, limit: int) -> SnapshotRecord:
        """Create a snapshot of the first `limit` recommendations for a project, and return it.

        Raises:
            ProjectNotFound: the project has been deleted in the meantime.
            IndexBuilding: the filters contain words, and the word index of the catalog is not ready yet.
            ProjectQuotaExceeded: the total size of the owner's projects would exceed the quota.
        """
        catalog_version = self._catalog.version
        content = await self._freeze(project, limit)
        content_json = await asyncio.to_thread(canonical_json, content)

        record = SnapshotRecord(
            id=uuid4(),
            project_id=project.id,
            author=project.user_id,
            created_at=datetime.now(UTC),
            note=note,
            sha256=sha256(content_json).hexdigest(),
            formula_version=FORMULA_VERSION,
            catalog_version=catalog_version,
            total_count=content.total_count,
            item_count=len(content.items),
            bytes=snapshot_store.snapshot_bytes(content_json, note),
            content=content_json.decode(),
        )
        async with self._database.writing() as transaction:
            if await store.lock_project(transaction, project) is None:
                raise ProjectNotFound
            await snapshot_store.insert_snapshot(transaction, record)
            await check_project_quota(transaction, project.user_id, self._quota_bytes)

        return record

    async def load_page(self, project: ProjectRecord, *, skip: int, limit: int) -> SnapshotPage:
        """Return a slice of the snapshots of a project, the newest first."""
        async with self._database.reading() as connection:
            total_count = await snapshot_store.count_snapshots(connection, project)
            # The database rejects offsets that exceed its integer type.
            if skip >= total_count:
                return SnapshotPage([], total_count, {})

            snapshots = await snapshot_store.load_snapshots(connection, project, skip=skip, limit=limit)
            pseudos = await read_pseudos(connection, {snapshot.author for snapshot in snapshots})
            return SnapshotPage(snapshots, total_count, pseudos)

    async def load(self, project: ProjectRecord, snapshot_id: str) -> SnapshotRecord:
        """Return a snapshot of a project by its id, which may be any string from a URL path.

        Raises:
            SnapshotNotFound: the id is malformed, or the project has no such snapshot.
        """
        uuid = parse_uuid(snapshot_id)
        if uuid is None:
            raise SnapshotNotFound

        async with self._database.reading() as connection:
            snapshot = await snapshot_store.load_snapshot(connection, project, uuid)
        if snapshot is None:
            raise SnapshotNotFound

        return snapshot

    async def delete(self, project: ProjectRecord, snapshot_id: str) -> None:
        """Delete a snapshot of a project by its id, which may be any string from a URL path.

        Raises:
            SnapshotNotFound: the id is malformed, or the project has no such snapshot.
        """
        uuid = parse_uuid(snapshot_id)
        if uuid is None:
            raise SnapshotNotFound

        async with self._database.writing() as transaction:
            if not await snapshot_store.delete_snapshot(transaction, project, uuid):
                raise SnapshotNotFound

    async def load_pseudos(self, snapshot: SnapshotSummary) -> Pseudos:
        """Return the name of the author of a snapshot, by user id."""
        async with self._database.reading() as connection:
            return await read_pseudos(connection, {snapshot.author})

    async def _freeze(self, project: ProjectRecord, limit: int) -> SnapshotContent:
        """Return the content of a snapshot: the first recommendations with the present contents of the datasets."""
        scoring = ProjectNeed.from_project(project).scoring()
        query = build_query(scoring.filters, project.user_id)
        view, ranked = await self._catalog.rank(
            query, scoring.weights, skip=0, limit=limit, assurance=project.assurance
        )

        options = RankingOptions(skip=0, limit=limit, explain=True)
        result = RankingResult(view, ranked, scoring.weights, options, scoring.gates)
        items = [item for records in ranked.chunks() for item in result.items(records)]

        ranked_ids = [item.id for item in items]
        async with self._database.reading() as connection:
            contents = await read_contents(connection, ranked_ids, project.user_id)
            last_choice = await choice_store.load_last_choice(connection, project)

        # The digests take about a millisecond per dataset, so they are computed in a thread.
        frozen_items = await asyncio.to_thread(freeze_items, items, contents)
        return SnapshotContent(
            project=FrozenProject.from_record(project),
            choice=FrozenChoice.from_choice(last_choice),
            limit=limit,
            effective_weights=scoring.effective_weights(),
            total_count=ranked.total_count,
            items=frozen_items,
        )
