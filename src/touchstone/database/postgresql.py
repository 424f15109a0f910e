"""Code for PostgreSQL only: options and checks of connections, and the lock that serialises migrations."""

import select
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

# With libpq's defaults, a connection to a server that has lost its network hangs for minutes.
CONNECTION_OPTIONS: Final = {
    "connect_timeout": 3,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}
# A list of the texts of a JSON array.
TEXT_LIST: Final = "(SELECT json_array_elements_text(CAST({array} AS JSON)))"
# The size up to which catalogs in PostgreSQL have been measured.
MEASURED_RECORDS: Final = 10_000_000
# The next ids as one JSON array, which takes less time than a row for each; the sequence is looked up only once.
_NEXT_IDS: Final = sa.text(
    "WITH sequence AS MATERIALIZED (SELECT CAST(pg_get_serial_sequence(:table, 'id') AS regclass) AS name)"
    " SELECT json_agg(nextval(name)) FROM sequence, generate_series(1, :count)"
)
# The number is arbitrary, but every process must use the same one.
_ADVISORY_LOCK: Final = 7_368_273


def create_postgresql_engine(url: str, **options: Any) -> AsyncEngine:
    """Create an SQLAlchemy engine for the PostgreSQL database at `url`, which notices a lost server within seconds.

    Connection options in the URL take precedence over `CONNECTION_OPTIONS`. `options` are passed to SQLAlchemy.
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
    """Let the pool replace its connections if the server has closed the one that it is about to hand out.

    Otherwise, every pooled connection would fail its first request after a restart of the server. `pool_pre_ping` of
    SQLAlchemy would send a query for this, which takes about as long as many of the queries that requests make. An idle
    connection has nothing to read, unless the server has closed it, or has sent a notice after which a new connection
    is just as good.

    Raises:
        sqlalchemy.exc.InvalidatePoolError: the connection is closed, or has something to read.
    """
    driver_connection = connection.driver_connection
    if driver_connection.closed or _has_something_to_read(driver_connection.fileno()):
        raise sa.exc.InvalidatePoolError


def _has_something_to_read(socket: int) -> bool:
    """Return whether a socket, given by its file descriptor, has data to read or has been closed by its peer."""
    poll = select.poll()
    poll.register(socket, select.POLLIN)
    return bool(poll.poll(0))


async def copy_lines(driver_connection: Any, target: str, lines: bytes) -> None:
    """Insert rows from lines of CSV by COPY; `target` is the table with the names of its columns."""
    async with driver_connection.cursor() as cursor, cursor.copy(f"COPY {target} FROM STDIN (FORMAT csv)") as copy:
        await copy.write(lines)


async def next_ids(connection: AsyncConnection, table: sa.Table, count: int) -> list[int]:
    """Return the next ids from the sequence of a table, which nobody else gets."""
    ids: list[int] = await connection.scalar(_NEXT_IDS.bindparams(table=table.name, count=count))
    return sorted(ids)


def connection_string(url: str) -> str:
    """Return the connection string of libpq for the PostgreSQL database at `url`, for drivers other than SQLAlchemy's.

    It holds the same options as the connections of `create_postgresql_engine`.
    """
    from psycopg.conninfo import make_conninfo  # noqa: PLC0415 - installed with the extra `postgres` only

    parsed_url = sa.make_url(url).set(drivername="postgresql+psycopg")
    _, options_in_url = parsed_url.get_dialect()().create_connect_args(parsed_url)
    return make_conninfo(**{**CONNECTION_OPTIONS, "client_encoding": "UTF8", **options_in_url})


def take_advisory_lock(connection: sa.Connection) -> None:
    """Wait until no other transaction holds the lock, and hold it until the end of this one."""
    connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_ADVISORY_LOCK)))
