"""Insertion of many rows with the fastest method of each database."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

import pyarrow as pa
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from touchstone.database import postgresql, sqlite
from touchstone.database.copy_lines import to_arrow, to_copy_lines

# The values of a column as they are passed to the database: Python values for SQLite, or an Arrow array for PostgreSQL.
ConvertedColumn: TypeAlias = Sequence[Any] | pa.Array


async def insert_rows(connection: AsyncConnection, table: sa.Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows into a table in the transaction of the connection.

    All rows must have the same columns. Other columns of the table get their defaults.
    """
    if rows:
        columns = {name: [row[name] for row in rows] for name in rows[0]}
        await insert_columns(connection, table, convert_columns(table, columns, connection.dialect))


def convert_columns(
    table: sa.Table, columns: Mapping[str, Sequence[Any]], dialect: sa.Dialect
) -> dict[str, ConvertedColumn]:
    """Convert the values of each column of a table to what the kind of database needs (see `ConvertedColumn`)."""
    if sqlite.is_sqlite(dialect):
        return {name: _to_driver_values(values, table.c[name], dialect) for name, values in columns.items()}
    return {name: to_arrow(values, table.c[name]) for name, values in columns.items()}


def convert_uuids(hexadecimals: Sequence[str], dialect: sa.Dialect) -> ConvertedColumn:
    """Convert UUIDs, given as 32 hexadecimal digits, which both databases accept."""
    return hexadecimals if sqlite.is_sqlite(dialect) else pa.array(hexadecimals, pa.string())


def convert_shared_values(
    table: sa.Table, values: Mapping[str, Any], row_count: int, dialect: sa.Dialect
) -> dict[str, ConvertedColumn]:
    """Convert values that are the same in all rows to columns of `row_count` values.

    Each value is only converted once. `values` and the result are keyed by the names of columns of the table.
    """
    columns = convert_columns(table, {name: [value] for name, value in values.items()}, dialect)
    if sqlite.is_sqlite(dialect):
        return {name: list(column) * row_count for name, column in columns.items()}
    return {name: pa.repeat(column[0], row_count) for name, column in columns.items()}


async def insert_columns(connection: AsyncConnection, table: sa.Table, columns: Mapping[str, ConvertedColumn]) -> None:
    """Insert rows, given as converted columns, in the transaction of the connection.

    Other columns of the table get their defaults. The driver is called directly, which is faster than SQLAlchemy for
    many rows.
    """
    dialect = connection.dialect

    # For example: "datasets" ("id", "name").
    quote = dialect.identifier_preparer.quote
    quoted_columns = ", ".join(map(quote, columns))
    target = f"{quote(table.name)} ({quoted_columns})"

    raw_connection = await connection.get_raw_connection()
    driver_connection = raw_connection.driver_connection

    with _raise_sqlalchemy_errors(target, dialect):
        if sqlite.is_sqlite(dialect):
            rows = list(zip(*columns.values(), strict=True))
            await sqlite.insert_rows(driver_connection, target, rows)
        else:
            # Arrow releases the interpreter lock while it writes the lines, so that other tasks can run meanwhile.
            lines = await asyncio.to_thread(to_copy_lines, columns)
            await postgresql.copy_lines(driver_connection, target, lines)


async def reserve_ids(connection: AsyncConnection, table: sa.Table, count: int) -> list[int]:
    """Return `count` new ids in ascending order for rows that this transaction will insert."""
    if sqlite.is_sqlite(connection.dialect):
        return await sqlite.next_ids(connection, table, count)
    return await postgresql.next_ids(connection, table, count)


def _to_driver_values(values: Sequence[Any], column: sa.Column[Any], dialect: sa.Dialect) -> Sequence[Any]:
    """Convert the values of a column as SQLAlchemy does, for example JSON values to strings."""
    # The driver accepts numbers, and SQLAlchemy would only check their types.
    if isinstance(column.type, sa.Boolean | sa.Double | sa.Integer):
        return values

    convert = column.type.dialect_impl(dialect).bind_processor(dialect)
    if convert is None:
        return values
    return [convert(value) for value in values]


@contextmanager
def _raise_sqlalchemy_errors(target: str, dialect: sa.Dialect) -> Iterator[None]:
    """Convert exceptions of the driver in the `with` block to exceptions of SQLAlchemy."""
    driver_error: type[Exception] = dialect.loaded_dbapi.Error
    try:
        yield
    except driver_error as error:
        raise sa.exc.DBAPIError.instance(target, None, error, driver_error, dialect=dialect) from error
