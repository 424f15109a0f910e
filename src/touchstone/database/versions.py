"""Counters that move with what they stand for, in the same transaction: how processes notice each other's writes."""

from typing import Final

import sqlalchemy as sa

from touchstone.database.engine import Reader, Writer
from touchstone.database.tables import versions

CATALOG: Final = "catalog"
ACCOUNTS: Final = "accounts"
# Two processes may make a counter's first move at once: the later one waits here for the earlier one's row.
_BEGIN: Final = sa.text("INSERT INTO versions (name, version) VALUES (:name, 0) ON CONFLICT (name) DO NOTHING")


async def current(rows: Reader, name: str) -> int:
    """The counter's value; 0 before its first move."""
    return int(await rows.scalar(sa.select(versions.c.version).where(versions.c.name == name)) or 0)


async def bump(rows: Writer, name: str) -> int:
    """Move the counter on and return its new value.

    The row stays locked until the transaction ends, so values appear to others in the order in which they were taken.
    """
    moved = sa.update(versions).where(versions.c.name == name).values(version=versions.c.version + 1)
    found = await rows.returning(moved.returning(versions.c.version))
    if found is None:
        await rows.execute(_BEGIN.bindparams(name=name))
        found = await rows.returning(moved.returning(versions.c.version))
    assert found is not None
    return int(found["version"])
