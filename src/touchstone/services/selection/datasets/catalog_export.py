"""Exporting all records that match some filters, however many they are, with a bounded amount of memory."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

import msgspec

from touchstone.core.evidence import Assurance
from touchstone.database.engine import Database, Reader
from touchstone.ranking.column_types import Ints
from touchstone.ranking.query.predicates import Query
from touchstone.services.selection.catalog.live_catalog import LiveCatalog, SortOrder
from touchstone.services.selection.datasets import store
from touchstone.services.selection.datasets.dataset_record import DatasetRecord
from touchstone.services.selection.datasets.encoded_records import record_objects
from touchstone.services.selection.datasets.parquet_writer import ParquetRecordWriter

# Converting this many rows takes a few milliseconds, during which other requests wait.
RECORDS_PER_BATCH: Final = 250
# A record may have many megabytes of metadata from the documents that were imported.
BYTES_PER_BATCH: Final = 8 * 1024 * 1024

_encoder: Final = msgspec.json.Encoder()


@dataclass(frozen=True, slots=True)
class ExportSelection:
    """The records to be exported: their ids in the order of the export, and the user who may see them."""

    ids: Ints
    viewer: UUID | None

    @property
    def total_count(self) -> int:
        """The number of records."""
        return len(self.ids)


class CatalogExport:
    """Streams of records from the database, in the order of a query that was evaluated by the catalog in memory."""

    def __init__(self, database: Database, catalog: LiveCatalog) -> None:
        self._database = database
        self._catalog = catalog

    async def select(
        self, query: Query, order: SortOrder, viewer: UUID | None, *, assurance: Assurance
    ) -> ExportSelection:
        """Return which records match a query, in order; only their ids are kept in memory."""
        ids = await self._catalog.list_all_ids(query, order, assurance=assurance)
        return ExportSelection(ids, viewer)

    async def json_lines(self, selection: ExportSelection) -> AsyncIterator[bytes]:
        """Yield the records as JSON Lines, in chunks of complete lines."""
        async for records in self._batches(selection):
            yield await asyncio.to_thread(_encode_lines, records)

    async def parquet(self, selection: ExportSelection) -> AsyncIterator[bytes]:
        """Yield the bytes of a Parquet file with the records; the last chunk contains its directory."""
        writer = ParquetRecordWriter()
        async for records in self._batches(selection):
            chunk = await asyncio.to_thread(_write_parquet, writer, records)
            if chunk:
                yield chunk

        yield await asyncio.to_thread(writer.finish)

    async def _batches(self, selection: ExportSelection) -> AsyncIterator[list[DatasetRecord]]:
        """Yield the records in batches of bounded size.

        Records that were deleted or hidden in the meantime are left out. The connection to the database is returned
        between the batches, because a slow client must not keep it from others.
        """
        for start in range(0, selection.total_count, RECORDS_PER_BATCH):
            ids: list[int] = selection.ids[start : start + RECORDS_PER_BATCH].tolist()
            async with self._database.reading() as connection:
                id_groups = await _split_by_size(connection, ids)

            for group in id_groups:
                async with self._database.reading() as connection:
                    records = await store.visible_datasets(connection, group, selection.viewer)
                yield _in_order(records, group)


async def _split_by_size(connection: Reader, ids: Sequence[int]) -> list[list[int]]:
    """Return the ids in consecutive groups whose records take at most `BYTES_PER_BATCH` in memory.

    A record that is larger than that is alone in its group.
    """
    sizes = await store.content_sizes(connection, ids)

    groups: list[list[int]] = [[]]
    group_bytes = 0
    for dataset_id in ids:
        record_bytes = sizes.get(dataset_id, 0)
        if groups[-1] and group_bytes + record_bytes > BYTES_PER_BATCH:
            groups.append([])
            group_bytes = 0

        groups[-1].append(dataset_id)
        group_bytes += record_bytes
    return groups


def _in_order(records: Iterable[DatasetRecord], ids: Sequence[int]) -> list[DatasetRecord]:
    """Return records in the order of their ids in `ids`; ids without a record are passed over."""
    records_by_id = {record.id: record for record in records}
    return [records_by_id[dataset_id] for dataset_id in ids if dataset_id in records_by_id]


def _encode_lines(records: Sequence[DatasetRecord]) -> bytes:
    """Return one line of JSON for each record, the same as a client receives that reads the record alone."""
    return b"".join(_encoder.encode(json_object) + b"\n" for json_object in record_objects(records))


def _write_parquet(writer: ParquetRecordWriter, records: Sequence[DatasetRecord]) -> bytes:
    """Add records to a Parquet file, and return the bytes of the file that are complete since the last call."""
    return writer.write(record_objects(records))
