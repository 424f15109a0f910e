"""How fast a process applies what another one has written: `python -m benchmarks following [COUNT] [--database URL]`.

COUNT generated records, by default 20,000, are imported into an empty database, which by default is an SQLite file in a
temporary folder. A catalog in memory that has seen nothing of this then follows, alternately reading the changes as
columns and one by one. Prints the medians of records per second, and of the processor time that this takes from the
event loop, which cannot answer requests meanwhile.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.scale.record_lines import write_record_lines
from touchstone.database.engine import Database
from touchstone.database.migrations import prepare_schema
from touchstone.ranking.catalog.catalog import Catalog
from touchstone.services.selection.bulk.batch_writer import BatchWriter, RecordLine
from touchstone.services.selection.bulk.body_lines import BodyLine
from touchstone.services.selection.bulk.record_parser import RecordParser
from touchstone.services.selection.catalog import versioned_catalog
from touchstone.services.selection.catalog.live_catalog import LiveCatalog
from touchstone.services.selection.catalog.versioned_catalog import VersionedCatalog

ROUNDS: Final = 5
_LINES_PER_BATCH: Final = 2000
_MAX_LINE_BYTES: Final = 1024 * 1024


class FollowingTime(NamedTuple):
    """The seconds that a catalog takes to apply all changes, and the processor time of the event loop in seconds."""

    total: float
    event_loop: float


async def import_records(database: Database, path: Path) -> None:
    """Import records that belong to nobody from a file of JSON Lines, as another process would."""
    catalog = LiveCatalog(database)
    await catalog.load()
    writer = BatchWriter(database, catalog, owner=None, quota_bytes=2**62)
    parser = RecordParser(_MAX_LINE_BYTES)
    with path.open("rb") as file:
        numbered_lines = enumerate(file, start=1)
        while batch := list(islice(numbered_lines, _LINES_PER_BATCH)):
            records = [(number, parser.parse(BodyLine(number, line.rstrip()))) for number, line in batch]
            lines = [RecordLine(number, record, record.source_digests(None)) for number, record in records]
            await writer.write(await writer.prepare(lines))


async def measure_following(database: Database) -> FollowingTime:
    """Let an empty catalog apply all changes in the database."""
    catalog = VersionedCatalog(Catalog(), version=0)
    started_at, thread_started_at = time.perf_counter(), time.thread_time()
    await catalog.catch_up(database)
    return FollowingTime(time.perf_counter() - started_at, time.thread_time() - thread_started_at)


@contextmanager
def reading_one_by_one() -> Iterator[None]:
    """Read any number of changes as single records in the block."""
    few_changes = versioned_catalog.FEW_CHANGES
    versioned_catalog.FEW_CHANGES = 2**31  # type: ignore[misc]
    try:
        yield
    finally:
        versioned_catalog.FEW_CHANGES = few_changes  # type: ignore[misc]


async def compare(url: str, path: Path, count: int) -> None:
    """Fill the database at `url`, and print how fast a process follows in both ways."""
    database = Database(url)
    await prepare_schema(database)
    await import_records(database, path)

    column_times, single_times = [], []
    await measure_following(database)  # Libraries are loaded when they are first used.
    for _ in range(ROUNDS):
        column_times.append(await measure_following(database))
        with reading_one_by_one():
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
    parser.add_argument("--database", metavar="URL", help="an empty database")
    options = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "records.jsonl"
        write_record_lines(path, first_id=1, count=options.count)
        url = options.database or f"sqlite:///{folder}/touchstone.db"
        asyncio.run(compare(url, path, options.count))


if __name__ == "__main__":
    main()
