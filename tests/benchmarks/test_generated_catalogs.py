"""Catalogs that the benchmarks generate, read and ranked by the product."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx2
import numpy as np
import pyarrow.compute as pc
import pytest
import sqlalchemy as sa

from benchmarks import plain_service
from benchmarks.catalogs import create_catalog
from benchmarks.following import catalog_database
from benchmarks.plain_service import CompositeScores
from benchmarks.scale.catalog_database import CATALOG_VERSION
from benchmarks.scale.record_generator import RecordGenerator
from benchmarks.scale.record_lines import write_record_lines
from benchmarks.scale.searches import rare_word
from touchstone.database.engine import Database
from touchstone.database.tables import datasets
from touchstone.ranking.catalog.catalog import Catalog, Layout
from touchstone.ranking.weight_profiles import PROFILES
from touchstone.services.selection.catalog.full_load import read_record_batches
from touchstone.services.selection.datasets.schemas import DatasetImport

RECORD_COUNT = 400
CHANGED_COUNT = 10
# The only weights that the plain service knows.
BALANCED_WEIGHTS = PROFILES["balanced"].weights


async def read_rows(database: Database) -> Sequence[Mapping[str, Any]]:
    """Return all rows of the table in the order of their ids."""
    async with database.reading() as reader:
        return await reader.all(sa.select(datasets).order_by(datasets.c.id))


async def load_catalog(database: Database) -> Catalog:
    """Load the catalog from a database as the product does at its first start."""
    layout = Layout(index_from=RECORD_COUNT + 1)
    return await asyncio.to_thread(Catalog.build_from_batches, read_record_batches(database), layout)


async def check_ranking(database: Database) -> None:
    """Compare the product's ranking of a database with the scores that the plain service computes from its rows."""
    rows: Any = await read_rows(database)
    expected_scores = CompositeScores.from_rows(rows).balanced()

    catalog = await load_catalog(database)
    records = catalog.view.rank((), BALANCED_WEIGHTS, skip=0, limit=None).records()
    ids = catalog.view.ids(records.positions)

    assert sorted(ids.tolist()) == [row["id"] for row in rows]
    np.testing.assert_allclose(records.scores, expected_scores[ids - 1], rtol=0, atol=1e-9)
    assert np.all(np.diff(records.scores) <= 0)
    assert len(np.unique(records.scores)) > RECORD_COUNT // 10, "the records hardly differ"


def test_generated_rows_have_the_columns_of_the_table() -> None:
    """A column that is added to the table has to be generated, too."""
    batch = RecordGenerator().batch(1, 10)
    assert sorted(batch.schema.names) == sorted(column.name for column in datasets.c)


async def test_catalogs_of_the_scale_benchmark_are_ranked_correctly_and_restored(database: Database) -> None:
    """The product reads all generated records, and changes by parts of the benchmark are undone for the next run."""
    catalog = catalog_database(database.url)
    await asyncio.to_thread(catalog.fill, RECORD_COUNT)
    assert len(await read_rows(database)) == RECORD_COUNT
    await check_ranking(database)

    await asyncio.to_thread(catalog.read_columns)
    await asyncio.to_thread(catalog.insert_rows, RECORD_COUNT + 1, CHANGED_COUNT)  # into a copy of the table
    assert catalog.last_id() == RECORD_COUNT

    await asyncio.to_thread(catalog.change_records, CHANGED_COUNT)
    assert await count_changed(database) == CHANGED_COUNT
    await asyncio.to_thread(catalog.restore, RECORD_COUNT - 1)
    assert catalog.last_id() == RECORD_COUNT - 1
    assert await count_changed(database) == 0


async def count_changed(database: Database) -> int:
    """Return the number of records that have changed since the catalog was generated."""
    return sum(row["changed_at_version"] > CATALOG_VERSION for row in await read_rows(database))


def test_rare_word_is_in_few_records() -> None:
    """The search for a rare word finds some records, but not many."""
    batch = RecordGenerator().batch(1, 20_000)
    name_matches = pc.match_substring(batch["dataset_name"], rare_word())
    matches = pc.or_(name_matches, pc.match_substring(batch["description"], rare_word()))
    assert 0 < pc.sum(matches).as_py() < 100


def test_lines_for_bulk_imports_are_accepted(tmp_path: Path) -> None:
    """Every generated line is a valid record of a bulk import."""
    file = tmp_path / "records.jsonl"
    write_record_lines(file, first_id=1, count=CHANGED_COUNT)
    records = [DatasetImport.model_validate_json(line) for line in file.read_bytes().splitlines()]
    assert len(records) == CHANGED_COUNT


async def test_plain_service_ranks_like_the_product(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The service that the product is compared with answers with the same scores over the same database."""
    path = tmp_path / "touchstone.db"
    await create_catalog(path, RECORD_COUNT)
    database = Database(f"sqlite:///{path}")
    await check_ranking(database)
    best_scores = (await load_catalog(database)).view.rank((), BALANCED_WEIGHTS, skip=0, limit=20).records().scores
    await database.close()

    monkeypatch.setattr(plain_service, "engine", sa.create_engine(f"sqlite:///{path}"))
    transport = httpx2.ASGITransport(plain_service.app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://plain") as client:
        ranking = (await client.post("/datasets/score", json={})).raise_for_status().json()
        page = (await client.get("/datasets")).raise_for_status().json()
    plain_service.engine.dispose()

    np.testing.assert_allclose([item["score"] for item in ranking], best_scores, rtol=0, atol=1e-9)
    assert (len(page["datasets"]), page["total_count"]) == (20, RECORD_COUNT)
