"""What has changed in the catalog is read in batches, each of which begins where the last one ended."""

import asyncio
from typing import Any

import pytest
import sqlalchemy as sa

from tests.selection.seeded import random_rows, seed
from touchstone.database.engine import Database
from touchstone.database.tables import datasets
from touchstone.services.selection.catalog.changes_store import (
    ChangePlace,
    batches_changed_after,
    later_versions,
    records_changed_after,
    rest_of_version,
)
from touchstone.services.selection.datasets import store

RECORD_COUNT = 60


async def test_batches_hold_every_record_once_in_the_order_of_changes(database: Database) -> None:
    """Batches may end between two records of the same version."""
    await seed(database, random_rows(seed=3, count=RECORD_COUNT))
    async with database.writing() as writer:
        await writer.execute(sa.update(datasets).values(changed_at_version=datasets.c.id % 4))

    places = []
    place = ChangePlace.end_of(0)
    async with database.reading() as connection:
        while records := await records_changed_after(connection, place, limit=7):
            place = ChangePlace(records[-1].changed_at_version, records[-1].id)
            places += [ChangePlace(record.changed_at_version, record.id) for record in records]
    assert places == expected_places()


async def test_batches_of_columns_hold_the_same_records_in_the_same_order(database: Database) -> None:
    """Many changes are read as columns, which may also begin and end between two records of the same version."""
    await seed(database, random_rows(seed=3, count=RECORD_COUNT))
    async with database.writing() as writer:
        await writer.execute(sa.update(datasets).values(changed_at_version=datasets.c.id % 4))

    ids: list[int] = []
    last_places = []
    place = ChangePlace.end_of(0)
    while batches := await asyncio.to_thread(batches_changed_after, database.url, place, 7):
        place = batches[-1].last_place
        last_places.append(place)
        ids += [id_ for batch in batches for id_ in batch.records.ids.tolist()]

    places = expected_places()
    assert ids == [place.id for place in places]
    assert last_places == [*places[6::7], places[-1]]


def expected_places() -> list[ChangePlace]:
    """Return the places after version 0, in their order, when the version of each record is its id modulo 4."""
    places = [ChangePlace(id_ % 4, id_) for id_ in range(1, RECORD_COUNT + 1)]
    return sorted(place for place in places if place.version > 0)


@pytest.mark.parametrize(
    ("query", "sqlite_search"),
    [
        (rest_of_version(store.CATALOG_QUERY, ChangePlace(1, 5), limit=7), "(changed_at_version=? AND id>?)"),
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
