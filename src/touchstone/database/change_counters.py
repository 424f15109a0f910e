"""Version counters, by which processes notice each other's writes.

A transaction that changes the catalog, the accounts or the names of users also increments the counter of that name.
"""

from typing import Final

import sqlalchemy as sa

from touchstone.database.engine import Reader, Writer
from touchstone.database.tables import versions

CATALOG: Final = "catalog"
ACCOUNTS: Final = "accounts"
NAMES: Final = "names"
_INCREMENT: Final = (
    sa.update(versions)
    .where(versions.c.name == sa.bindparam("counter"))
    .values(version=versions.c.version + 1)
    .returning(versions.c.version)
)
# Two processes may create a counter at the same time: the later one waits here until the earlier one has committed.
_CREATE_COUNTER: Final = sa.text("INSERT INTO versions (name, version) VALUES (:name, 0) ON CONFLICT (name) DO NOTHING")


async def read_version(connection: Reader, counter: str) -> int:
    """Return the value of a counter such as `CATALOG`, which is 0 before it is first incremented."""
    version = await connection.scalar(sa.select(versions.c.version).where(versions.c.name == counter))
    return int(version or 0)


async def increment_version(transaction: Writer, counter: str) -> int:
    """Increment a counter such as `CATALOG`, and return its new value, so that other processes notice a change.

    A transaction that makes a change calls this, too. The counter stays locked until the transaction ends, so that
    new values become visible in ascending order. A missing counter is created first.
    """
    row = await transaction.returning(_INCREMENT, {"counter": counter})
    if row is None:
        await transaction.execute(_CREATE_COUNTER.bindparams(name=counter))
        row = await transaction.returning(_INCREMENT, {"counter": counter})

    assert row is not None, "the counter exists now"
    return int(row["version"])
