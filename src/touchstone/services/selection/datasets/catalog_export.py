"""Exports of all records that match a query, in a bounded amount of memory."""

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
# The metadata of a record may take many megabytes, because it contains the imported documents.
BYTES_PER_BATCH: Final = 8 * 1024 * 1024

_encoder: Final = msgspec.json.Encoder()


@dataclass(frozen=True, slots=True)
class ExportSelection:
    """The ids of the records to export, in order, and the user who requested the export."""

    ids: Ints
    viewer: UUID | None

    @property
    def total_count(self) -> int:
        """The number of records."""
        return len(self.ids)


class CatalogExport:
    """Exports records from the database. The in-memory catalog selects and sorts them."""

    def __init__(self, database: Database, catalog: LiveCatalog) -> None:
        self._database = database
        self._catalog = catalog

    async def select(
        self, query: Query, order: SortOrder, viewer: UUID | None, *, assurance: Assurance
    ) -> ExportSelection:
        """Select the records that match a query, in the given order."""
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

        Records that were deleted or hidden in the meantime are left out. The database connection is released between
        batches, because a slow client would otherwise block it for a long time.
        """
        for start in range(0, selection.total_count, RECORDS_PER_BATCH):
            ids: list[int] = selection.ids[start : start + RECORDS_PER_BATCH].tolist()
            async with self._database.reading() as connection:
                id_groups = await _split_by_size(connection, ids)

            for group in id_groups:
                async with self._database.reading() as connection:
                    records = await store.visible_datasets(connection, group, selection.viewer)
                yield _sort_by_ids(records, group)


async def _split_by_size(connection: Reader, ids: Sequence[int]) -> list[list[int]]:
    """Divide ids into consecutive groups whose records take at most `BYTES_PER_BATCH` in total.

    A larger record forms a group by itself.
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


def _sort_by_ids(records: Iterable[DatasetRecord], ids: Sequence[int]) -> list[DatasetRecord]:
    """Sort records in the order of `ids`, which may contain ids without a record."""
    records_by_id = {record.id: record for record in records}
    return [records_by_id[dataset_id] for dataset_id in ids if dataset_id in records_by_id]


def _encode_lines(records: Sequence[DatasetRecord]) -> bytes:
    """Encode records as JSON Lines, with the same JSON as in the response to a request for a single record."""
    return b"".join(_encoder.encode(json_object) + b"\n" for json_object in record_objects(records))


def _write_parquet(writer: ParquetRecordWriter, records: Sequence[DatasetRecord]) -> bytes:
    """Add records to a Parquet file, and return the bytes that were written, if any."""
    return writer.write(record_objects(records))
