"""Rows of the database that are read as columns, compared with the same rows read one by one."""

import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import sqlalchemy as sa
from numpy.typing import NDArray

from tests.selection.seeded import random_rows, seed
from touchstone.core.errors import Unavailable
from touchstone.database.columnar import stream_columns
from touchstone.database.engine import Database
from touchstone.database.parallel_reading import open_divided_table
from touchstone.database.tables import datasets
from touchstone.ranking.columns.evidence_columns import STRICTER_ASSURANCES
from touchstone.ranking.columns.record_batch import CodedColumn, RecordBatch
from touchstone.ranking.columns.row_batches import to_record_batch
from touchstone.services.selection.catalog.changes_store import records_changed_after
from touchstone.services.selection.catalog.full_load import read_record_batches
from touchstone.services.selection.datasets import record_batches, store
from touchstone.services.selection.datasets.encoded_records import to_catalog_row
from touchstone.services.selection.datasets.record_batches import RowConverter

ID_QUERY = sa.select(datasets.c.id)
ROWS_PER_BATCH = 150  # so that a converter meets the same texts again
UNUSUAL_METADATA: tuple[Any, ...] = (
    None,
    {},
    {"licence": ["MIT", " Apache-2.0 ", 3], "language": "fr", "tags": "one", "source": {"name": ["a", "b"]}},
    {"licence": {"name": "MIT"}, "language": [], "tags": [[], ""], "source": [{"name": "a"}], "measured": [1]},
    {"licence": "é\n\"'", "tags": ["\\", "\u2028", "😀"], "measured": {"rows": True}},
    {"measured": {"rows": 3.0}, "source": {"name": None}},
    {"measured": {"rows": -7}, "source": {"other": {"name": "b"}}},
    {"measured": {"rows": 2**62}, "source": {"name": "c"}},
    {"measured": {"rows": "12"}, "licence.language": "x", "$": 1},
)


async def check_batches(database: Database) -> int:
    """Compare the records that are read as columns with those that are read one by one, and return their number."""
    async with database.reading() as connection:
        records = await records_changed_after(connection, 0, limit=1000)
    rows = {record.id: to_catalog_row(record) for record in records}

    converter = RowConverter()
    batches = [
        converter.convert(row_batch.slice(start, ROWS_PER_BATCH))
        for row_batch in stream_columns(database.url, store.CATALOG_QUERY)
        for start in range(0, len(row_batch), ROWS_PER_BATCH)
    ]
    converter.close()
    for batch in batches:
        assert_same_batch(batch, to_record_batch([rows.pop(id_) for id_ in batch.ids.tolist()]))

    assert not rows, "some records were not read as columns"
    return sum(batch.size for batch in batches)


def assert_same_batch(batch: RecordBatch, expected: RecordBatch) -> None:
    """Check that two batches hold the same records in the same order, whatever their codes are."""
    assert_same_columns(batch.columns, expected.columns)
    assert {name: texts.to_pylist() for name, texts in batch.texts.items()} == {
        name: texts.to_pylist() for name, texts in expected.texts.items()
    }
    assert {name: decode(words) for name, words in batch.words.items()} == {
        name: decode(words) for name, words in expected.words.items()
    }
    assert decode(batch.owners) == decode(expected.owners)

    evidence, expected_evidence = batch.evidence, expected.evidence
    np.testing.assert_array_equal(evidence.positions, expected_evidence.positions)
    np.testing.assert_array_equal(evidence.shown_levels, expected_evidence.shown_levels)
    np.testing.assert_array_equal(evidence.stricter_levels, expected_evidence.stricter_levels)
    for assurance in STRICTER_ASSURANCES:
        assert_same_columns(evidence.values[assurance], expected_evidence.values[assurance])


def assert_same_columns(columns: Mapping[str, NDArray[Any]], expected: Mapping[str, NDArray[Any]]) -> None:
    """Check that columns have the same names, types and values; NaN equals NaN."""
    assert {name: column.dtype for name, column in columns.items()} == {
        name: column.dtype for name, column in expected.items()
    }
    for name, column in columns.items():
        np.testing.assert_array_equal(column, expected[name], err_msg=name)


def decode(column: CodedColumn) -> list[Any]:
    """Return the value of each record, and check that no value has two codes."""
    assert len(set(column.values)) == len(column.values)
    return column.decode()


@pytest.mark.parametrize("known_texts", [5, 20_000])
async def test_columns_hold_what_rows_do(database: Database, known_texts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every record is the same whether it is read as a row or in columns, however many texts are remembered."""
    monkeypatch.setattr(record_batches, "_MAX_CACHED_VALUES", known_texts)
    await seed(database, random_rows(seed=13, count=400))
    await check_batches(database)


async def test_metadata_of_any_form(database: Database) -> None:
    """Members of the metadata that do not have the expected form count as not given, in columns as in rows."""
    await seed(database, random_rows(seed=14, count=len(UNUSUAL_METADATA)))
    async with database.writing() as writer:
        for dataset_id, metadata in enumerate(UNUSUAL_METADATA, start=1):
            await writer.execute(sa.update(datasets).where(datasets.c.id == dataset_id).values(metadata=metadata))

    await check_batches(database)


async def test_hidden_records_are_private(database: Database) -> None:
    """A record that an administrator has hidden counts as a private one."""
    await seed(database, random_rows(seed=15, count=40))
    async with database.writing() as writer:
        await writer.execute(sa.update(datasets).where(datasets.c.id % 2 == 0).values(is_hidden=True))

    await check_batches(database)


async def test_first_rows_without_values(database: Database) -> None:
    """A column may be null in every row that is read first: the type of its values does not depend on them."""
    rows = random_rows(seed=16, count=300)
    await seed(database, [row for row in rows if row.objective is None])
    await seed(database, [row for row in rows if row.objective is not None])
    await check_batches(database)


async def test_empty_table(database: Database) -> None:
    """A table without rows is read as no records."""
    assert await check_batches(database) == 0


def ids_of(batches: Iterable[pa.RecordBatch]) -> list[int]:
    """Return the ids of all records in some batches of rows."""
    return [dataset_id for batch in batches for dataset_id in batch["id"].to_pylist()]


def read_over_connections(database: Database) -> Iterator[pa.RecordBatch]:
    """Yield the ids of all records, from PostgreSQL over several connections, and from SQLite over one."""
    if database.path is not None:
        yield from stream_columns(database.url, ID_QUERY)
        return

    with open_divided_table(database.url, datasets, reader_count=3, blocks_per_range=2) as table:
        assert len(table.readers) == 3
        assert len(table.ranges) > 3
        for reader, blocks in zip(itertools.cycle(table.readers), table.ranges, strict=False):
            yield from reader.read(ID_QUERY, blocks)


async def test_all_rows_are_those_of_one_moment(database: Database) -> None:
    """Each record is read once, also those that are changed, added and deleted meanwhile."""
    await seed(database, random_rows(seed=17, count=400))
    expected_ids = ids_of(stream_columns(database.url, ID_QUERY))

    batches = read_over_connections(database)
    first_batch = next(batches)
    async with database.writing() as writer:
        await writer.execute(sa.delete(datasets).where(datasets.c.id == expected_ids[-1]))
        await writer.execute(sa.update(datasets).values(citations=7))
    await seed(database, random_rows(seed=18, count=410)[400:])

    assert ids_of([first_batch, *batches]) == expected_ids


async def test_full_load_reads_every_record_once(database: Database) -> None:
    """The records of a full load are in the order of the table, whichever thread converts them."""
    await seed(database, random_rows(seed=19, count=300))

    ids = [dataset_id for batch in read_record_batches(database) for dataset_id in batch.ids.tolist()]
    assert ids == ids_of(stream_columns(database.url, ID_QUERY))


def test_database_out_of_reach() -> None:
    """A database that cannot be reached is reported as unavailable, like everywhere else."""
    with pytest.raises(Unavailable):
        list(stream_columns("postgresql://nobody@127.0.0.1:1/none", store.CATALOG_QUERY))
