"""Access to the database, with `reading()` for queries and `writing()` for transactions.

The interface is the same for SQLite (the default) and PostgreSQL. The code for one of them is in `sqlite` and
`postgresql`.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncResult

from touchstone.core.disk_reserve import DiskReserve
from touchstone.core.errors import StorageFull, Unavailable
from touchstone.core.outage_log import OutageLog
from touchstone.core.uninterrupted import run_uninterrupted
from touchstone.database import postgresql, sqlite
from touchstone.database.bulk_insert import (
    ConvertedColumn,
    convert_columns,
    convert_shared_values,
    convert_uuids,
    insert_columns,
    insert_rows,
    reserve_ids,
)
from touchstone.database.columnar import ColumnConnection, connect_for_columns
from touchstone.database.failures import is_busy, is_disk_full, is_unavailable, translate_failures
from touchstone.database.postgresql import acquire_advisory_lock, create_postgresql_engine
from touchstone.database.sqlite import back_up, check_can_open, create_sqlite_engine, sqlite_path

Row = dict[str, Any]  # the values of a row by column name
Record = TypeVar("Record")
Result = TypeVar("Result")
POOL_SIZE: Final = 10
POOL_TIMEOUT_SECONDS: Final = 15


class Reader:
    """A read-only connection."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def all(self, query: sa.Select[Any], parameters: Mapping[str, Any] | None = None) -> list[Row]:
        """Return all rows of the query, with the values of its bind parameters in `parameters`."""
        result = await self._connection.execute(query, parameters)
        return _to_rows(result, result.all())

    async def first(self, query: sa.Select[Any], parameters: Mapping[str, Any] | None = None) -> Row | None:
        """Return the first row of the query, or None if it has no rows.

        The values of bind parameters are in `parameters`.
        """
        result = await self._connection.execute(query, parameters)
        return _first_row(result)

    async def all_as(self, record_class: type[Record], query: sa.Select[Any]) -> list[Record]:
        """Return all rows of the query as instances of `record_class`, with the columns as fields."""
        return [record_class(**row) for row in await self.all(query)]

    async def first_as(self, record_class: type[Record], query: sa.Select[Any]) -> Record | None:
        """Return the first row of the query as an instance of `record_class`, or None if it has no rows."""
        row = await self.first(query)
        return None if row is None else record_class(**row)

    async def scalar(self, query: sa.Select[Any], parameters: Mapping[str, Any] | None = None) -> Any:
        """Return the first column of the first row of the query, or None if it has no rows.

        The values of bind parameters are in `parameters`.
        """
        return await self._connection.scalar(query, parameters)


class StreamingReader(Reader):
    """A read-only connection that can also read the rows of a query in chunks."""

    async def stream(self, query: sa.Select[Any], size: int = 1000) -> AsyncIterator[list[Row]]:
        """Yield the rows of the query in chunks of `size`, so that only one chunk is in memory at a time."""
        async with self._connection.stream(query) as result:
            async for chunk in result.partitions(size):
                yield _to_rows(result, chunk)


class Writer(Reader):
    """A transaction, which is committed at the end of the `writing()` block.

    It is rolled back if the block raises an exception.
    """

    async def execute(
        self, statement: sa.Executable, rows: Sequence[Mapping[str, Any]] | None = None
    ) -> sa.CursorResult[Any]:
        """Execute a statement once, or once for each row in `rows` with its values as bind parameters."""
        return await self._connection.execute(statement, rows)

    async def insert_rows(self, table: sa.Table, rows: Sequence[Mapping[str, Any]]) -> None:
        """Insert many rows with the same columns, using the fastest method of the database."""
        await insert_rows(self._connection, table, rows)

    async def insert_columns(
        self,
        table: sa.Table,
        converted_columns: Mapping[str, ConvertedColumn],
        plain_columns: Mapping[str, Sequence[Any]],
    ) -> None:
        """Insert many rows given as columns, most of which can be converted before the transaction begins.

        Args:
            table: the table that contains all of these columns.
            converted_columns: the columns that `Database.convert_columns` has converted, keyed by name.
            plain_columns: the values of other columns, keyed by name, such as ids that this transaction has reserved.
        """
        columns = {**converted_columns, **convert_columns(table, plain_columns, self._connection.dialect)}
        await insert_columns(self._connection, table, columns)

    async def reserve_ids(self, table: sa.Table, count: int) -> list[int]:
        """Return `count` new ids for rows that this transaction will insert."""
        return await reserve_ids(self._connection, table, count)

    async def fetch_returned_row(
        self, statement: sa.Executable, parameters: Mapping[str, Any] | None = None
    ) -> Row | None:
        """Execute a statement with a RETURNING clause, and return its first row.

        The result is None if the statement changes no rows. The values of bind parameters are in `parameters`.
        """
        result = await self._connection.execute(statement, parameters)
        return _first_row(result)


class Database:
    """The database of a process, with its connection pools.

    Attributes:
        url: the URL of the database.
        path: the file of an SQLite database, or None for PostgreSQL.
        measured_records: the largest number of records in performance tests with this kind of database.
    """

    def __init__(self, url: str, *, reserve_bytes: int = 0) -> None:
        """Create the connection pools. Connections are opened on demand.

        Args:
            url: the URL of the database.
            reserve_bytes: the disk space reserved next to an SQLite database, for transactions that must succeed even
                if the disk is full.

        Raises:
            Unavailable: an SQLite file cannot be opened.
        """
        self.url = url
        self.path = sqlite_path(url)
        self.measured_records = postgresql.MEASURED_RECORDS if self.path is None else sqlite.MEASURED_RECORDS
        self._disk_reserve: DiskReserve | None = None

        if self.path is None:
            engine = create_postgresql_engine(url, **_engine_options(POOL_SIZE))
            self._writing_engine = engine
            self._streaming_engine = engine
            # A transaction would not make reads more consistent at the default isolation level, and needs two more
            # round trips to the server.
            self._reading_engine = engine.execution_options(isolation_level="AUTOCOMMIT")
        else:
            with translate_failures():
                check_can_open(self.path)
            self._disk_reserve = _open_disk_reserve(self.path, reserve_bytes)
            self._reading_engine = create_sqlite_engine(url, **_engine_options(POOL_SIZE))
            self._streaming_engine = create_sqlite_engine(url, streams_rows=True, **_engine_options(pool_size=1))
            # SQLite allows only one writer at a time. With a pool of one, writers wait instead of failing with
            # SQLITE_BUSY.
            self._writing_engine = create_sqlite_engine(url, is_writer=True, **_engine_options(pool_size=1))

        # An outage is only logged if the database has been available before. Otherwise the service cannot start, and
        # its error message contains the reason.
        self._has_succeeded = False
        self._outage_log = OutageLog("database away", "database back")
        self._busy_log = OutageLog("database busy", "database no longer busy")
        self._disk_full_log = OutageLog("disk full", "disk no longer full")
        self._columns_log = OutageLog("database sends no columns", "database sends columns again")

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[Reader]:
        """Open a connection for queries, and close it at the end of the `async with` block.

        Raises:
            Unavailable: the database cannot be reached.
        """
        with self._handle_failures():
            async with self._reading_engine.connect() as connection:
                yield Reader(connection)

    @asynccontextmanager
    async def streaming(self) -> AsyncIterator[StreamingReader]:
        """Open a connection for queries like `reading`, which can also read rows in chunks.

        Raises:
            Unavailable: the database cannot be reached.
        """
        with self._handle_failures():
            async with self._streaming_engine.connect() as connection:
                yield StreamingReader(connection)

    @asynccontextmanager
    async def writing(self, *, may_use_reserve: bool = False) -> AsyncIterator[Writer]:
        """Begin a transaction, which is committed at the end of the block, or rolled back on an exception.

        Args:
            may_use_reserve: whether the transaction may use the reserved disk space. Only sign-ins, sign-outs,
                deletions and the results of finished work may use it.

        Raises:
            Unavailable: the database cannot be reached.
            StorageFull: the disk is full, and nothing was written.
        """
        with self._handle_failures():
            if may_use_reserve:
                self._release_reserve_if_short()
            else:
                # The reserve may have been released while the disk was full, and there may be enough space now.
                self._restore_reserve()

            async with self._writing_engine.begin() as connection:
                if not may_use_reserve:
                    await self._check_unused_pages(connection)
                yield Writer(connection)

        # Only a transaction that cannot use the reserve proves that the disk has free space again.
        if not may_use_reserve:
            self._disk_full_log.record_success()

    async def read_columns(self, read: Callable[[ColumnConnection], Result]) -> Result:
        """Run `read` in a thread with a new connection for reading columns, and return its result.

        Raises:
            Unavailable: the database cannot be reached.
        """

        def read_with_connection() -> Result:
            with closing(connect_for_columns(self.url)) as connection:
                return read(connection)

        try:
            result = await run_uninterrupted(asyncio.to_thread(read_with_connection))
        except Unavailable as failure:
            self._columns_log.record_failure(failure.__cause__)
            raise

        self._columns_log.record_success()
        return result

    def convert_columns(
        self, table: sa.Table, columns: Mapping[str, Sequence[Any]], shared_values: Mapping[str, Any], row_count: int
    ) -> dict[str, ConvertedColumn]:
        """Convert the values of `row_count` new rows of a table for `Writer.insert_columns`.

        Args:
            table: the table, whose columns determine the conversion of the values.
            columns: the values of each column, keyed by name.
            shared_values: the values of columns that are the same in all rows, keyed by name.
            row_count: the number of rows.
        """
        dialect = self._writing_engine.dialect
        shared_columns = convert_shared_values(table, shared_values, row_count, dialect)
        return {**convert_columns(table, columns, dialect), **shared_columns}

    def convert_uuids(self, hexadecimals: Sequence[str]) -> ConvertedColumn:
        """Convert UUIDs, given as 32 hexadecimal digits, for `Writer.insert_columns`."""
        return convert_uuids(hexadecimals, self._writing_engine.dialect)

    def prepare_for_file(self, byte_count: int) -> None:
        """Check that a file of this size fits on the disk of an SQLite database without using the reserve.

        Raises:
            StorageFull: there is not enough free space. The reserve is released, so that users can still delete files.
        """
        if self._disk_reserve is None:
            return

        # The reserve may have been released while the disk was full, and there may be enough space now.
        self._disk_reserve.restore()
        if self._disk_reserve.has_room_for(byte_count):
            return

        self._disk_reserve.release()
        self._disk_full_log.record_failure(error=None)
        raise StorageFull

    async def run_sync(self, work: Callable[[sa.Connection], Result]) -> Result:
        """Run `work` in a transaction on a synchronous connection, and return its result.

        Raises:
            Unavailable: the database cannot be reached.
            StorageFull: the disk is full, and nothing was written.
        """
        with self._handle_failures():
            async with self._writing_engine.begin() as connection:
                return await connection.run_sync(work)

    async def run_exclusively(self, work: Callable[[sa.Connection], Result]) -> Result:
        """Run `work` like `run_sync`, in one process at a time, and return its result.

        Migrations use this, because several services with the same database may start at the same time.
        """

        def work_under_lock(connection: sa.Connection) -> Result:
            # Transactions of SQLite are exclusive anyway, but PostgreSQL needs a lock.
            if self.path is None:
                acquire_advisory_lock(connection)
            return work(connection)

        return await self.run_sync(work_under_lock)

    async def backup(self, target: Path) -> None:
        """Copy a consistent snapshot of the SQLite database to a new file, without blocking requests.

        No incomplete file remains if copying fails.

        Raises:
            FileExistsError: the file already exists.
            StorageFull: there is not enough space for the copy.
            Unavailable: the file cannot be written.
        """
        assert self.path is not None, "only a database in a file can be copied"

        with translate_failures():
            await asyncio.to_thread(back_up, self.path, target)

    async def ping(self) -> None:
        """Check that the database can execute a query.

        Raises:
            Unavailable: the database cannot be reached.
        """
        async with self.reading() as connection:
            await connection.scalar(sa.select(sa.literal(1)))

    async def close(self) -> None:
        """Close all connections."""
        for engine in (self._reading_engine, self._streaming_engine, self._writing_engine):
            await engine.dispose()

    def _release_reserve(self) -> None:
        """Release the reserved disk space for transactions that must succeed even if the disk is full."""
        if self._disk_reserve is not None:
            self._disk_reserve.release()

    def _release_reserve_if_short(self) -> None:
        """Release the reserved disk space if there is hardly any other free space."""
        if self._disk_reserve is not None:
            self._disk_reserve.release_if_short()

    def _restore_reserve(self) -> None:
        """Reserve the disk space again if it was released and there is enough free space now."""
        if self._disk_reserve is not None:
            self._disk_reserve.restore()

    async def _check_unused_pages(self, connection: AsyncConnection) -> None:
        """Check that the SQLite file has enough unused pages for new rows while the reserve is released.

        Deleting rows leaves unused pages in the file. While the disk is full, new rows may only use these pages.

        Raises:
            StorageFull: the disk is full, and there are too few unused pages.
        """
        if self._disk_reserve is None or self._disk_reserve.is_intact:
            return

        unused_pages = await connection.scalar(sa.text("PRAGMA freelist_count"))
        page_bytes = await connection.scalar(sa.text("PRAGMA page_size"))
        unused_bytes = unused_pages * page_bytes

        if not self._disk_reserve.can_reuse_pages(unused_bytes):
            raise StorageFull

    @contextmanager
    def _handle_failures(self) -> Iterator[None]:
        """Log failures of the database in the `with` block, and convert them to `ServiceError`.

        If the disk is full, the reserved disk space is released, so that users can still delete something. Exceptions
        with other causes are raised unchanged.

        Raises:
            Unavailable: the database cannot be reached.
            StorageFull: the disk is full.
        """
        with translate_failures():
            try:
                yield
            except Exception as failure:
                self._log_failure(failure)
                if is_disk_full(failure):
                    self._release_reserve()
                raise

        self._log_success()

    def _log_failure(self, failure: Exception) -> None:
        """Log that the disk is full, or that the database is busy or unavailable. Ignore other exceptions."""
        if is_disk_full(failure):
            self._disk_full_log.record_failure(failure)
        elif is_busy(failure):
            self._busy_log.record_failure(failure)
        elif is_unavailable(failure) and self._has_succeeded:
            self._outage_log.record_failure(failure)

    def _log_success(self) -> None:
        """Log the end of an outage if the database was unavailable or busy before."""
        self._has_succeeded = True
        self._outage_log.record_success()
        self._busy_log.record_success()


def encode_json(value: Any) -> str:
    """Encode a value for a JSON column."""
    return msgspec.json.encode(value).decode()


def skip_locked(query: sa.Select[Any]) -> sa.Select[Any]:
    """Make a query lock its rows and skip rows locked by other transactions.

    SQLite ignores this, because it has a single writer.
    """
    return query.with_for_update(skip_locked=True)


def _to_rows(result: sa.Result[Any] | AsyncResult[Any], rows: Iterable[Sequence[Any]]) -> list[Row]:
    """Convert rows to dictionaries, which have much faster look-ups than SQLAlchemy's row mappings."""
    # SQLAlchemy's column names are a subclass of `str`, which makes dictionaries slower and is refused by msgspec.
    names = list(map(str, result.keys()))
    return [dict(zip(names, row, strict=True)) for row in rows]


def _first_row(result: sa.Result[Any]) -> Row | None:
    """Return the first row of a result as a dictionary, or None if it has no rows."""
    row = result.first()
    return None if row is None else _to_rows(result, [row])[0]


def _open_disk_reserve(database_path: str, size_bytes: int) -> DiskReserve | None:
    """Create the disk reserve of an SQLite database, or return None if `size_bytes` is 0.

    If the disk is full, the reserve is released, because opening the database needs some space.
    """
    if size_bytes == 0:
        return None

    disk_reserve = DiskReserve(database_path, size_bytes)

    # This creates the file, unless it exists from an earlier run or the disk has too little free space.
    disk_reserve.restore()

    # The file may exist from an earlier run although the disk is full now.
    disk_reserve.release_if_short()
    return disk_reserve


def _engine_options(pool_size: int) -> dict[str, Any]:
    """Return the options for an SQLAlchemy engine with at most `pool_size` connections.

    If all connections are in use, callers wait for up to `POOL_TIMEOUT_SECONDS`.
    """
    return {
        "pool_size": pool_size,
        "max_overflow": 0,
        "pool_timeout": POOL_TIMEOUT_SECONDS,
        "json_serializer": encode_json,
        "json_deserializer": msgspec.json.decode,
    }
