"""The first move of a counter, when several processes make it at once."""

import asyncio

from touchstone.database import versions
from touchstone.database.engine import Database


async def test_first_moves_made_at_once_all_count(database: Database) -> None:
    """On an empty database concurrent transactions each get a number of their own."""

    async def move() -> int:
        async with database.writing() as rows:
            moved = await versions.bump(rows, versions.ACCOUNTS)
            await asyncio.sleep(0.02)
            return moved

    assert sorted(await asyncio.gather(*(move() for _ in range(5)))) == [1, 2, 3, 4, 5]
    async with database.reading() as rows:
        assert await versions.current(rows, versions.ACCOUNTS) == 5
