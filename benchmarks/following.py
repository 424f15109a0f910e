"""How fast a process applies the changes of another one: `python -m benchmarks following [COUNT] [--database URL]`.

COUNT generated records, by default 20,000, are written to a database, which by default is an SQLite file in a temporary
folder. All records that a given database holds are replaced. A catalog in memory that has seen nothing of this then
follows, alternately reading the changes as columns and one by one. Prints the medians of records per second, and of the
processor time that this takes from the event loop, which cannot answer requests meanwhile.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from typing import Final, NamedTuple
from unittest.mock import patch

from benchmarks.scale.catalog_database import CatalogDatabase
from benchmarks.scale.postgresql_catalog import PostgresCatalog
from benchmarks.scale.sqlite_catalog import SqliteCatalog
from touchstone.database.engine import Database
from touchstone.database.migrations import prepare_schema
from touchstone.database.sqlite import sqlite_path
from touchstone.ranking.catalog.catalog import Catalog
from touchstone.services.selection.catalog import versioned_catalog
from touchstone.services.selection.catalog.versioned_catalog import VersionedCatalog

ROUNDS: Final = 5
_ANY_NUMBER: Final = 2**31


class FollowingTime(NamedTuple):
    """The seconds needed to apply all changes, and the CPU seconds of the event loop."""

    total: float
    event_loop: float


def catalog_database(url: str) -> CatalogDatabase:
    """Return the database at `url`, for filling it with generated records."""
    path = sqlite_path(url)
    return PostgresCatalog(url) if path is None else SqliteCatalog(path)


async def measure_following(database: Database) -> FollowingTime:
    """Let an empty catalog apply all changes in the database."""
    catalog = VersionedCatalog(Catalog(), version=0)
    started_at, thread_started_at = time.perf_counter(), time.thread_time()
    await catalog.catch_up(database)
    return FollowingTime(time.perf_counter() - started_at, time.thread_time() - thread_started_at)


async def compare(url: str, count: int) -> None:
    """Fill the database at `url`, and print how fast a process follows in both ways."""
    database = Database(url)
    await prepare_schema(database)
    await asyncio.to_thread(catalog_database(url).fill, count)

    column_times, single_times = [], []
    await measure_following(database)  # Libraries are loaded when they are first used.
    for _ in range(ROUNDS):
        column_times.append(await measure_following(database))
        with patch.object(versioned_catalog, "FEW_CHANGES", _ANY_NUMBER):
            single_times.append(await measure_following(database))
    await database.close()

    print("| changes are read | records/s | event loop, µs per record |\n|---|---:|---:|")
    for name, times in (("as columns", column_times), ("one by one", single_times)):
        rate = count / statistics.median(following.total for following in times)
        event_loop_seconds = statistics.median(following.event_loop for following in times)
        print(f"| {name} | {rate:,.0f} | {1e6 * event_loop_seconds / count:.1f} |")
    ratio = statistics.median(
        single.total / columns.total for columns, single in zip(column_times, single_times, strict=True)
    )
    print(f"\nOne by one takes {ratio:.2f} times as long, in the median of {ROUNDS} pairs.")


def main() -> None:
    """Read the options, and run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", metavar="COUNT", type=int, nargs="?", default=20_000)
    parser.add_argument("--database", metavar="URL", help="a database whose records may be replaced")
    options = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        url = options.database or f"sqlite:///{folder}/touchstone.db"
        asyncio.run(compare(url, options.count))


if __name__ == "__main__":
    main()
