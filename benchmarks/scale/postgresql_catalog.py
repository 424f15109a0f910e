"""Catalogs in PostgreSQL, written with COPY by two processes."""

import io
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any, Final, LiteralString, NamedTuple

import psycopg
import pyarrow.csv
from psycopg import sql

from benchmarks.scale.catalog_database import CATALOG_VERSION, INDEXED_COLUMNS
from benchmarks.scale.record_generator import BATCH_RECORDS, RecordGenerator
from touchstone.database.tables import datasets

_PROCESSES: Final = 2
_RECORDS_PER_TASK: Final = 10 * BATCH_RECORDS
_CSV: Final = pyarrow.csv.WriteOptions(include_header=False)

_UNIQUE_CONSTRAINTS: Final = """
    SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint
    WHERE conrelid = 'datasets'::regclass AND contype = 'u'"""
_OTHER_INDEXES: Final = """
    SELECT indexname, indexdef FROM pg_indexes
    WHERE tablename = 'datasets'
      AND indexname NOT IN (SELECT conname FROM pg_constraint WHERE conrelid = 'datasets'::regclass)"""
_SUM_OWNERS: Final = """
    INSERT INTO record_usage (owner, bytes)
    SELECT owner, SUM(bytes) FROM datasets WHERE owner IS NOT NULL GROUP BY owner"""


class _Indexes(NamedTuple):
    """The indexes of the table `datasets`, from which they can be created again.

    Attributes:
        unique_constraints: the definitions of unique constraints by name.
        definitions: the statements that create the other indexes.
    """

    unique_constraints: dict[str, str]
    definitions: list[str]


@dataclass(frozen=True, slots=True)
class PostgresCatalog:
    """A catalog in a PostgreSQL database, accessed as a superuser."""

    database_url: str

    @property
    def url(self) -> str:
        """The URL of the database in the format of the settings."""
        return self.database_url

    def fill(self, record_count: int) -> None:
        """Replace all records with generated ones in two processes, and build the indexes afterwards."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute("TRUNCATE datasets, dataset_deletions, versions CASCADE")
            indexes = _drop_indexes(connection)

            self._copy_in_parallel(record_count)
            _create_indexes(connection, indexes)
            self._finish(connection, record_count)

    def _copy_in_parallel(self, record_count: int) -> None:
        """Generate rows with the ids from 1 to `record_count` and write them, in several processes."""
        with ProcessPoolExecutor(_PROCESSES, mp_context=get_context("spawn")) as processes:
            tasks = []
            for preceding_rows in range(0, record_count, _RECORDS_PER_TASK):
                count = min(_RECORDS_PER_TASK, record_count - preceding_rows)
                tasks.append(processes.submit(copy_rows, self.url, preceding_rows + 1, count))

            for task in tasks:
                task.result()

    def last_id(self) -> int:
        """Return the largest id of a record, or 0."""
        return self._read_number("SELECT COALESCE(MAX(id), 0) FROM datasets")

    def last_public_id(self) -> int:
        """Return the largest id of a public record."""
        return self._read_number("SELECT id FROM datasets WHERE visibility = 'public' ORDER BY id DESC LIMIT 1")

    def _read_number(self, query: LiteralString) -> int:
        """Return the number that a query yields."""
        with psycopg.connect(self.url) as connection:
            row = connection.execute(query).fetchone()
            assert row is not None
            return int(row[0])

    def restore(self, record_count: int) -> None:
        """Remove the records and the changes that a run has made."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute("DELETE FROM datasets WHERE id > %s", [record_count])
            connection.execute(
                "UPDATE datasets SET changed_at_version = %s WHERE changed_at_version > %s",
                [CATALOG_VERSION, CATALOG_VERSION],
            )
            connection.execute("TRUNCATE dataset_deletions, versions")
            self._finish(connection, record_count)

    def read_columns(self) -> None:
        """Copy the columns of all records, in binary format, to a file of the server that discards them."""
        columns = ", ".join(INDEXED_COLUMNS)
        with psycopg.connect(self.url) as connection:
            connection.execute(_sql(f"COPY (SELECT {columns} FROM datasets) TO '/dev/null' (FORMAT binary)"))

    def change_records(self, count: int) -> None:
        """Change the citations of the first records in a transaction that increments the version of the catalog."""
        with psycopg.connect(self.url) as connection:
            connection.execute("UPDATE versions SET version = version + 1 WHERE name = 'catalog'")
            connection.execute(
                """UPDATE datasets
                   SET citations = COALESCE(citations, 0) + 1,
                       changed_at_version = (SELECT version FROM versions WHERE name = 'catalog')
                   WHERE id <= %s""",
                [count],
            )

    def insert_rows(self, first_id: int, count: int) -> None:
        """Copy generated rows into a temporary copy of the table `datasets` with all its indexes."""
        with psycopg.connect(self.url) as connection:
            connection.execute("CREATE TABLE datasets_copy (LIKE datasets INCLUDING ALL)")
            _copy_batches(connection, "datasets_copy", first_id, count)
            connection.execute("DROP TABLE datasets_copy")

    def _finish(self, connection: psycopg.Connection[Any], record_count: int) -> None:
        """Set the values that the product derives from the records, and update the statistics of the planner."""
        connection.execute("INSERT INTO versions (name, version) VALUES ('catalog', %s)", [CATALOG_VERSION])
        connection.execute("SELECT setval(pg_get_serial_sequence('datasets', 'id'), %s)", [record_count])
        connection.execute("TRUNCATE record_usage")
        connection.execute(_SUM_OWNERS)
        connection.execute("VACUUM ANALYZE datasets")


def copy_rows(url: str, first_id: int, count: int) -> None:
    """Generate rows and write them to the table `datasets`, over a connection of this process."""
    with psycopg.connect(url) as connection:
        _copy_batches(connection, "datasets", first_id, count)


def _copy_batches(connection: psycopg.Connection[Any], table: str, first_id: int, count: int) -> None:
    """Generate rows and copy them into a table as CSV, which Arrow writes faster than psycopg writes binary rows."""
    column_names = [column.name for column in datasets.c]
    statement = _sql(f"COPY {table} ({', '.join(column_names)}) FROM STDIN (FORMAT csv)")
    with connection.cursor().copy(statement) as copy:
        for batch in RecordGenerator().batches(first_id, count):
            csv = io.BytesIO()
            pyarrow.csv.write_csv(batch.select(column_names), csv, _CSV)
            copy.write(csv.getbuffer())


def _drop_indexes(connection: psycopg.Connection[Any]) -> _Indexes:
    """Drop all indexes except the primary key, because it is faster to build them after the rows are written."""
    constraints: dict[str, str] = dict(connection.execute(_UNIQUE_CONSTRAINTS).fetchall())
    for name in constraints:
        connection.execute(_sql(f'ALTER TABLE datasets DROP CONSTRAINT "{name}"'))

    definitions: dict[str, str] = dict(connection.execute(_OTHER_INDEXES).fetchall())
    for name in definitions:
        connection.execute(_sql(f'DROP INDEX "{name}"'))
    return _Indexes(constraints, list(definitions.values()))


def _create_indexes(connection: psycopg.Connection[Any], indexes: _Indexes) -> None:
    """Create indexes again that were dropped."""
    for name, definition in indexes.unique_constraints.items():
        connection.execute(_sql(f'ALTER TABLE datasets ADD CONSTRAINT "{name}" {definition}'))
    for definition in indexes.definitions:
        connection.execute(_sql(definition))


def _sql(statement: str) -> sql.SQL:
    """Return a statement that was composed at run time in the type that psycopg requires."""
    return sql.SQL(statement)
