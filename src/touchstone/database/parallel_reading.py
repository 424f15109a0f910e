"""Reading a large table of PostgreSQL over several connections at once, as it was at one moment.

PostgreSQL decodes and sends the rows of a connection on one processor. Several connections share a snapshot, so that
together they read the same rows as a single one would. Each reads some blocks of the table at a time: so the table is
read once, from its beginning to its end, and no index is needed.
"""

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import pyarrow as pa
import sqlalchemy as sa

from touchstone.core.errors import Unavailable
from touchstone.database.columnar import PostgresqlConnection
from touchstone.database.postgresql import connection_string

BLOCKS_PER_RANGE: Final = 2048
"""How many blocks are read with one query: 16 MB, some ten thousand records."""
# Older servers cannot read a range of blocks without reading all blocks before it.
_MIN_SERVER_VERSION: Final = 140_000
_DESCRIBE_TABLE: Final = """
    SELECT pg_export_snapshot(), pg_relation_size(%s::regclass) / current_setting('block_size')::bigint"""


class BlockRange(NamedTuple):
    """Some blocks of a table: those from `start` to before `end`, or all from `start` on if `end` is None."""

    start: int
    end: int | None

    def restrict(self, query: sa.Select[Any], table: sa.Table) -> sa.Select[Any]:
        """Return a query of the rows of these blocks only. A row is at an address, its block and its place in it."""
        query = query.where(sa.text(f"{table.name}.ctid >= '({self.start},0)'"))
        if self.end is None:
            return query
        return query.where(sa.text(f"{table.name}.ctid < '({self.end},0)'"))


class RangeReader:
    """A connection that reads ranges of blocks of a table; one thread at a time may use it."""

    def __init__(self, connection: PostgresqlConnection, table: sa.Table) -> None:
        self._connection = connection
        self._table = table

    def read(self, query: sa.Select[Any], blocks: BlockRange) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a query on the table that are in some blocks, like `stream_columns`.

        Raises:
            Unavailable: the database cannot be reached any more.
        """
        return self._connection.stream(blocks.restrict(query, self._table))


@dataclass(frozen=True, slots=True)
class DividedTable:
    """A table that is read range by range.

    Attributes:
        ranges: All blocks of the table, in ascending order.
        readers: The connections, each of which can read any of the ranges; they see the rows of the same moment.
    """

    ranges: list[BlockRange]
    readers: list[RangeReader]


@contextmanager
def divided_table(
    url: str, table: sa.Table, reader_count: int, blocks_per_range: int = BLOCKS_PER_RANGE
) -> Iterator[DividedTable]:
    """Open several connections that read a table of PostgreSQL together, and close them at the end of the block.

    Args:
        url: the URL of the database.
        table: the table, all of whose rows are seen as they were at one moment.
        reader_count: the largest number of connections; a small table needs fewer.
        blocks_per_range: how many blocks of the table are read with one query.

    Raises:
        Unavailable: the database cannot be reached.
    """
    # This is installed with the extra `postgres` only.
    import psycopg  # noqa: PLC0415

    with ExitStack() as connections:
        try:
            # Other connections can take over a snapshot only while the transaction that has exported it lasts.
            with psycopg.connect(connection_string(url)) as exporter:
                exporter.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
                exporter.read_only = True
                row = exporter.execute(_DESCRIBE_TABLE, [table.name]).fetchone()
                assert row is not None
                snapshot, block_count = row

                if exporter.info.server_version >= _MIN_SERVER_VERSION:
                    ranges = _divide(block_count, blocks_per_range)
                else:
                    whole_table = BlockRange(0, None)
                    ranges = [whole_table]

                readers = []
                for _ in range(min(reader_count, len(ranges))):
                    connection = connections.enter_context(closing(PostgresqlConnection(url)))
                    connection.take_over_snapshot(snapshot)
                    readers.append(RangeReader(connection, table))
        except psycopg.Error as error:
            raise Unavailable from error

        yield DividedTable(ranges, readers)


def _divide(block_count: int, blocks_per_range: int) -> list[BlockRange]:
    """Return ranges of a table that has so many blocks; the last one has no end."""
    starts = range(0, max(block_count, 1), blocks_per_range)
    ends = [*starts[1:], None]
    return [BlockRange(start, end) for start, end in zip(starts, ends, strict=True)]
