"""Upkeep of the index of a catalog in the background: its words are indexed, and a new index is built when one pays."""

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from touchstone.ranking.index.snapshot_file import MappedSnapshot
from touchstone.services.selection.catalog.catalog_snapshots import CatalogSnapshots
from touchstone.services.selection.catalog.loading import save_index
from touchstone.services.selection.catalog.versioned_catalog import VersionedCatalog

log = structlog.get_logger("touchstone.catalog")
UseSnapshot = Callable[[MappedSnapshot], Awaitable[None]]


class IndexUpkeep:
    """The task that renews the index of a catalog, of which there is at most one, and saves the result.

    Attributes:
        catalog: The catalog whose index is renewed.
    """

    def __init__(self, catalog: VersionedCatalog, snapshots: CatalogSnapshots, use_snapshot: UseSnapshot) -> None:
        """Prepare the upkeep; `use_snapshot` replaces the catalog by one over the index of another process."""
        self.catalog = catalog
        self._snapshots = snapshots
        self._use_snapshot = use_snapshot
        self._task: asyncio.Task[None] | None = None

    @property
    def is_working(self) -> bool:
        """Whether words are being indexed or a new index is being built, or either of them has yet to begin."""
        return self._task is not None or self.catalog.columns.lacks_words

    def start_if_due(self, *, is_growing: bool) -> None:
        """Start to renew the index in the background, if words are not indexed or too many records changed beside it.

        While a bulk import runs (`is_growing`), the index is renewed less often, and its words are left for later.
        Queries use the old index until the new one replaces it. The exception of a renewal that has failed is raised at
        the next call.
        """
        if self._task is not None and self._task.done():
            finished_task = self._task
            self._task = None
            # This raises the exception of a renewal that has failed.
            finished_task.result()

        columns = self.catalog.columns
        is_due = columns.is_rebuild_overdue if is_growing else columns.lacks_words or columns.is_rebuild_due
        if self._task is None and is_due:
            self._task = asyncio.ensure_future(self._renew())

    async def close(self) -> None:
        """Abandon an index that is being built."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _renew(self) -> None:
        """Renew the index while no other process does, or use the one that another process has built meanwhile."""
        async with self._snapshots.building():
            snapshot = await self._snapshots.open_newer(self.catalog)
            if snapshot is not None:
                await self._use_snapshot(snapshot)
                log.info("catalog index of another process mapped", records=self.catalog.columns.view.size)
            elif self.catalog.columns.lacks_words and not self.catalog.columns.is_rebuild_overdue:
                await self._index_words()
            else:
                await self._rebuild()

    async def _index_words(self) -> None:
        """Index the words of a large catalog in a thread, after which they can be searched, and save them."""
        columns = self.catalog.columns
        indexing = columns.begin_word_indexing()
        await asyncio.to_thread(indexing.run)
        columns.adopt_words(indexing)
        log.info("words indexed", records=columns.view.size)

        await save_index(self.catalog, self._snapshots)

    async def _rebuild(self) -> None:
        """Build a new index in a thread, in the snapshot file for the next start, and replace the old one with it."""
        columns = self.catalog.columns
        rebuild = columns.begin_rebuild(self.catalog.version, self._snapshots.path)
        try:
            await asyncio.to_thread(rebuild.run)
        except OSError as error:
            log.warning("catalog snapshot not written", problem=type(error).__name__)
            rebuild = columns.begin_rebuild(self.catalog.version)
            await asyncio.to_thread(rebuild.run)

        columns.adopt_rebuild(rebuild)
        self.catalog.index_version = rebuild.version
        log.info("catalog indexed", records=columns.view.size)
        if rebuild.is_in_file:
            await self._snapshots.list_written_file()
