"""Loading the catalog when a process starts, from the last snapshot or from all rows."""

import asyncio
from dataclasses import dataclass

import structlog

from touchstone.database.engine import Database
from touchstone.ranking.catalog.catalog import Catalog, Layout
from touchstone.ranking.index.snapshot_file import MappedSnapshot
from touchstone.services.selection.catalog.catalog_snapshots import CatalogSnapshots
from touchstone.services.selection.catalog.full_load import load_all_rows
from touchstone.services.selection.catalog.load_progress import LoadProgress
from touchstone.services.selection.catalog.versioned_catalog import VersionedCatalog

log = structlog.get_logger("touchstone.catalog")


@dataclass(frozen=True, slots=True)
class LoadedCatalog:
    """A catalog, and the unverified snapshot that it was loaded from, if any."""

    catalog: VersionedCatalog
    unverified_snapshot: MappedSnapshot | None = None


async def load_catalog(
    database: Database, snapshots: CatalogSnapshots, layout: Layout, progress: LoadProgress
) -> LoadedCatalog:
    """Load the catalog from the last snapshot or, if there is none, from all rows.

    If several processes start together, the first one reads the rows, and the others wait for its snapshot.
    """
    loaded = await load_from_snapshot(snapshots, layout)
    if loaded is not None:
        return loaded

    async with snapshots.build_lock():
        # Another process may have saved a snapshot while this one waited.
        loaded = await load_from_snapshot(snapshots, layout)
        if loaded is not None:
            return loaded

        return LoadedCatalog(await _build_catalog(database, snapshots, layout, progress))


async def _build_catalog(
    database: Database, snapshots: CatalogSnapshots, layout: Layout, progress: LoadProgress
) -> VersionedCatalog:
    """Build the catalog from all rows, with the index of a large catalog in the snapshot file if possible."""
    try:
        load = await load_all_rows(database, layout, snapshots.path, progress)
    except OSError as error:
        if snapshots.path is None:
            raise
        log.warning("catalog snapshot not written", problem=type(error).__name__)
        load = await load_all_rows(database, layout, None, progress)

    if load.is_index_in_file:
        await snapshots.register_written_file()
    return load.catalog


async def load_from_snapshot(snapshots: CatalogSnapshots, layout: Layout) -> LoadedCatalog | None:
    """Load the catalog from the snapshot, or return None if there is no snapshot of this database.

    The changes since the snapshot have not been applied yet.
    """
    snapshot = await snapshots.open()
    if snapshot is None:
        return None

    try:
        columns = await asyncio.to_thread(Catalog.from_index, snapshot.index, layout)
    except Exception:
        # A damaged snapshot can cause any exception. If the snapshot is intact, the exception has another cause.
        if await snapshots.verify(snapshot):
            raise
        return None
    return LoadedCatalog(VersionedCatalog(columns, snapshot.version), snapshot)


async def save_index(catalog: VersionedCatalog, snapshots: CatalogSnapshots) -> None:
    """Save the index of a catalog, if it has one, and replace it with the index mapped from the file."""
    index = catalog.columns.index
    if index is not None:
        catalog.columns.exchange_index(await snapshots.save(index, catalog.index_version))
