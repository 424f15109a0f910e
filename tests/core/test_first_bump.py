"""The first increment of a version counter, when several transactions make it at the same time."""

import asyncio

from touchstone.database import change_counters
from touchstone.database.engine import Database


async def test_simultaneous_first_increments_all_count(database: Database) -> None:
    """Concurrent transactions on an empty database each get a different version."""

    async def increment() -> int:
        async with database.writing() as rows:
            version = await change_counters.increment_version(rows, change_counters.ACCOUNTS)
            await asyncio.sleep(0.02)
            return version

    assert sorted(await asyncio.gather(*(increment() for _ in range(5)))) == [1, 2, 3, 4, 5]
    async with database.reading() as rows:
        assert await change_counters.read_version(rows, change_counters.ACCOUNTS) == 5
