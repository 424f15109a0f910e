"""Code for SQLite only: settings of a connection, backups, and files that are damaged."""

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
# The size up to which catalogs in SQLite have been measured.
MEASURED_RECORDS: Final = 3_000_000
_PRAGMAS: Final = (
    f"busy_timeout={BUSY_TIMEOUT_MS}",
    "journal_mode=WAL",
    "synchronous=FULL",
    "foreign_keys=ON",
    "temp_store=MEMORY",
)
# Every new record touches random pages of some indexes, which would not stay in the default cache of 2 MB, and which a
# checkpoint after each 4 MB would copy to the database file again and again. The log may take 16 MB of the disk.
_PRAGMAS_OF_WRITER: Final = (
    "cache_size=-65536",  # 64 MiB, taken as far as it is used
    "wal_autocheckpoint=4000",  # pages of 4 KiB
)
# Other threads of Python run while SQLite executes a statement. Before the next one, its thread has to wait for them,
# up to 5 ms each time, so many rows are inserted with each statement. SQLite allows 32,766 values.
_VALUES_PER_STATEMENT: Final = 17_000
# A list of the texts of a JSON array.
TEXT_LIST: Final = "(SELECT value FROM json_each({array}))"
_DAMAGE_CODES: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})


def sqlite_path(url: str) -> str | None:
    """Return the file of an SQLite database; None for a database of another kind."""
    parsed_url = sa.make_url(url)
    if parsed_url.get_backend_name() != "sqlite":
        return None
    return parsed_url.database or ":memory:"


def is_sqlite(dialect: sa.Dialect) -> bool:
    """Return whether a connection of this dialect is one to SQLite."""
    return dialect.name == "sqlite"


async def insert_rows(driver_connection: Any, target: str, rows: Sequence[tuple[Any, ...]]) -> None:
    """Insert rows through an `EagerConnection`, many with each statement.

    `target` is the table with the names of its columns.
    """
    row_placeholders = "({})".format(", ".join("?" * len(rows[0])))
    rows_per_statement = _VALUES_PER_STATEMENT // len(rows[0])
    rows_of_statements = [rows[start : start + rows_per_statement] for start in range(0, len(rows), rows_per_statement)]

    # All statements with the same number of rows are sent to the thread of the connection in a single message.
    for row_count, group in groupby(rows_of_statements, len):
        placeholders = ", ".join([row_placeholders] * row_count)
        insert = f"INSERT INTO {target} VALUES {placeholders}"  # noqa: S608 - the names are those of our own tables
        values_of_statements = [[*chain.from_iterable(statement_rows)] for statement_rows in group]
        await driver_connection.run_statement(insert, values_of_statements, many=True)


async def next_ids(connection: AsyncConnection, table: sa.Table, count: int) -> list[int]:
    """Return the ids that SQLite would assign to the next rows of a table; there is no other writer meanwhile."""
    query = sa.text("SELECT seq FROM sqlite_sequence WHERE name = :table")
    last_id = await connection.scalar(query.bindparams(table=table.name)) or 0
    return list(range(last_id + 1, last_id + count + 1))


def check_can_open(path: str) -> None:
    """Raise the driver's error if the file cannot be opened.

    The asynchronous driver would leave a thread behind if its first connection failed.
    """
    with contextlib.closing(sqlite3.connect(path)):
        pass


def create_sqlite_engine(
    url: str, *, is_writer: bool = False, streams_rows: bool = False, **options: Any
) -> AsyncEngine:
    """Create an SQLAlchemy engine for the SQLite database at `url`.

    With `is_writer`, a transaction takes the write lock when it begins. Otherwise two transactions that have both read
    could not both go on to write. Only with `streams_rows` can the rows of a query be read in chunks; each statement
    takes longer then. `options` are passed to SQLAlchemy.
    """
    if not streams_rows:
        path = sqlite_path(url)
        assert path is not None
        options["async_creator"] = partial(open_eager_connection, str(Path(path).resolve()))
    engine = create_async_engine(sa.make_url(url).set(drivername="sqlite+aiosqlite"), **options)

    def begin_transaction(connection: sa.Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE" if is_writer else "BEGIN")

    pragmas = (*_PRAGMAS, *_PRAGMAS_OF_WRITER) if is_writer else _PRAGMAS
    event.listen(engine.sync_engine, "connect", partial(_configure_connection, pragmas))
    event.listen(engine.sync_engine, "begin", begin_transaction)
    return engine


def _configure_connection(pragmas: Sequence[str], connection: Any, _pool_record: Any) -> None:
    """Apply our settings to a new connection of the driver, before SQLAlchemy uses it."""
    # The driver's implicit BEGIN is deferred and would fail at the first write; the "begin" event replaces it.
    connection.isolation_level = None

    with contextlib.closing(connection.cursor()) as cursor:
        for pragma in pragmas:
            cursor.execute(f"PRAGMA {pragma}")


def back_up(source: str, target: Path) -> None:
    """Copy a consistent snapshot of the database at `source` to a new file, completely or not at all.

    Other connections may write meanwhile. An incomplete copy has the suffix `.part` and is deleted after a failure.

    Raises:
        FileExistsError: the target exists already.
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


def is_damaged(problem: BaseException | None) -> bool:
    """Return whether SQLite reports that the file is not a database, or no longer a valid one."""
    driver_error = getattr(problem, "orig", problem)
    if not isinstance(driver_error, sqlite3.DatabaseError):
        return False

    extended_code = getattr(driver_error, "sqlite_errorcode", 0)
    primary_code = extended_code & 0xFF
    return primary_code in _DAMAGE_CODES
