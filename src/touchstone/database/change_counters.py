"""Version counters, which let processes notice changes made by other processes.

There are counters for the catalog, for accounts and for names of users. A transaction that changes such data must
increment the corresponding counter. Other modules have counters that only serve as locks: a transaction that has
incremented one lets others wait until it ends.
"""

from typing import Final

import sqlalchemy as sa

from touchstone.database.engine import Reader, Writer
from touchstone.database.tables import versions

CATALOG: Final = "catalog"
ACCOUNTS: Final = "accounts"
NAMES: Final = "names"
_INCREMENT_COUNTER: Final = (
    sa.update(versions)
    .where(versions.c.name == sa.bindparam("counter"))
    .values(version=versions.c.version + 1)
    .returning(versions.c.version)
)
# If two processes create a counter at the same time, the second one waits here until the first one has committed.
_CREATE_COUNTER: Final = sa.text("INSERT INTO versions (name, version) VALUES (:name, 0) ON CONFLICT (name) DO NOTHING")


async def read_version(connection: Reader, counter: str) -> int:
    """Return the value of a counter such as `CATALOG`, or 0 if it has never been incremented."""
    version = await connection.scalar(sa.select(versions.c.version).where(versions.c.name == counter))
    return int(version or 0)


async def increment_version(transaction: Writer, counter: str) -> int:
    """Increment a counter so that other processes notice the change, and return the new value.

    Call it in the transaction that makes the change. The counter is locked until the transaction ends, so that new
    values become visible in ascending order. The counter is created if it does not exist yet.
    """
    row = await transaction.fetch_returned_row(_INCREMENT_COUNTER, {"counter": counter})
    if row is None:
        await transaction.execute(_CREATE_COUNTER.bindparams(name=counter))
        row = await transaction.fetch_returned_row(_INCREMENT_COUNTER, {"counter": counter})

    assert row is not None, "the counter exists, because it has just been created if it was missing"
    return int(row["version"])
