"""Loading of the catalog from every row of the database, when there is no snapshot of it."""

import asyncio
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from touchstone.core.prefetch import prefetch
from touchstone.database import change_counters
from touchstone.database.columnar import stream_columns
from touchstone.database.engine import Database
from touchstone.ranking.catalog.catalog import Catalog, Layout
from touchstone.ranking.columns.record_batch import RecordBatch
from touchstone.services.selection.catalog.load_progress import LoadProgress
from touchstone.services.selection.catalog.versioned_catalog import VersionedCatalog
from touchstone.services.selection.datasets import store
from touchstone.services.selection.datasets.record_batches import RowConverter


class FullLoad(NamedTuple):
    """A catalog that was built from every row, and whether its index is in the snapshot file."""

    catalog: VersionedCatalog
    is_index_in_file: bool


async def load_all_rows(
    database: Database, layout: Layout, snapshot_path: Path | None, progress: LoadProgress
) -> FullLoad:
    """Build the catalog from every row of the database, a large one with its index in the snapshot file.

    The version is read before the rows. A row that changes in between is then applied once more, and not missed.
    """
    async with database.reading() as connection:
        version = await change_counters.read_version(connection, change_counters.CATALOG)
        record_count = await store.count_datasets(connection)

    progress.begin(record_count)
    batches = progress.track(read_record_batches(database))
    if record_count < layout.index_from:
        columns = await asyncio.to_thread(Catalog.build_from_batches, batches, layout)
        return FullLoad(VersionedCatalog(columns, version), is_index_in_file=False)

    # The words are indexed in the background, because that takes longer than all the rest.
    columns = await asyncio.to_thread(
        Catalog.build_large, batches, layout, version=version, snapshot_path=snapshot_path
    )
    is_index_in_file = snapshot_path is not None and columns.index is not None
    return FullLoad(VersionedCatalog(columns, version), is_index_in_file)


def read_record_batches(database: Database) -> Iterator[RecordBatch]:
    """Yield all records in batches. The caller runs this in a thread, because it waits for the database.

    While one batch is being converted, and used by the caller, another thread reads the next one.
    """
    with closing(RowConverter()) as converter:
        for rows in prefetch(stream_columns(database.url, store.CATALOG_QUERY)):
            yield converter.convert(rows)
