"""Reading of query results as Arrow record batches of limited size.

PostgreSQL is read with the ADBC driver (Arrow Database Connectivity), which decodes the binary format of COPY directly
to Arrow arrays. SQLite is read with the standard library's `sqlite3`, because ADBC's SQLite driver loads a second copy
of SQLite into the process. With that driver, some tests failed with disk I/O errors of unknown cause. SQLite's
documentation warns that two copies can release each other's locks (https://www.sqlite.org/howtocorrupt.html, section
2.2.1).

A query is a single statement, so its rows are consistent even if there are concurrent writes.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any, Final, Protocol

import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from touchstone.core.errors import Unavailable
from touchstone.database.failures import translate_failures
from touchstone.database.postgresql import connection_string
from touchstone.database.sqlite import BUSY_TIMEOUT_MS, sqlite_path
from touchstone.database.utc_datetime import UtcDateTime

# The batch size is limited in bytes for PostgreSQL, whose driver supports this, and in rows for SQLite.
BATCH_BYTES: Final = 32 * 1024 * 1024
BATCH_ROWS: Final = 16_384

# With a driver's default placeholders, SQLAlchemy would double each percent sign in the SQL.
_POSTGRESQL: Final[sa.Dialect] = postgresql.dialect(paramstyle="named")  # type: ignore[no-untyped-call]
_SQLITE: Final[sa.Dialect] = sqlite.dialect(paramstyle="named")

_TIME: Final = pa.timestamp("us", tz="UTC")
_UUID: Final = pa.binary(16)
_ARROW_TYPES: Final[tuple[tuple[type[Any], pa.DataType], ...]] = (
    (UtcDateTime, _TIME),
    (sa.Uuid, _UUID),
    (sa.JSON, pa.large_string()),
    (sa.Boolean, pa.bool_()),
    (sa.Integer, pa.int64()),
    (sa.Double, pa.float64()),
    (sa.Text, pa.large_string()),
)
"""The Arrow type for each SQLAlchemy column type. JSON values are not decoded."""

# The types of values as read from SQLite, which stores timestamps and UUIDs as strings, and Booleans as integers.
_SQLITE_STORAGE_TYPES: Final = {_TIME: pa.string(), _UUID: pa.string(), pa.bool_(): pa.int64()}


class ColumnConnection(Protocol):
    """A connection that reads rows column by column. It must be closed after use."""

    def stream(self, query: sa.Select[Any]) -> Iterator[pa.RecordBatch]:
        """Run a query, and yield its rows in batches with one array for each column.

        The arrays have the types of `_ARROW_TYPES` for both databases. Call this in a thread, because it blocks.

        Raises:
            Unavailable: the database cannot be reached.
        """

    def close(self) -> None:
        """Close the connection."""


def connect_for_columns(url: str) -> ColumnConnection:
    """Connect to the database at `url` for reading columns. Call this in a thread, because it blocks.

    Raises:
        Unavailable: the database cannot be reached.
    """
    path = sqlite_path(url)
    return PostgresqlConnection(url) if path is None else SqliteConnection(path)


def stream_columns(url: str, query: sa.Select[Any]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a query like `ColumnConnection.stream`, with a new connection."""
    with closing(connect_for_columns(url)) as connection:
        yield from connection.stream(query)


def _arrow_schema(query: sa.Select[Any]) -> pa.Schema:
    """Return the names and the Arrow types of the columns of a query."""
    return pa.schema([(column.name, _arrow_type(column.type)) for column in query.selected_columns])


def _arrow_type(column_type: sa.types.TypeEngine[Any]) -> pa.DataType:
    """Return the Arrow type for a column type."""
    for known_type, arrow_type in _ARROW_TYPES:
        if isinstance(column_type, known_type):
            return arrow_type
    raise TypeError(f"no Arrow type for {column_type!r}")


class PostgresqlConnection:
    """A connection that reads columns from PostgreSQL in a single transaction.

    It must be closed after use.
    """

    def __init__(self, url: str) -> None:
        """Connect to the database at `url`.

        Raises:
            Unavailable: the database cannot be reached.
        """
        # This is installed with the extra `postgres` only.
        import adbc_driver_postgresql.dbapi  # noqa: PLC0415

        with _translate_driver_failures():
            self._connection = adbc_driver_postgresql.dbapi.connect(connection_string(url))
        self._batch_size_option = adbc_driver_postgresql.StatementOptions.BATCH_SIZE_HINT_BYTES.value

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def import_snapshot(self, snapshot: str) -> None:
        """Make this transaction see the same rows as the transaction that exported the snapshot.

        This must be called before any query.
        """
        with _translate_driver_failures(), closing(self._connection.cursor()) as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            cursor.execute(f"SET TRANSACTION SNAPSHOT '{snapshot}'")

    def stream(self, query: sa.Select[Any]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a query in batches with one array for each column."""
        schema = _arrow_schema(query)
        options = {self._batch_size_option: str(BATCH_BYTES)}
        with _translate_driver_failures(), closing(self._connection.cursor(adbc_stmt_kwargs=options)) as cursor:
            cursor.execute(_to_sql(query, _POSTGRESQL))
            for batch in cursor.fetch_record_batch():
                yield _convert_batch(batch, schema)


@contextmanager
def _translate_driver_failures() -> Iterator[None]:
    """Raise `Unavailable` if the PostgreSQL driver raises an exception in the `with` block."""
    import adbc_driver_manager  # noqa: PLC0415

    try:
        yield
    except adbc_driver_manager.Error as error:
        raise Unavailable from error


class SqliteConnection:
    """A connection that reads columns from SQLite.

    It must be closed after use.
    """

    def __init__(self, path: str) -> None:
        """Open a database file.

        Raises:
            Unavailable: the file cannot be opened.
        """
        with translate_failures():
            self._connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT_MS / 1000, check_same_thread=False)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def stream(self, query: sa.Select[Any]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a query in batches with one array for each column.

        Only one batch is held as Python objects, so a large table needs little memory.
        """
        schema = _arrow_schema(query)
        storage_types = [_SQLITE_STORAGE_TYPES.get(field.type, field.type) for field in schema]

        with translate_failures(), closing(self._connection.execute(_to_sql(query, _SQLITE))) as cursor:
            while rows := cursor.fetchmany(BATCH_ROWS):
                columns = zip(*rows, strict=True)
                arrays = [
                    pa.array(values, storage_type) for values, storage_type in zip(columns, storage_types, strict=True)
                ]
                stored_batch = pa.RecordBatch.from_arrays(arrays, names=schema.names)
                yield _convert_batch(stored_batch, schema)


def _to_sql(query: sa.Select[Any], dialect: sa.Dialect) -> str:
    """Return the SQL of a query, with literals instead of bind parameters."""
    return str(query.compile(dialect=dialect, compile_kwargs={"literal_binds": True}))


def _convert_batch(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Convert the columns of a batch to the types of the schema, which are the same for both databases."""
    columns = [_convert_column(column, field.type) for column, field in zip(batch.columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _convert_column(column: pa.Array, arrow_type: pa.DataType) -> pa.Array:
    """Convert a column as read from a database to the given Arrow type."""
    if isinstance(column, pa.ExtensionArray):
        column = column.storage
    if column.type == arrow_type:
        return column
    if arrow_type == _UUID and pa.types.is_string(column.type):
        return _parse_uuids(column)
    if arrow_type == _TIME and pa.types.is_string(column.type):
        return pc.assume_timezone(column.cast(pa.timestamp("us")), "UTC")
    return column.cast(arrow_type)


def _parse_uuids(texts: pa.Array) -> pa.Array:
    """Convert UUIDs from 32 hexadecimal digits, as stored by SQLite, to 16 bytes."""
    texts_without_nulls = texts.fill_null("0" * 32)
    uuid_bytes = bytes.fromhex("".join(texts_without_nulls.to_pylist()))

    uuids = pa.Array.from_buffers(_UUID, len(texts), [None, pa.py_buffer(uuid_bytes)])
    return pc.if_else(texts.is_valid(), uuids, pa.scalar(None, _UUID))
