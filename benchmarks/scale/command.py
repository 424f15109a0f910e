"""The command line of the benchmark of scale."""

import argparse
import fcntl
import os
import platform
import shutil
import signal
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Final

from benchmarks.scale.bulk_imports import measure_bulk_imports
from benchmarks.scale.catalog_database import CatalogDatabase
from benchmarks.scale.facets_and_pages import measure_facets_and_pages
from benchmarks.scale.measured_catalog import MeasuredCatalog
from benchmarks.scale.memory_at_rest import measure_memory_at_rest
from benchmarks.scale.mixed_writes import measure_single_writes
from benchmarks.scale.postgresql_catalog import PostgresCatalog
from benchmarks.scale.postgresql_server import database_url, private_server
from benchmarks.scale.queries import measure_queries
from benchmarks.scale.searches import measure_searches
from benchmarks.scale.sqlite_catalog import SqliteCatalog
from benchmarks.scale.starts import measure_first_start, measure_snapshot_starts

_FOLDER: Final = Path("/var/tmp/touchstone-scale")
_RECORDS: Final = 10_000_000
_SMALL_RECORDS: Final = 100_000
_BULK_RECORDS: Final = 300_000


class ScaleRun:
    """One run of the benchmark over catalogs in one database server.

    Attributes:
        folder: the folder for everything that the run generates.
        bulk_records: the number of records in each bulk import.
    """

    def __init__(self, folder: Path, server_url: str | None, record_count: int, bulk_records: int) -> None:
        """Prepare a run on the PostgreSQL server at `server_url`, or in SQLite if it is None."""
        self.folder = folder
        self.bulk_records = bulk_records
        self._server_url = server_url
        self._record_count = record_count

    @property
    def _small_record_count(self) -> int:
        """The number of records of the small catalog that the catalog is compared with."""
        return min(_SMALL_RECORDS, self._record_count)

    @cached_property
    def catalog(self) -> MeasuredCatalog:
        """The catalog that is measured."""
        return self._prepared_catalog(self._record_count)

    def generate(self) -> None:
        """Generate all catalogs that the other parts need, except those that an earlier run has left."""
        for record_count in (self._record_count, self._record_count // 10, self._small_record_count):
            self._prepared_catalog(record_count)

    def first_start(self) -> None:
        """Measure the first start, after another start has filled the cache of compiled code."""
        small_catalog = self._prepared_catalog(self._small_record_count)
        with small_catalog.serving():
            pass
        measure_first_start(self.catalog)

    def snapshot(self) -> None:
        """Measure starts from the snapshot, next to a catalog with a tenth of the records."""
        measure_snapshot_starts(self.catalog, self._prepared_catalog(self._record_count // 10))

    def memory(self) -> None:
        """Measure the memory at rest."""
        measure_memory_at_rest(self.catalog)

    def queries(self) -> None:
        """Measure rankings over HTTP, next to a small catalog."""
        measure_queries(self.catalog, self._prepared_catalog(self._small_record_count))

    def facets(self) -> None:
        """Measure facets and pages."""
        measure_facets_and_pages(self.catalog)

    def search(self) -> None:
        """Measure rankings at each level of assurance, and searches for words."""
        measure_searches(self.catalog)

    def bulk(self) -> None:
        """Measure bulk imports."""
        measure_bulk_imports(self.catalog, self.folder, self.bulk_records)

    def mixed(self) -> None:
        """Measure single writes during a bulk import."""
        measure_single_writes(self.catalog, self.folder, self.bulk_records)

    def _prepared_catalog(self, record_count: int) -> MeasuredCatalog:
        """Return a catalog with `record_count` records, generated now or by an earlier run."""
        name = f"scale_{record_count}"
        if self._server_url is None:
            folder = self.folder / f"sqlite-{record_count}"
            folder.mkdir(parents=True, exist_ok=True)
            database: CatalogDatabase = SqliteCatalog(str(folder / "records.db"))
            kind = "sqlite"
        else:
            folder = self.folder / f"postgresql-{record_count}"
            database = PostgresCatalog(database_url(self._server_url, name))
            kind = "postgresql"

        catalog = MeasuredCatalog(kind, database, folder, record_count)
        catalog.prepare()
        return catalog


PARTS: Final[Mapping[str, Callable[[ScaleRun], None]]] = {
    "generate": ScaleRun.generate,
    "first_start": ScaleRun.first_start,
    "snapshot": ScaleRun.snapshot,
    "memory": ScaleRun.memory,
    "queries": ScaleRun.queries,
    "facets": ScaleRun.facets,
    "search": ScaleRun.search,
    "bulk": ScaleRun.bulk,
    "mixed": ScaleRun.mixed,
}


def main() -> None:
    """Prepare the catalogs, and print a table for each part."""
    options = _parse_options()
    # A terminated run stops its servers and removes its files, as after Ctrl-C.
    signal.signal(signal.SIGTERM, _interrupt)

    options.folder.mkdir(parents=True, exist_ok=True)
    with _locked(options.folder):
        try:
            failed_parts = _measure_parts(options)
        finally:
            if not options.keep:
                shutil.rmtree(options.folder)

    if failed_parts:
        raise SystemExit(f"failed: {', '.join(failed_parts)}")


def _measure_parts(options: argparse.Namespace) -> list[str]:
    """Measure the parts that the options name, or all parts, and return the names of those that failed."""
    _print_machine()
    with _server_url(options.database, options.folder) as server_url:
        run = ScaleRun(options.folder, server_url, int(options.records), int(options.bulk_records))
        parts = options.part or list(PARTS)
        return [part for part in parts if not _measure_part(run, part)]


def _interrupt(*_: object) -> None:
    """End the run as Ctrl-C does."""
    raise KeyboardInterrupt


def _print_machine() -> None:
    """Print the hardware of this machine."""
    memory_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    print(f"{os.cpu_count()} cores, {memory_bytes / 2**30:.0f} GiB of memory, Python {platform.python_version()}")


def _measure_part(run: ScaleRun, part: str) -> bool:
    """Measure one part, print its error if it fails, and return whether it succeeded."""
    try:
        PARTS[part](run)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the other parts can still be measured
        print(f"\n{part} failed: {error}", flush=True)
        traceback.print_exception(error)
        return False
    return True


def _parse_options() -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks scale", description=main.__doc__)
    parser.add_argument("--records", type=float, default=_RECORDS)
    parser.add_argument("--bulk-records", type=float, default=_BULK_RECORDS, help="records of each bulk import")
    parser.add_argument(
        "--database",
        default="postgresql",
        help="`postgresql` (a private server), `sqlite`, or the URL of a PostgreSQL server and its superuser",
    )
    parser.add_argument(
        "--folder", type=Path, default=_FOLDER, help=f"the folder for everything that is generated ({_FOLDER})"
    )
    parser.add_argument("--keep", action="store_true", help="keep the folder for the next run, which is then quicker")
    parser.add_argument("--part", nargs="+", choices=list(PARTS), help="only these parts")
    return parser.parse_args()


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Lock the folder until the end of the block, or end the run if another one is using it."""
    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SystemExit(f"another run uses {folder}") from None
        yield


@contextmanager
def _server_url(database: str, folder: Path) -> Iterator[str | None]:
    """Provide the URL of the PostgreSQL server that the option `--database` asks for, or None for SQLite."""
    if database == "sqlite":
        yield None
    elif database == "postgresql":
        with private_server(folder / "postgresql") as url:
            yield url
    else:
        yield database.rstrip("/")
