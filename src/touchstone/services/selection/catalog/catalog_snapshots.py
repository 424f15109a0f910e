"""The snapshot file, in which the index of the catalog is saved so that the next start is quick.

The digest of each snapshot is stored in the database. A process refuses a file that is not listed there, because it
belongs to another database, or to a state of this one that was replaced by a backup.
"""

import asyncio
import fcntl
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

import structlog

from touchstone.core.errors import ServiceError
from touchstone.database.engine import Database
from touchstone.ranking.index.catalog_index import CatalogIndex
from touchstone.ranking.index.snapshot_file import MappedSnapshot, SnapshotError, map_snapshot
from touchstone.ranking.index.snapshot_writer import save_index
from touchstone.services.selection.catalog.snapshot_store import is_listed, list_snapshot
from touchstone.services.selection.catalog.versioned_catalog import VersionedCatalog

LOCK_POLL_SECONDS: Final = 0.1
log = structlog.get_logger("touchstone.catalog")


class CatalogSnapshots:
    """The file in which the index of a catalog is saved; without a path, nothing is saved."""

    def __init__(self, database: Database, path: Path | None) -> None:
        self._database = database
        self.path = path

    @property
    def folder(self) -> Path | None:
        """The folder of the file."""
        return self.path.parent if self.path else None

    async def open(self) -> MappedSnapshot | None:
        """Map the snapshot into memory, or return None if there is none of this database.

        The caller may use the snapshot at once, and has to verify it meanwhile. If the last process ended before it had
        done so, perhaps because the file is damaged, this method verifies the snapshot first.
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
        """Map the snapshot of another process if it has newer records than a catalog's index, or adds the word index.

        Return None otherwise. As the file was written while this process ran, it needs no verification.
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
        """Map the file into memory, or return None if it is missing, incomplete or not of this database."""
        if self.path is None or not self.path.exists():
            return None

        try:
            snapshot = await asyncio.to_thread(map_snapshot, self.path)
        except SnapshotError as error:
            log.warning("catalog snapshot refused", problem=str(error))
            return None

        async with self._database.reading() as connection:
            if await is_listed(connection, snapshot.digest):
                return snapshot
        log.warning("catalog snapshot refused", problem="it is not of this database")
        return None

    async def verify(self, snapshot: MappedSnapshot) -> bool:
        """Read the whole snapshot, and return whether it is intact; a damaged file is removed."""
        assert self.path is not None
        try:
            await asyncio.to_thread(snapshot.verify)
        except SnapshotError as error:
            log.error("catalog snapshot damaged", problem=str(error))
            _remove(self.path)
            return False
        finally:
            self.abandon_verification()

        return True

    def abandon_verification(self) -> None:
        """Remove the marker that makes the next process verify the snapshot before it uses it."""
        if self.path is not None:
            _remove(_unverified_marker(self.path))

    async def save(self, index: CatalogIndex, version: int) -> CatalogIndex:
        """Save an index with the version of its records, and return the same index mapped from the file.

        If the file cannot be written, log a warning and return the index itself; the next start then reads all rows.
        """
        if self.path is None:
            return index

        try:
            await asyncio.to_thread(save_index, self.path, index, version)
            snapshot = await self.list_file(self.path)
        except (OSError, SnapshotError, ServiceError) as error:
            log.warning("catalog snapshot not written", problem=type(error).__name__)
            return index

        return snapshot.index

    async def list_written_file(self) -> None:
        """List the snapshot file that an index was built in; failures are logged, and the file will not be used."""
        assert self.path is not None
        try:
            await self.list_file(self.path)
        except (SnapshotError, ServiceError) as error:
            log.warning("catalog snapshot not listed", problem=type(error).__name__)

    async def list_file(self, path: Path) -> MappedSnapshot:
        """List a snapshot file that this process has written in the database, and map the file.

        Raises:
            SnapshotError: the file cannot be mapped.
            ServiceError: the database cannot be written.
        """
        snapshot = await asyncio.to_thread(map_snapshot, path)
        async with self._database.writing() as transaction:
            await list_snapshot(transaction, snapshot.digest, snapshot.version)
        return snapshot

    @asynccontextmanager
    async def building(self) -> AsyncIterator[None]:
        """Hold a lock in the block, so that only one process at a time builds an index for this file."""
        with ExitStack() as stack:
            lock_file = self._open_lock_file()
            if lock_file is not None:
                stack.enter_context(lock_file)  # Closing the file releases the lock.
                await _lock(lock_file)
            yield

    def _open_lock_file(self) -> BinaryIO | None:
        """Open the file that processes lock, or return None if it cannot be written."""
        if self.path is None:
            return None
        try:
            return self.path.with_suffix(".lock").open("wb")
        except OSError:
            return None


def _unverified_marker(snapshot_path: Path) -> Path:
    """Return the path of the marker, which exists while a process uses a snapshot that it has not verified yet."""
    return snapshot_path.with_suffix(".unverified")


def _remove(path: Path) -> None:
    """Remove a file, unless it is missing or the folder is read-only."""
    with suppress(OSError):
        path.unlink(missing_ok=True)


async def _lock(lock_file: BinaryIO) -> None:
    """Lock a file until it is closed, as soon as no other process holds its lock."""
    while True:
        try:
            fcntl.flock(lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            await asyncio.sleep(LOCK_POLL_SECONDS)
