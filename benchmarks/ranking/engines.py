"""Existing engines with the same records in optimized form: precomputed criteria, folded names, domains as bits.

That is more than fair: none of them has to compute a criterion, fold a string or look into a list.
"""

import os
import sqlite3
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

import datafusion
import duckdb
import numpy as np
import polars as pl
import psycopg
import pyarrow as pa
from chdb import session

from benchmarks.ranking.catalog_generator import DOMAINS
from benchmarks.ranking.workloads import Weights, Workload
from touchstone.ranking.array_types import Ints
from touchstone.ranking.columns.segment import Segment
from touchstone.ranking.criteria import CRITERION_NAMES

_INDEXED_COLUMNS: Final = ("year", "citations", "c_ethical_score")
Ids = Sequence[int] | Ints
Ask = Callable[[Workload], Ids]
"""Asks an engine a question and returns the ids of the records, in order."""


def to_arrow(segment: Segment) -> pa.Table:
    """Return the records as an Arrow table with the columns that the questions need."""
    columns = {"id": segment.columns["id"], "name": _folded_names(segment), "domains": _domain_bits(segment)}
    for name in ("year", "instances_number", "citations"):
        values = segment.columns[name]
        columns[name] = pa.array(np.nan_to_num(values).astype(np.int64), mask=np.isnan(values))

    criteria = {f"c_{name}": segment.criteria[name] for name in CRITERION_NAMES}
    return pa.table(columns | criteria)


def _folded_names(segment: Segment) -> pa.Array:
    """Return the name of each record without case and accents."""
    distinct_names = pa.array(segment.vocabularies["dataset_name"].folded, pa.string())
    return distinct_names.take(pa.array(segment.columns["dataset_name"]))


def _domain_bits(segment: Segment) -> Ints:
    """Return the domains of each record as an integer with one bit for each of DOMAINS."""
    word_lists = segment.vocabularies["domain"].values
    bits_by_code = [sum(1 << DOMAINS.index(word) for word in set(words or ())) for words in word_lists]
    domain_bits: Ints = np.array(bits_by_code, np.int64)[segment.columns["domain"]]
    return domain_bits


def to_sql(workload: Workload) -> str:
    """Return a workload as SQL for the table `t`. A list includes the total number of matches as a column."""
    conditions = workload.sql_conditions
    limit = "" if workload.limit is None else f" LIMIT {workload.limit}"

    if workload.weights is None:
        order = f"{workload.sort_column} DESC NULLS LAST, id"
        total_count = f"(SELECT count(*) FROM t WHERE {conditions})"
        return f"SELECT id, {total_count} FROM t WHERE {conditions} ORDER BY {order}{limit}"

    return f"SELECT id, {workload.sql_score()} AS s FROM t WHERE {conditions} ORDER BY s DESC, name, id{limit}"


@contextmanager
def duckdb_engine(table: pa.Table, folder: Path) -> Iterator[Ask]:
    """Run DuckDB in memory."""
    with closing(duckdb.connect()) as connection:
        connection.register("records", table)
        connection.execute("SET enable_progress_bar = false")
        connection.execute("CREATE TABLE t AS SELECT * FROM records")
        yield lambda workload: connection.execute(to_sql(workload)).fetchnumpy()["id"]


@contextmanager
def polars_engine(table: pa.Table, folder: Path) -> Iterator[Ask]:
    """Run Polars' streaming engine with Polars expressions instead of SQL."""
    records = pl.from_arrow(table).lazy()

    def ask(workload: Workload) -> Ids:
        matches = records.filter(*_polars_conditions(workload))

        if workload.weights is None:
            sort_columns, descending = [workload.sort_column, "id"], [True, False]
            total_count = matches.select(pl.len()).collect(engine="streaming")
            assert total_count.height == 1
        else:
            matches = matches.with_columns(_polars_score(workload.weights).alias("s"))
            sort_columns, descending = ["s", "name", "id"], [True, False, False]

        sorted_matches = matches.sort(sort_columns, descending=descending, nulls_last=True).select("id")
        if workload.limit is not None:
            sorted_matches = sorted_matches.head(workload.limit)
        ids: Ints = sorted_matches.collect(engine="streaming")["id"].to_numpy()
        return ids

    yield ask


def _polars_score(weights: Weights) -> pl.Expr:
    """Return the score of a ranking as a Polars expression."""
    terms = [pl.col(f"c_{name}") * weight for name, weight in weights.items()]
    return sum(terms, pl.lit(0.0)) / sum(weights.values())


def _polars_conditions(workload: Workload) -> list[pl.Expr]:
    """Convert the SQL conditions of a workload, which have only a few forms, to Polars expressions."""
    expressions = [pl.lit(value=True)]
    for condition in workload.sql_conditions.split(" AND "):
        left, operator, right = condition.rsplit(" ", 2)

        if left.startswith("(domains"):  # (domains & BITS) <> 0
            _, bits = left.strip("()").split(" & ")
            expressions.append((pl.col("domains") & int(bits)) != 0)
        elif operator == "LIKE":
            substring = right.strip("'%")
            expressions.append(pl.col("name").str.contains(substring, literal=True))
        elif operator == ">=":
            expressions.append(pl.col(left) >= float(right))
    return expressions


@contextmanager
def datafusion_engine(table: pa.Table, folder: Path) -> Iterator[Ask]:
    """Run DataFusion over the Arrow batches in memory."""
    context = datafusion.SessionContext()
    context.register_record_batches("t", [table.to_batches(max_chunksize=65_536)])
    yield lambda workload: context.sql(to_sql(workload)).to_arrow_table()["id"].to_numpy()


@contextmanager
def chdb_engine(table: pa.Table, folder: Path) -> Iterator[Ask]:
    """Run ClickHouse in this process, with its Memory table engine."""
    with closing(session.Session(str(folder / "chdb"))) as clickhouse:
        chdb_input = table  # noqa: F841 (the name that Python() finds)
        clickhouse.query("CREATE DATABASE IF NOT EXISTS b")
        clickhouse.query("CREATE TABLE b.t ENGINE = Memory AS SELECT * FROM Python(chdb_input)")

        def ask(workload: Workload) -> Ids:
            # ClickHouse has a function where the other engines have the operator `&`.
            sql = to_sql(workload).replace("FROM t", "FROM b.t").replace("domains & ", "bitAnd(domains, ")
            if "bitAnd" in sql:
                sql = sql.replace(") <> 0", ")) <> 0")

            arrow_file = clickhouse.query(sql, "Arrow").bytes()
            ids: Ints = pa.ipc.open_file(pa.BufferReader(arrow_file)).read_all()["id"].to_numpy()
            return ids

        yield ask


@contextmanager
def sqlite_engine(table: pa.Table, folder: Path) -> Iterator[Ask]:
    """Run SQLite in memory, with indexes for the filters and sort keys."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(f"CREATE TABLE t ({', '.join(table.column_names)})")
        placeholders = ", ".join("?" * table.num_columns)
        connection.executemany(f"INSERT INTO t VALUES ({placeholders})", _rows_of(table))
        for column in _INDEXED_COLUMNS:
            connection.execute(f"CREATE INDEX {column}_index ON t ({column})")

        yield lambda workload: [row[0] for row in connection.execute(to_sql(workload))]


@contextmanager
def postgresql_engine(table: pa.Table, folder: Path) -> Iterator[Ask]:
    """Run PostgreSQL in a private cluster on a Unix socket, with indexes for the filters and sort keys."""
    with (
        _postgresql_cluster(folder / "pg") as socket,
        psycopg.connect(host=str(socket), user="postgres", autocommit=True) as connection,
    ):
        types = {"id": "bigint", "name": 'text COLLATE "C"', "domains": "bigint"}
        types |= dict.fromkeys(("year", "instances_number", "citations"), "bigint")
        columns = [f"{name} {types.get(name, 'float8')}" for name in table.column_names]
        connection.execute(f"CREATE TABLE t ({', '.join(columns)})")

        with connection.cursor().copy("COPY t FROM STDIN") as copy:
            for row in _rows_of(table):
                copy.write_row(row)
        for column in _INDEXED_COLUMNS:
            connection.execute(f"CREATE INDEX ON t ({column})")
        connection.execute("VACUUM ANALYZE t")

        yield lambda workload: [row[0] for row in connection.execute(to_sql(workload))]


def _rows_of(table: pa.Table) -> Iterator[tuple[Any, ...]]:
    """Iterate over the records of a table as tuples, converting only a part of them at a time."""
    for batch in table.to_batches(50_000):
        yield from zip(*batch.to_pydict().values(), strict=True)


@contextmanager
def _postgresql_cluster(folder: Path) -> Iterator[Path]:
    """Run a private PostgreSQL cluster, yield the folder of its unix socket, and stop the cluster at the end.

    PostgreSQL refuses to run as root, so root runs it as the user `postgres`.
    """
    binaries = Path(subprocess.check_output(["pg_config", "--bindir"], text=True).strip())
    folder.mkdir()
    user = "postgres" if os.geteuid() == 0 else None
    if user is not None:
        subprocess.run(["chown", "postgres", folder], check=True)
        folder.parent.chmod(0o755)

    data_folder = folder / "data"
    initdb: list[str | Path] = [binaries / "initdb", "-D", data_folder, "-A", "trust", "-U", "postgres"]
    subprocess.run(initdb, check=True, capture_output=True, user=user, group=user)

    options = f"-c listen_addresses= -c unix_socket_directories={folder} -c shared_buffers=2GB -c work_mem=256MB"
    pg_ctl: list[str | Path] = [binaries / "pg_ctl", "-D", data_folder, "-l", folder / "log", "-w"]
    subprocess.run([*pg_ctl, "-o", options, "start"], check=True, capture_output=True, user=user, group=user)
    try:
        yield folder
    finally:
        subprocess.run([*pg_ctl, "-m", "immediate", "stop"], check=True, capture_output=True, user=user, group=user)


ENGINES: Final = {
    "DuckDB": duckdb_engine,
    "Polars": polars_engine,
    "DataFusion": datafusion_engine,
    "chDB": chdb_engine,
    "SQLite": sqlite_engine,
    "PostgreSQL": postgresql_engine,
}
