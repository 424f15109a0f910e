"""Background maintenance of the index: indexing text, listing words, and rebuilding the index after many changes."""

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from touchstone.core.detached_threads import run_detached
from touchstone.ranking.index.snapshot_file import MappedSnapshot
from touchstone.services.selection.catalog.catalog_snapshots import CatalogSnapshots
from touchstone.services.selection.catalog.loading import save_index
from touchstone.services.selection.catalog.versioned_catalog import VersionedCatalog

log = structlog.get_logger("touchstone.catalog")
# Switches to an index that another process has saved.
UseSnapshot = Callable[[MappedSnapshot], Awaitable[None]]


class IndexUpkeep:
    """Renews the index of a catalog and lists the words of new records in a background task, and saves a new index.

    At most one task runs at a time.

    Attributes:
        catalog: the catalog whose index is renewed.
    """

    def __init__(self, catalog: VersionedCatalog, snapshots: CatalogSnapshots, use_snapshot: UseSnapshot) -> None:
        """Create the upkeep of a catalog without starting it."""
        self.catalog = catalog
        self._snapshots = snapshots
        self._use_snapshot = use_snapshot
        self._task: asyncio.Task[None] | None = None

    @property
    def is_working(self) -> bool:
        """Whether a task is running, or text still has to be indexed."""
        return self._task is not None or self.catalog.columns.lacks_text_index

    def start_if_due(self, *, is_growing: bool) -> None:
        """Start to renew the index, or to list the words of new records, in the background if one of these is due.

        The index is due if text or too many records are not indexed. Queries use the old index until the new one is
        ready. If the last task has failed, its exception is raised.

        Args:
            is_growing: whether a bulk import is running. The index is then renewed less often, and text is only indexed
                after the import.
        """
        self._check_finished_task()
        if self._task is not None:
            return

        # The words of new records come first, because searches wait for them, but not for a new index.
        if self.catalog.columns.is_word_listing_due and not is_growing:
            self._task = asyncio.ensure_future(run_detached(self.catalog.columns.list_words))
        elif self._is_due(is_growing=is_growing):
            self._task = asyncio.ensure_future(self._renew())

    def _check_finished_task(self) -> None:
        """Drop a finished task, and raise its exception if it has failed."""
        if self._task is None or not self._task.done():
            return

        finished_task = self._task
        self._task = None
        finished_task.result()

    def _is_due(self, *, is_growing: bool) -> bool:
        """Return whether the index should be renewed now."""
        columns = self.catalog.columns
        if is_growing:
            return columns.is_rebuild_overdue
        return columns.lacks_text_index or columns.is_rebuild_due

    async def close(self) -> None:
        """Cancel the renewal of the index, if one is running."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _renew(self) -> None:
        """Renew the index, or adopt a newer index that another process has saved."""
        async with self._snapshots.build_lock():
            snapshot = await self._snapshots.open_newer(self.catalog)
            if snapshot is not None:
                await self._use_snapshot(snapshot)
                log.info("catalog index of another process mapped", records=self.catalog.columns.view.size)
            elif self.catalog.columns.lacks_text_index and not self.catalog.columns.is_rebuild_overdue:
                await self._index_texts()
            else:
                await self._rebuild()

    async def _index_texts(self) -> None:
        """Index the text of a large catalog for searching, in a thread, and save the result."""
        columns = self.catalog.columns
        indexing = columns.begin_text_indexing(self._snapshots.folder)
        try:
            await run_detached(indexing.run)
        except OSError as error:
            log.warning("no room for the texts beside the snapshot", problem=type(error).__name__)
            indexing = columns.begin_text_indexing()
            await run_detached(indexing.run)

        columns.adopt_text_index(indexing)
        log.info("texts indexed", records=columns.view.size)
        await save_index(self.catalog, self._snapshots)

    async def _rebuild(self) -> None:
        """Build a new index in a thread, if possible in the snapshot file, and replace the old index."""
        columns = self.catalog.columns
        rebuild = columns.begin_rebuild(self.catalog.version, self._snapshots.path)
        try:
            await run_detached(rebuild.run)
        except OSError as error:
            log.warning("catalog snapshot not written", problem=type(error).__name__)
            rebuild = columns.begin_rebuild(self.catalog.version)
            await run_detached(rebuild.run)

        columns.adopt_rebuild(rebuild)
        self.catalog.index_version = rebuild.version
        log.info("catalog indexed", records=columns.view.size)
        if rebuild.is_in_file:
            await self._snapshots.register_written_file()

        # A long import may have added many records while the index was being built.
        if columns.has_dead_tail:
            compaction = columns.begin_compaction()
            await run_detached(compaction.run)
            columns.adopt_compaction(compaction)
