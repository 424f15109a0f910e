"""Loading the catalog from all rows of the database, which is necessary if there is no snapshot."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Final, NamedTuple

from touchstone.core.detached_threads import run_detached
from touchstone.core.prefetch import map_ahead, prefetch
from touchstone.database import change_counters
from touchstone.database.columnar import stream_columns
from touchstone.database.engine import Database
from touchstone.database.parallel_reading import BlockRange, RangeReader, open_divided_table
from touchstone.database.tables import datasets
from touchstone.ranking.catalog.catalog import Catalog, Layout
from touchstone.ranking.columns.record_batch import RecordBatch
from touchstone.services.selection.catalog.load_progress import LoadProgress
from touchstone.services.selection.catalog.versioned_catalog import VersionedCatalog
from touchstone.services.selection.datasets import store
from touchstone.services.selection.datasets.record_batches import RowConverter

# More connections would use more memory, and too many processors of the database server.
_MAX_READERS: Final = 4


class FullLoad(NamedTuple):
    """A catalog that was built from all rows.

    Attributes:
        catalog: the catalog.
        is_index_in_file: whether the index has been written to the snapshot file.
    """

    catalog: VersionedCatalog
    is_index_in_file: bool


async def load_all_rows(
    database: Database, layout: Layout, snapshot_path: Path | None, progress: LoadProgress
) -> FullLoad:
    """Build the catalog from all rows of the database.

    A large catalog gets an index, which is built in the snapshot file if there is a path for it.
    """
    # Read the version before the rows, so that a row that changes in between is applied twice rather than missed.
    async with database.reading() as connection:
        version = await change_counters.read_version(connection, change_counters.CATALOG)
        record_count = await store.count_datasets(connection)

    progress.begin(record_count)
    batches = progress.track(read_record_batches(database))
    if record_count < layout.index_from:
        columns = await run_detached(Catalog.build_from_batches, batches, layout)
        return FullLoad(VersionedCatalog(columns, version), is_index_in_file=False)

    # Text is indexed later, in the background, because that takes longer than everything else.
    columns = await run_detached(Catalog.build_large, batches, layout, version=version, snapshot_path=snapshot_path)
    is_index_in_file = snapshot_path is not None and columns.index is not None
    return FullLoad(VersionedCatalog(columns, version), is_index_in_file)


def read_record_batches(database: Database) -> Iterator[RecordBatch]:
    """Yield all records in batches, in an order that does not depend on the timing of threads.

    Other threads read and convert the next batches while the caller uses the current one. This waits for the database,
    so call it in a thread.
    """
    if database.path is None:
        return _read_with_several_connections(database.url)
    return _read_with_one_connection(database.url)


def _read_with_one_connection(url: str) -> Iterator[RecordBatch]:
    """Yield all records of an SQLite database in batches."""
    with closing(RowConverter()) as converter:
        for rows in prefetch(stream_columns(url, store.CATALOG_QUERY)):
            yield converter.convert(rows)


def _read_with_several_connections(url: str) -> Iterator[RecordBatch]:
    """Yield all records of a PostgreSQL database in batches, using one thread per connection.

    A small table is read with a single connection.
    """
    # A connection pauses while its rows are converted, so one more than there are processors keeps all of them busy.
    reader_count = min((os.cpu_count() or 1) + 1, _MAX_READERS)
    with open_divided_table(url, datasets, reader_count) as table, ExitStack() as converters:
        idle_loaders: SimpleQueue[_RangeLoader] = SimpleQueue()
        for reader in table.readers:
            converter = converters.enter_context(closing(RowConverter(thread_count=1)))
            idle_loaders.put(_RangeLoader(reader, converter))

        def load_range(blocks: BlockRange) -> list[RecordBatch]:
            """Read a range of blocks with an idle connection."""
            loader = idle_loaders.get()
            try:
                return loader.load(blocks)
            finally:
                idle_loaders.put(loader)

        for batches in map_ahead(load_range, table.ranges, thread_count=len(table.readers)):
            yield from batches


@dataclass(frozen=True, slots=True)
class _RangeLoader:
    """A connection with a converter for its rows. Only one thread at a time may use them."""

    reader: RangeReader
    converter: RowConverter

    def load(self, blocks: BlockRange) -> list[RecordBatch]:
        """Return the records in a range of blocks of the table."""
        return [self.converter.convert(rows) for rows in self.reader.read(store.CATALOG_QUERY, blocks)]
