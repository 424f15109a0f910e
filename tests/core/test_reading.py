"""Connections for queries: without a transaction on PostgreSQL, unless rows are read in chunks."""

import sqlalchemy as sa

from touchstone.database.engine import Database, Reader
from touchstone.database.tables import versions

NOW = sa.select(sa.func.now())


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
