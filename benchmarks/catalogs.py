"""Catalogs for benchmarks: rows drawn from the demo catalog's own values, written straight into a database."""

import random
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from touchstone import demo
from touchstone.core.attributes import ATTRIBUTES
from touchstone.database.engine import Database
from touchstone.database.migrations import prepare
from touchstone.database.tables import datasets, versions


def rows(count: int, seed: int = 0) -> list[dict[str, Any]]:
    """`count` rows of the table `datasets`: each attribute drawn from a random real record, nulls included."""
    chance = random.Random(seed)
    real = list(demo.records())
    now = datetime.now(UTC)
    made = []
    for number in range(1, count + 1):
        row = {a.name: chance.choice(real).get(a.name) for a in ATTRIBUTES if a.name != "dataset_name"}
        source = chance.choice(real)
        row |= {
            "id": number,
            "dataset_id": uuid.UUID(int=chance.getrandbits(128), version=4),
            "owner": None,
            "visibility": "public",
            "dataset_name": f"{source['name'][:180]} {number}",
            "description": source.get("description") or "",
            "file_path": f"bench/{number}.csv",
            "file_type": chance.choice(("csv", "parquet", "json")),
            "metadata": {"tags": [], "source": source["metadata"].get("source")},
            "measured_attributes": None,
            "created_at": now,
            "updated_at": now,
            "changed_at_version": 1,
        }
        made.append(row)
    return made


async def fill(path: Path, count: int) -> None:
    """Make an embedded database at `path` with `count` records."""
    database = Database(f"sqlite:///{path}")
    await prepare(database)
    async with database.writing() as writer:
        made = rows(count)
        for begin in range(0, count, 1000):
            await writer.execute(sa.insert(datasets), made[begin : begin + 1000])
        await writer.execute(sa.delete(versions).where(versions.c.name == "catalog"))
        await writer.execute(sa.insert(versions).values(name="catalog", version=1))
    await database.close()
