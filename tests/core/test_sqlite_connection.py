"""Connections to SQLite that execute a statement and fetch its rows with one message to their thread."""

import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from touchstone.database.sqlite_connection import EagerConnection


class CountingConnection(EagerConnection):
    """A connection that counts the messages to its thread."""

    message_count = 0

    async def _execute(self, fn: Any, *args: Any, **kwargs: Any) -> Any:
        self.message_count += 1
        return await super()._execute(fn, *args, **kwargs)  # type: ignore[no-untyped-call]


@pytest.fixture
async def connection(tmp_path: Path) -> AsyncIterator[CountingConnection]:
    connection = CountingConnection(str(tmp_path / "numbers.db"))
    await connection
    await connection.run_statement("CREATE TABLE numbers (id INTEGER PRIMARY KEY, number INTEGER UNIQUE)", ())
    yield connection
    await connection.close()


@pytest.fixture
async def engine(connection: CountingConnection) -> AsyncIterator[AsyncEngine]:
    """Return an engine of SQLAlchemy with this connection."""

    async def open_connection() -> CountingConnection:
        return connection

    engine = create_async_engine("sqlite+aiosqlite:///numbers.db", async_creator=open_connection)
    yield engine
    await engine.dispose()


async def test_a_statement_takes_one_message(connection: CountingConnection, engine: AsyncEngine) -> None:
    """Whether it has rows or not, opening and closing its cursor are part of it."""
    async with engine.connect() as transaction:
        await transaction.scalar(sa.text("SELECT 1"))
        connection.message_count = 0

        await transaction.execute(sa.text("INSERT INTO numbers (number) VALUES (:number)"), {"number": 7})
        assert connection.message_count == 1
        rows = await transaction.execute(sa.text("SELECT id, number FROM numbers"))
        assert [dict(row) for row in rows.mappings()] == [{"id": 1, "number": 7}]
        assert connection.message_count == 2


async def test_a_statement_reports_what_it_has_changed(engine: AsyncEngine) -> None:
    async with engine.begin() as transaction:
        insert = sa.text("INSERT INTO numbers (number) VALUES (:number)")
        insert_result = await transaction.execute(insert, {"number": 7})
        assert insert_result.lastrowid == 1
        await transaction.execute(insert, [{"number": 8}, {"number": 9}])

        update_result = await transaction.execute(sa.text("UPDATE numbers SET number = number + 10 WHERE number > 7"))
        assert update_result.rowcount == 2
        delete_result = await transaction.execute(sa.text("DELETE FROM numbers WHERE number > 17 RETURNING number"))
        assert sorted(delete_result.scalars()) == [18, 19]


async def test_a_statement_that_fails_changes_nothing(connection: CountingConnection, engine: AsyncEngine) -> None:
    """The error is that of SQLite, and the connection can be used afterwards."""
    async with engine.begin() as transaction:
        await transaction.execute(sa.text("INSERT INTO numbers (number) VALUES (7)"))

    async with engine.connect() as transaction:
        await transaction.execute(sa.text("INSERT INTO numbers (number) VALUES (8)"))
        with pytest.raises(sa.exc.IntegrityError, match=r"numbers\.number"):
            await transaction.execute(sa.text("INSERT INTO numbers (number) VALUES (7)"))
    with pytest.raises(sqlite3.OperationalError, match="no such table"):
        await connection.run_statement("SELECT * FROM letters", ())

    async with engine.connect() as transaction:
        assert list(await transaction.scalars(sa.text("SELECT number FROM numbers"))) == [7]
