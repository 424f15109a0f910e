"""What has changed in the catalog is read in batches, each of which begins where the last one ended."""

from typing import Any

import pytest
import sqlalchemy as sa

from tests.selection.seeded import random_rows, seed
from tests.selection.test_record_batches import assert_same_batch
from touchstone.database.engine import Database
from touchstone.database.tables import datasets
from touchstone.ranking.columns.row_batches import to_record_batch
from touchstone.services.selection.catalog import changes_store
from touchstone.services.selection.catalog.changes_store import (
    ChangedBatch,
    ChangePosition,
    batches_changed_after,
    later_versions,
    records_changed_after,
    rest_of_version,
)
from touchstone.services.selection.datasets import store
from touchstone.services.selection.datasets.encoded_records import to_catalog_row

RECORD_COUNT = 60


async def test_single_records_are_in_the_order_of_their_changes(database: Database) -> None:
    """The first records that changed after a version are read, and no more than the limit."""
    await seed_with_versions(database)
    async with database.reading() as connection:
        records = await records_changed_after(connection, 1, limit=20)

    positions = [ChangePosition(record.changed_at_version, record.id) for record in records]
    assert positions == [position for position in expected_positions() if position.version > 1][:20]


async def test_batches_of_columns_hold_every_record_once_in_the_order_of_changes(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many changes are read as columns; each reading may begin and end between two records of the same version."""
    monkeypatch.setattr(changes_store, "ROWS_PER_BATCH", 3)
    await seed_with_versions(database)
    async with database.reading() as connection:
        records = await records_changed_after(connection, 0, limit=RECORD_COUNT)
    rows = [to_catalog_row(record) for record in records]

    position = ChangePosition.end_of(0)
    while batches := await read_batches(database, position):
        assert sum(batch.records.size for batch in batches) <= 7
        for batch in batches:
            position = batch.last_position
            expected_rows, rows = rows[: batch.records.size], rows[batch.records.size :]
            assert_same_batch(batch.records, to_record_batch(expected_rows))
            assert position.id == expected_rows[-1].id
    assert not rows
    assert position == expected_positions()[-1]


async def read_batches(database: Database, position: ChangePosition) -> list[ChangedBatch]:
    """Return at most seven records that changed after a position."""
    return await database.read_columns(lambda connection: batches_changed_after(connection, position, 7))


async def seed_with_versions(database: Database) -> None:
    """Insert records whose version is their id modulo 4."""
    await seed(database, random_rows(seed=3, count=RECORD_COUNT))
    async with database.writing() as writer:
        await writer.execute(sa.update(datasets).values(changed_at_version=datasets.c.id % 4))


def expected_positions() -> list[ChangePosition]:
    """Return the positions of these records after version 0, in their order."""
    positions = [ChangePosition(id_ % 4, id_) for id_ in range(1, RECORD_COUNT + 1)]
    return sorted(position for position in positions if position.version > 0)


@pytest.mark.parametrize(
    ("query", "sqlite_search"),
    [
        (rest_of_version(store.CATALOG_QUERY, ChangePosition(1, 5), limit=7), "(changed_at_version=? AND id>?)"),
        (later_versions(store.CATALOG_QUERY, 1, limit=7), "(changed_at_version>?)"),
    ],
)
async def test_a_batch_is_read_from_the_index_without_sorting(
    database: Database, query: sa.Select[Any], sqlite_search: str
) -> None:
    """Otherwise each of many batches would read all changes that follow it."""
    await seed(database, random_rows(seed=3, count=RECORD_COUNT))
    plan = await explain(database, query)

    assert "ix_datasets_changed_at_version_id" in plan
    if database.url.startswith("sqlite"):
        assert sqlite_search in plan
        assert "TEMP B-TREE" not in plan
    else:
        assert "Filter" not in plan
        assert "Sort" not in plan


async def explain(database: Database, query: sa.Select[Any]) -> str:
    """Return how the database would execute a query; PostgreSQL is made to avoid reading a small table as a whole."""
    async with database._reading_engine.connect() as connection:
        dialect = connection.dialect
        statement = query.compile(dialect=dialect, compile_kwargs={"literal_binds": True})
        if dialect.name == "sqlite":
            return str((await connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}")).all())

        await connection.exec_driver_sql("SET LOCAL enable_seqscan = off")
        return str((await connection.exec_driver_sql(f"EXPLAIN {statement}")).all())
