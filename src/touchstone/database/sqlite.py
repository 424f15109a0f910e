"""SQLite connections, bulk inserts, backups, and detection of damaged files."""

import contextlib
import sqlite3
from collections.abc import Sequence
from functools import partial
from itertools import chain, groupby
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from touchstone.database.sqlite_connection import open_eager_connection

BUSY_TIMEOUT_MS: Final = 10_000
# The largest number of records in performance tests with SQLite.
MEASURED_RECORDS: Final = 3_000_000
_PRAGMAS: Final = (
    f"busy_timeout={BUSY_TIMEOUT_MS}",
    "journal_mode=WAL",
    "synchronous=FULL",
    "foreign_keys=ON",
    "temp_store=MEMORY",
)
# Each new record changes random pages of some indexes. These pages do not fit into the default cache of 2 MB, and with
# the default checkpoints, which are made every 4 MB, they would be copied to the database file repeatedly. With these
# settings, the write-ahead log has up to 16 MB.
_WRITER_PRAGMAS: Final = (
    "cache_size=-65536",  # up to 64 MiB
    "wal_autocheckpoint=4000",  # pages of 4 KiB
)
# Each statement inserts many rows, because its thread may have to wait up to 5 ms for other threads before the next
# statement. SQLite allows 32,766 values.
_VALUES_PER_STATEMENT: Final = 17_000
# The SQL for the strings in a JSON array as the right-hand side of IN.
STRING_LIST_SQL: Final = "(SELECT value FROM json_each({array}))"
_DAMAGE_CODES: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})


def sqlite_path(url: str) -> str | None:
    """Return the file of an SQLite database, or None for another database."""
    parsed_url = sa.make_url(url)
    if parsed_url.get_backend_name() != "sqlite":
        return None
    return parsed_url.database or ":memory:"


def is_sqlite(dialect: sa.Dialect) -> bool:
    """Return whether this is the dialect of SQLite."""
    return dialect.name == "sqlite"


async def insert_rows(driver_connection: Any, target: str, rows: Sequence[tuple[Any, ...]]) -> None:
    """Insert rows with few statements.

    Args:
        driver_connection: an `EagerConnection`.
        target: the table and its columns in SQL.
        rows: the values of each row.
    """
    row_placeholders = "({})".format(", ".join("?" * len(rows[0])))
    rows_per_statement = _VALUES_PER_STATEMENT // len(rows[0])
    batches = [rows[start : start + rows_per_statement] for start in range(0, len(rows), rows_per_statement)]

    # Batches with the same number of rows are sent to the thread of the connection in a single message.
    for row_count, group in groupby(batches, len):
        placeholders = ", ".join([row_placeholders] * row_count)
        insert = f"INSERT INTO {target} VALUES {placeholders}"  # noqa: S608 - the names are those of our own tables
        parameter_sets = [list(chain.from_iterable(batch)) for batch in group]
        await driver_connection.run_statement(insert, parameter_sets, many=True)


async def next_ids(connection: AsyncConnection, table: sa.Table, count: int) -> list[int]:
    """Return the ids that SQLite would assign next in a table.

    The write lock keeps other writers from using them.
    """
    query = sa.text("SELECT seq FROM sqlite_sequence WHERE name = :table")
    last_id = await connection.scalar(query.bindparams(table=table.name)) or 0
    return list(range(last_id + 1, last_id + count + 1))


def check_can_open(path: str) -> None:
    """Check that the file can be opened, or raise the driver's exception.

    This is not left to the asynchronous driver, because it does not stop its thread if the connection fails.
    """
    with contextlib.closing(sqlite3.connect(path)):
        pass


def create_sqlite_engine(
    url: str, *, is_writer: bool = False, streams_rows: bool = False, **options: Any
) -> AsyncEngine:
    """Create an SQLAlchemy engine for the SQLite database at `url`.

    Args:
        url: the URL of the database.
        is_writer: whether transactions acquire the write lock when they begin. If two transactions read first and
            acquired it later, one of them would fail.
        streams_rows: whether queries can return their rows in chunks. This needs the driver's own connections, which
            execute statements more slowly than an `EagerConnection`.
        **options: further options for `create_async_engine`.
    """
    if not streams_rows:
        options["async_creator"] = partial(open_eager_connection, _absolute_path(url))
    driver_url = sa.make_url(url).set(drivername="sqlite+aiosqlite")
    engine = create_async_engine(driver_url, **options)

    pragmas = (*_PRAGMAS, *_WRITER_PRAGMAS) if is_writer else _PRAGMAS
    begin_statement = "BEGIN IMMEDIATE" if is_writer else "BEGIN"
    event.listen(engine.sync_engine, "connect", partial(_configure_connection, pragmas))
    event.listen(engine.sync_engine, "begin", partial(_begin_transaction, begin_statement))
    return engine


def _absolute_path(url: str) -> str:
    """Return the absolute path of the SQLite database at `url`."""
    path = sqlite_path(url)
    assert path is not None, "the URL is that of an SQLite database"
    return str(Path(path).resolve())


def _begin_transaction(statement: str, connection: sa.Connection) -> None:
    """Begin a transaction with `BEGIN` or `BEGIN IMMEDIATE`."""
    connection.exec_driver_sql(statement)


def _configure_connection(pragmas: Sequence[str], connection: Any, _pool_record: Any) -> None:
    """Configure a new connection of the driver."""
    # This disables the driver's implicit BEGIN, which does not acquire the write lock. Our "begin" event replaces it.
    connection.isolation_level = None

    with contextlib.closing(connection.cursor()) as cursor:
        for pragma in pragmas:
            cursor.execute(f"PRAGMA {pragma}")


def back_up(source: str, target: Path) -> None:
    """Copy a consistent snapshot of the database at `source` to a new file.

    The target is created atomically. An incomplete copy has the suffix `.part`, and is deleted after a failure.

    Raises:
        FileExistsError: the target already exists.
    """
    if target.exists():
        raise FileExistsError(target)

    incomplete_copy = target.with_name(f"{target.name}.part")
    incomplete_copy.unlink(missing_ok=True)
    try:
        with contextlib.closing(sqlite3.connect(source)) as connection:
            connection.execute("VACUUM INTO ?", (str(incomplete_copy),))
        incomplete_copy.replace(target)
    finally:
        incomplete_copy.unlink(missing_ok=True)


def find_damage(path: str) -> str | None:
    """Return what is damaged in the file of a database, or None if nothing is.

    The whole file is read, but indexes are not compared with their tables, which would take much longer.
    """
    with contextlib.closing(sqlite3.connect(path)) as connection:
        try:
            [problem] = connection.execute("PRAGMA quick_check(1)").fetchone()
        except sqlite3.DatabaseError as error:
            if not is_damaged(error):
                raise
            return str(error)
    return None if problem == "ok" else str(problem)


def is_damaged(error: BaseException | None) -> bool:
    """Return whether SQLite reports that the file is damaged or not a database."""
    driver_error = getattr(error, "orig", error)
    if not isinstance(driver_error, sqlite3.DatabaseError):
        return False

    extended_code = getattr(driver_error, "sqlite_errorcode", 0)
    primary_code = extended_code & 0xFF
    return primary_code in _DAMAGE_CODES
