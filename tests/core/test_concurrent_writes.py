"""Transactions of two processes wait for each other instead of failing."""

import asyncio

import sqlalchemy as sa

from touchstone.core.settings import Settings
from touchstone.database.engine import Database

NUMBERS = sa.Table("numbers", sa.MetaData(), sa.Column("number", sa.Integer, nullable=False))


async def count_and_insert(database: Database) -> None:
    """Read in a transaction, give the other process time to do the same, and then write."""
    async with database.writing() as transaction:
        count = await transaction.scalar(sa.select(sa.func.count()).select_from(NUMBERS))
        await asyncio.sleep(0.1)
        await transaction.execute(sa.insert(NUMBERS).values(number=count))


async def test_transactions_that_read_before_they_write_succeed(settings: Settings, database: Database) -> None:
    """On SQLite, one would fail at once if the first write acquired the write lock (SQLITE_BUSY_SNAPSHOT).

    PostgreSQL allows both transactions to write, whatever they have read.
    """
    await database.run_sync(NUMBERS.create)
    other_process = Database(settings.effective_database_url)
    try:
        await asyncio.gather(count_and_insert(database), count_and_insert(other_process))
    finally:
        await other_process.close()
    async with database.reading() as connection:
        assert await connection.scalar(sa.select(sa.func.count()).select_from(NUMBERS)) == 2
