"""The database behind two doors: `reading()` for queries, `writing()` for a transaction that commits before it closes.

SQLite (the embedded default) and PostgreSQL behave alike through here; nobody else knows which one it is.
"""

import asyncio
import contextlib
import sqlite3
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import msgspec
import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.exc import DBAPIError, IntegrityError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from touchstone.core.disk_reserve import DiskReserve
from touchstone.core.errors import ServiceError, StorageFull, Unavailable
from touchstone.core.outage_log import OutageLog

BUSY_TIMEOUT_MS: Final = 10_000
POOL_SIZE: Final = 10
_ADVISORY_LOCK: Final = 7_368_273  # any number, the same in every process
# libpq's own defaults wait for minutes for a server that has lost its network.
_PATIENCE: Final = {
    "connect_timeout": 3,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}
_DAMAGED: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_FULL: Final = ("disk is full", "No space left on device", "could not extend file", "disk I/O error")


class Instant(sa.TypeDecorator[datetime]):
    """A point in time, always with UTC as its zone, on both databases."""

    impl = sa.DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: sa.Dialect) -> datetime | None:
        """Store as UTC; a naive time is a defect and raises ValueError."""
        if value is not None and value.tzinfo is None:
            raise ValueError("a time without a zone")
        return value and value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: sa.Dialect) -> datetime | None:
        """Read as UTC."""
        return value and (value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC))


class Reader:
    """A connection that may only be asked."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def all(self, query: sa.Select[Any]) -> Sequence[sa.RowMapping]:
        """Every row of the query."""
        found: Sequence[sa.RowMapping] = (await self._connection.execute(query)).mappings().all()
        return found

    async def first(self, query: sa.Select[Any]) -> sa.RowMapping | None:
        """The first row of the query, if there is one."""
        found: sa.RowMapping | None = (await self._connection.execute(query)).mappings().first()
        return found

    async def scalar(self, query: sa.Select[Any]) -> Any:
        """The first column of the first row, or None."""
        return await self._connection.scalar(query)

    async def stream(self, query: sa.Select[Any], size: int = 1000) -> AsyncIterator[Sequence[sa.RowMapping]]:
        """The rows in chunks of `size`, without holding them all."""
        async with self._connection.stream(query) as result:
            async for chunk in result.mappings().partitions(size):
                yield chunk


class Writer(Reader):
    """A transaction: what it executes is committed when its `writing()` block ends, or undone if that raises."""

    async def execute(
        self, statement: sa.Executable, rows: Sequence[Mapping[str, Any]] | None = None
    ) -> sa.CursorResult[Any]:
        """Execute one statement, for each of `rows` if given."""
        return await self._connection.execute(statement, rows)

    async def returning(self, statement: sa.Executable) -> sa.RowMapping | None:
        """Execute a statement with a RETURNING clause; its first row, if any."""
        return (await self._connection.execute(statement)).mappings().first()


def encode_json(value: Any) -> str:
    """JSON text of a value stored in a JSON column."""
    return msgspec.json.encode(value).decode()


class Database:
    """One database, opened once per process.

    Raises:
        Unavailable: an SQLite file cannot be opened.
    """

    def __init__(self, url: str, *, reserve_bytes: int = 0) -> None:
        parsed = sa.make_url(url)
        self.path = sqlite_path(url)
        self.is_sqlite = self.path is not None
        if self.path is not None:
            # Tried here, at once: the asynchronous driver leaves a thread behind when its first opening fails.
            with _translated(), contextlib.closing(sqlite3.connect(self.path)):
                pass
        self._reserve: DiskReserve | None = None
        if self.path is not None and reserve_bytes:
            self._reserve = DiskReserve(self.path, reserve_bytes)
            self._reserve.restore()
            self._reserve.release_if_short()  # opening the database takes some space as well
        self._away = OutageLog("database away", "database back")
        self._busy = OutageLog("database busy", "database no longer busy")
        self._full = OutageLog("disk full", "disk no longer full")
        self._reading = _engine(parsed, POOL_SIZE, immediate=False)
        # SQLite allows one writer: a pool of one makes writers wait in line instead of failing with SQLITE_BUSY.
        self._writing = _engine(parsed, 1, immediate=True) if self.is_sqlite else self._reading

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[Reader]:
        """A connection for queries.

        Raises:
            Unavailable: the database cannot be reached.
        """
        with _translated(self):
            async with self._reading.connect() as connection:
                yield Reader(connection)

    @asynccontextmanager
    async def writing(self, *, essential: bool = False) -> AsyncIterator[Writer]:
        """A transaction, committed before the block is left.

        `essential`: it signs somebody in or out, deletes, or settles what has been done, so that it is to succeed on
        a full disk as well.

        Raises:
            Unavailable: the database cannot be reached.
            StorageFull: there is no room; nothing was written.
        """
        with _translated(self):
            if self._reserve is not None:
                self._reserve.release_if_short() if essential else self._reserve.restore()
            async with self._writing.begin() as connection:
                if not essential:
                    await self._check_room(connection)
                yield Writer(connection)
        if not essential:
            self._full.over()

    def check_room(self, byte_count: int) -> None:
        """Refuse to write a file of this size beside the database where that would leave no room for deleting.

        Raises:
            StorageFull: there is no room.
        """
        if self._reserve is not None:
            self._reserve.restore()
            if not self._reserve.admits(byte_count):
                self.note(StorageFull(), None)
                raise StorageFull

    async def _check_room(self, connection: AsyncConnection) -> None:
        if self._reserve is None or self._reserve.is_intact:
            return
        pages = await connection.scalar(sa.text("PRAGMA freelist_count"))
        page_bytes = await connection.scalar(sa.text("PRAGMA page_size"))
        if not self._reserve.admits_reuse(pages * page_bytes):
            raise StorageFull

    async def run_sync(self, work: Any) -> Any:
        """Run `work(connection)` of the synchronous API in one transaction (migrations).

        Raises:
            Unavailable: the database cannot be reached.
            StorageFull: there is no room; nothing was written.
        """
        with _translated(self):
            async with self._writing.begin() as connection:
                return await connection.run_sync(work)

    async def run_alone(self, work: Any) -> Any:
        """Run `work(connection)` like `run_sync`, while no other process does so on this database."""

        def alone(connection: sa.Connection) -> Any:
            if not self.is_sqlite:
                connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_ADVISORY_LOCK)))
            return work(connection)

        return await self.run_sync(alone)

    async def backup(self, path: Path) -> None:
        """Copy an SQLite database, consistent as of now, to a new file: all of it or nothing.

        Raises:
            FileExistsError: the file exists already.
            StorageFull: there is no room for a copy.
            Unavailable: the file cannot be written.
        """
        assert self.path is not None

        def copy(source: str) -> None:
            if path.exists():
                raise FileExistsError(path)
            incomplete = path.with_name(f"{path.name}.part")
            incomplete.unlink(missing_ok=True)
            try:
                with contextlib.closing(sqlite3.connect(source)) as connection:
                    connection.execute("VACUUM INTO ?", (str(incomplete),))
                incomplete.replace(path)
            finally:
                incomplete.unlink(missing_ok=True)

        with _translated():
            await asyncio.to_thread(copy, self.path)

    def note(self, refusal: ServiceError | None, problem: BaseException | None) -> None:
        """Take note of how an access ended: the log tells how long trouble lasts, not every request that meets it."""
        if isinstance(refusal, StorageFull):
            self._full.occurred(problem)
            if self._reserve is not None:
                self._reserve.release()
        elif refusal is not None:
            is_busy = isinstance(problem, PoolTimeout) or "locked" in str(problem)
            (self._busy if is_busy else self._away).occurred(problem)
        elif problem is None:
            self._away.over()
            self._busy.over()

    async def ping(self) -> None:
        """Ask the database for anything at all; raises what `reading` raises."""
        async with self.reading() as rows:
            await rows.scalar(sa.select(sa.literal(1)))

    async def close(self) -> None:
        """Give all connections back."""
        await self._reading.dispose()
        await self._writing.dispose()


def sqlite_path(url: str) -> str | None:
    """Return the file of an SQLite database; None for any other kind."""
    parsed = sa.make_url(url)
    return (parsed.database or ":memory:") if parsed.get_backend_name() == "sqlite" else None


def skip_locked(query: sa.Select[Any]) -> sa.Select[Any]:
    """Lock the selected rows, passing over those that another worker holds; SQLite has one writer and ignores it."""
    return query.with_for_update(skip_locked=True)


def _engine(url: sa.URL, size: int, *, immediate: bool) -> AsyncEngine:
    options: dict[str, Any] = {"pool_size": size, "max_overflow": 0, "pool_timeout": 15}
    options |= {"json_serializer": encode_json, "json_deserializer": msgspec.json.decode}
    if url.get_backend_name() == "sqlite":
        engine = create_async_engine(url.set(drivername="sqlite+aiosqlite"), **options)
        event.listen(engine.sync_engine, "connect", _prepare_sqlite)
        begin = "BEGIN IMMEDIATE" if immediate else "BEGIN"
        event.listen(engine.sync_engine, "begin", lambda connection: connection.exec_driver_sql(begin))
        return engine
    # What the URL says comes first.
    patience = {name: value for name, value in _PATIENCE.items() if name not in url.query}
    # pre_ping: a restarted server must not cost the first request of every pooled connection.
    options |= {"pool_pre_ping": True, "connect_args": patience}
    return create_async_engine(url.set(drivername="postgresql+psycopg"), **options)


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    # The driver's own implicit BEGIN is deferred and would fail at the first write; the "begin" event replaces it.
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in (
        f"busy_timeout={BUSY_TIMEOUT_MS}",
        "journal_mode=WAL",
        "synchronous=FULL",
        "foreign_keys=ON",
        "temp_store=MEMORY",
    ):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


class _translated:  # noqa: N801 - reads as a clause of the with statement
    """Turn the drivers' failures into refusals that say whether trying again makes sense."""

    def __init__(self, database: "Database | None" = None) -> None:
        self._database = database

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, problem: BaseException | None, trace: Any) -> None:
        refusal = refusal_of(problem)
        if self._database is not None:
            self._database.note(refusal, problem)
        if refusal is not None and refusal is not problem:
            raise refusal from problem


def refusal_of(problem: BaseException | None) -> ServiceError | None:
    """Return the refusal that says what a failure of the database or the disk means; None for any other problem."""
    if isinstance(problem, StorageFull):
        return problem
    if problem is None or isinstance(problem, IntegrityError):
        return None
    if isinstance(problem, (DBAPIError, sqlite3.Error, OSError)) and any(mark in str(problem) for mark in _FULL):
        return StorageFull()
    if isinstance(problem, (OperationalError, sqlite3.OperationalError, InterfaceError, PoolTimeout, ConnectionError)):
        return Unavailable()
    if (isinstance(problem, DBAPIError) and problem.connection_invalidated) or is_damaged(problem):
        return Unavailable()
    return None


def is_damaged(problem: BaseException | None) -> bool:
    """Return whether SQLite says that the file is not, or no longer, a database."""
    driver = getattr(problem, "orig", problem)
    code = getattr(driver, "sqlite_errorcode", 0)
    return isinstance(driver, sqlite3.DatabaseError) and code & 0xFF in _DAMAGED
