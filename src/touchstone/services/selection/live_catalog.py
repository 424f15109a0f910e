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

from touchstone.core.errors import ServiceError
from touchstone.core.metrics import CATALOG_RECORDS, RANKING_COUNTER
from touchstone.database import versions
from touchstone.database.engine import Database, Reader, Writer
from touchstone.ranking.catalog.catalog import Catalog, Layout
from touchstone.ranking.catalog.results import RankedWindow
from touchstone.ranking.catalog.view import View
from touchstone.ranking.columns.segment import CatalogRow
from touchstone.ranking.index.snapshot_file import SnapshotError, load_index, save_index
from touchstone.ranking.query.facets import Facets
from touchstone.ranking.query.predicates import Query
from touchstone.services.selection.datasets import store
from touchstone.services.selection.datasets.encoded_records import (
    EncodedRecord,
    RecordCache,
    encode_records,
    encode_records_without_metadata,
    to_catalog_row,
)
from touchstone.services.selection.datasets.store import DatasetDraft, DatasetRecord

LOAD_CHUNK: Final = 5000
POLL_SECONDS: Final = 0.3
# The records of one answer take at most so many bytes; further ones come without their `metadata`.
PAGE_BYTES: Final = 4 * 1024 * 1024
# From this many records on, evaluating a query takes long enough to be worth a thread.
THREAD_ROWS: Final = 50_000
# A window that ends before this place is found through an index sooner than a thread starts.
SHORT_WINDOW: Final = 1000

log = structlog.get_logger("touchstone.catalog")
T = TypeVar("T")


class SortOrder(NamedTuple):
    """The key by which a list is sorted, and its direction."""

    key: str
    is_descending: bool = False


class DatasetIds(NamedTuple):
    """The ids of a window of a sorted list, and the number of all records that match."""

    ids: list[int]
    total_count: int


class ByteBudget:
    """The bytes that the records of one answer may still take."""

    def __init__(self, limit: int = PAGE_BYTES) -> None:
        self._remaining = limit

    def take(self, size: int) -> bool:
        """Reserve `size` bytes and return True, or return False if fewer remain."""
        if size > self._remaining:
            return False

        self._remaining -= size
        return True


class CatalogWriter:
    """A transaction on the catalog that records its changes, so that they can be applied to the columns."""

    def __init__(self, rows: Writer, version: int) -> None:
        self.rows = rows
        self.version = version
        self.upserts: list[DatasetRecord] = []
        self.deleted_ids: list[int] = []

    async def insert(self, draft: DatasetDraft) -> DatasetRecord:
        """Insert a record and return it as stored."""
        record = await store.insert_dataset(self.rows, draft, self.version)
        self.upserts.append(record)
        return record

    async def update(self, dataset_id: int, draft: DatasetDraft) -> DatasetRecord:
        """Replace the content of a record and return it as stored."""
        record = await store.update_dataset(self.rows, dataset_id, draft, self.version)
        self.upserts.append(record)
        return record

    async def delete(self, dataset_id: int) -> None:
        """Delete a record."""
        await store.delete_dataset(self.rows, dataset_id, self.version)
        self.deleted_ids.append(dataset_id)


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
        self.cache = RecordCache()
        self._database = database
        self._layout = layout
        self._snapshot_path = snapshot_path
        self._columns = Catalog(layout)
        # All versions up to this one have been applied.
        self._applied_version = 0
        # Versions of our own that were applied while an older one, of another process, was still missing.
        self._applied_ahead: set[int] = set()
        # Changes are applied one after the other, in the order of their versions.
        self._apply_lock = asyncio.Lock()
        self._generation = 0
        self._rebuild_task: asyncio.Task[None] | None = None

    @property
    def view(self) -> View:
        """The current state of the columns; a view never changes."""
        return self._columns.view

    # Starting and following

    async def load(self) -> None:
        """Load the snapshot and the rows that changed since, or else all rows."""
        async with self._apply_lock, self._database.reading() as rows:
            if not await self._load_snapshot(rows):
                await self._load_all_rows(rows)
                await self._save_snapshot(self._applied_version)

        CATALOG_RECORDS.set(self.view.size)

    async def refresh(self) -> None:
        """Apply the writes of other processes since the last refresh."""
        async with self._database.reading() as rows:
            version = await versions.read_version(rows, versions.CATALOG)
        if version <= self._applied_version:
            return

        async with self._apply_lock, self._database.reading() as rows:
            version = await versions.read_version(rows, versions.CATALOG)
            changed = await store.datasets_changed_since(rows, self._applied_version)
            deleted_ids = await store.datasets_deleted_since(rows, self._applied_version)
            self._apply(changed, deleted_ids)
            self._advance_to(version)

    async def follow(self) -> None:
        """Refresh several times a second until cancelled; errors are logged and the refresh is tried again."""
        while True:
            await asyncio.sleep(POLL_SECONDS)
            try:
                await self.refresh()
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
    async def writing(self, *, essential: bool = False) -> AsyncIterator[CatalogWriter]:
        """Open a transaction that is committed and applied to the columns when the block ends.

        `essential` has the meaning that it has for `Database.writing`.
        """
        async with self._apply_lock:
            async with self._database.writing(essential=essential) as rows:
                writer = CatalogWriter(rows, await versions.increment_version(rows, versions.CATALOG))
                yield writer

            self._apply(writer.upserts, writer.deleted_ids)
            self.cache.put(encode_records(writer.upserts))
            self._applied_ahead.add(writer.version)
            self._advance_to(self._applied_version)

    # Queries over the columns

    async def rank(
        self, query: Query, weights: Mapping[str, float], *, skip: int, limit: int | None
    ) -> tuple[View, RankedWindow]:
        """Rank the records that match and return the window with the view that its positions refer to."""
        view = self.view
        is_short = limit is not None and skip + limit <= SHORT_WINDOW

        ranked = await self._evaluate(
            view, lambda: view.rank(query, weights, skip=min(skip, view.size), limit=limit), is_short=is_short
        )
        RANKING_COUNTER.labels(ranked.plan).inc()

        return view, ranked

    async def list_ids(self, query: Query, order: SortOrder, *, skip: int = 0, limit: int | None = None) -> DatasetIds:
        """Return the ids of a window of the records that match, in order, and the number of all matches."""
        view = self.view

        def ordered_ids() -> DatasetIds:
            window = view.sort(query, order.key, descending=order.is_descending, skip=min(skip, view.size), limit=limit)
            return DatasetIds(view.ids(window.positions).tolist(), window.total_count)

        return await self._evaluate(view, ordered_ids, is_short=limit is not None and skip + limit <= SHORT_WINDOW)

    async def facets(self, query: Query) -> Facets:
        """Return the values, flags and ranges of the records that match."""
        view = self.view
        return await self._evaluate(view, lambda: view.facets(query), is_short=False)

    async def _evaluate(self, view: View, evaluate: Callable[[], T], *, is_short: bool) -> T:
        """Call `evaluate` at once if it takes little time, else in a thread."""
        if view.size < THREAD_ROWS or (is_short and view.is_indexed):
            return evaluate()

        return await asyncio.to_thread(evaluate)

    # Records

    async def encoded_records(self, ids: Sequence[int], viewer: UUID | None) -> list[EncodedRecord]:
        """Return those of the records that exist and that the viewer may see, in the order of their ids given.

        A cached record that the viewer may not see is looked up again as if it were not cached: for a missing record
        and for somebody else's private one, the answer takes the same query, which returns no row.
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
        """Return the JSON of those of the records that the viewer may see, in the order of the ids given.

        The `metadata` of a record that exceeds the budget is left out, and not even read.
        """
        sizes = await self._content_sizes(ids)
        whole_ids = [dataset_id for dataset_id in ids if budget.take(sizes.get(dataset_id, 0))]
        bodies = {record.id: record.body for record in await self.encoded_records(whole_ids, viewer)}

        if len(whole_ids) < len(ids):
            reduced_ids = set(ids).difference(whole_ids)
            async with self._database.reading() as rows:
                records = await store.visible_datasets_without_metadata(rows, list(reduced_ids), viewer)
            bodies |= encode_records_without_metadata(records)

        return [bodies[dataset_id] for dataset_id in ids if dataset_id in bodies]

    async def stored_record(self, dataset_id: int, viewer: UUID | None) -> DatasetRecord | None:
        """Return a record from the database, or None if the viewer may see no such record."""
        async with self._database.reading() as rows:
            return await store.visible_dataset(rows, dataset_id, viewer)

    async def id_of_uuid(self, dataset_id: UUID, viewer: UUID | None) -> int | None:
        """Return the integer id that belongs to a UUID, or None if the viewer may see no such record."""
        async with self._database.reading() as rows:
            return await store.visible_dataset_id(rows, dataset_id, viewer)

    async def _content_sizes(self, ids: Sequence[int]) -> dict[int, int]:
        """Return the content sizes in bytes, from the cache where possible."""
        sizes: dict[int, int] = {}
        for dataset_id in ids:
            record = self.cache.get(dataset_id)
            if record is not None:
                sizes[dataset_id] = record.content_bytes

        if len(sizes) < len(ids):
            async with self._database.reading() as rows:
                sizes |= await store.content_sizes(rows, [id_ for id_ in ids if id_ not in sizes])

        return sizes

    async def _fetch_records(self, ids: Sequence[int], viewer: UUID | None) -> dict[int, EncodedRecord]:
        """Read records from the database, encode and cache them."""
        generation = self._generation
        async with self._database.reading() as rows:
            records = encode_records(await store.visible_datasets(rows, ids, viewer))

        # A write that was applied in the meantime may have changed these rows, so they must not be cached.
        if generation == self._generation:
            self.cache.put(records)

        return records

    # Applying changes

    def _apply(self, upserts: Sequence[DatasetRecord], deleted_ids: Sequence[int]) -> None:
        """Apply changes to the columns and drop the records concerned from the cache."""
        self._generation += 1
        self.cache.drop([*(record.id for record in upserts), *deleted_ids])
        self._columns.apply(upserts=[to_catalog_row(record) for record in upserts], deleted=deleted_ids)
        CATALOG_RECORDS.set(self.view.size)

    def _advance_to(self, version: int) -> None:
        """Mark a version as applied, together with those of our own that follow it without a gap."""
        while version + 1 in self._applied_ahead:
            version += 1

        self._applied_version = version
        self._applied_ahead = {ahead for ahead in self._applied_ahead if ahead > version}

    # The index and its snapshot

    async def _load_all_rows(self, rows: Reader) -> None:
        # The version is read first: a row that changes during loading is then applied again instead of missed.
        self._applied_version = await versions.read_version(rows, versions.CATALOG)

        catalog_rows: list[CatalogRow] = []
        async for chunk in store.stream_datasets(rows, LOAD_CHUNK):
            catalog_rows += [to_catalog_row(record) for record in chunk]

        self._columns = await asyncio.to_thread(Catalog.build, catalog_rows, self._layout)

    async def _load_snapshot(self, rows: Reader) -> bool:
        """Load the snapshot and return True; return False if there is none, or it does not fit this database."""
        snapshot = await asyncio.to_thread(self._read_snapshot)
        current_version = await versions.read_version(rows, versions.CATALOG)
        if snapshot is None:
            return False

        columns, snapshot_version = snapshot
        if snapshot_version > current_version:
            return False

        changed = await store.datasets_changed_since(rows, snapshot_version)
        deleted_ids = await store.datasets_deleted_since(rows, snapshot_version)
        columns.apply(upserts=[to_catalog_row(record) for record in changed], deleted=deleted_ids)
        if columns.view.size != await store.count_datasets(rows):
            return False

        self._columns, self._applied_version = columns, current_version
        return True

    def _read_snapshot(self) -> tuple[Catalog, int] | None:
        """Return the catalog in the snapshot and its version, or None if there is none that can be read."""
        if self._snapshot_path is None or not self._snapshot_path.exists():
            return None

        try:
            index, version = load_index(self._snapshot_path)
        except SnapshotError as error:
            log.warning("catalog snapshot refused", problem=str(error))
            return None

        return Catalog.from_index(index, self._layout), version

    async def _save_snapshot(self, version: int) -> None:
        index = self._columns.index
        if self._snapshot_path is None or index is None:
            return

        try:
            await asyncio.to_thread(save_index, self._snapshot_path, index, version)
        except OSError as error:
            log.warning("catalog snapshot not written", problem=type(error).__name__)

    def _rebuild_if_due(self) -> None:
        """Start building a new index if it pays; the old one answers until the new one replaces it."""
        if self._rebuild_task is not None and self._rebuild_task.done():
            finished, self._rebuild_task = self._rebuild_task, None
            finished.result()  # raises what the task has raised

        if self._columns.is_rebuild_due and self._rebuild_task is None:
            self._rebuild_task = asyncio.ensure_future(self._rebuild())

    async def _rebuild(self) -> None:
        rebuild = self._columns.begin_rebuild(self._applied_version)
        await asyncio.to_thread(rebuild.run)
        self._columns.adopt_rebuild(rebuild)
        log.info("catalog indexed", records=self.view.size)

        await self._save_snapshot(rebuild.version)
