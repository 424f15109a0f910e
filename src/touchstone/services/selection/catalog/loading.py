"""Loading of the catalog at the start of a process: from the snapshot of the last run, or from every row."""

import asyncio
from dataclasses import dataclass
from typing import Final

from touchstone.database import change_counters
from touchstone.database.engine import Database, Reader
from touchstone.ranking.catalog.catalog import Catalog, Layout
from touchstone.ranking.columns.segment import CatalogRow
from touchstone.ranking.index.snapshot_file import MappedSnapshot
from touchstone.services.selection.catalog.catalog_snapshots import CatalogSnapshots
from touchstone.services.selection.catalog.versioned_catalog import VersionedCatalog
from touchstone.services.selection.datasets import store
from touchstone.services.selection.datasets.encoded_records import to_catalog_row

# The number of rows that are read at a time when the whole catalog is loaded.
LOAD_CHUNK: Final = 5000


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

        async with database.reading() as connection:
            catalog = await load_all_rows(connection, layout)
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


async def load_all_rows(connection: Reader, layout: Layout) -> VersionedCatalog:
    """Build the catalog in memory, and its index, from every row of the database.

    The version is read before the rows. A row that changes in between is then applied once more, and not missed.
    """
    version = await change_counters.read_version(connection, change_counters.CATALOG)

    catalog_rows: list[CatalogRow] = []
    async for chunk in store.stream_datasets(connection, LOAD_CHUNK):
        catalog_rows += [to_catalog_row(record) for record in chunk]

    # The words of a large catalog are indexed in the background, because that takes longer than all the rest.
    defers_words = len(catalog_rows) >= layout.index_from
    columns = await asyncio.to_thread(Catalog.build, catalog_rows, layout, defers_words=defers_words)
    return VersionedCatalog(columns, version)


async def save_index(catalog: VersionedCatalog, snapshots: CatalogSnapshots) -> None:
    """Save the index of a catalog, if it has one, and use the saved copy, which is not in the memory of the process."""
    index = catalog.columns.index
    if index is not None:
        catalog.columns.exchange_index(await snapshots.save(index, catalog.index_version))
