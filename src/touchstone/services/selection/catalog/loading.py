"""Loading of the catalog at the start of a process: from the snapshot of the last run, or from every row."""

import asyncio
from dataclasses import dataclass

from touchstone.database.engine import Database
from touchstone.ranking.catalog.catalog import Catalog, Layout
from touchstone.ranking.index.snapshot_file import MappedSnapshot
from touchstone.services.selection.catalog.catalog_snapshots import CatalogSnapshots
from touchstone.services.selection.catalog.full_load import load_all_rows
from touchstone.services.selection.catalog.versioned_catalog import VersionedCatalog


@dataclass(frozen=True, slots=True)
class LoadedCatalog:
    """A catalog that was loaded, and the snapshot that has yet to be verified, if it comes from one."""

    catalog: VersionedCatalog
    unverified_snapshot: MappedSnapshot | None = None


async def load_catalog(database: Database, snapshots: CatalogSnapshots, layout: Layout) -> LoadedCatalog:
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

        catalog = await load_all_rows(database, layout)
        await save_index(catalog, snapshots)
        return LoadedCatalog(catalog)


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
