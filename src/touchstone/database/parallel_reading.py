"""Consistent reading of a large PostgreSQL table over several parallel connections.

PostgreSQL uses one processor for each connection, so several connections are faster. They share a snapshot and
therefore see the same rows. Each connection reads a range of blocks at a time, so the table is read once from its
beginning to its end, without an index.
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
"""The number of blocks read by one query, which have 16 MB and contain about ten thousand records."""
# Older servers read all preceding blocks in order to read a range of blocks.
_MIN_SERVER_VERSION: Final = 140_000
_DESCRIBE_TABLE: Final = """
    SELECT pg_export_snapshot(), pg_relation_size(%s::regclass) / current_setting('block_size')::bigint"""


class BlockRange(NamedTuple):
    """A range of blocks of a table.

    Attributes:
        start: the first block.
        end: the block after the last one, or None for all remaining blocks.
    """

    start: int
    end: int | None

    def restrict(self, query: sa.Select[Any], table: sa.Table) -> sa.Select[Any]:
        """Restrict a query on the table to rows in these blocks.

        The system column `ctid` contains the position of a row, as the block and the index in the block.
        """
        query = query.where(sa.text(f"{table.name}.ctid >= '({self.start},0)'"))
        if self.end is None:
            return query
        return query.where(sa.text(f"{table.name}.ctid < '({self.end},0)'"))


class RangeReader:
    """A connection that reads ranges of blocks of a table. Only one thread may use it at a time."""

    def __init__(self, connection: PostgresqlConnection, table: sa.Table) -> None:
        self._connection = connection
        self._table = table

    def read(self, query: sa.Select[Any], blocks: BlockRange) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a query on the table that are in the given blocks, as `stream_columns` does.

        Raises:
            Unavailable: the connection to the database is lost.
        """
        return self._connection.stream(blocks.restrict(query, self._table))


@dataclass(frozen=True, slots=True)
class DividedTable:
    """A table divided into ranges of blocks.

    Attributes:
        ranges: all blocks of the table, in ascending order.
        readers: the connections, which share a snapshot. Each of them can read any range.
    """

    ranges: list[BlockRange]
    readers: list[RangeReader]


@contextmanager
def open_divided_table(
    url: str, table: sa.Table, reader_count: int, blocks_per_range: int = BLOCKS_PER_RANGE
) -> Iterator[DividedTable]:
    """Open several connections that read a PostgreSQL table together.

    They are closed at the end of the `with` block.

    Args:
        url: the URL of the database.
        table: the table to read, which is divided into ranges of blocks.
        reader_count: the maximum number of connections. A small table needs fewer.
        blocks_per_range: the number of blocks read by one query.

    Raises:
        Unavailable: the database cannot be reached.
    """
    # This is installed with the extra `postgres` only.
    import psycopg  # noqa: PLC0415

    with ExitStack() as connections:
        try:
            # Other connections can only import a snapshot while the transaction that exported it is open.
            with psycopg.connect(connection_string(url)) as exporter:
                exporter.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
                exporter.read_only = True
                row = exporter.execute(_DESCRIBE_TABLE, [table.name]).fetchone()
                assert row is not None, "the query returns one row for every table"
                snapshot, block_count = row

                if exporter.info.server_version >= _MIN_SERVER_VERSION:
                    ranges = _divide_into_ranges(block_count, blocks_per_range)
                else:
                    whole_table = BlockRange(0, None)
                    ranges = [whole_table]

                readers = []
                for _ in range(min(reader_count, len(ranges))):
                    connection = connections.enter_context(closing(PostgresqlConnection(url)))
                    connection.import_snapshot(snapshot)
                    readers.append(RangeReader(connection, table))
        except psycopg.Error as error:
            raise Unavailable from error

        yield DividedTable(ranges, readers)


def _divide_into_ranges(block_count: int, blocks_per_range: int) -> list[BlockRange]:
    """Divide a table with `block_count` blocks into ranges. The last one has no end."""
    starts = range(0, max(block_count, 1), blocks_per_range)
    ends = [*starts[1:], None]
    return [BlockRange(start, end) for start, end in zip(starts, ends, strict=True)]
