"""The catalog in memory, kept up to date with the rows of the database.

Rows are the truth. Every write increments the version of the catalog in its own transaction. This process applies its
own writes to its columns before it answers, and polls several times a second for the writes of other processes.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, NamedTuple, TypeVar
from uuid import UUID

import structlog

from touchstone.core.errors import IndexBuilding, ServiceError
from touchstone.core.evidence import Assurance
from touchstone.core.metrics import CATALOG_RECORDS, RANKING_COUNTER
from touchstone.core.uninterrupted import run_uninterrupted
from touchstone.database import change_counters
from touchstone.database.engine import Database, Reader
from touchstone.ranking.catalog.catalog import Catalog, Layout
from touchstone.ranking.catalog.results import RankedWindow
from touchstone.ranking.catalog.suggestions import Suggestion
from touchstone.ranking.catalog.view import View
from touchstone.ranking.columns.segment import CatalogRow
from touchstone.ranking.index.snapshot_file import SnapshotError, load_index, save_index
from touchstone.ranking.index.word_index import WordsNotIndexed
from touchstone.ranking.query.facets import Facets
from touchstone.ranking.query.predicates import FullText, Query
from touchstone.services.selection.byte_budget import ByteBudget
from touchstone.services.selection.catalog_writer import CatalogWriter
from touchstone.services.selection.datasets import store
from touchstone.services.selection.datasets.encoded_records import (
    EncodedRecord,
    RecordCache,
    encode_records,
    encode_records_without_metadata,
    to_catalog_row,
)
from touchstone.services.selection.datasets.store import DatasetRecord

# The number of rows that are read at a time when the whole catalog is loaded.
LOAD_CHUNK: Final = 5000
POLL_SECONDS: Final = 0.3
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
    """The ids of a window of a sorted list, and the number of all records that match."""

    ids: list[int]
    total_count: int


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
        self.cache = RecordCache()
        self._database = database
        self._layout = layout
        self._snapshot_path = snapshot_path
        self._columns = Catalog(layout)

        # All versions up to this one have been applied.
        self._applied_version = 0
        # The version of the records behind the index.
        self._index_version = 0
        # Versions of our own that were applied while an older one, of another process, was still missing.
        self._applied_ahead: set[int] = set()
        # Changes are applied one after the other, in the order of their versions.
        self._apply_lock = asyncio.Lock()
        # The version of the names that users have chosen, which are part of the cached records.
        self._names_version = 0
        # The number of times that changes were applied.
        self._generation = 0
        self._rebuild_task: asyncio.Task[None] | None = None

    @property
    def view(self) -> View:
        """The current state of the columns; a view never changes."""
        return self._columns.view

    @property
    def version(self) -> int:
        """The version of the catalog that the columns are at; it counts everybody's writes."""
        return self._applied_version

    # Starting and following

    async def load(self) -> None:
        """Fill the catalog in memory at the start of the process.

        If the last run has saved a snapshot, only the rows that have changed since are read from the database.
        """
        async with self._apply_lock, self._database.reading() as connection:
            is_loaded = await self._load_snapshot(connection)
            if not is_loaded:
                await self._load_all_rows(connection)
                self._index_version = self._applied_version
                await self._save_snapshot()

        CATALOG_RECORDS.set(self.view.size)

    async def refresh(self) -> None:
        """Bring the catalog in memory up to date with what other processes have written to the database."""
        async with self._database.reading() as connection:
            version = await change_counters.read_version(connection, change_counters.CATALOG)
            names_version = await change_counters.read_version(connection, change_counters.NAMES)
        self._forget_outdated_names(names_version)
        if version <= self._applied_version:
            return

        # The version is read again, because a write of this process may have been applied before the lock was free.
        async with self._apply_lock, self._database.reading() as connection:
            version = await change_counters.read_version(connection, change_counters.CATALOG)
            changed_records = await store.datasets_changed_since(connection, self._applied_version)
            deleted_ids = await store.datasets_deleted_since(connection, self._applied_version)
            self._apply(changed_records, deleted_ids)
            self._advance_to(version)

    async def follow(self) -> None:
        """Refresh several times a second until cancelled; errors are logged and the refresh is tried again."""
        while True:
            await asyncio.sleep(POLL_SECONDS)
            try:
                await run_uninterrupted(self.refresh())
                self._rebuild_if_due()
            except ServiceError:
                continue  # The database has logged it.
            except Exception as error:  # noqa: BLE001 - a catalog that stopped following would stay outdated
                log.warning("catalog not refreshed", problem=type(error).__name__)

    async def close(self) -> None:
        """Abandon an index that is being built."""
        if self._rebuild_task is not None:
            self._rebuild_task.cancel()
            await asyncio.wait([self._rebuild_task])

    # Writing

    @asynccontextmanager
    async def writing(self, *, even_if_disk_full: bool = False) -> AsyncIterator[CatalogWriter]:
        """Begin a transaction that changes the database, and then the catalog in memory, at the end of the block.

        If the block raises, neither of them changes. Writers of this process wait for each other, so that the catalog
        in memory changes in the same order as the database. With `even_if_disk_full`, the transaction may use the disk
        space that the database holds in reserve.
        """
        async with self._apply_lock:
            async with self._database.writing(even_if_disk_full=even_if_disk_full) as transaction:
                version = await change_counters.increment_version(transaction, change_counters.CATALOG)
                writer = CatalogWriter(transaction, version)
                yield writer

            # From here on the transaction is committed.
            self._apply(writer.upserts, writer.deleted_ids)
            self.cache.put(encode_records(writer.upserts))
            self._applied_ahead.add(writer.version)
            self._advance_to(self._applied_version)

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

        def rank_records() -> RankedWindow:
            """Rank the records of the view; this may run in a thread."""
            return view.rank(query, weights, skip=min(skip, view.size), limit=limit)

        is_short = _is_short(query, skip, limit)
        ranked = await self._evaluate(view, rank_records, is_short=is_short)

        RANKING_COUNTER.labels(ranked.plan).inc()
        return view, ranked

    async def list_ids(
        self,
        query: Query,
        order: SortOrder,
        *,
        skip: int = 0,
        limit: int | None = None,
        assurance: Assurance = Assurance.DECLARED,
    ) -> DatasetIds:
        """Return the ids of the records that match a query, in order, and the number of all matches.

        The first `skip` ids are left out. At most `limit` ids are returned, or all others if `limit` is None. What is
        known less well than `assurance` demands counts as unknown.
        """
        view = self.view.at(assurance)

        def sort_records() -> DatasetIds:
            """Sort the records of the view; this may run in a thread."""
            window = view.sort(query, order.key, descending=order.is_descending, skip=min(skip, view.size), limit=limit)
            return DatasetIds(view.ids(window.positions).tolist(), window.total_count)

        is_short = _is_short(query, skip, limit)
        return await self._evaluate(view, sort_records, is_short=is_short)

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

    # Records

    async def encoded_records(self, ids: Sequence[int], viewer: UUID | None) -> list[EncodedRecord]:
        """Return the records with these ids that the viewer may see, in the order of the ids.

        Records come from the cache or else from the database. A cached record that the viewer may not see is queried
        all the same, so that the response time does not reveal that it exists.
        """
        records: dict[int, EncodedRecord] = {}
        for dataset_id in ids:
            record = self.cache.get(dataset_id)
            if record is not None and record.is_visible_to(viewer):
                records[dataset_id] = record

        if len(records) < len(ids):
            missing_ids = [dataset_id for dataset_id in ids if dataset_id not in records]
            records |= await self._fetch_records(missing_ids, viewer)

        return [records[dataset_id] for dataset_id in ids if dataset_id in records]

    async def record_bodies(self, ids: Sequence[int], viewer: UUID | None, budget: ByteBudget) -> list[bytes]:
        """Return the JSON of the records with these ids that the viewer may see, in the order of the ids.

        `budget` limits the bytes of the response. A record that does not fit into it is returned without its
        `metadata`, which is then not even read from the database.
        """
        content_sizes = await self._content_sizes(ids)
        complete_ids = [dataset_id for dataset_id in ids if budget.take(content_sizes.get(dataset_id, 0))]
        complete_records = await self.encoded_records(complete_ids, viewer)
        bodies = {record.id: record.body for record in complete_records}

        if len(complete_ids) < len(ids):
            reduced_ids = set(ids).difference(complete_ids)
            async with self._database.reading() as connection:
                records = await store.visible_datasets_without_metadata(connection, list(reduced_ids), viewer)
            bodies |= encode_records_without_metadata(records)

        return [bodies[dataset_id] for dataset_id in ids if dataset_id in bodies]

    async def stored_record(self, dataset_id: int, viewer: UUID | None) -> DatasetRecord | None:
        """Return a record from the database, or None if the viewer may see no such record."""
        async with self._database.reading() as connection:
            return await store.visible_dataset(connection, dataset_id, viewer)

    async def id_of_uuid(self, dataset_id: UUID, viewer: UUID | None) -> int | None:
        """Return the integer id that belongs to a UUID, or None if the viewer may see no such record."""
        async with self._database.reading() as connection:
            return await store.visible_dataset_id(connection, dataset_id, viewer)

    async def _content_sizes(self, ids: Sequence[int]) -> dict[int, int]:
        """Return the size in bytes of the content of each record, by id.

        Sizes come from the cache or else from the database. Records that do not exist are missing from the result.
        """
        sizes: dict[int, int] = {}
        for dataset_id in ids:
            record = self.cache.get(dataset_id)
            if record is not None:
                sizes[dataset_id] = record.content_bytes

        if len(sizes) < len(ids):
            missing_ids = [dataset_id for dataset_id in ids if dataset_id not in sizes]
            async with self._database.reading() as connection:
                sizes |= await store.content_sizes(connection, missing_ids)

        return sizes

    async def _fetch_records(self, ids: Sequence[int], viewer: UUID | None) -> dict[int, EncodedRecord]:
        """Read the records that the viewer may see from the database, cache them, and return them by id."""
        generation = self._generation
        async with self._database.reading() as connection:
            records = encode_records(await store.visible_datasets(connection, ids, viewer))

        # If a write was applied during the query, these records may be outdated, and must not be cached.
        if generation == self._generation:
            self.cache.put(records)

        return records

    # Applying changes

    def _apply(self, upserts: Sequence[DatasetRecord], deleted_ids: Sequence[int]) -> None:
        """Apply committed changes to the catalog in memory, and remove the changed records from the cache."""
        self._generation += 1
        self.cache.drop([*(record.id for record in upserts), *deleted_ids])
        self._columns.apply(upserts=[to_catalog_row(record) for record in upserts], deleted=deleted_ids)
        CATALOG_RECORDS.set(self.view.size)

    def _forget_outdated_names(self, names_version: int) -> None:
        """Empty the cache of records if a user has chosen another name, which the records show."""
        if names_version != self._names_version:
            self._names_version = names_version
            self._generation += 1
            self.cache.clear()

    def _advance_to(self, version: int) -> None:
        """Note that all changes up to a version of the catalog have been applied.

        Changes of this process itself may already have been applied beyond that version. If they follow it without a
        gap, they are included.
        """
        last_version = version
        while last_version + 1 in self._applied_ahead:
            last_version += 1

        self._applied_version = last_version
        self._applied_ahead = {ahead for ahead in self._applied_ahead if ahead > last_version}

    # The index and its snapshot

    async def _load_all_rows(self, connection: Reader) -> None:
        """Build the catalog in memory, and its index, from every row of the database.

        The version is read before the rows. A row that changes in between is then applied once more, and not missed.
        """
        self._applied_version = await change_counters.read_version(connection, change_counters.CATALOG)

        catalog_rows: list[CatalogRow] = []
        async for chunk in store.stream_datasets(connection, LOAD_CHUNK):
            catalog_rows += [to_catalog_row(record) for record in chunk]

        # The words of a large catalog are indexed in the background, because that takes longer than all the rest.
        defers_words = len(catalog_rows) >= self._layout.index_from
        self._columns = await asyncio.to_thread(Catalog.build, catalog_rows, self._layout, defers_words=defers_words)

    async def _load_snapshot(self, connection: Reader) -> bool:
        """Load the catalog from the snapshot of the last run and the rows that have changed since.

        Returns False, and leaves the catalog as it is, if there is no snapshot or if it was made of another database.
        """
        snapshot = await asyncio.to_thread(self._read_snapshot)
        current_version = await change_counters.read_version(connection, change_counters.CATALOG)
        if snapshot is None:
            return False

        # A snapshot that is newer than the database was made of another one.
        columns, snapshot_version = snapshot
        if snapshot_version > current_version:
            return False

        changed_records = await store.datasets_changed_since(connection, snapshot_version)
        deleted_ids = await store.datasets_deleted_since(connection, snapshot_version)
        columns.apply(upserts=[to_catalog_row(record) for record in changed_records], deleted=deleted_ids)

        # So was one that does not lead to the number of records in the database.
        record_count = await store.count_datasets(connection)
        if columns.view.size != record_count:
            return False

        self._columns = columns
        self._applied_version = current_version
        self._index_version = snapshot_version
        return True

    def _read_snapshot(self) -> tuple[Catalog, int] | None:
        """Return the catalog and its version from the snapshot file, or None if the file is missing or damaged."""
        if self._snapshot_path is None or not self._snapshot_path.exists():
            return None

        try:
            index, version = load_index(self._snapshot_path)
        except SnapshotError as error:
            log.warning("catalog snapshot refused", problem=str(error))
            return None

        return Catalog.from_index(index, self._layout), version

    async def _save_snapshot(self) -> None:
        """Save the index with the version of its records, so that the next start of the process is quick.

        The next start can do without the file, so a failure to write it is only logged.
        """
        index = self._columns.index
        if self._snapshot_path is None or index is None:
            return

        try:
            await asyncio.to_thread(save_index, self._snapshot_path, index, self._index_version)
        except OSError as error:
            log.warning("catalog snapshot not written", problem=type(error).__name__)

    def _rebuild_if_due(self) -> None:
        """Start to build a new index in the background, if the old one has too many changes beside it.

        Queries use the old index until the new one replaces it. If the last build has failed, its exception is raised.
        """
        if self._rebuild_task is not None and self._rebuild_task.done():
            finished_task = self._rebuild_task
            self._rebuild_task = None
            # This raises the exception of a build that has failed.
            finished_task.result()

        if self._rebuild_task is not None:
            return
        if self._columns.lacks_words:
            self._rebuild_task = asyncio.ensure_future(self._index_words())
        elif self._columns.is_rebuild_due:
            self._rebuild_task = asyncio.ensure_future(self._rebuild())

    async def _index_words(self) -> None:
        """Index the words of a large catalog in a thread, after which they can be searched, and save them."""
        indexing = self._columns.begin_word_indexing()
        await asyncio.to_thread(indexing.run)
        self._columns.adopt_words(indexing)
        log.info("words indexed", records=self.view.size)

        await self._save_snapshot()

    async def _rebuild(self) -> None:
        """Build a new index in a thread, replace the old one with it, and save it for the next start."""
        rebuild = self._columns.begin_rebuild(self._applied_version)
        await asyncio.to_thread(rebuild.run)
        self._columns.adopt_rebuild(rebuild)
        log.info("catalog indexed", records=self.view.size)

        self._index_version = rebuild.version
        await self._save_snapshot()


def _is_short(query: Query, skip: int, limit: int | None) -> bool:
    """Return whether an index finds a window of the matches at once: an early one, without a search by words."""
    searches_words = any(isinstance(predicate, FullText) for predicate in query)
    return limit is not None and skip + limit <= SHORT_WINDOW and not searches_words
