"""A generated catalog, and the process of the product that serves it."""

import asyncio
import fcntl
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx2

from benchmarks.product_server import READY_PATH, ServerProcess, User, launch_product, register_user
from benchmarks.scale.catalog_database import CatalogDatabase
from touchstone.database.engine import Database
from touchstone.database.migrations import upgrade_schema

GENERATOR_VERSION: Final = 3  # increment it when the generated rows change
START_SECONDS: Final = 3600.0
WORDS_SECONDS: Final = 7200.0
_POLL_SECONDS: Final = 0.25
_SETTINGS: Final = {
    "job_workers": "0",
    "access_token_seconds": "86400",
    "record_quota_bytes": str(10**13),
    "upload_max_bytes": str(10**11),
    "registrations_per_hour": "100000",
}


@dataclass(frozen=True, slots=True)
class MeasuredCatalog:
    """A catalog of generated records, with a folder for its files.

    Attributes:
        kind: the kind of its database: `postgresql` or `sqlite`.
    """

    kind: str
    database: CatalogDatabase
    folder: Path
    record_count: int

    @property
    def data_dir(self) -> Path:
        """The data folder of the product."""
        return self.folder / "data"

    @property
    def label(self) -> str:
        """The number of records, for tables."""
        return f"{self.record_count:,} records"

    def prepare(self) -> None:
        """Generate the records, or restore the records of an earlier run."""
        asyncio.run(_upgrade_schema(self.database.url))
        state = {"records": self.record_count, "generator": GENERATOR_VERSION}
        state_file = self.folder / "complete.json"

        is_complete = state_file.exists() and json.loads(state_file.read_text()) == state
        if is_complete:
            self._remove_imported_records()
            return

        state_file.unlink(missing_ok=True)
        self.data_dir.mkdir(parents=True, exist_ok=True)
        began_at = time.perf_counter()
        self.database.fill(self.record_count)
        self.forget_index()
        print(f"{self.label} generated in {time.perf_counter() - began_at:.0f} s", flush=True)
        state_file.write_text(json.dumps(state))

    def _remove_imported_records(self) -> None:
        """Remove the records that an earlier run has imported, if any, and with them the index."""
        if self.database.last_id() > self.record_count:
            self.database.restore(self.record_count)
            self.forget_index()

    def forget_index(self) -> None:
        """Delete the snapshot of the index, so that the next start is a first one."""
        for file in self.data_dir.glob("catalog-*"):
            file.unlink()

    def launch(self) -> ServerProcess:
        """Start the product without waiting until it is ready."""
        return launch_product(self.data_dir, settings={**_SETTINGS, "database_url": self.database.url})

    @contextmanager
    def serving(self) -> Iterator[ServerProcess]:
        """Serve the catalog until the end of the block.

        It has applied all changes since the snapshot, has indexed its words, and has saved its index.
        """
        server = self.launch()
        try:
            server.wait_until_ready(READY_PATH, START_SECONDS)
            self._wait_for_changes(server)
            wait_for_words(server)
            self.wait_for_snapshot()
            yield server
        finally:
            server.stop()

    def _wait_for_changes(self, server: ServerProcess) -> None:
        """Wait until the product has applied the newest change. Changes are applied in order."""
        last_id = self.database.last_public_id()
        newest_first = f"{server.address}/api/v1/datasets/?sort_by=id&sort_order=desc&limit=1"
        user = sign_in(server)
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            response = httpx2.get(newest_first, headers=user.headers, timeout=60).raise_for_status()
            if response.json()[0]["id"] == last_id:
                return
            time.sleep(_POLL_SECONDS)
        raise SystemExit("the changes since the snapshot were not applied in time")

    def wait_for_snapshot(self) -> None:
        """Wait until no process holds the lock for building or saving the index."""
        for lock_file in self.data_dir.glob("catalog-*.lock"):
            with lock_file.open("rb") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)


def sign_in(server: ServerProcess) -> User:
    """Register a new user of the product, who is signed in."""
    return register_user(server.address, f"bench-{time.time_ns()}@example.org")


def wait_for_words(server: ServerProcess) -> None:
    """Wait until words can be searched, which is the last step of a first start."""
    user = sign_in(server)
    deadline = time.monotonic() + WORDS_SECONDS
    while time.monotonic() < deadline:
        with suppress(httpx2.HTTPError):
            response = httpx2.get(f"{server.address}/api/v1/datasets/?q=data&limit=1", headers=user.headers, timeout=60)
            if response.status_code == 200:
                return
        time.sleep(_POLL_SECONDS)
    raise SystemExit("the words of the catalog were not indexed in time")


async def _upgrade_schema(url: str) -> None:
    """Create the schema of a database, or upgrade the schema of an earlier run."""
    database = Database(url)
    try:
        await upgrade_schema(database)
    finally:
        await database.close()
