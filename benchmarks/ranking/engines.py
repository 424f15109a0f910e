"""Ready-made engines over the same records, each given what suits it: finished criteria, folded names, domains as bits.

That is more than fair: none of them has to compute a criterion, fold a text or look into a list.
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

from benchmarks.ranking.generating import DOMAINS
from benchmarks.ranking.workloads import Workload
from touchstone.ranking.columns.segment import Segment
from touchstone.ranking.criteria import CRITERION_NAMES

Answer = Sequence[int]
Ask = Callable[[Workload], Answer]


def table(segment: Segment) -> pa.Table:
    """Return the records as an Arrow table."""
    columns = {"id": segment.columns["id"], "name": _names(segment), "domains": _domains(segment)}
    for name in ("year", "instances_number", "citations"):
        values = segment.columns[name]
        columns[name] = pa.array(np.nan_to_num(values).astype(np.int64), mask=np.isnan(values))
    return pa.table(columns | {f"c_{name}": segment.criteria[name] for name in CRITERION_NAMES})


def _names(segment: Segment) -> pa.Array:
    folded = pa.array(segment.vocabularies["dataset_name"].folded, pa.string())
    return folded.take(pa.array(segment.columns["dataset_name"]))


def _domains(segment: Segment) -> np.ndarray[Any, Any]:
    words = segment.vocabularies["domain"].values
    bits = [sum(1 << DOMAINS.index(word) for word in set(value or ())) for value in words]
    return np.array(bits, np.int64)[segment.columns["domain"]]


def sql(workload: Workload) -> str:
    """Return the workload in SQL; a list brings the total count along as a window over the matches."""
    limit = "" if workload.limit is None else f" LIMIT {workload.limit}"
    if workload.weights is None:
        order = f"{workload.sort} DESC NULLS LAST, id"
        count = f"(SELECT count(*) FROM t WHERE {workload.conditions})"
        return f"SELECT id, {count} FROM t WHERE {workload.conditions} ORDER BY {order}{limit}"
    return f"SELECT id, {workload.score()} AS s FROM t WHERE {workload.conditions} ORDER BY s DESC, name, id{limit}"


@contextmanager
def duckdb_engine(data: pa.Table, folder: Path) -> Iterator[Ask]:
    """DuckDB in memory."""
    with closing(duckdb.connect()) as connection:
        connection.register("records", data)
        connection.execute("SET enable_progress_bar = false")
        connection.execute("CREATE TABLE t AS SELECT * FROM records")
        yield lambda workload: connection.execute(sql(workload)).fetchnumpy()["id"]


@contextmanager
def polars_engine(data: pa.Table, folder: Path) -> Iterator[Ask]:
    """Polars, its streaming engine, as written by hand in its own expressions."""
    frame = pl.from_arrow(data).lazy()

    def ask(workload: Workload) -> Answer:
        matching = frame.filter(*_polars_conditions(workload))
        if workload.weights is None:
            by, descending = [pl.col(workload.sort), pl.col("id")], [True, False]
            counted = matching.select(pl.len()).collect(engine="streaming")
            assert counted.height == 1
        else:
            total = sum(workload.weights.values())
            score = (
                sum((pl.col(f"c_{name}") * weight for name, weight in workload.weights.items()), pl.lit(0.0)) / total
            )
            matching = matching.with_columns(score.alias("s"))
            by, descending = [pl.col("s"), pl.col("name"), pl.col("id")], [True, False, False]
        ordered = matching.sort(by, descending=descending, nulls_last=True).select("id")
        if workload.limit is not None:
            ordered = ordered.head(workload.limit)
        return ordered.collect(engine="streaming")["id"].to_numpy()

    yield ask


def _polars_conditions(workload: Workload) -> list[Any]:
    conditions = [pl.lit(value=True)]
    for part in workload.conditions.split(" AND "):
        left, operator, right = part.rsplit(" ", 2)
        if left.startswith("(domains"):
            conditions.append((pl.col("domains") & int(left.strip("()").split(" & ")[1])) != 0)
        elif operator == "LIKE":
            conditions.append(pl.col("name").str.contains(right.strip("'%"), literal=True))
        elif operator == ">=":
            conditions.append(pl.col(left) >= float(right))
    return conditions


@contextmanager
def datafusion_engine(data: pa.Table, folder: Path) -> Iterator[Ask]:
    """DataFusion over the Arrow batches in memory."""
    context = datafusion.SessionContext()
    context.register_record_batches("t", [data.to_batches(max_chunksize=65_536)])
    yield lambda workload: context.sql(sql(workload)).to_arrow_table()["id"].to_numpy()


@contextmanager
def chdb_engine(data: pa.Table, folder: Path) -> Iterator[Ask]:
    """ClickHouse in process, its Memory engine."""
    with closing(session.Session(str(folder / "chdb"))) as clickhouse:
        chdb_input = data  # noqa: F841 (the name that Python() finds)
        clickhouse.query("CREATE DATABASE IF NOT EXISTS b")
        clickhouse.query("CREATE TABLE b.t ENGINE = Memory AS SELECT * FROM Python(chdb_input)")

        def ask(workload: Workload) -> Answer:
            text = sql(workload).replace("FROM t", "FROM b.t").replace("domains & ", "bitAnd(domains, ")
            text = text.replace(") <> 0", ")) <> 0") if "bitAnd" in text else text
            raw = clickhouse.query(text, "Arrow").bytes()
            return pa.ipc.open_file(pa.BufferReader(raw)).read_all()["id"].to_numpy()

        yield ask


@contextmanager
def sqlite_engine(data: pa.Table, folder: Path) -> Iterator[Ask]:
    """SQLite in memory, with indexes on what is filtered and sorted."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(f"CREATE TABLE t ({', '.join(data.column_names)})")
        rows = (row for batch in data.to_batches(50_000) for row in zip(*batch.to_pydict().values(), strict=True))
        connection.executemany(f"INSERT INTO t VALUES ({', '.join('?' * data.num_columns)})", rows)
        for column in ("year", "citations", "c_ethical_score"):
            connection.execute(f"CREATE INDEX {column}_index ON t ({column})")
        yield lambda workload: [row[0] for row in connection.execute(sql(workload))]


@contextmanager
def postgresql_engine(data: pa.Table, folder: Path) -> Iterator[Ask]:
    """PostgreSQL in a private cluster on a unix socket, with indexes on what is filtered and sorted."""
    with _cluster(folder / "pg") as socket, psycopg.connect(host=str(socket), user="postgres", autocommit=True) as link:
        types = {"id": "bigint", "name": 'text COLLATE "C"', "domains": "bigint"}
        types |= dict.fromkeys(("year", "instances_number", "citations"), "bigint")
        columns = [f"{name} {types.get(name, 'float8')}" for name in data.column_names]
        link.execute(f"CREATE TABLE t ({', '.join(columns)})")
        with link.cursor().copy("COPY t FROM STDIN") as copy:
            for batch in data.to_batches(50_000):
                for row in zip(*batch.to_pydict().values(), strict=True):
                    copy.write_row(row)
        for column in ("year", "citations", "c_ethical_score"):
            link.execute(f"CREATE INDEX ON t ({column})")
        link.execute("VACUUM ANALYZE t")
        yield lambda workload: [row[0] for row in link.execute(sql(workload))]


@contextmanager
def _cluster(folder: Path) -> Iterator[Path]:
    """Run a private PostgreSQL cluster, as the user `postgres` if we are root, and stop it at the end."""
    binaries = Path(subprocess.check_output(["pg_config", "--bindir"], text=True).strip())
    folder.mkdir()
    user = {"user": "postgres", "group": "postgres"} if os.geteuid() == 0 else {}
    if user:
        subprocess.run(["chown", "postgres", folder], check=True)
        folder.parent.chmod(0o755)
    data_folder = folder / "data"
    subprocess.run(
        [binaries / "initdb", "-D", data_folder, "-A", "trust", "-U", "postgres"],
        check=True,
        capture_output=True,
        **user,
    )
    options = f"-c listen_addresses= -c unix_socket_directories={folder} -c shared_buffers=2GB -c work_mem=256MB"
    control = [binaries / "pg_ctl", "-D", data_folder, "-l", folder / "log", "-w"]
    subprocess.run([*control, "-o", options, "start"], check=True, capture_output=True, **user)
    try:
        yield folder
    finally:
        subprocess.run([*control, "-m", "immediate", "stop"], check=True, capture_output=True, **user)


ENGINES: Final = {
    "DuckDB": duckdb_engine,
    "Polars": polars_engine,
    "DataFusion": datafusion_engine,
    "chDB": chdb_engine,
    "SQLite": sqlite_engine,
    "PostgreSQL": postgresql_engine,
}
