"""Catalogs for benchmarks: rows with values of the demo catalog, written directly into a database."""

import random
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa

from touchstone.core.attributes import ATTRIBUTES
from touchstone.database.engine import Database
from touchstone.database.migrations import prepare_schema
from touchstone.database.tables import datasets, versions
from touchstone.demo.packaged_records import read_records

INSERT_ROWS: Final = 1000
MAX_NAME_PREFIX: Final = 180


def generate_dataset_rows(count: int, seed: int = 0) -> list[dict[str, Any]]:
    """Return rows of the table `datasets` with attributes drawn from random records of the demo catalog.

    Attributes that a record lacks are drawn as well, so that as many values are missing as in the real data. The same
    seed gives the same rows, except for their timestamps.
    """
    generator = random.Random(seed)
    demo_records = list(read_records())
    created_at = datetime.now(UTC)

    rows = []
    for number in range(1, count + 1):
        attributes = {
            attribute.name: generator.choice(demo_records).attributes[attribute.name]
            for attribute in ATTRIBUTES
            if attribute.name != "dataset_name"
        }
        source_record = generator.choice(demo_records)
        row = {
            **attributes,
            "id": number,
            "dataset_id": uuid.UUID(int=generator.getrandbits(128), version=4),
            "owner": None,
            "visibility": "public",
            "dataset_name": f"{source_record.name[:MAX_NAME_PREFIX]} {number}",
            "description": source_record.description,
            "file_path": f"bench/{number}.csv",
            "file_type": generator.choice(("csv", "parquet", "json")),
            "metadata": {"tags": [], "source": source_record.metadata.get("source")},
            "measured_attributes": None,
            "created_at": created_at,
            "updated_at": created_at,
            "changed_at_version": 1,
        }
        rows.append(row)
    return rows


async def create_catalog(path: Path, record_count: int) -> None:
    """Create an embedded database at `path` with this number of records, at version 1 of the catalog."""
    rows = generate_dataset_rows(record_count)
    database = Database(f"sqlite:///{path}")
    await prepare_schema(database)

    async with database.writing() as writer:
        for begin in range(0, record_count, INSERT_ROWS):
            await writer.execute(sa.insert(datasets), rows[begin : begin + INSERT_ROWS])

        await writer.execute(sa.delete(versions).where(versions.c.name == "catalog"))
        await writer.execute(sa.insert(versions).values(name="catalog", version=1))

    await database.close()
