"""PostgreSQL connections, bulk inserts, and the lock that serializes migrations."""

import select
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

# With libpq's defaults, a connection hangs for minutes if the server loses its network.
CONNECTION_OPTIONS: Final = {
    "connect_timeout": 3,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}
# The SQL for the strings in a JSON array as the right-hand side of IN.
STRING_LIST_SQL: Final = "(SELECT json_array_elements_text(CAST({array} AS JSON)))"
# The largest number of records in performance tests with PostgreSQL.
MEASURED_RECORDS: Final = 10_000_000
# Returns the next ids as one JSON array, which is faster than one row for each id. The sequence is looked up only once.
_NEXT_IDS: Final = sa.text(
    "WITH sequence AS MATERIALIZED (SELECT CAST(pg_get_serial_sequence(:table, 'id') AS regclass) AS name)"
    " SELECT json_agg(nextval(name)) FROM sequence, generate_series(1, :count)"
)
# The number is arbitrary, but must be the same in every process.
_ADVISORY_LOCK: Final = 7_368_273


def create_postgresql_engine(url: str, **options: Any) -> AsyncEngine:
    """Create an SQLAlchemy engine for PostgreSQL that detects a lost server within seconds.

    Args:
        url: the URL of the database. Its options take precedence over `CONNECTION_OPTIONS`.
        **options: options for SQLAlchemy.
    """
    parsed_url = sa.make_url(url)
    options_in_url = parsed_url.query
    connection_options = {name: value for name, value in CONNECTION_OPTIONS.items() if name not in options_in_url}

    engine = create_async_engine(
        parsed_url.set(drivername="postgresql+psycopg"), connect_args=connection_options, **options
    )
    sa.event.listen(engine.sync_engine, "checkout", _check_connection)
    return engine


def _check_connection(connection: Any, _record: object, _proxy: object) -> None:
    """Make the pool replace its connections if the server has closed the one being checked out.

    Otherwise, the first request on every pooled connection would fail after a restart of the server. SQLAlchemy's
    `pool_pre_ping` would send a query, which takes about as long as many queries of requests. An idle connection is
    only readable if the server has closed it, or has sent a notice, in which case replacing it does no harm.

    Raises:
        sqlalchemy.exc.InvalidatePoolError: the connection is closed or readable.
    """
    driver_connection = connection.driver_connection
    if driver_connection.closed or _is_readable(driver_connection.fileno()):
        raise sa.exc.InvalidatePoolError


def _is_readable(socket: int) -> bool:
    """Return whether a socket, given as a file descriptor, has data to read or has been closed."""
    poll = select.poll()
    poll.register(socket, select.POLLIN)
    return bool(poll.poll(0))


async def copy_lines(driver_connection: Any, target: str, lines: bytes) -> None:
    """Insert rows with COPY.

    Args:
        driver_connection: the connection of the driver.
        target: the table and its columns in SQL.
        lines: the rows as CSV.
    """
    async with driver_connection.cursor() as cursor, cursor.copy(f"COPY {target} FROM STDIN (FORMAT csv)") as copy:
        await copy.write(lines)


async def next_ids(connection: AsyncConnection, table: sa.Table, count: int) -> list[int]:
    """Take the next ids from the sequence of a table, and return them in ascending order."""
    ids: list[int] = await connection.scalar(_NEXT_IDS.bindparams(table=table.name, count=count))
    return sorted(ids)


def connection_string(url: str) -> str:
    """Return the libpq connection string for the PostgreSQL database at `url`.

    It has the same options as the connections of `create_postgresql_engine`, for use without SQLAlchemy.
    """
    from psycopg.conninfo import make_conninfo  # noqa: PLC0415 - installed with the extra `postgres` only

    parsed_url = sa.make_url(url).set(drivername="postgresql+psycopg")
    _, options_in_url = parsed_url.get_dialect()().create_connect_args(parsed_url)
    return make_conninfo(**{**CONNECTION_OPTIONS, "client_encoding": "UTF8", **options_in_url})


def acquire_advisory_lock(connection: sa.Connection) -> None:
    """Wait for the lock, and hold it until the end of the transaction."""
    connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_ADVISORY_LOCK)))
