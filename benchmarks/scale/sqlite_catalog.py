"""Catalogs in SQLite, written by one process without a journal."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.scale.catalog_database import CATALOG_VERSION, INDEXED_COLUMNS
from benchmarks.scale.record_generator import RecordGenerator
from touchstone.database.tables import datasets

_ROWS_PER_READ: Final = 10_000
_COLUMN_NAMES: Final = tuple(column.name for column in datasets.c)
_INSERT: Final = f"INSERT INTO {{table}} ({', '.join(_COLUMN_NAMES)}) VALUES ({', '.join('?' for _ in _COLUMN_NAMES)})"
_INDEXES: Final = (
    "SELECT name, sql FROM sqlite_master WHERE tbl_name = 'datasets' AND type = 'index' AND sql IS NOT NULL"
)
_SUM_OWNERS: Final = """
    INSERT INTO record_usage (owner, bytes)
    SELECT owner, SUM(bytes) FROM datasets WHERE owner IS NOT NULL GROUP BY owner"""


@dataclass(frozen=True, slots=True)
class SqliteCatalog:
    """The catalog in the SQLite file at a path."""

    path: str

    @property
    def url(self) -> str:
        """The URL of the database in the format of the settings."""
        return f"sqlite:///{self.path}"

    def fill(self, record_count: int) -> None:
        """Replace all records with generated ones, and build the indexes afterwards."""
        with closing(self._connect()) as connection:
            connection.execute("PRAGMA synchronous = OFF")
            definitions = dict(connection.execute(_INDEXES).fetchall())
            for name in definitions:
                connection.execute(f'DROP INDEX "{name}"')

            for table in ("datasets", "dataset_deletions", "versions"):
                connection.execute(f"DELETE FROM {table}")
            _insert_batches(connection, "datasets", 1, record_count)

            for definition in definitions.values():
                connection.execute(definition)
            _finish(connection)

    def last_id(self) -> int:
        """Return the largest id of a record, or 0."""
        return self._read_number("SELECT COALESCE(MAX(id), 0) FROM datasets")

    def last_public_id(self) -> int:
        """Return the largest id of a public record."""
        return self._read_number("SELECT id FROM datasets WHERE visibility = 'public' ORDER BY id DESC LIMIT 1")

    def _read_number(self, query: str) -> int:
        """Return the number that a query yields."""
        with closing(self._connect()) as connection:
            (number,) = connection.execute(query).fetchone()
            return int(number)

    def restore(self, record_count: int) -> None:
        """Remove the records and the changes that a run has made."""
        with closing(self._connect()) as connection:
            connection.execute("DELETE FROM datasets WHERE id > ?", [record_count])
            connection.execute(
                "UPDATE datasets SET changed_at_version = ? WHERE changed_at_version > ?",
                [CATALOG_VERSION, CATALOG_VERSION],
            )
            connection.execute("DELETE FROM dataset_deletions")
            connection.execute("DELETE FROM versions")
            _finish(connection)

    def read_columns(self) -> None:
        """Read the columns of all records row by row, because SQLite cannot copy a whole table."""
        with closing(self._connect()) as connection:
            rows = connection.execute(f"SELECT {', '.join(INDEXED_COLUMNS)} FROM datasets")
            while rows.fetchmany(_ROWS_PER_READ):
                pass

    def change_records(self, count: int) -> None:
        """Change the citations of the first records in a transaction that increments the version of the catalog."""
        with closing(self._connect()) as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("UPDATE versions SET version = version + 1 WHERE name = 'catalog'")
            connection.execute(
                """UPDATE datasets
                   SET citations = COALESCE(citations, 0) + 1,
                       changed_at_version = (SELECT version FROM versions WHERE name = 'catalog')
                   WHERE id <= ?""",
                [count],
            )
            connection.execute("COMMIT")

    def insert_rows(self, first_id: int, count: int) -> None:
        """Insert generated rows into a temporary copy of the table `datasets` with all its indexes."""
        with closing(self._connect()) as connection:
            (table_definition,) = connection.execute(
                "SELECT sql FROM sqlite_master WHERE name = 'datasets' AND type = 'table'"
            ).fetchone()
            connection.execute(table_definition.replace("datasets", "datasets_copy", 1))
            for name, definition in connection.execute(_INDEXES).fetchall():
                copied_index = definition.replace(name, f"{name}_copy", 1)
                connection.execute(copied_index.replace("ON datasets", "ON datasets_copy", 1))

            _insert_batches(connection, "datasets_copy", first_id, count)
            connection.execute("DROP TABLE datasets_copy")

    def _connect(self) -> sqlite3.Connection:
        """Open a connection with explicit transactions."""
        return sqlite3.connect(self.path, isolation_level=None)


def _finish(connection: sqlite3.Connection) -> None:
    """Set the values that the product derives from the records, and update the statistics of the planner."""
    connection.execute("INSERT INTO versions (name, version) VALUES ('catalog', ?)", [CATALOG_VERSION])
    connection.execute("DELETE FROM record_usage")
    connection.execute(_SUM_OWNERS)
    connection.execute("ANALYZE")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _insert_batches(connection: sqlite3.Connection, table: str, first_id: int, count: int) -> None:
    """Generate rows and insert them into a table, in one transaction for each batch."""
    for batch in RecordGenerator().batches(first_id, count):
        connection.execute("BEGIN")
        connection.executemany(_INSERT.format(table=table), _rows(batch))
        connection.execute("COMMIT")


def _rows(batch: pa.RecordBatch) -> Iterator[tuple[Any, ...]]:
    """Return the rows of a batch as SQLite stores them: times are strings in UTC, without the time zone."""
    columns = []
    for name in _COLUMN_NAMES:
        values = batch[name]
        if pa.types.is_timestamp(values.type):
            values = pc.strftime(values, "%Y-%m-%d %H:%M:%S")
        columns.append(values.to_pylist())
    return zip(*columns, strict=True)
