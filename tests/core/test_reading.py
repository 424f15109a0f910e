"""Connections for queries: without a transaction on PostgreSQL, unless rows are read in chunks."""

import asyncio

import pytest
import sqlalchemy as sa

from touchstone.database.engine import Database, Reader
from touchstone.database.tables import versions

NOW = sa.select(sa.func.now())
# Counts to three million, which takes about a second.
NUMBERS = sa.select(sa.literal(1).label("number")).cte("numbers", recursive=True)
NUMBERS = NUMBERS.union_all(sa.select(NUMBERS.c.number + 1).where(NUMBERS.c.number < 3_000_000))
LONG_QUERY = sa.select(sa.func.count()).select_from(NUMBERS)


async def has_transaction(connection: Reader) -> bool:
    """Return whether two queries belong to one transaction; for PostgreSQL, the time stands still in it."""
    times = {await connection.scalar(NOW) for _ in range(2)}
    return len(times) == 1


async def test_queries_need_no_transaction(database: Database) -> None:
    """PostgreSQL is not asked to begin and to end one; a connection that was used for queries can still write."""
    if database.path is not None:
        return  # SQLite is not asked over a network

    async with database.reading() as connection:
        assert not await has_transaction(connection)
    async with database.writing() as transaction:
        assert await has_transaction(transaction)
    async with database.reading() as connection:
        assert not await has_transaction(connection)


async def test_rows_are_read_in_chunks(database: Database) -> None:
    async with database.writing() as transaction:
        for name in "abc":
            await transaction.execute(sa.insert(versions).values(name=name, version=1))

    names = sa.select(versions.c.name).where(versions.c.name.in_(["a", "b", "c"])).order_by(versions.c.name)
    async with database.streaming() as connection:
        chunks = [[row["name"] for row in chunk] async for chunk in connection.stream(names, size=2)]
    assert chunks == [["a", "b"], ["c"]]


async def test_a_cancelled_transaction_stores_nothing(database: Database) -> None:
    """If a request is cancelled while the database executes a statement, others can write soon afterwards."""

    async def write_and_wait() -> None:
        async with database.writing() as transaction:
            await transaction.execute(sa.insert(versions).values(name="cancelled", version=1))
            has_written.set()
            await transaction.execute(LONG_QUERY)

    has_written = asyncio.Event()
    task = asyncio.create_task(write_and_wait())
    await has_written.wait()
    await asyncio.sleep(0.1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    names = sa.select(versions.c.name)
    async with database.writing() as transaction:
        await transaction.execute(sa.insert(versions).values(name="next", version=1))
        stored_names = {row["name"] for row in await transaction.all(names)}
    assert "next" in stored_names
    assert "cancelled" not in stored_names


async def test_a_cancelled_query_does_not_disturb_the_next(database: Database) -> None:
    async def read_and_wait() -> None:
        async with database.reading() as connection:
            await connection.scalar(LONG_QUERY)

    task = asyncio.create_task(read_and_wait())
    await asyncio.sleep(0.1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    async with database.reading() as connection:
        assert await connection.scalar(sa.select(sa.literal("next"))) == "next"
