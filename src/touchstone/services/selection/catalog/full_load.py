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
    """A catalog that was built from every row.

    Attributes:
        catalog: The catalog.
        is_index_in_file: Whether its index has been written to the snapshot file.
    """

    catalog: VersionedCatalog
    is_index_in_file: bool


async def load_all_rows(
    database: Database, layout: Layout, snapshot_path: Path | None, progress: LoadProgress
) -> FullLoad:
    """Build the catalog from every row of the database, with the index of a large one in the snapshot file."""
    # The version is read before the rows, so that a row that changes in between is applied twice rather than missed.
    async with database.reading() as connection:
        version = await change_counters.read_version(connection, change_counters.CATALOG)
        record_count = await store.count_datasets(connection)

    progress.begin(record_count)
    batches = progress.track(read_record_batches(database))
    if record_count < layout.index_from:
        columns = await asyncio.to_thread(Catalog.build_from_batches, batches, layout)
        return FullLoad(VersionedCatalog(columns, version), is_index_in_file=False)

    # The words are indexed later, in the background, because that takes longer than everything else.
    columns = await asyncio.to_thread(
        Catalog.build_large, batches, layout, version=version, snapshot_path=snapshot_path
    )
    is_index_in_file = snapshot_path is not None and columns.index is not None
    return FullLoad(VersionedCatalog(columns, version), is_index_in_file)


def read_record_batches(database: Database) -> Iterator[RecordBatch]:
    """Yield all records in batches. Call this in a thread, because it waits for the database.

    Another thread reads the next batch while the current one is converted and used.
    """
    with closing(RowConverter()) as converter:
        for rows in prefetch(stream_columns(database.url, store.CATALOG_QUERY)):
            yield converter.convert(rows)
