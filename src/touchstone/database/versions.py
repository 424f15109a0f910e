"""Version counters, by which processes notice each other's writes.

A transaction that changes the catalog or the accounts also increments the counter of that name.
"""

from typing import Final

import sqlalchemy as sa

from touchstone.database.engine import Reader, Writer
from touchstone.database.tables import versions

CATALOG: Final = "catalog"
ACCOUNTS: Final = "accounts"
# Two processes may create a counter at the same time: the later one waits here until the earlier one has committed.
_CREATE_COUNTER: Final = sa.text("INSERT INTO versions (name, version) VALUES (:name, 0) ON CONFLICT (name) DO NOTHING")


async def read_version(rows: Reader, counter: str) -> int:
    """Return the value of a counter such as `CATALOG`, which is 0 before it is first incremented."""
    version = await rows.scalar(sa.select(versions.c.version).where(versions.c.name == counter))
    return int(version or 0)


async def increment_version(rows: Writer, counter: str) -> int:
    """Increment a counter such as `CATALOG` in the transaction of a change, and return its new value.

    The row of the counter stays locked until the end of the transaction, so values become visible in the order in
    which they were assigned. A counter that does not exist yet is created with the value 1.
    """
    increment = (
        sa.update(versions)
        .where(versions.c.name == counter)
        .values(version=versions.c.version + 1)
        .returning(versions.c.version)
    )

    row = await rows.returning(increment)
    if row is None:
        await rows.execute(_CREATE_COUNTER.bindparams(name=counter))
        row = await rows.returning(increment)

    assert row is not None
    return int(row["version"])
