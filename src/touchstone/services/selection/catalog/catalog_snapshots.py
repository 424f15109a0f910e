"""The snapshot file, which contains the index of the catalog so that the next start is fast.

The digest of each snapshot is registered in the database. A process rejects files that are not registered, because they
belong to another database, or to a state of this database that was replaced when a backup was restored.
"""

import asyncio
import fcntl
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

import structlog

from touchstone.core.detached_threads import run_detached
from touchstone.core.errors import ServiceError
from touchstone.database.engine import Database
from touchstone.ranking.index.catalog_index import CatalogIndex
from touchstone.ranking.index.snapshot_file import MappedSnapshot, SnapshotError, map_snapshot
from touchstone.ranking.index.snapshot_writer import save_index
from touchstone.services.selection.catalog.snapshot_store import is_registered, register_snapshot
from touchstone.services.selection.catalog.versioned_catalog import VersionedCatalog

LOCK_POLL_SECONDS: Final = 0.1
log = structlog.get_logger("touchstone.catalog")


class CatalogSnapshots:
    """The snapshot file of a catalog. If `path` is None, nothing is saved."""

    def __init__(self, database: Database, path: Path | None) -> None:
        self._database = database
        self.path = path

    @property
    def folder(self) -> Path | None:
        """The folder of the file, or None if nothing is saved."""
        return self.path.parent if self.path else None

    async def open(self) -> MappedSnapshot | None:
        """Map the snapshot into memory, or return None if there is no snapshot of this database.

        The caller may use the snapshot immediately, but must verify it in the background. If the last process ended
        before its verification was complete, perhaps because the file is damaged, this method verifies the snapshot
        first.
        """
        snapshot = await self._map()
        if self.path is None or snapshot is None:
            return None

        marker = _unverified_marker(self.path)
        if marker.exists() and not await self.verify(snapshot):
            return None

        with suppress(OSError):  # The folder may be read-only.
            marker.touch()
        return snapshot

    async def open_newer(self, catalog: VersionedCatalog) -> MappedSnapshot | None:
        """Map the snapshot of another process, or return None if it is not better than the index of `catalog`.

        A snapshot is better if its records are newer, or if it contains the word index that the catalog lacks. It was
        written while this process was running, so it needs no verification.
        """
        snapshot = await self._map()
        if snapshot is None:
            return None
        if snapshot.version > catalog.index_version:
            return snapshot

        has_same_records = snapshot.version == catalog.index_version
        has_words = snapshot.index.columns.word_index is not None
        adds_words = has_words and catalog.columns.lacks_text_index
        return snapshot if has_same_records and adds_words else None

    async def _map(self) -> MappedSnapshot | None:
        """Map the file into memory, or return None if it is missing, incomplete or not registered."""
        if self.path is None or not self.path.exists():
            return None

        try:
            snapshot = await asyncio.to_thread(map_snapshot, self.path)
        except SnapshotError as error:
            log.warning("catalog snapshot refused", problem=str(error))
            return None

        async with self._database.reading() as connection:
            if await is_registered(connection, snapshot.digest):
                return snapshot
        log.warning("catalog snapshot refused", problem="it is not of this database")
        return None

    async def verify(self, snapshot: MappedSnapshot) -> bool:
        """Read the whole snapshot to find damage, and remove a damaged file. Return True if the snapshot is intact."""
        assert self.path is not None, "a mapped snapshot has a file"
        try:
            await run_detached(snapshot.verify)
        except SnapshotError as error:
            log.error("catalog snapshot damaged", problem=str(error))
            _remove(self.path)
            return False
        finally:
            self.abandon_verification()

        return True

    def abandon_verification(self) -> None:
        """Remove the marker that makes the next process verify the snapshot before using it."""
        if self.path is not None:
            _remove(_unverified_marker(self.path))

    async def save(self, index: CatalogIndex, version: int) -> CatalogIndex:
        """Save an index with the version of its records, and return the index as mapped from the file.

        If the file cannot be written, log a warning and return `index`. The next start then reads all rows.
        """
        if self.path is None:
            return index

        try:
            await run_detached(save_index, self.path, index, version)
            snapshot = await self.register_file(self.path)
        except (OSError, SnapshotError, ServiceError) as error:
            log.warning("catalog snapshot not written", problem=type(error).__name__)
            return index

        return snapshot.index

    async def register_written_file(self) -> None:
        """Register a snapshot file written by this process, or log a warning if that fails."""
        assert self.path is not None, "a written snapshot has a file"
        try:
            await self.register_file(self.path)
        except (SnapshotError, ServiceError) as error:
            log.warning("catalog snapshot not listed", problem=type(error).__name__)

    async def register_file(self, path: Path) -> MappedSnapshot:
        """Register a snapshot file in the database, and map it into memory.

        Raises:
            SnapshotError: the file cannot be mapped.
            ServiceError: the database cannot be written.
        """
        snapshot = await asyncio.to_thread(map_snapshot, path)
        async with self._database.writing() as transaction:
            await register_snapshot(transaction, snapshot.digest, snapshot.version)
        return snapshot

    @asynccontextmanager
    async def build_lock(self) -> AsyncIterator[None]:
        """Hold a lock during the block, so that only one process at a time builds an index for this file."""
        with ExitStack() as stack:
            lock_file = self._open_lock_file()
            if lock_file is not None:
                stack.enter_context(lock_file)  # Closing the file releases the lock.
                await _lock(lock_file)
            yield

    def _open_lock_file(self) -> BinaryIO | None:
        """Open the lock file, or return None if it cannot be written."""
        if self.path is None:
            return None
        try:
            return self.path.with_suffix(".lock").open("wb")
        except OSError:
            return None


def _unverified_marker(snapshot_path: Path) -> Path:
    """Return the path of the marker that exists while a process uses an unverified snapshot."""
    return snapshot_path.with_suffix(".unverified")


def _remove(path: Path) -> None:
    """Remove a file, unless it is missing or the folder is read-only."""
    with suppress(OSError):
        path.unlink(missing_ok=True)


async def _lock(lock_file: BinaryIO) -> None:
    """Wait until no other process holds the lock on a file, and acquire it until the file is closed."""
    while True:
        try:
            fcntl.flock(lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            await asyncio.sleep(LOCK_POLL_SECONDS)
