"""The catalog as it is answered from: columns in memory that follow the rows of the database.

Rows are the truth. Every write moves the catalog's version in its own transaction; this process applies its own
writes before it answers, and looks for those of others several times a second.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, TypeVar
from uuid import UUID

import structlog

from touchstone.core.errors import ServiceError
from touchstone.core.metrics import RECORDS
from touchstone.database import versions
from touchstone.database.engine import Database, Reader, Writer
from touchstone.ranking.catalog.catalog import Catalog, Layout
from touchstone.ranking.catalog.view import View
from touchstone.ranking.columns.segment import CatalogRow
from touchstone.ranking.index.snapshot_file import SnapshotError, load_index, save_index
from touchstone.services.selection import store
from touchstone.services.selection.datasets.records import Entry, RecordCache, encoded, encoded_without_metadata, row_of
from touchstone.services.selection.store import Found

LOAD_CHUNK: Final = 5000
POLL_SECONDS: Final = 0.3
PAGE_BYTES: Final = 4 * 1024 * 1024  # of the records in one answer; further ones come without their `metadata`
THREAD_ROWS: Final = 50_000  # from here on one evaluation takes long enough to be worth a thread

log = structlog.get_logger("touchstone.catalog")
T = TypeVar("T")


class PageRoom:
    """The bytes that the records of one answer may still take: the memory and the traffic of a page have a limit."""

    def __init__(self, limit: int = PAGE_BYTES) -> None:
        self._left = limit

    def takes(self, size: int) -> bool:
        """Take the room of one record, if there is that much left; whether there was."""
        fits = size <= self._left
        self._left -= size if fits else 0
        return fits


class Change:
    """One transaction on the catalog, and what it did."""

    def __init__(self, rows: Writer, version: int) -> None:
        self.rows = rows
        self.version = version
        self.upserts: list[Found] = []
        self.deleted: list[int] = []

    async def insert(self, values: Found) -> Found:
        """Put in a record."""
        found = await store.insert_dataset(self.rows, {**values, "changed_at_version": self.version})
        self.upserts.append(found)
        return found

    async def update(self, dataset_id: int, values: Found) -> Found:
        """Change a record."""
        found = await store.update_dataset(self.rows, dataset_id, {**values, "changed_at_version": self.version})
        self.upserts.append(found)
        return found

    async def delete(self, dataset_id: int) -> None:
        """Delete a record."""
        await store.delete_dataset(self.rows, dataset_id, self.version)
        self.deleted.append(dataset_id)


class LiveCatalog:
    """The columns of one process, kept up with the database."""

    def __init__(
        self,
        database: Database,
        layout: Layout = Layout(),  # noqa: B008 (a value, never changed)
        snapshot: Path | None = None,
    ) -> None:
        self._database = database
        self._layout = layout
        self._snapshot = snapshot  # the file that an index is kept in, to start from the next time
        self._columns = Catalog(layout)
        self.cache = RecordCache()
        self._seen = 0  # every version up to this one has been applied
        self._ahead: set[int] = set()  # own versions applied while an older one of somebody else's has not been
        self._reclustering: asyncio.Task[None] | None = None
        self._turn = asyncio.Lock()  # what is applied is applied in the order of its versions
        self._generation = 0

    @property
    def view(self) -> View:
        """The state of the catalog that reads are answered from."""
        return self._columns.view

    async def load(self) -> None:
        """Start from the snapshot of an index and the rows changed since, or else take in every row, in chunks."""
        async with self._turn, self._database.reading() as rows:
            if not await self._resume(rows):
                await self._load_all(rows)
                await self._keep_snapshot(self._seen)
        RECORDS.set(self.view.size)

    async def _load_all(self, rows: Reader) -> None:
        loaded: list[CatalogRow] = []
        # Read first: a row that changes while the rest is loading is applied again, never missed.
        self._seen = await versions.current(rows, versions.CATALOG)
        async for chunk in store.every_dataset(rows, LOAD_CHUNK):
            loaded += [row_of(found) for found in chunk]
        self._columns = await asyncio.to_thread(Catalog.build, loaded, self._layout)

    async def _resume(self, rows: Reader) -> bool:
        """Whether the snapshot could be taken up: not when it is damaged or does not fit this database."""
        opened = await asyncio.to_thread(self._opened)
        current = await versions.current(rows, versions.CATALOG)
        if opened is None or opened[1] > current:
            return False
        columns, version = opened
        changed, deleted = await store.datasets_since(rows, version), await store.deletions_since(rows, version)
        columns.apply(upserts=[row_of(found) for found in changed], deleted=deleted)
        if columns.view.size != await store.count_datasets(rows):
            return False
        self._columns, self._seen = columns, current
        return True

    def _opened(self) -> tuple[Catalog, int] | None:
        if self._snapshot is None or not self._snapshot.exists():
            return None
        try:
            index, version = load_index(self._snapshot)
        except SnapshotError as problem:
            log.warning("catalog snapshot refused", problem=str(problem))
            return None
        return Catalog.from_index(index, self._layout), version

    async def _keep_snapshot(self, version: int) -> None:
        index = self._columns.index
        if self._snapshot is None or index is None:
            return
        try:
            await asyncio.to_thread(save_index, self._snapshot, index, version)
        except OSError as problem:
            log.warning("catalog snapshot not written", problem=type(problem).__name__)

    @asynccontextmanager
    async def changing(self, *, essential: bool = False) -> AsyncIterator[Change]:
        """A transaction on the catalog: committed and applied to the columns when the block ends.

        `essential`: as of `Database.writing`.
        """
        async with self._turn:
            async with self._database.writing(essential=essential) as rows:
                change = Change(rows, await versions.bump(rows, versions.CATALOG))
                yield change
            self._apply(change.upserts, change.deleted)
            self.cache.put(encoded(change.upserts))
            self._ahead.add(change.version)
            self._advance(self._seen)

    async def refresh(self) -> None:
        """Apply what other processes have written since."""
        if await self._version() <= self._seen:
            return
        async with self._turn, self._database.reading() as rows:
            version = await versions.current(rows, versions.CATALOG)
            changed = await store.datasets_since(rows, self._seen)
            deleted = await store.deletions_since(rows, self._seen)
            self._apply(changed, deleted)
            self._advance(version)

    async def follow(self) -> None:
        """Refresh several times a second, for ever; what goes wrong is logged and tried again."""
        while True:
            await asyncio.sleep(POLL_SECONDS)
            try:
                await self.refresh()
                self._keep_clustered()
            except ServiceError:
                continue  # the database has logged it
            except Exception as problem:  # noqa: BLE001 - a catalog that stopped following would be wrong for ever
                log.warning("catalog not refreshed", problem=type(problem).__name__)

    async def close(self) -> None:
        """Give up an index that is being made."""
        if self._reclustering is not None:
            self._reclustering.cancel()
            await asyncio.wait([self._reclustering])

    def _keep_clustered(self) -> None:
        """Begin a new index when one pays; the old one answers until the new one takes its place."""
        if self._reclustering is not None and self._reclustering.done():
            finished, self._reclustering = self._reclustering, None
            finished.result()
        if self._columns.is_rebuild_due and self._reclustering is None:
            self._reclustering = asyncio.ensure_future(self._recluster())

    async def _recluster(self) -> None:
        work = self._columns.begin_rebuild(self._seen)
        await asyncio.to_thread(work.run)
        self._columns.adopt_rebuild(work)
        log.info("catalog indexed", records=self.view.size)
        await self._keep_snapshot(work.version)

    async def ask(self, question: Callable[[View], T], *, is_short: bool = False) -> T:
        """The answer of the current view, in a thread when it may take long.

        `is_short`: a window of a few records, which an index answers sooner than a thread begins.
        """
        view = self.view
        at_once = view.size < THREAD_ROWS or (is_short and view.is_indexed)
        return question(view) if at_once else await asyncio.to_thread(question, view)

    async def entries(self, ids: Sequence[int], viewer: UUID | None) -> list[Entry]:
        """The encoded records with these ids that still exist and that the viewer may see, in their order.

        A cached record that the viewer may not see is treated as if it were not cached: whether an id is missing or
        private to somebody else, the answer takes one query that returns no row.
        """
        found = {id_: entry for id_ in ids if (entry := self.cache.get(id_)) and entry.visible_to(viewer)}
        if len(found) < len(ids):
            found |= await self._fetched([id_ for id_ in ids if id_ not in found], viewer)
        return [entry for id_ in ids if (entry := found.get(id_))]

    async def bodies(self, ids: Sequence[int], viewer: UUID | None, room: PageRoom) -> list[bytes]:
        """Return the JSON of the records with these ids that the viewer may see, in their order.

        Where the page has no more room for a record, its `metadata` is left out, and not even read.
        """
        sizes = await self._sizes(ids)
        whole = [id_ for id_ in ids if room.takes(sizes.get(id_, 0))]
        found = {entry.id: entry.body for entry in await self.entries(whole, viewer)}
        if len(whole) < len(ids):
            kept = set(whole)
            async with self._database.reading() as rows:
                rest = await store.visible_without_metadata(rows, [id_ for id_ in ids if id_ not in kept], viewer)
            found |= encoded_without_metadata(rest)
        return [found[id_] for id_ in ids if id_ in found]

    async def row(self, dataset_id: int, viewer: UUID | None) -> Found | None:
        """One record as it is stored, or None if the viewer may see no such record."""
        async with self._database.reading() as rows:
            return await store.visible_dataset(rows, dataset_id, viewer)

    async def id_of(self, dataset_id: UUID, viewer: UUID | None) -> int | None:
        """The integer id of the record with a UUID, or None if the viewer may see no such record."""
        async with self._database.reading() as rows:
            return await store.visible_dataset_id(rows, dataset_id, viewer)

    async def _sizes(self, ids: Sequence[int]) -> dict[int, int]:
        """Return how many bytes the content of each of these records takes."""
        sizes = {id_: entry.content_bytes for id_ in ids if (entry := self.cache.get(id_))}
        if len(sizes) < len(ids):
            async with self._database.reading() as rows:
                sizes |= await store.dataset_sizes(rows, [id_ for id_ in ids if id_ not in sizes])
        return sizes

    async def _fetched(self, ids: Sequence[int], viewer: UUID | None) -> dict[int, Entry]:
        generation = self._generation
        async with self._database.reading() as rows:
            fetched = encoded(await store.visible_datasets(rows, ids, viewer))
        # A row read before a write that has been applied by now is old already: it must not stay.
        if generation == self._generation:
            self.cache.put(fetched)
        return fetched

    async def _version(self) -> int:
        async with self._database.reading() as rows:
            return await versions.current(rows, versions.CATALOG)

    def _apply(self, upserts: Sequence[Found], deleted: Sequence[int]) -> None:
        self._generation += 1
        self.cache.drop([*(found["id"] for found in upserts), *deleted])
        self._columns.apply(upserts=[row_of(found) for found in upserts], deleted=deleted)
        RECORDS.set(self.view.size)

    def _advance(self, version: int) -> None:
        while version + 1 in self._ahead:
            version += 1
        self._seen = version
        self._ahead = {ahead for ahead in self._ahead if ahead > version}
