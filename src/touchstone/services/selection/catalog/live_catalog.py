"""The catalog in memory, kept up to date with the rows of the database.

Rows are the truth. Every write increments the version of the catalog in its own transaction. This process applies its
own writes to its columns before it answers, and polls several times a second for the writes of other processes.
"""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Final, NamedTuple, TypeVar
from uuid import UUID

import structlog

from touchstone.core.errors import IndexBuilding, ServiceError
from touchstone.core.evidence import Assurance
from touchstone.core.metrics import CATALOG_RECORDS, RANKING_COUNTER
from touchstone.core.uninterrupted import run_uninterrupted
from touchstone.database import change_counters
from touchstone.database.engine import Database
from touchstone.ranking.catalog.catalog import Catalog, Layout
from touchstone.ranking.catalog.merging import ListPlace, ListWindow
from touchstone.ranking.catalog.results import RankedWindow
from touchstone.ranking.catalog.suggestions import Suggestion
from touchstone.ranking.catalog.view import View
from touchstone.ranking.column_types import Ints
from touchstone.ranking.index.snapshot_file import MappedSnapshot
from touchstone.ranking.index.word_index import WordsNotIndexed
from touchstone.ranking.query.facets import Facets
from touchstone.ranking.query.predicates import Contains, FullText, Query
from touchstone.ranking.query.sort_order import RELEVANCE
from touchstone.services.selection.catalog.catalog_snapshots import CatalogSnapshots
from touchstone.services.selection.catalog.index_upkeep import IndexUpkeep
from touchstone.services.selection.catalog.load_progress import LoadProgress
from touchstone.services.selection.catalog.loading import load_catalog
from touchstone.services.selection.catalog.record_reader import RecordReader
from touchstone.services.selection.catalog.size_warning import warn_if_larger_than_measured
from touchstone.services.selection.catalog.versioned_catalog import VersionedCatalog
from touchstone.services.selection.catalog_writer import CatalogWriter
from touchstone.services.selection.datasets.encoded_records import encode_records

# How long the start of the process waits for the catalog before it answers requests. A small catalog is loaded by then
# even on a busy machine, so that users of it never see a process that is still loading.
OPEN_SECONDS: Final = 10.0
POLL_SECONDS: Final = 0.3
# A client sends a long import as several requests; the catalog counts as growing for so long after each of them.
GROWTH_PAUSE_SECONDS: Final = 5.0
# From this many records on, evaluating a query takes long enough to be worth a thread.
THREAD_ROWS: Final = 50_000
# A window that ends before this place is found through an index sooner than a thread starts.
SHORT_WINDOW: Final = 1000
# How long a caller whose words cannot be searched yet should wait before asking again.
WORDS_RETRY_SECONDS: Final = 5

log = structlog.get_logger("touchstone.catalog")
Result = TypeVar("Result")


class SortOrder(NamedTuple):
    """The key by which a list is sorted, and its direction."""

    key: str
    is_descending: bool = False


class DatasetIds(NamedTuple):
    """The ids of a window of a sorted list.

    Attributes:
        ids: The ids in order.
        total_count: How many records match in all.
        has_more: Whether further records follow the window.
        last_place: The place of the last record; None if there is none, or if the list is sorted by relevance.
    """

    ids: list[int]
    total_count: int
    has_more: bool
    last_place: ListPlace | None


_WHOLE_LIST: Final = ListWindow(skip=0, limit=None)


class LiveCatalog:
    """The columns of one process, which follow the database.

    `snapshot_path` names the file in which the index is saved for the next start.
    """

    def __init__(
        self,
        database: Database,
        layout: Layout = Layout(),  # noqa: B008 - an immutable value
        snapshot_path: Path | None = None,
    ) -> None:
        """Prepare an empty catalog; `load` fills it."""
        self.records = RecordReader(database)
        self._database = database
        self._layout = layout
        self._snapshots = CatalogSnapshots(database, snapshot_path)
        self._catalog = VersionedCatalog(Catalog(layout), version=0)
        self._index_upkeep = IndexUpkeep(self._catalog, self._snapshots, self._use_snapshot)
        self._verification: asyncio.Task[None] | None = None
        # Whether all changes had been applied that were in the database when it was last read.
        self.is_up_to_date = True

        # How many bulk imports are running, and when the last one ended.
        self._bulk_import_count = 0
        self._last_bulk_import_end = -math.inf

        # The load at the start of the process, which may go on while requests arrive already.
        self._progress: LoadProgress | None = None
        self._load_task: asyncio.Task[None] | None = None

        # Changes are applied one after the other, in the order of their versions.
        self._apply_lock = asyncio.Lock()

    @property
    def view(self) -> View:
        """The current state of the columns; a view never changes.

        Raises:
            CatalogLoading: the catalog is being loaded.
        """
        self.check_loaded()
        return self._catalog.columns.view

    @property
    def version(self) -> int:
        """The version of the catalog that the columns are at; it counts everybody's writes."""
        return self._catalog.version

    # Starting and following

    async def open(self) -> None:
        """Load the catalog; if that takes long, return before, so that the process can answer that it is loading.

        Until the catalog is loaded, queries and writes raise `CatalogLoading`. `follow` waits for it.
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

        If the last run has saved a snapshot, only the rows that have changed since are read from the database: all that
        must not be shown any more, and the first of the others. `refresh` or `follow` then applies the rest.
        """
        self._progress = LoadProgress()
        loaded = await load_catalog(self._database, self._snapshots, self._layout, self._progress)
        async with self._apply_lock:
            self._replace_catalog(loaded.catalog)
            await self._apply_next_changes()

        self._progress = None
        warn_if_larger_than_measured(self._database, self.view.size)
        if loaded.unverified_snapshot is not None:
            self._verification = asyncio.ensure_future(self._verify(loaded.unverified_snapshot))

    @property
    def is_renewing_index(self) -> bool:
        """Whether words are being indexed or a new index is being built, or either of them has yet to begin."""
        return self._index_upkeep.is_working

    async def refresh(self) -> None:
        """Bring the catalog in memory up to date with what other processes have written to the database."""
        await self._refresh_once()
        while not self.is_up_to_date:
            await self._refresh_once()

    async def follow(self) -> None:
        """Refresh several times a second until cancelled; errors are logged and the refresh is tried again."""
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
        """Abandon a load, an index that is being built, and the verification of a snapshot."""
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
        """Apply at most one batch of the changes that other processes have written to the database."""
        async with self._database.reading() as connection:
            version = await change_counters.read_version(connection, change_counters.CATALOG)
            names_version = await change_counters.read_version(connection, change_counters.NAMES)
        self.records.forget_outdated_names(names_version)

        if version <= self.version:
            self.is_up_to_date = True
            return

        async with self._apply_lock:
            await self._apply_next_changes()

    async def _apply_next_changes(self) -> None:
        """Apply the next batch of changes, of which there may be none any more, while writers wait."""
        async with self._database.reading() as connection:
            batch = await self._catalog.apply_next_changes(connection)

            # No other task may run before this, which includes the closing of the connection: it would find the new
            # columns, but still the old records.
            self.records.forget_changed(batch.ids)

        self.is_up_to_date = batch.is_last
        CATALOG_RECORDS.set(self._catalog.columns.view.size)

    async def _wait_until_loaded(self) -> None:
        """Wait for a load that `open` has begun; if it fails, try again."""
        while self._load_task is not None:
            try:
                await self._load_task
                self._load_task = None
            except Exception as error:  # noqa: BLE001 - the process would wait for ever
                log.warning("catalog not loaded", problem=type(error).__name__)
                await asyncio.sleep(POLL_SECONDS)
                self._load_task = asyncio.ensure_future(self.load())

    async def _verify(self, snapshot: MappedSnapshot) -> None:
        """Verify a snapshot that is in use, and load the catalog from the database if it is damaged."""
        if await self._snapshots.verify(snapshot):
            return

        await self._index_upkeep.close()
        loaded = await load_catalog(self._database, self._snapshots, self._layout, LoadProgress())
        await self._catch_up_with(loaded.catalog)
        log.info("catalog loaded again", records=self.view.size)

    async def _use_snapshot(self, snapshot: MappedSnapshot) -> None:
        """Replace the catalog in memory by one over an index that another process has saved."""
        columns = await asyncio.to_thread(Catalog.from_index, snapshot.index, self._layout)
        await self._catch_up_with(VersionedCatalog(columns, snapshot.version))

    async def _catch_up_with(self, catalog: VersionedCatalog) -> None:
        """Apply to an older catalog all changes since, while writers wait, and replace the catalog in memory by it."""
        async with self._apply_lock:
            is_up_to_date = False
            while not is_up_to_date:
                async with self._database.reading() as connection:
                    batch = await catalog.apply_next_changes(connection)
                is_up_to_date = batch.is_last
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
        """Begin a transaction that changes the database, and then the catalog in memory, at the end of the block.

        If the block raises, neither of them changes. Writers of this process wait for each other, so that the catalog
        in memory changes in the same order as the database. With `even_if_disk_full`, the transaction may use the disk
        space that the database holds in reserve. The records of a bulk import (`is_bulk`) are not encoded for readers
        in advance, because few of them are read soon.

        Raises:
            CatalogLoading: the catalog is being loaded.
        """
        self.check_loaded()
        async with self._apply_lock:
            async with self._database.writing(even_if_disk_full=even_if_disk_full) as transaction:
                version = await change_counters.increment_version(transaction, change_counters.CATALOG)
                writer = CatalogWriter(transaction, version)
                yield writer

            # From here on the transaction is committed.
            changed_ids = [*(record.id for record in writer.upserts), *writer.deleted_ids]
            self.records.forget_changed(changed_ids)
            self._catalog.apply_own_write(writer.upserts, writer.deleted_ids, writer.version)
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

        The part leaves out the first `skip` records and has at most `limit` records, or all others if `limit` is None.
        It consists of positions in a state of the catalog, the view, which is returned with it. What is known less well
        than `assurance` demands counts as unknown.
        """
        view = self.view.at(assurance)
        is_short = _is_short(query, skip, limit)

        def rank_records() -> RankedWindow:
            """Rank the records of the view; this may run in a thread."""
            if limit is not None and not is_short:
                view.count(query)  # every response needs the number of matches, which the view keeps
            return view.rank(query, weights, skip=min(skip, view.size), limit=limit)

        ranked = await self._evaluate(view, rank_records, is_short=is_short)

        RANKING_COUNTER.labels(ranked.plan).inc()
        return view, ranked

    async def list_ids(
        self,
        query: Query,
        order: SortOrder,
        window: ListWindow = _WHOLE_LIST,
        assurance: Assurance = Assurance.DECLARED,
    ) -> DatasetIds:
        """Return the ids of the records that match a query, in order, and the number of all matches.

        `window` says which ids are returned. What is known less well than `assurance` demands counts as unknown.
        """
        view = self.view.at(assurance)

        def read_window() -> DatasetIds:
            """Read the window from the view; this may run in a thread."""
            return _read_window(view, query, order, window)

        # Sorting by anything else than the id may take long when it is first done.
        is_short = order.key == "id" and _is_short(query, window.skip, window.limit)
        return await self._evaluate(view, read_window, is_short=is_short)

    async def list_all_ids(self, query: Query, order: SortOrder, *, assurance: Assurance) -> Ints:
        """Return the ids of all records that match a query, in order, as an array of eight bytes per record.

        What is known less well than `assurance` demands counts as unknown.
        """
        view = self.view.at(assurance)

        def sort_records() -> Ints:
            """Sort the records of the view; this may run in a thread."""
            window = view.sort(query, order.key, descending=order.is_descending, skip=0, limit=None)
            return view.ids(window.positions)

        return await self._evaluate(view, sort_records, is_short=False)

    async def facets(self, query: Query, assurance: Assurance = Assurance.DECLARED) -> Facets:
        """Return the values, flags and ranges of the records that match a query, with their counts.

        What is known less well than `assurance` demands counts as unknown.
        """
        view = self.view.at(assurance)
        return await self._evaluate(view, lambda: view.facets(query), is_short=False)

    async def suggest(self, text: str, viewer: UUID | None, limit: int) -> list[Suggestion]:
        """Return names, domains and tasks that somebody who types a text may mean, of records that the viewer sees."""
        view = self.view
        return await self._evaluate(view, lambda: view.suggest(text, viewer, limit), is_short=False)

    async def _evaluate(self, view: View, evaluate: Callable[[], Result], *, is_short: bool) -> Result:
        """Call `evaluate`, in a thread if it may take long enough to delay other requests, and return its result.

        It is quick if the catalog is small, or if the result is short (`is_short`) and an index can find it.

        Raises:
            IndexBuilding: `evaluate` searches words that have not been indexed yet.
        """
        try:
            if view.size < THREAD_ROWS or (is_short and view.is_indexed):
                return evaluate()

            return await asyncio.to_thread(evaluate)
        except WordsNotIndexed as error:
            raise IndexBuilding(retry_after=WORDS_RETRY_SECONDS) from error


def _read_window(view: View, query: Query, order: SortOrder, window: ListWindow) -> DatasetIds:
    """Return a window of the records of a view that match, in some order."""
    key, descending = order.key, order.is_descending
    limit = None if window.limit is None else window.limit + 1  # one more tells whether others follow
    skip = min(window.skip, view.size)
    if window.after is None:
        matches = view.sort(query, key, descending=descending, skip=skip, limit=limit)
    else:
        matches = view.sort_window(query, key, ListWindow(skip, limit, window.after), descending=descending)

    positions = matches.positions[: window.limit]
    has_more = len(positions) < len(matches.positions)
    last_place = view.place(key, int(positions[-1])) if len(positions) and key != RELEVANCE else None
    return DatasetIds(view.ids(positions).tolist(), matches.total_count, has_more, last_place)


def _is_short(query: Query, skip: int, limit: int | None) -> bool:
    """Return whether an index finds a window of the matches at once: an early one, without a search in texts."""
    searches_texts = any(isinstance(predicate, FullText | Contains) for predicate in query)
    return limit is not None and skip + limit <= SHORT_WINDOW and not searches_texts
