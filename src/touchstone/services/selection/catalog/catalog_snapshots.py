"""The snapshot file of the catalog: its index as it was saved by the last run, so that the next start is quick."""

import asyncio
from dataclasses import dataclass
from pathlib import Path

import structlog

from touchstone.ranking.index.catalog_index import CatalogIndex
from touchstone.ranking.index.snapshot_file import SnapshotError, load_index, save_index

log = structlog.get_logger("touchstone.catalog")


@dataclass(frozen=True, slots=True)
class CatalogSnapshot:
    """An index that was saved, and the version of the catalog that its records were at."""

    index: CatalogIndex
    version: int


class CatalogSnapshots:
    """The file in which the index of a catalog is saved; without a path, nothing is saved."""

    def __init__(self, path: Path | None) -> None:
        self._path = path

    async def read(self) -> CatalogSnapshot | None:
        """Return the index in the file, or None if the file is missing or damaged."""
        return await asyncio.to_thread(self._read)

    def _read(self) -> CatalogSnapshot | None:
        """Map the file into memory; this runs in a thread."""
        if self._path is None or not self._path.exists():
            return None

        try:
            index, version = load_index(self._path)
        except SnapshotError as error:
            log.warning("catalog snapshot refused", problem=str(error))
            return None

        return CatalogSnapshot(index, version)

    async def save(self, index: CatalogIndex, version: int) -> None:
        """Save an index with the version of its records.

        The next start can do without the file, so a failure to write it is only logged.
        """
        if self._path is None:
            return

        try:
            await asyncio.to_thread(save_index, self._path, index, version)
        except OSError as error:
            log.warning("catalog snapshot not written", problem=type(error).__name__)
