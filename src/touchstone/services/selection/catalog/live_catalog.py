"""The in-memory catalog, which is kept up to date with the database.

The database is authoritative. Every write increments the version of the catalog in its own transaction. A process
applies its own writes to its catalog before it responds, and polls several times a second for the writes of other
processes.
"""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, nullcontext
from pathlib import Path
from typing import Final, TypeVar
from uuid import UUID

import structlog

from touchstone.core.errors import IndexBuilding, ServiceError
from touchstone.core.evidence import Assurance
from touchstone.core.metrics import CATALOG_RECORDS, RANKING_COUNTER
from touchstone.core.uninterrupted import run_uninterrupted
from touchstone.database import change_counters
from touchstone.database.engine import Database
from touchstone.ranking.array_types import Ints
from touchstone.ranking.catalog.catalog import Catalog, Layout
from touchstone.ranking.catalog.result_merging import ListWindow
from touchstone.ranking.catalog.results import RankedWindow
from touchstone.ranking.catalog.suggestions import Suggestion
from touchstone.ranking.catalog.view import View
from touchstone.ranking.index.snapshot_file import MappedSnapshot
from touchstone.ranking.index.word_index import TextsNotIndexed
from touchstone.ranking.query.facets import Facets
from touchstone.ranking.query.predicates import Contains, FullText, Query
from touchstone.services.selection.catalog.catalog_snapshots import CatalogSnapshots
from touchstone.services.selection.catalog.index_upkeep import IndexUpkeep
from touchstone.services.selection.catalog.list_ids import IdWindow, SortOrder, read_ids
from touchstone.services.selection.catalog.load_progress import LoadProgress
from touchstone.services.selection.catalog.loading import load_catalog
from touchstone.services.selection.catalog.record_reader import RecordReader
from touchstone.services.selection.catalog.single_writes import SingleWrites
from touchstone.services.selection.catalog.size_warning import warn_if_larger_than_benchmarked
from touchstone.services.selection.catalog.versioned_catalog import VersionedCatalog
from touchstone.services.selection.catalog_writer import CatalogWriter
from touchstone.services.selection.datasets.encoded_records import encode_records

# How long a starting process waits for the catalog before it accepts requests. A small catalog is loaded by then even
# on a busy machine, so its users never see the error about a catalog that is loading.
OPEN_SECONDS: Final = 10.0
POLL_SECONDS: Final = 0.3
# A client sends a long import as several requests. The catalog counts as growing for this long after each of them.
GROWTH_PAUSE_SECONDS: Final = 5.0
# Queries over at least this many records are slow enough to run in a thread.
THREAD_ROWS: Final = 50_000
# Looking up a window among this many first records takes less time than starting a thread.
SHORT_WINDOW: Final = 1000
# When clients should retry a search if words are not indexed yet.
WORDS_RETRY_SECONDS: Final = 5

log = structlog.get_logger("touchstone.catalog")
Result = TypeVar("Result")


_WHOLE_LIST: Final = ListWindow(skip=0, limit=None)


class LiveCatalog:
    """The catalog in the memory of one process, with methods to query and to change it."""

    def __init__(
        self,
        database: Database,
        layout: Layout = Layout(),  # noqa: B008 - an immutable value
        snapshot_path: Path | None = None,
    ) -> None:
        """Create an empty catalog, which must be loaded before it is used.

        Args:
            database: the database with the records.
            layout: the layout of the columns and the index.
            snapshot_path: the file in which to save the index for the next start, or None to save nothing.
        """
        self.records = RecordReader(database)
        self._database = database
        self._layout = layout
        self._snapshots = CatalogSnapshots(database, snapshot_path)
        self._catalog = VersionedCatalog(Catalog(layout), version=0)
        self._index_upkeep = IndexUpkeep(self._catalog, self._snapshots, self._use_snapshot)
        self._verification_task: asyncio.Task[None] | None = None
        # Whether all changes that the last query found have been applied.
        self.is_up_to_date = True

        # How many bulk imports are running, and when the last one ended.
        self._bulk_import_count = 0
        self._last_bulk_import_end = -math.inf
        # The writes of single records, which bulk imports wait for.
        self.single_writes = SingleWrites()

        # The initial load, which may still be running when the first requests arrive.
        self._progress: LoadProgress | None = None
        self._load_task: asyncio.Task[None] | None = None

        # Serializes writers, so that changes are applied in the order of their versions.
        self._apply_lock = asyncio.Lock()
        # Serializes readers of the changes of other processes. A reader then acquires the lock above to apply them.
        self._reading_lock = asyncio.Lock()

    @property
    def view(self) -> View:
        """The current state of the catalog, as a view that never changes.

        Raises:
            CatalogLoading: the catalog is being loaded.
        """
        self.check_loaded()
        return self._catalog.columns.view

    @property
    def version(self) -> int:
        """The version up to which all writes have been applied, including the writes of other processes."""
        return self._catalog.version

    # Starting and following

    async def open(self) -> None:
        """Start to load the catalog, and wait at most `OPEN_SECONDS` until it is loaded.

        If loading takes longer, queries and writes raise `CatalogLoading` until it is done.
        """
        self._load_task = asyncio.ensure_future(self.load())
        await asyncio.wait([self._load_task], timeout=OPEN_SECONDS)
        if self._load_task.done():
            self._load_task.result()
            self._load_task = None

    def check_loaded(self) -> None:
        """Raise `CatalogLoading` if the catalog is being loaded."""
        if self._progress is not None:
            raise self._progress.to_error()

    async def ping(self) -> None:
        """Raise `CatalogLoading` if the catalog is being loaded, for the health check of the process."""
        self.check_loaded()

    async def load(self) -> None:
        """Load the catalog from the last snapshot or, if there is none, from all rows of the database.

        A snapshot lacks the changes since it was saved. Records that were deleted or made private since then are
        removed immediately. If there are many other changes, only the first ones are applied here, and `refresh` or
        `follow` applies the rest. The file of the snapshot is checked for damage in the background.
        """
        self._progress = LoadProgress()
        loaded = await load_catalog(self._database, self._snapshots, self._layout, self._progress)
        # With the first lock, no other task reads changes for the old catalog. With the second one, none writes to it.
        async with self._reading_lock:
            async with self._apply_lock:
                self._replace_catalog(loaded.catalog)
            await self._apply_next_changes()

        self._progress = None
        warn_if_larger_than_benchmarked(self._database, self.view.size)
        if loaded.unverified_snapshot is not None:
            self._verification_task = asyncio.ensure_future(self._verify(loaded.unverified_snapshot))

    @property
    def is_renewing_index(self) -> bool:
        """Whether the index is being renewed, or text still has to be indexed."""
        return self._index_upkeep.is_working

    async def refresh(self) -> None:
        """Apply all changes that other processes have written to the database."""
        await self._refresh_once()
        while not self.is_up_to_date:
            await self._refresh_once()

    async def follow(self) -> None:
        """Refresh the catalog every `POLL_SECONDS` until cancelled. Errors are logged and do not stop the loop."""
        await self._wait_until_loaded()
        while True:
            if self.is_up_to_date:
                await asyncio.sleep(POLL_SECONDS)

            try:
                await run_uninterrupted(self._refresh_once())
                self._index_upkeep.start_if_due(is_growing=self._is_growing)
            except ServiceError:
                await asyncio.sleep(POLL_SECONDS)  # The database has logged the error.
            except Exception as error:  # noqa: BLE001 - after an error, the catalog must not stay outdated for ever
                log.warning("catalog not refreshed", problem=type(error).__name__)
                await asyncio.sleep(POLL_SECONDS)

    async def close(self) -> None:
        """Cancel all background tasks."""
        if self._progress is not None:
            self._progress.abandon()
        if self._load_task is not None:
            self._load_task.cancel()
            await asyncio.wait([self._load_task])
        await self._index_upkeep.close()
        if self._verification_task is not None:
            self._verification_task.cancel()
            await asyncio.wait([self._verification_task])
            self._snapshots.abandon_verification()

    async def _refresh_once(self) -> None:
        """Apply the next changes of other processes, and set `is_up_to_date` to whether these were the last."""
        async with self._database.reading() as connection:
            version = await change_counters.read_version(connection, change_counters.CATALOG)
            names_version = await change_counters.read_version(connection, change_counters.NAMES)
        self.records.evict_if_names_changed(names_version)

        # The new version may be a write of this process, which is applied before its writer releases the lock.
        if version > self.version:
            async with self._apply_lock:
                pass
        if version <= self.version:
            self.is_up_to_date = True
            return

        async with self._reading_lock:
            await self._apply_next_changes()

    async def _apply_next_changes(self) -> None:
        """Apply the next changes, if there are any. The caller must hold `_reading_lock`.

        Writers wait while the changes are applied, but not while they are read.
        """
        catalog = self._catalog
        changes = await catalog.read_next_changes(self._database)
        async with self._apply_lock:
            if catalog is not self._catalog:
                return  # The catalog was replaced by one that already contains newer changes.
            if catalog.is_outdated(changes):
                changes = await catalog.read_next_changes(self._database)

            for part in changes.split():
                # No other task may run between these calls, because it would see new columns but old records.
                catalog.apply(part)
                self.records.evict_changed(part.ids)
                await asyncio.sleep(0)

        self.is_up_to_date = changes.is_last
        CATALOG_RECORDS.set(self._catalog.columns.view.size)

    async def _wait_until_loaded(self) -> None:
        """Wait for the load that `open` has started, and repeat it until it succeeds."""
        while self._load_task is not None:
            try:
                await self._load_task
                self._load_task = None
            except Exception as error:  # noqa: BLE001 - without a retry, the process would wait for ever
                log.warning("catalog not loaded", problem=type(error).__name__)
                await asyncio.sleep(POLL_SECONDS)
                self._load_task = asyncio.ensure_future(self.load())

    async def _verify(self, snapshot: MappedSnapshot) -> None:
        """Verify the snapshot that the catalog was loaded from, and reload the catalog if it is damaged."""
        if await self._snapshots.verify(snapshot):
            return

        await self._index_upkeep.close()
        loaded = await load_catalog(self._database, self._snapshots, self._layout, LoadProgress())
        await self._catch_up_with(loaded.catalog)
        log.info("catalog loaded again", records=self.view.size)

    async def _use_snapshot(self, snapshot: MappedSnapshot) -> None:
        """Switch to a newer index that another process has saved."""
        columns = await asyncio.to_thread(Catalog.from_index, snapshot.index, self._layout)
        await self._catch_up_with(VersionedCatalog(columns, snapshot.version))

    async def _catch_up_with(self, catalog: VersionedCatalog) -> None:
        """Bring another catalog up to date, and replace the current one with it.

        Most changes are applied without the lock, so that writers only wait for the last ones.
        """
        await catalog.catch_up(self._database)
        async with self._apply_lock:
            await catalog.catch_up(self._database)
            self._replace_catalog(catalog)

    def _replace_catalog(self, catalog: VersionedCatalog) -> None:
        """Replace the current catalog.

        The new catalog may contain changes that were not applied to the old one, so all cached records are evicted.
        """
        self._catalog = catalog
        self._index_upkeep.catalog = catalog
        self.records.evict_all()

    # Writing

    @asynccontextmanager
    async def writing(self, *, may_use_reserve: bool = False, is_bulk: bool = False) -> AsyncIterator[CatalogWriter]:
        """Run the block in a transaction, and apply its changes to the in-memory catalog after the commit.

        If the block raises, nothing changes. Writers of this process wait for each other, so that the in-memory catalog
        changes in the same order as the database.

        Args:
            may_use_reserve: whether the transaction may use the disk space that the database holds in reserve.
            is_bulk: whether this is part of a bulk import. Its records are not cached, because few of them will be read
                soon.

        Raises:
            CatalogLoading: the catalog is being loaded.
        """
        self.check_loaded()
        with nullcontext() if is_bulk else self.single_writes.track():
            async with self._apply_lock:
                async with self._database.writing(may_use_reserve=may_use_reserve) as transaction:
                    version = await change_counters.increment_version(transaction, change_counters.CATALOG)
                    writer = CatalogWriter(transaction, version)
                    yield writer

                # The transaction is committed now.
                changed_ids = [*(record.id for record in writer.upserts), *writer.deleted_ids]
                self.records.evict_changed(changed_ids)
                self._catalog.apply_own_write(writer)
                if not is_bulk:
                    self.records.cache.put(encode_records(writer.upserts))
                CATALOG_RECORDS.set(self.view.size)

    @contextmanager
    def importing_in_bulk(self) -> Iterator[None]:
        """Renew the index less often during the block, which adds many records."""
        self._bulk_import_count += 1
        try:
            yield
        finally:
            self._bulk_import_count -= 1
            self._last_bulk_import_end = time.monotonic()

    @property
    def _is_growing(self) -> bool:
        """Whether a bulk import is running, or may soon be continued with another request."""
        seconds_since_import = time.monotonic() - self._last_bulk_import_end
        return self._bulk_import_count > 0 or seconds_since_import < GROWTH_PAUSE_SECONDS

    # Queries over the columns

    async def rank(
        self,
        query: Query,
        weights: Mapping[str, float],
        *,
        skip: int,
        limit: int | None,
        assurance: Assurance = Assurance.DECLARED,
    ) -> tuple[View, RankedWindow]:
        """Rank the records that match a query by their weighted score, and return a window of the ranking.

        Args:
            query: the query.
            weights: the weight of each criterion.
            skip: the number of records before the window.
            limit: the maximum number of records in the window, or None for all others.
            assurance: the minimum level of evidence. Values with weaker evidence count as unknown.

        Returns:
            a view of the catalog, and the window, which contains positions in this view.
        """
        view = self.view.at(assurance)
        is_lookup = _is_lookup(query, skip, limit)

        def rank_records() -> RankedWindow:
            """Rank the records of the view. This may run in a thread."""
            if limit is not None and not is_lookup:
                view.count(query)  # The response needs the number of matches. The view caches it.
            return view.rank(query, weights, skip=min(skip, view.size), limit=limit)

        ranked = await self._evaluate(view, rank_records, is_lookup=is_lookup)
        RANKING_COUNTER.labels(ranked.plan).inc()
        return view, ranked

    async def list_ids(
        self,
        query: Query,
        order: SortOrder,
        window: ListWindow = _WHOLE_LIST,
        assurance: Assurance = Assurance.DECLARED,
        *,
        with_last_place: bool = False,
    ) -> IdWindow:
        """Return a window of the sorted ids of the records that match a query, and the number of all matches.

        Args:
            query: the query.
            order: the sort order.
            window: the part of the list to return.
            assurance: the minimum level of evidence. Values with weaker evidence count as unknown.
            with_last_place: whether to return the sort value of the last record, to continue the list with a cursor.
        """
        view = self.view.at(assurance)

        def read_window() -> IdWindow:
            """Read the window from the view. This may run in a thread."""
            return read_ids(view, query, order, window, with_last_place=with_last_place)

        # The first query with another sort key may be slow.
        is_lookup = order.key == "id" and _is_lookup(query, window.skip, window.limit)
        return await self._evaluate(view, read_window, is_lookup=is_lookup)

    async def list_all_ids(self, query: Query, order: SortOrder, *, assurance: Assurance) -> Ints:
        """Return the sorted ids of all records that match a query, as an array.

        Values with weaker evidence than `assurance` count as unknown.
        """
        view = self.view.at(assurance)

        def sort_records() -> Ints:
            """Sort the records of the view. This may run in a thread."""
            window = view.sort(query, order.key, descending=order.is_descending, skip=0, limit=None)
            return view.ids(window.positions)

        return await self._evaluate(view, sort_records)

    async def facets(self, query: Query, assurance: Assurance = Assurance.DECLARED) -> Facets:
        """Return the values, flags and ranges of the records that match a query, with their counts.

        Values with weaker evidence than `assurance` count as unknown.
        """
        view = self.view.at(assurance)
        return await self._evaluate(view, lambda: view.facets(query))

    async def suggest(self, text: str, viewer: UUID | None, limit: int) -> list[Suggestion]:
        """Suggest names, domains and tasks that match `text`, from the viewer's visible records."""
        view = self.view
        return await self._evaluate(view, lambda: view.suggest(text, viewer, limit))

    async def _evaluate(self, view: View, evaluate: Callable[[], Result], *, is_lookup: bool = False) -> Result:
        """Call `evaluate`, in a thread if it could delay other requests, and return its result.

        Args:
            view: the view that `evaluate` uses.
            evaluate: the query to run.
            is_lookup: whether the index already contains the result, so that the query is always fast.

        Raises:
            IndexBuilding: the query searches words that have not been indexed yet.
        """
        is_quick = view.size < THREAD_ROWS or (is_lookup and view.is_indexed)
        try:
            if is_quick:
                return evaluate()
            return await asyncio.to_thread(evaluate)
        except TextsNotIndexed as error:
            raise IndexBuilding(retry_after=WORDS_RETRY_SECONDS) from error


def _is_lookup(query: Query, skip: int, limit: int | None) -> bool:
    """Return whether the index contains the window, because it is near the start and needs no text search."""
    if limit is None or skip + limit > SHORT_WINDOW:
        return False
    return not any(isinstance(predicate, FullText | Contains) for predicate in query)
