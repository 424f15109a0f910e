"""Upkeep of the index of a catalog in the background: its words are indexed, and a new index is built when one pays."""

import asyncio

import structlog

from touchstone.ranking.catalog.catalog import Catalog
from touchstone.services.selection.catalog.catalog_snapshots import CatalogSnapshots

log = structlog.get_logger("touchstone.catalog")


class IndexUpkeep:
    """The task that renews the index of a catalog, of which there is at most one, and saves the result.

    `index_version` is the version of the records behind the present index.
    """

    def __init__(self, columns: Catalog, index_version: int, snapshots: CatalogSnapshots) -> None:
        self._columns = columns
        self._index_version = index_version
        self._snapshots = snapshots
        self._task: asyncio.Task[None] | None = None

    @property
    def is_working(self) -> bool:
        """Whether words are being indexed or a new index is being built, or either of them has yet to begin."""
        return self._task is not None or self._columns.lacks_words

    def start_if_due(self, version: int) -> None:
        """Start to renew the index in the background, if words are not indexed or too many records changed beside it.

        Queries use the old index until the new one replaces it. `version` is the version that the catalog is at. If the
        last renewal has failed, its exception is raised.
        """
        if self._task is not None and self._task.done():
            finished_task = self._task
            self._task = None
            # This raises the exception of a renewal that has failed.
            finished_task.result()

        if self._task is not None:
            return
        if self._columns.lacks_words:
            self._task = asyncio.ensure_future(self._index_words())
        elif self._columns.is_rebuild_due:
            self._task = asyncio.ensure_future(self._rebuild(version))

    async def save_snapshot(self) -> None:
        """Save the index, if there is one, with the version of its records, so that the next start is quick."""
        if self._columns.index is not None:
            await self._snapshots.save(self._columns.index, self._index_version)

    async def close(self) -> None:
        """Abandon an index that is being built."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _index_words(self) -> None:
        """Index the words of a large catalog in a thread, after which they can be searched, and save them."""
        indexing = self._columns.begin_word_indexing()
        await asyncio.to_thread(indexing.run)
        self._columns.adopt_words(indexing)
        log.info("words indexed", records=self._columns.view.size)

        await self.save_snapshot()

    async def _rebuild(self, version: int) -> None:
        """Build a new index in a thread, replace the old one with it, and save it for the next start."""
        rebuild = self._columns.begin_rebuild(version)
        await asyncio.to_thread(rebuild.run)
        self._columns.adopt_rebuild(rebuild)
        log.info("catalog indexed", records=self._columns.view.size)

        self._index_version = rebuild.version
        await self.save_snapshot()
