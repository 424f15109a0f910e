"""Loading of the catalog at the start of a process: from the snapshot of the last run, or from every row."""

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
    """A catalog that was loaded, and the snapshot that has yet to be verified, if it comes from one."""

    catalog: VersionedCatalog
    unverified_snapshot: MappedSnapshot | None = None


async def load_catalog(
    database: Database, snapshots: CatalogSnapshots, layout: Layout, progress: LoadProgress
) -> LoadedCatalog:
    """Load the catalog from the snapshot of the last run, or else from every row, and save it then.

    If several processes start at once, the first one reads the rows and the others wait for its snapshot.
    """
    loaded = await load_from_snapshot(snapshots, layout)
    if loaded is not None:
        return loaded

    async with snapshots.building():
        loaded = await load_from_snapshot(snapshots, layout)
        if loaded is not None:
            return loaded

        return LoadedCatalog(await _build_catalog(database, snapshots, layout, progress))


async def _build_catalog(
    database: Database, snapshots: CatalogSnapshots, layout: Layout, progress: LoadProgress
) -> VersionedCatalog:
    """Build the catalog from every row, a large one with its index in the snapshot file if that can be written."""
    try:
        load = await load_all_rows(database, layout, snapshots.path, progress)
    except OSError as error:
        if snapshots.path is None:
            raise
        log.warning("catalog snapshot not written", problem=type(error).__name__)
        load = await load_all_rows(database, layout, None, progress)

    if load.is_index_in_file:
        await snapshots.list_written_file()
    return load.catalog


async def load_from_snapshot(snapshots: CatalogSnapshots, layout: Layout) -> LoadedCatalog | None:
    """Return the catalog as it was when the snapshot was saved, or None if there is no snapshot of this database.

    What has changed since is left to `VersionedCatalog.apply_next_changes`.
    """
    snapshot = await snapshots.open()
    if snapshot is None:
        return None

    columns = await asyncio.to_thread(Catalog.from_index, snapshot.index, layout)
    return LoadedCatalog(VersionedCatalog(columns, snapshot.version), snapshot)


async def save_index(catalog: VersionedCatalog, snapshots: CatalogSnapshots) -> None:
    """Save the index of a catalog, if it has one, and use the saved copy, which is not in the memory of the process."""
    index = catalog.columns.index
    if index is not None:
        catalog.columns.exchange_index(await snapshots.save(index, catalog.index_version))
