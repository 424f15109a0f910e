"""The catalog in memory, kept up to date with the rows of the database.

The database is authoritative. Every write increments the version of the catalog in its own transaction. A process
applies its own writes to its catalog before it responds, and polls several times a second for the writes of others.
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
from touchstone.services.selection.catalog.list_ids import DatasetIds, SortOrder, read_ids
from touchstone.services.selection.catalog.load_progress import LoadProgress
from touchstone.services.selection.catalog.loading import load_catalog
from touchstone.services.selection.catalog.record_reader import RecordReader
from touchstone.services.selection.catalog.single_writes import SingleWrites
from touchstone.services.selection.catalog.size_warning import warn_if_larger_than_measured
from touchstone.services.selection.catalog.versioned_catalog import VersionedCatalog
from touchstone.services.selection.catalog_writer import CatalogWriter
from touchstone.services.selection.datasets.encoded_records import encode_records

# How long the start of the process waits for the catalog before it answers requests. A small catalog is loaded by then
# even on a busy machine, so that users of it never see a process that is still loading.
OPEN_SECONDS: Final = 10.0
POLL_SECONDS: Final = 0.3
# A client sends a long import as several requests. The catalog counts as growing until this long after each of them.
GROWTH_PAUSE_SECONDS: Final = 5.0
# From this many records on, evaluating a query takes long enough to be worth a thread.
THREAD_ROWS: Final = 50_000
# The index returns a window among the first 1000 records in less time than it takes to start a thread.
SHORT_WINDOW: Final = 1000
# When to ask again if words cannot be searched yet.
WORDS_RETRY_SECONDS: Final = 5

log = structlog.get_logger("touchstone.catalog")
Result = TypeVar("Result")


_WHOLE_LIST: Final = ListWindow(skip=0, limit=None)


class LiveCatalog:
    """The catalog in the memory of one process, which follows the database."""

    def __init__(
        self,
        database: Database,
        layout: Layout = Layout(),  # noqa: B008 - an immutable value
        snapshot_path: Path | None = None,
    ) -> None:
        """Prepare an empty catalog; `load` fills it, and the index is saved in `snapshot_path` for the next start."""
        self.records = RecordReader(database)
        self._database = database
        self._layout = layout
        self._snapshots = CatalogSnapshots(database, snapshot_path)
        self._catalog = VersionedCatalog(Catalog(layout), version=0)
        self._index_upkeep = IndexUpkeep(self._catalog, self._snapshots, self._use_snapshot)
        self._verification: asyncio.Task[None] | None = None
        # Whether all changes that were in the database when it was last read have been applied.
        self.is_up_to_date = True

        # How many bulk imports are running, and when the last one ended.
        self._bulk_import_count = 0
        self._last_bulk_import_end = -math.inf
        # The writes of single records, for which bulk imports make room.
        self.single_writes = SingleWrites()

        # The load at the start of the process, which may still be running when the first requests arrive.
        self._progress: LoadProgress | None = None
        self._load_task: asyncio.Task[None] | None = None

        # Writers wait for each other, so that changes are applied in the order of their versions.
        self._apply_lock = asyncio.Lock()
        # The changes of other processes are read by one task at a time, which then takes the lock above.
        self._reading_lock = asyncio.Lock()

    @property
    def view(self) -> View:
        """The current state of the catalog; a view never changes.

        Raises:
            CatalogLoading: the catalog is being loaded.
        """
        self.check_loaded()
        return self._catalog.columns.view

    @property
    def version(self) -> int:
        """The version of the catalog up to which all writes, also those of other processes, have been applied."""
        return self._catalog.version

    # Starting and following

    async def open(self) -> None:
        """Start to load the catalog, and wait for it for `OPEN_SECONDS` at most.

        If loading takes longer, queries and writes raise `CatalogLoading` until it is done. `follow` waits for it.
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
        """Check that the catalog is loaded, like `check_loaded`, for the health of the process."""
        self.check_loaded()

    async def load(self) -> None:
        """Fill the catalog in memory at the start of the process.

        If the last run has saved a snapshot, only the rows that have changed since are read from the database. Records
        that must not be shown any more are removed at once; `refresh` or `follow` applies the rest of many changes.
        """
        self._progress = LoadProgress()
        loaded = await load_catalog(self._database, self._snapshots, self._layout, self._progress)
        async with self._reading_lock:
            async with self._apply_lock:
                self._replace_catalog(loaded.catalog)
            await self._apply_next_changes()

        self._progress = None
        warn_if_larger_than_measured(self._database, self.view.size)
        if loaded.unverified_snapshot is not None:
            self._verification = asyncio.ensure_future(self._verify(loaded.unverified_snapshot))

    @property
    def is_renewing_index(self) -> bool:
        """Whether the index or the words in it are being renewed, or words still have to be indexed."""
        return self._index_upkeep.is_working

    async def refresh(self) -> None:
        """Bring the catalog in memory up to date with what other processes have written to the database."""
        await self._refresh_once()
        while not self.is_up_to_date:
            await self._refresh_once()

    async def follow(self) -> None:
        """Refresh several times a second until cancelled, also after errors, which are logged."""
        await self._wait_until_loaded()
        while True:
            if self.is_up_to_date:
                await asyncio.sleep(POLL_SECONDS)

            try:
                await run_uninterrupted(self._refresh_once())
                self._index_upkeep.start_if_due(is_growing=self._is_growing)
            except ServiceError:
                await asyncio.sleep(POLL_SECONDS)  # The database has logged the error.
            except Exception as error:  # noqa: BLE001 - a catalog that stopped following would stay outdated
                log.warning("catalog not refreshed", problem=type(error).__name__)
                await asyncio.sleep(POLL_SECONDS)

    async def close(self) -> None:
        """Stop loading the catalog, building an index and verifying a snapshot."""
        if self._progress is not None:
            self._progress.abandon()
        if self._load_task is not None:
            self._load_task.cancel()
            await asyncio.wait([self._load_task])
        await self._index_upkeep.close()
        if self._verification is not None:
            self._verification.cancel()
            await asyncio.wait([self._verification])
            self._snapshots.abandon_verification()

    async def _refresh_once(self) -> None:
        """Apply the next changes that other processes have written to the database, of which more may follow."""
        async with self._database.reading() as connection:
            version = await change_counters.read_version(connection, change_counters.CATALOG)
            names_version = await change_counters.read_version(connection, change_counters.NAMES)
        self.records.forget_outdated_names(names_version)

        # A write of this process that is committed has been applied once no writer holds the lock.
        if version > self.version:
            async with self._apply_lock:
                pass
        if version <= self.version:
            self.is_up_to_date = True
            return

        async with self._reading_lock:
            await self._apply_next_changes()

    async def _apply_next_changes(self) -> None:
        """Apply the next changes, if there are any; the caller holds the lock for reading them.

        Writers wait while the changes are applied, but not while they are read.
        """
        catalog = self._catalog
        changes = await catalog.read_next_changes(self._database)
        async with self._apply_lock:
            if catalog is not self._catalog:
                return  # Another catalog, which holds newer changes, is in use now.
            if catalog.is_outdated(changes):
                changes = await catalog.read_next_changes(self._database)

            for part in changes.split():
                # No other task may run between these: it would find the new columns, but still the old records.
                catalog.apply(part)
                self.records.forget_changed(part.ids)
                await asyncio.sleep(0)

        self.is_up_to_date = changes.is_last
        CATALOG_RECORDS.set(self._catalog.columns.view.size)

    async def _wait_until_loaded(self) -> None:
        """Wait for the load that `open` has started; if it fails, load again."""
        while self._load_task is not None:
            try:
                await self._load_task
                self._load_task = None
            except Exception as error:  # noqa: BLE001 - without another try, the process would wait for ever
                log.warning("catalog not loaded", problem=type(error).__name__)
                await asyncio.sleep(POLL_SECONDS)
                self._load_task = asyncio.ensure_future(self.load())

    async def _verify(self, snapshot: MappedSnapshot) -> None:
        """Verify the snapshot in use, and load the catalog again if it is damaged."""
        if await self._snapshots.verify(snapshot):
            return

        await self._index_upkeep.close()
        loaded = await load_catalog(self._database, self._snapshots, self._layout, LoadProgress())
        await self._catch_up_with(loaded.catalog)
        log.info("catalog loaded again", records=self.view.size)

    async def _use_snapshot(self, snapshot: MappedSnapshot) -> None:
        """Switch to an index that another process has saved."""
        columns = await asyncio.to_thread(Catalog.from_index, snapshot.index, self._layout)
        await self._catch_up_with(VersionedCatalog(columns, snapshot.version))

    async def _catch_up_with(self, catalog: VersionedCatalog) -> None:
        """Bring another catalog up to date, and use it from now on; writers wait only for the last changes."""
        await catalog.catch_up(self._database)
        async with self._apply_lock:
            await catalog.catch_up(self._database)
            self._replace_catalog(catalog)

    def _replace_catalog(self, catalog: VersionedCatalog) -> None:
        """Use a catalog from now on.

        It may already contain changes that were never applied to the one before, so that any cached record may be
        older.
        """
        self._catalog = catalog
        self._index_upkeep.catalog = catalog
        self.records.forget_all()

    # Writing

    @asynccontextmanager
    async def writing(self, *, even_if_disk_full: bool = False, is_bulk: bool = False) -> AsyncIterator[CatalogWriter]:
        """Run the block in a transaction, and apply its changes to the catalog in memory after the commit.

        If the block raises, nothing changes. Writers of this process wait for each other, so that the catalog in memory
        changes in the same order as the database.

        Args:
            even_if_disk_full: whether the transaction may use the disk space that the database holds in reserve.
            is_bulk: whether many records are written, few of which will be read soon; they are not put in the cache.

        Raises:
            CatalogLoading: the catalog is being loaded.
        """
        self.check_loaded()
        with nullcontext() if is_bulk else self.single_writes.track():
            async with self._apply_lock:
                async with self._database.writing(even_if_disk_full=even_if_disk_full) as transaction:
                    version = await change_counters.increment_version(transaction, change_counters.CATALOG)
                    writer = CatalogWriter(transaction, version)
                    yield writer

                # From here on the transaction is committed.
                changed_ids = [*(record.id for record in writer.upserts), *writer.deleted_ids]
                self.records.forget_changed(changed_ids)
                self._catalog.apply_own_write(writer)
                if not is_bulk:
                    self.records.cache.put(encode_records(writer.upserts))
                CATALOG_RECORDS.set(self.view.size)

    @contextmanager
    def importing_in_bulk(self) -> Iterator[None]:
        """Renew the index less often while the block adds many records."""
        self._bulk_import_count += 1
        try:
            yield
        finally:
            self._bulk_import_count -= 1
            self._last_bulk_import_end = time.monotonic()

    @property
    def _is_growing(self) -> bool:
        """Whether records are being imported in bulk, or the client may soon send the next part of an import."""
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
        """Rank the records that match a query by their weighted score, and return a part of the ranking.

        The part starts after the first `skip` records and has at most `limit` records, or all others if `limit` is
        None. It consists of positions in the view that is returned with it. Values that are known less well than
        `assurance` demands count as unknown.
        """
        view = self.view.at(assurance)
        is_lookup = _is_lookup(query, skip, limit)

        def rank_records() -> RankedWindow:
            """Rank the records of the view; this may run in a thread."""
            if limit is not None and not is_lookup:
                view.count(query)  # Every response needs the number of matches, which the view caches.
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
    ) -> DatasetIds:
        """Return a window of the sorted ids of the records that match a query, and the number of all matches.

        Values that are known less well than `assurance` demands count as unknown. `with_last_place` is for lists that
        are continued with a cursor.
        """
        view = self.view.at(assurance)

        def read_window() -> DatasetIds:
            """Read the window from the view; this may run in a thread."""
            return read_ids(view, query, order, window, with_last_place=with_last_place)

        # The first query that sorts by another key than the id may take long.
        is_lookup = order.key == "id" and _is_lookup(query, window.skip, window.limit)
        return await self._evaluate(view, read_window, is_lookup=is_lookup)

    async def list_all_ids(self, query: Query, order: SortOrder, *, assurance: Assurance) -> Ints:
        """Return the sorted ids of all records that match a query, as an array.

        Values that are known less well than `assurance` demands count as unknown.
        """
        view = self.view.at(assurance)

        def sort_records() -> Ints:
            """Sort the records of the view; this may run in a thread."""
            window = view.sort(query, order.key, descending=order.is_descending, skip=0, limit=None)
            return view.ids(window.positions)

        return await self._evaluate(view, sort_records)

    async def facets(self, query: Query, assurance: Assurance = Assurance.DECLARED) -> Facets:
        """Return the values, flags and ranges of the records that match a query, with their counts.

        Values that are known less well than `assurance` demands count as unknown.
        """
        view = self.view.at(assurance)
        return await self._evaluate(view, lambda: view.facets(query))

    async def suggest(self, text: str, viewer: UUID | None, limit: int) -> list[Suggestion]:
        """Complete a text with the names, domains and tasks of the records that the viewer may see."""
        view = self.view
        return await self._evaluate(view, lambda: view.suggest(text, viewer, limit))

    async def _evaluate(self, view: View, evaluate: Callable[[], Result], *, is_lookup: bool = False) -> Result:
        """Return the result of `evaluate`, which runs in a thread if it could delay other requests.

        Queries on a small catalog are quick enough to run right here, and so are those of which the index holds the
        result already (`is_lookup`).

        Raises:
            IndexBuilding: `evaluate` searches words that have not been indexed yet.
        """
        is_quick = view.size < THREAD_ROWS or (is_lookup and view.is_indexed)
        try:
            if is_quick:
                return evaluate()
            return await asyncio.to_thread(evaluate)
        except TextsNotIndexed as error:
            raise IndexBuilding(retry_after=WORDS_RETRY_SECONDS) from error


def _is_lookup(query: Query, skip: int, limit: int | None) -> bool:
    """Return whether the index can look up a window of the matches: one near the start, without a search in texts."""
    if limit is None or skip + limit > SHORT_WINDOW:
        return False
    return not any(isinstance(predicate, FullText | Contains) for predicate in query)
