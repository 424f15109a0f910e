"""Inserting many rows at once, in the fastest way that the database has."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from touchstone.database import postgresql, sqlite


async def insert_rows(connection: AsyncConnection, table: sa.Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows into a table, in the transaction of the connection.

    All rows have values for the same columns. Other columns get the defaults of the database.
    """
    if not rows:
        return

    dialect = connection.dialect
    column_names = list(rows[0])
    stored_rows = _stored_rows(table, column_names, rows, dialect)
    quote = dialect.identifier_preparer.quote
    target = f"{quote(table.name)} ({', '.join(map(quote, column_names))})"

    insert = sqlite.insert_rows if sqlite.is_sqlite(dialect) else postgresql.copy_rows
    raw_connection = await connection.get_raw_connection()
    with _driver_errors(target, dialect):
        await insert(raw_connection.driver_connection, target, stored_rows)


async def reserve_ids(connection: AsyncConnection, table: sa.Table, count: int) -> list[int]:
    """Return as many new ids, in ascending order, for rows that the transaction inserts next into a table."""
    reserve = sqlite.next_ids if sqlite.is_sqlite(connection.dialect) else postgresql.next_ids
    return await reserve(connection, table, count)


def _stored_rows(
    table: sa.Table, column_names: Sequence[str], rows: Sequence[Mapping[str, Any]], dialect: sa.Dialect
) -> list[tuple[Any, ...]]:
    """Return rows as the driver stores them, converted by the types of the columns."""
    stored_columns: list[list[Any]] = []
    for name in column_names:
        values = [row[name] for row in rows]
        column_type = table.c[name].type
        # Every driver takes the values of Python for these types; SQLAlchemy only checks them.
        is_plain = isinstance(column_type, sa.Boolean | sa.Double)
        convert = None if is_plain else column_type.dialect_impl(dialect).bind_processor(dialect)
        stored_columns.append(values if convert is None else [convert(value) for value in values])

    return list(zip(*stored_columns, strict=True))


@contextmanager
def _driver_errors(target: str, dialect: sa.Dialect) -> Iterator[None]:
    """Raise the errors of the driver in the block as SQLAlchemy would, whose handling of failures relies on that."""
    driver_error: type[Exception] = dialect.loaded_dbapi.Error
    try:
        yield
    except driver_error as error:
        raise sa.exc.DBAPIError.instance(target, None, error, driver_error, dialect=dialect) from error
