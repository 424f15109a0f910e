"""Exports of all records that match some filters, in a bounded amount of memory however many there are."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

import msgspec

from touchstone.core.evidence import Assurance
from touchstone.database.engine import Database, Reader
from touchstone.ranking.array_types import Ints
from touchstone.ranking.query.predicates import Query
from touchstone.services.selection.catalog.list_ids import SortOrder
from touchstone.services.selection.catalog.live_catalog import LiveCatalog
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
    """The records of an export: their ids, in the order of the export, and the user who asked for them."""

    ids: Ints
    viewer: UUID | None

    @property
    def total_count(self) -> int:
        """The number of records."""
        return len(self.ids)


class CatalogExport:
    """Exports records from the database, after the catalog in memory has determined which ones and in which order."""

    def __init__(self, database: Database, catalog: LiveCatalog) -> None:
        self._database = database
        self._catalog = catalog

    async def select(
        self, query: Query, order: SortOrder, viewer: UUID | None, *, assurance: Assurance
    ) -> ExportSelection:
        """Return the ids of the records that match a query, in the given order."""
        ids = await self._catalog.list_all_ids(query, order, assurance=assurance)
        return ExportSelection(ids, viewer)

    async def json_lines(self, selection: ExportSelection) -> AsyncIterator[bytes]:
        """Yield the records as JSON Lines, in chunks of complete lines."""
        async for records in self._batches(selection):
            yield await asyncio.to_thread(_encode_lines, records)

    async def parquet(self, selection: ExportSelection) -> AsyncIterator[bytes]:
        """Yield the bytes of a Parquet file with the records."""
        writer = ParquetRecordWriter()
        async for records in self._batches(selection):
            chunk = await asyncio.to_thread(_write_parquet, writer, records)
            if chunk:
                yield chunk

        yield await asyncio.to_thread(writer.finish)

    async def _batches(self, selection: ExportSelection) -> AsyncIterator[list[DatasetRecord]]:
        """Yield the records in batches of bounded size.

        Records that were deleted or hidden in the meantime are left out. No connection to the database is held between
        the batches, because a slow client would keep it from other requests.
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
    """Divide ids into consecutive groups, so that the records of each take at most `BYTES_PER_BATCH` in memory.

    A record that is larger is alone in its group.
    """
    sizes = await store.content_sizes(connection, ids)

    groups: list[list[int]] = []
    group: list[int] = []
    group_bytes = 0
    for dataset_id in ids:
        record_bytes = sizes.get(dataset_id, 0)
        if group and group_bytes + record_bytes > BYTES_PER_BATCH:
            groups.append(group)
            group = []
            group_bytes = 0

        group.append(dataset_id)
        group_bytes += record_bytes

    groups.append(group)
    return groups


def _in_order(records: Iterable[DatasetRecord], ids: Sequence[int]) -> list[DatasetRecord]:
    """Return the records in the order of `ids`, and skip ids without a record."""
    records_by_id = {record.id: record for record in records}
    return [records_by_id[dataset_id] for dataset_id in ids if dataset_id in records_by_id]


def _encode_lines(records: Sequence[DatasetRecord]) -> bytes:
    """Return one line for each record, with the same JSON as in the response to a request for this record."""
    return b"".join(_encoder.encode(json_object) + b"\n" for json_object in record_objects(records))


def _write_parquet(writer: ParquetRecordWriter, records: Sequence[DatasetRecord]) -> bytes:
    """Add records to a Parquet file, and return the bytes that the file has gained."""
    return writer.write(record_objects(records))
