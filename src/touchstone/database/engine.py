"""Access to the database: `Database.reading()` opens a connection for queries, `Database.writing()` a transaction.

SQLite (the default) and PostgreSQL behave alike here; what differs between them is in `sqlite` and `postgresql`.
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
from touchstone.database.postgresql import create_postgresql_engine, take_advisory_lock
from touchstone.database.sqlite import back_up, check_can_open, create_sqlite_engine, sqlite_path

Row = dict[str, Any]  # The values of a row, by column name.
Record = TypeVar("Record")
Result = TypeVar("Result")
POOL_SIZE: Final = 10
POOL_TIMEOUT_SECONDS: Final = 15


class Reader:
    """A read-only connection."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def all(self, query: sa.Select[Any], parameters: Mapping[str, Any] | None = None) -> list[Row]:
        """Return all rows of the query; `parameters` has the value of each parameter that the query leaves open."""
        result = await self._connection.execute(query, parameters)
        return _to_rows(result, result.all())

    async def first(self, query: sa.Select[Any], parameters: Mapping[str, Any] | None = None) -> Row | None:
        """Return the first row of the query, or None if it has no rows.

        `parameters` has the value of each parameter that the query leaves open.
        """
        result = await self._connection.execute(query, parameters)
        return _first_row(result)

    async def all_as(self, record_class: type[Record], query: sa.Select[Any]) -> list[Record]:
        """Return all rows of the query as records whose fields have the names of the columns."""
        return [record_class(**row) for row in await self.all(query)]

    async def first_as(self, record_class: type[Record], query: sa.Select[Any]) -> Record | None:
        """Return the first row of the query as a record whose fields have the names of the columns, or None."""
        row = await self.first(query)
        return None if row is None else record_class(**row)

    async def scalar(self, query: sa.Select[Any], parameters: Mapping[str, Any] | None = None) -> Any:
        """Return the first column of the first row of the query, or None if it has no rows.

        `parameters` has the value of each parameter that the query leaves open.
        """
        return await self._connection.scalar(query, parameters)


class StreamingReader(Reader):
    """A read-only connection that can also read the rows of a query in chunks."""

    async def stream(self, query: sa.Select[Any], size: int = 1000) -> AsyncIterator[list[Row]]:
        """Yield the rows of the query in chunks of `size`, without loading all of them into memory."""
        async with self._connection.stream(query) as result:
            async for chunk in result.partitions(size):
                yield _to_rows(result, chunk)


class Writer(Reader):
    """A transaction, which is committed at the end of its `writing()` block, or rolled back if the block raises."""

    async def execute(
        self, statement: sa.Executable, rows: Sequence[Mapping[str, Any]] | None = None
    ) -> sa.CursorResult[Any]:
        """Execute a statement once, or once for each of `rows` with the values of that row as parameters."""
        return await self._connection.execute(statement, rows)

    async def insert_rows(self, table: sa.Table, rows: Sequence[Mapping[str, Any]]) -> None:
        """Insert many rows, which have values for the same columns, in the fastest way that the database has."""
        await insert_rows(self._connection, table, rows)

    async def insert_columns(
        self,
        table: sa.Table,
        converted_columns: Mapping[str, ConvertedColumn],
        plain_columns: Mapping[str, Sequence[Any]],
    ) -> None:
        """Insert many rows, which are given as columns, so that most of the work is done before the transaction.

        Args:
            table: the table.
            converted_columns: the columns that `Database.convert_columns` has prepared, by name.
            plain_columns: the values of all other columns, such as the ids that this transaction has assigned.
        """
        columns = {**converted_columns, **convert_columns(table, plain_columns, self._connection.dialect)}
        await insert_columns(self._connection, table, columns)

    async def reserve_ids(self, table: sa.Table, count: int) -> list[int]:
        """Return new ids for rows that this transaction inserts next."""
        return await reserve_ids(self._connection, table, count)

    async def returning(self, statement: sa.Executable, parameters: Mapping[str, Any] | None = None) -> Row | None:
        """Execute a statement with a RETURNING clause, and return its first row, or None if it changed nothing.

        `parameters` has the value of each parameter that the statement leaves open.
        """
        result = await self._connection.execute(statement, parameters)
        return _first_row(result)


class Database:
    """The database of a process, with its connection pools.

    Attributes:
        url: where the database is, and how to connect to it.
        path: the file of an SQLite database, None for PostgreSQL.
        measured_records: the size up to which catalogs have been measured in a database of this kind.

    Raises:
        Unavailable: an SQLite file cannot be opened.
    """

    def __init__(self, url: str, *, reserve_bytes: int = 0) -> None:
        """Prepare the connection pools for the database at `url`; connections are opened when they are needed.

        `reserve_bytes` is the disk space that is held in reserve beside an SQLite database, for transactions that must
        succeed even if the disk is full.
        """
        self.url = url
        self.path = sqlite_path(url)
        self.measured_records = postgresql.MEASURED_RECORDS if self.path is None else sqlite.MEASURED_RECORDS
        self._disk_reserve: DiskReserve | None = None

        if self.path is None:
            engine = create_postgresql_engine(url, **_engine_options(POOL_SIZE))
            self._writing_engine = engine
            self._streaming_engine = engine
            # Each query sees what is committed when it begins, in a transaction or not. Without one, the server need
            # not be asked to begin it and to end it.
            self._reading_engine = engine.execution_options(isolation_level="AUTOCOMMIT")
        else:
            with translate_failures():
                check_can_open(self.path)
            self._disk_reserve = _open_disk_reserve(self.path, reserve_bytes)
            self._reading_engine = create_sqlite_engine(url, **_engine_options(POOL_SIZE))
            self._streaming_engine = create_sqlite_engine(url, streams_rows=True, **_engine_options(pool_size=1))
            # SQLite allows one writer at a time: with a pool of one, writers queue instead of failing with SQLITE_BUSY.
            self._writing_engine = create_sqlite_engine(url, is_writer=True, **_engine_options(pool_size=1))

        # An outage is logged only if the database has answered before. Otherwise the service cannot start, and the
        # error message of its start says why.
        self._has_answered = False
        self._outage_log = OutageLog("database away", "database back")
        self._busy_log = OutageLog("database busy", "database no longer busy")
        self._disk_full_log = OutageLog("disk full", "disk no longer full")
        self._columns_log = OutageLog("database sends no columns", "database sends columns again")

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[Reader]:
        """Open a connection for queries, which is closed at the end of the block.

        Raises:
            Unavailable: the database cannot be reached.
        """
        with self._handle_failures():
            async with self._reading_engine.connect() as connection:
                yield Reader(connection)

    @asynccontextmanager
    async def streaming(self) -> AsyncIterator[StreamingReader]:
        """Open a connection like `reading`, from which the rows of a query can be read in chunks.

        Raises:
            Unavailable: the database cannot be reached.
        """
        with self._handle_failures():
            async with self._streaming_engine.connect() as connection:
                yield StreamingReader(connection)

    @asynccontextmanager
    async def writing(self, *, even_if_disk_full: bool = False) -> AsyncIterator[Writer]:
        """Begin a transaction, which is committed at the end of the block or rolled back if the block raises.

        The database holds some disk space in reserve. Transactions that must succeed even if the disk is full may use
        it: they sign users in or out, delete something, or record the outcome of work that is done.

        Raises:
            Unavailable: the database cannot be reached.
            StorageFull: the disk is full, and nothing was written.
        """
        with self._handle_failures():
            if even_if_disk_full:
                self._release_reserve_if_short()
                async with self._writing_engine.begin() as connection:
                    yield Writer(connection)
                return

            # Space may have become free since the reserve was last used.
            self._restore_reserve()
            async with self._writing_engine.begin() as connection:
                await self._require_room_in_database(connection)
                yield Writer(connection)

        # Only a transaction that may not use the reserve shows that the disk has room again.
        self._disk_full_log.record_success()

    async def read_columns(self, read: Callable[[ColumnConnection], Result]) -> Result:
        """Return `read(connection)`, which runs in a thread with a new connection that reads rows column by column.

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
        """Convert the values of rows, by the name of their column, for `Writer.insert_columns`.

        All of the `row_count` rows have the same `shared_values`.
        """
        dialect = self._writing_engine.dialect
        shared_columns = convert_shared_values(table, shared_values, row_count, dialect)
        return {**convert_columns(table, columns, dialect), **shared_columns}

    def convert_uuids(self, hexadecimals: Sequence[str]) -> ConvertedColumn:
        """Convert UUIDs, given as 32 hexadecimal digits each, for `Writer.insert_columns`."""
        return convert_uuids(hexadecimals, self._writing_engine.dialect)

    def prepare_for_file(self, byte_count: int) -> None:
        """Prepare the disk of an SQLite database for a file of this size, or raise `StorageFull` if it does not fit.

        Some disk space is held in reserve, so that users can still delete their files when the disk is full. A new
        file may use only the remaining space.
        """
        if self._disk_reserve is None:
            return

        # Space may have become free since the reserve was last used.
        self._disk_reserve.restore()
        if self._disk_reserve.admits(byte_count):
            return

        # Deleting, which makes room for the file, may use the reserve from now on.
        self._disk_reserve.release()
        self._disk_full_log.record_failure(error=None)
        raise StorageFull

    async def run_sync(self, work: Callable[[sa.Connection], Result]) -> Result:
        """Return `work(connection)`, which runs in a transaction on a synchronous connection, as migrations need it.

        Raises:
            Unavailable: the database cannot be reached.
            StorageFull: the disk is full, and nothing was written.
        """
        with self._handle_failures():
            async with self._writing_engine.begin() as connection:
                return await connection.run_sync(work)

    async def run_exclusively(self, work: Callable[[sa.Connection], Result]) -> Result:
        """Return `work(connection)` like `run_sync`, while other processes that call this method wait.

        Migrations use this, so that several services can start at the same time on one database.
        """

        def work_under_lock(connection: sa.Connection) -> Result:
            # A transaction of the SQLite writer is exclusive anyway, but PostgreSQL needs a lock.
            if self.path is None:
                take_advisory_lock(connection)
            return work(connection)

        return await self.run_sync(work_under_lock)

    async def backup(self, target: Path) -> None:
        """Copy the SQLite database, as it is now, to a new file, while requests are answered as usual.

        If copying fails, no incomplete file is left behind.

        Raises:
            FileExistsError: the file exists already.
            StorageFull: there is no room for a copy.
            Unavailable: the file cannot be written.
        """
        assert self.path is not None, "only a database in a file can be copied"

        with translate_failures():
            await asyncio.to_thread(back_up, self.path, target)

    async def ping(self) -> None:
        """Check that the database answers a query, or raise what `reading` raises."""
        async with self.reading() as connection:
            await connection.scalar(sa.select(sa.literal(1)))

    async def close(self) -> None:
        """Close all connections."""
        for engine in (self._reading_engine, self._streaming_engine, self._writing_engine):
            await engine.dispose()

    def _release_reserve(self) -> None:
        """Release the disk space held in reserve, for transactions that must succeed even if the disk is full."""
        if self._disk_reserve is not None:
            self._disk_reserve.release()

    def _release_reserve_if_short(self) -> None:
        """Release the disk space held in reserve if there is hardly any other space left."""
        if self._disk_reserve is not None:
            self._disk_reserve.release_if_short()

    def _restore_reserve(self) -> None:
        """Hold disk space in reserve again if it was released and there is enough space now."""
        if self._disk_reserve is not None:
            self._disk_reserve.restore()

    async def _require_room_in_database(self, connection: AsyncConnection) -> None:
        """Raise `StorageFull` if the disk is full and the database file has too little unused space for new rows.

        Deleting rows leaves unused pages in an SQLite file. While the disk space held in reserve is released, new rows
        may be stored only there.
        """
        if self._disk_reserve is None or self._disk_reserve.is_intact:
            return

        unused_pages = await connection.scalar(sa.text("PRAGMA freelist_count"))
        page_bytes = await connection.scalar(sa.text("PRAGMA page_size"))
        unused_bytes = unused_pages * page_bytes

        if not self._disk_reserve.admits_reuse(unused_bytes):
            raise StorageFull

    @contextmanager
    def _handle_failures(self) -> Iterator[None]:
        """Raise failures of the database in the block as errors that callers understand.

        The beginning and the end of an outage are logged. When the disk is full, the disk space held in reserve is
        released, so that users can still delete something. Exceptions with other causes are raised unchanged.

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

        self._log_answer()

    def _log_failure(self, failure: Exception) -> None:
        """Log that the disk is full, or that the database is busy or cannot be reached.

        Any other exception, such as a violated constraint, is left to the code that caused it.
        """
        if is_disk_full(failure):
            self._disk_full_log.record_failure(failure)
        elif is_busy(failure):
            self._busy_log.record_failure(failure)
        elif is_unavailable(failure) and self._has_answered:
            self._outage_log.record_failure(failure)

    def _log_answer(self) -> None:
        """Log that the database answers again if it was away or busy before."""
        self._has_answered = True
        self._outage_log.record_success()
        self._busy_log.record_success()


def encode_json(value: Any) -> str:
    """Return the JSON text of a value for a JSON column."""
    return msgspec.json.encode(value).decode()


def skip_locked(query: sa.Select[Any]) -> sa.Select[Any]:
    """Return the query so that it locks the rows it selects and leaves out those that another worker has locked.

    SQLite ignores this: it has a single writer.
    """
    return query.with_for_update(skip_locked=True)


def _to_rows(result: sa.Result[Any] | AsyncResult[Any], rows: Iterable[Sequence[Any]]) -> list[Row]:
    """Return rows of a result as dictionaries, in which values are found several times faster than in its mappings."""
    # SQLAlchemy's column names are a subclass of `str`, with which dictionaries are slower, and which msgspec refuses.
    names = list(map(str, result.keys()))
    return [dict(zip(names, row, strict=True)) for row in rows]


def _first_row(result: sa.Result[Any]) -> Row | None:
    """Return the first row of a result as a dictionary, or None if it has no rows."""
    row = result.first()
    return None if row is None else _to_rows(result, [row])[0]


def _open_disk_reserve(database_path: str, size_bytes: int) -> DiskReserve | None:
    """Return the disk reserve of an SQLite database, ready for the database to be opened; None if `size_bytes` is 0.

    The reserved space is free afterwards if the disk is full, because opening the database needs some of it.
    """
    if size_bytes == 0:
        return None

    disk_reserve = DiskReserve(database_path, size_bytes)

    # Create the file of the reserve, unless it is still there from an earlier run or the disk has no room for it.
    disk_reserve.restore()

    # The disk may have been filled since the earlier run, and the file must then not be in the way.
    disk_reserve.release_if_short()
    return disk_reserve


def _engine_options(pool_size: int) -> dict[str, Any]:
    """Return the options of an SQLAlchemy engine with at most `pool_size` connections.

    A caller that finds all connections in use waits for one, at most `POOL_TIMEOUT_SECONDS`.
    """
    return {
        "pool_size": pool_size,
        "max_overflow": 0,
        "pool_timeout": POOL_TIMEOUT_SECONDS,
        "json_serializer": encode_json,
        "json_deserializer": msgspec.json.decode,
    }
