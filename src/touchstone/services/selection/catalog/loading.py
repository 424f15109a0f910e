"""Loading of the catalog at the start of a process: from the snapshot of the last run, or from every row."""

import asyncio
from typing import Final, NamedTuple

from touchstone.database import change_counters
from touchstone.database.engine import Reader
from touchstone.ranking.catalog.catalog import Catalog, Layout
from touchstone.ranking.columns.segment import CatalogRow
from touchstone.services.selection.catalog.catalog_snapshots import CatalogSnapshots
from touchstone.services.selection.datasets import store
from touchstone.services.selection.datasets.encoded_records import to_catalog_row

# The number of rows that are read at a time when the whole catalog is loaded.
LOAD_CHUNK: Final = 5000


class LoadedCatalog(NamedTuple):
    """A catalog that was loaded, the version that it is at, and the version of the records behind its index."""

    columns: Catalog
    version: int
    index_version: int


async def load_from_snapshot(connection: Reader, snapshots: CatalogSnapshots, layout: Layout) -> LoadedCatalog | None:
    """Load the catalog from the snapshot of the last run and the rows that have changed since.

    Returns None if there is no snapshot or if it was made of another database.
    """
    snapshot = await snapshots.read()
    current_version = await change_counters.read_version(connection, change_counters.CATALOG)

    # A snapshot that is newer than the database was made of another one.
    if snapshot is None or snapshot.version > current_version:
        return None

    columns = await asyncio.to_thread(Catalog.from_index, snapshot.index, layout)
    changed_records = await store.datasets_changed_since(connection, snapshot.version)
    deleted_ids = await store.datasets_deleted_since(connection, snapshot.version)
    columns.apply(upserts=[to_catalog_row(record) for record in changed_records], deleted=deleted_ids)

    # So was one that does not lead to the number of records in the database.
    record_count = await store.count_datasets(connection)
    if columns.view.size != record_count:
        return None

    return LoadedCatalog(columns, current_version, snapshot.version)


async def load_all_rows(connection: Reader, layout: Layout) -> LoadedCatalog:
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
    return LoadedCatalog(columns, version, index_version=version)
