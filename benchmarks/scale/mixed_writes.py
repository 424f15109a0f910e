"""Single writes during a bulk import: their durations, and their immediate visibility to the writer."""

import statistics
import time
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any, Final

import httpx2

from benchmarks.overload import percentile
from benchmarks.scale.bulk_imports import send_lines
from benchmarks.scale.measured_catalog import MeasuredCatalog, sign_in
from benchmarks.scale.record_lines import write_record_lines
from benchmarks.scale.report import Figure, Target, print_figure, print_heading

_PAUSE_SECONDS: Final = 0.03
_QUIET_WRITES: Final = 100
_MAX_MILLISECONDS: Final = 50.0
_CHANGED_YEAR: Final = 2001


@dataclass(slots=True)
class SingleWrites:
    """The observations of a user who creates records and changes them.

    Attributes:
        create_times: the milliseconds that each creation took.
        update_times: the milliseconds that each change took.
        unseen_count: the number of creations and changes that the user did not see right afterwards.
    """

    create_times: list[float] = field(default_factory=list)
    update_times: list[float] = field(default_factory=list)
    unseen_count: int = 0

    def write_once(self, client: httpx2.Client, number: int) -> None:
        """Create a record and change it, and look for it in the list of datasets after both."""
        name = f"Single write {number} of the benchmark"
        body = {"name": name, "description": "", "file_path": "", "file_type": "", "year": 2000}

        began_at = time.perf_counter()
        record = client.post("/", json=body).raise_for_status().json()
        self.create_times.append((time.perf_counter() - began_at) * 1000)
        self._count_if_unseen(client, {"dataset_name": name})

        began_at = time.perf_counter()
        client.patch(f"/{record['id']}", json={"year": _CHANGED_YEAR}).raise_for_status()
        self.update_times.append((time.perf_counter() - began_at) * 1000)
        self._count_if_unseen(client, {"dataset_name": name, "year_min": _CHANGED_YEAR})

    def _count_if_unseen(self, client: httpx2.Client, filters: dict[str, Any]) -> None:
        """Count a write as unseen unless exactly one record of the list matches the filters."""
        response = client.get("/", params={**filters, "limit": 1}).raise_for_status()
        if response.headers["X-Total-Count"] != "1":
            self.unseen_count += 1


def measure_single_writes(catalog: MeasuredCatalog, folder: Path, record_count: int) -> None:
    """Print the durations of single writes during a bulk import."""
    print_heading(f"Single writes during a bulk import of {record_count:,} records into {catalog.label}")
    lines = folder / "mixed.jsonl"
    # The part `bulk` imports twice as many records, with smaller numbers.
    write_record_lines(lines, catalog.record_count + 1 + 2 * record_count, record_count)

    with catalog.serving() as server:
        importer, writer = sign_in(server), sign_in(server)
        base_url = f"{server.address}/api/v1/datasets"
        bulk_import = get_context("spawn").Process(target=send_lines, args=(server.address, importer.token, lines))
        with httpx2.Client(base_url=base_url, headers=writer.headers, timeout=60) as client:
            quiet_writes = _write_without_import(client)
            writes = _write_during_import(client, bulk_import)

    _print_times("create", writes.create_times, quiet_writes.create_times)
    _print_times("update", writes.update_times, quiet_writes.update_times)
    unseen_count = quiet_writes.unseen_count + writes.unseen_count
    print_figure(Figure("writes that their writer did not see at once", unseen_count, "", "", Target(0)))


def _write_without_import(client: httpx2.Client) -> SingleWrites:
    """Create and change records while the product is otherwise idle."""
    writes = SingleWrites()
    for number in range(_QUIET_WRITES):
        writes.write_once(client, number)
    return writes


def _write_during_import(client: httpx2.Client, bulk_import: SpawnProcess) -> SingleWrites:
    """Create and change records, with short pauses, from the start of a bulk import until its end."""
    writes = SingleWrites()
    bulk_import.start()
    number = _QUIET_WRITES
    while bulk_import.is_alive():
        writes.write_once(client, number)
        number += 1
        time.sleep(_PAUSE_SECONDS)

    if bulk_import.exitcode != 0:
        raise SystemExit("the bulk import failed")
    return writes


def _print_times(kind: str, times: list[float], quiet_times: list[float]) -> None:
    """Print the 99th percentile and the median of writes of one kind, compared with those without an import."""
    counterpart = f"without an import {percentile(quiet_times, 0.99):.3g} ms"
    target = Target(_MAX_MILLISECONDS)
    print_figure(Figure(f"{kind}, p99 of {len(times)}", percentile(times, 0.99), "ms", counterpart, target))

    median_counterpart = f"without an import {statistics.median(quiet_times):.3g} ms"
    print_figure(Figure(f"{kind}, median", statistics.median(times), "ms", median_counterpart))
