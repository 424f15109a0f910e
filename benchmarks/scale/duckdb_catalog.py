"""The same records in DuckDB, which answers questions about facets and pages next to the product."""

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

import duckdb

from benchmarks.scale.record_generator import RecordGenerator
from touchstone.core.attributes import FLAGS, NUMBERS

_MEMORY_LIMIT: Final = "4GB"
_WORD_LIST: Final = """'["VARCHAR"]'"""
_COLUMNS: Final = f"""
    id, dataset_name, visibility, file_type, created_at,
    from_json(domain, {_WORD_LIST}) AS domain,
    from_json(task, {_WORD_LIST}) AS task,
    metadata ->> '$.licence' AS license,
    metadata ->> '$.language' AS language,
    metadata ->> '$.source.name' AS source,
    {", ".join(NUMBERS)},
    {", ".join(FLAGS)},
    {" + ".join(f"COALESCE({flag}, FALSE)::INTEGER" for flag in FLAGS)} AS true_flags"""
_FACET_VALUES: Final = ("year", "file_type", "visibility", "license", "language", "source")
_FACET_WORDS: Final = ("domain", "task")
_FILTERS: Final = (
    "visibility = 'public' AND list_has_any(domain, ['health', 'natural-language-processing']) "
    "AND year >= 2015 AND instances_number >= 1000"
)


class DuckDbCatalog:
    """The generated records in a DuckDB database."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection

    def fill(self, record_count: int) -> None:
        """Generate the records, unless they are there already."""
        tables = self._connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()
        if tables:
            return

        for number, batch in enumerate(RecordGenerator().batches(1, record_count)):
            self._connection.register("batch", batch)
            begin = "INSERT INTO records" if number else "CREATE TABLE records AS"
            self._connection.execute(f"{begin} SELECT {_COLUMNS} FROM batch")
            self._connection.unregister("batch")

    def facet_milliseconds(self) -> float:
        """Return how long the counts of all facets of the filtered records take."""
        statements = [
            f"CREATE OR REPLACE TEMP TABLE matches AS SELECT * FROM records WHERE {_FILTERS}",
            "SELECT COUNT(*) FROM matches",
            *(f"SELECT {name}, COUNT(*) FROM matches GROUP BY {name}" for name in _FACET_VALUES),
            *(f"SELECT UNNEST({name}) AS word, COUNT(*) FROM matches GROUP BY word" for name in _FACET_WORDS),
            f"SELECT {', '.join(f'COUNT({flag}), COUNT_IF({flag})' for flag in FLAGS)} FROM matches",
            f"SELECT {', '.join(f'MIN({name}), MAX({name})' for name in NUMBERS)} FROM matches",
        ]
        began_at = time.perf_counter()
        for statement in statements:
            self._connection.execute(statement).fetchall()
        return (time.perf_counter() - began_at) * 1000

    def page_milliseconds(self, sort_column: str, page: int, page_size: int) -> float:
        """Return how long a page of all public records takes, sorted by a column in descending order."""
        statement = (
            f"SELECT id FROM records WHERE visibility = 'public' ORDER BY {sort_column} DESC NULLS LAST, id "
            f"LIMIT {page_size} OFFSET {(page - 1) * page_size}"
        )
        began_at = time.perf_counter()
        self._connection.execute(statement).fetchall()
        return (time.perf_counter() - began_at) * 1000


@contextmanager
def duckdb_catalog(folder: Path, record_count: int) -> Iterator[DuckDbCatalog]:
    """Provide the records in DuckDB until the end of the block; the file stays in the folder."""
    with closing(duckdb.connect(folder / "records.duckdb", config={"memory_limit": _MEMORY_LIMIT})) as connection:
        catalog = DuckDbCatalog(connection)
        catalog.fill(record_count)
        yield catalog
