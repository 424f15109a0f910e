"""Inserting many rows at once, in the fastest way that the database has."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from touchstone.database import postgresql, sqlite


async def insert_rows(connection: AsyncConnection, table: sa.Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows into a table, in the transaction of the connection.

    All rows must have values for the same columns. The other columns get their defaults.
    """
    if not rows:
        return

    dialect = connection.dialect
    column_names = list(rows[0])
    driver_rows = _to_driver_rows(table, column_names, rows, dialect)
    quote = dialect.identifier_preparer.quote
    target = f"{quote(table.name)} ({', '.join(map(quote, column_names))})"

    raw_connection = await connection.get_raw_connection()
    driver_connection = raw_connection.driver_connection
    with _as_sqlalchemy_errors(target, dialect):
        if sqlite.is_sqlite(dialect):
            await sqlite.insert_rows(driver_connection, target, driver_rows)
        else:
            await postgresql.copy_rows(driver_connection, target, driver_rows)


async def reserve_ids(connection: AsyncConnection, table: sa.Table, count: int) -> list[int]:
    """Return `count` new ids in ascending order, for rows that the transaction is about to insert into a table."""
    if sqlite.is_sqlite(connection.dialect):
        return await sqlite.next_ids(connection, table, count)
    return await postgresql.next_ids(connection, table, count)


def _to_driver_rows(
    table: sa.Table, column_names: Sequence[str], rows: Sequence[Mapping[str, Any]], dialect: sa.Dialect
) -> list[tuple[Any, ...]]:
    """Return rows as tuples of values that the database driver accepts."""
    # How a value is converted depends on its column, so the rows are converted column by column.
    columns: list[list[Any]] = []
    for name in column_names:
        values = [row[name] for row in rows]
        columns.append(_to_driver_values(values, table.c[name], dialect))

    return list(zip(*columns, strict=True))


def _to_driver_values(values: list[Any], column: sa.Column[Any], dialect: sa.Dialect) -> list[Any]:
    """Convert the values of a column as SQLAlchemy does for its own statements: JSON to text, for example."""
    # The drivers accept Booleans and floats as they are, and SQLAlchemy would only check their types.
    if isinstance(column.type, sa.Boolean | sa.Double):
        return values

    # COPY does not read 12.0 as an integer, although an INSERT statement would convert it.
    if isinstance(column.type, sa.Integer):
        return [None if value is None else int(value) for value in values]

    convert = column.type.dialect_impl(dialect).bind_processor(dialect)
    if convert is None:
        return values
    return [convert(value) for value in values]


@contextmanager
def _as_sqlalchemy_errors(target: str, dialect: sa.Dialect) -> Iterator[None]:
    """Turn the driver's errors in the block into SQLAlchemy's, which the callers handle."""
    driver_error: type[Exception] = dialect.loaded_dbapi.Error
    try:
        yield
    except driver_error as error:
        raise sa.exc.DBAPIError.instance(target, None, error, driver_error, dialect=dialect) from error
