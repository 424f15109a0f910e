"""The same records in DuckDB, to compare its facets and pages with the product."""

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
        """Generate the records, unless an earlier run has left them in the database."""
        tables = self._connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()
        if tables:
            return

        selection = f"SELECT {_COLUMNS} FROM batch"
        for batch in RecordGenerator().batches(1, record_count):
            self._connection.register("batch", batch)
            self._connection.execute(f"CREATE TABLE IF NOT EXISTS records AS {selection} WITH NO DATA")
            self._connection.execute(f"INSERT INTO records {selection}")
            self._connection.unregister("batch")

    def facet_milliseconds(self) -> float:
        """Return the time that DuckDB needs to count all facets of the filtered records."""
        statements = _facet_statements()
        began_at = time.perf_counter()
        for statement in statements:
            self._connection.execute(statement).fetchall()
        return (time.perf_counter() - began_at) * 1000

    def page_milliseconds(self, sort_column: str, page: int, page_size: int) -> float:
        """Return the time that DuckDB needs for a page of all public records in descending order of a column."""
        statement = (
            f"SELECT id FROM records WHERE visibility = 'public' ORDER BY {sort_column} DESC NULLS LAST, id "
            f"LIMIT {page_size} OFFSET {(page - 1) * page_size}"
        )
        began_at = time.perf_counter()
        self._connection.execute(statement).fetchall()
        return (time.perf_counter() - began_at) * 1000


def _facet_statements() -> list[str]:
    """Return the statements that count the same facets as the product, under the same filters."""
    counts_of_values = [f"SELECT {name}, COUNT(*) FROM matches GROUP BY {name}" for name in _FACET_VALUES]
    counts_of_words = [f"SELECT UNNEST({name}) AS word, COUNT(*) FROM matches GROUP BY word" for name in _FACET_WORDS]
    flag_counts = ", ".join(f"COUNT({flag}), COUNT_IF({flag})" for flag in FLAGS)
    number_ranges = ", ".join(f"MIN({name}), MAX({name})" for name in NUMBERS)
    return [
        f"CREATE OR REPLACE TEMP TABLE matches AS SELECT * FROM records WHERE {_FILTERS}",
        "SELECT COUNT(*) FROM matches",
        *counts_of_values,
        *counts_of_words,
        f"SELECT {flag_counts} FROM matches",
        f"SELECT {number_ranges} FROM matches",
    ]


@contextmanager
def duckdb_catalog(folder: Path, record_count: int) -> Iterator[DuckDbCatalog]:
    """Provide the generated records in a DuckDB file, which later runs reuse."""
    connection = duckdb.connect(folder / "records.duckdb", config={"memory_limit": _MEMORY_LIMIT})
    with closing(connection):
        catalog = DuckDbCatalog(connection)
        catalog.fill(record_count)
        yield catalog
