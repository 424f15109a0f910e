"""Starts of the product: the first start, which reads all rows, and starts from the snapshot of the index."""

import statistics
import time
from typing import Final

from benchmarks.product_server import READY_PATH, ServerProcess
from benchmarks.scale.measured_catalog import (
    START_SECONDS,
    MeasuredCatalog,
    wait_for_words,
)
from benchmarks.scale.memory import PeakSampler, peak_resident_bytes, sampled_peak
from benchmarks.scale.report import MEGABYTE, Figure, Target, print_figure, print_heading

_SNAPSHOT_STARTS: Final = 5
_CHANGED_RECORDS: Final = 10_000
_READINGS_PER_START: Final = 3.0
_PEAK_BYTES_PER_RECORD: Final = 250
_PEAK_FIXED_BYTES: Final = 300 * MEGABYTE
_SNAPSHOT_SECONDS: Final = 3.0
_SNAPSHOT_GROWTH: Final = 1.2


def measure_first_start(catalog: MeasuredCatalog) -> None:
    """Print the memory use and duration of the first start, compared with only reading the columns."""
    print_heading(f"First start, {catalog.label}")
    reading_seconds = _measure_reading(catalog)

    catalog.forget_index()
    began_at = time.perf_counter()
    server = catalog.launch()
    try:
        with sampled_peak(server.process.pid) as peak:
            server.wait_until_ready(READY_PATH, START_SECONDS)
            start_seconds = time.perf_counter() - began_at
            counterpart = f"the database reads the columns in {reading_seconds:.3g} s"
            target = Target(_READINGS_PER_START * reading_seconds)
            print_figure(Figure("until it is ready", start_seconds, "s", counterpart, target))
            _print_peak("peak of private memory", peak, catalog)
            resident_bytes = peak_resident_bytes(server.process.pid)
            print_figure(Figure("the same with pages of mapped files", resident_bytes / MEGABYTE, "MB"))

            wait_for_words(server)
            print_figure(Figure("until words can be searched", time.perf_counter() - began_at, "s"))
            catalog.wait_for_snapshot()
            _print_peak("peak of private memory until they are saved", peak, catalog)
    finally:
        server.stop()


def _print_peak(name: str, sampler: PeakSampler, catalog: MeasuredCatalog) -> None:
    """Print the largest private memory so far, with the target for a catalog of this size."""
    target = Target((_PEAK_BYTES_PER_RECORD * catalog.record_count + _PEAK_FIXED_BYTES) / MEGABYTE)
    print_figure(Figure(name, sampler.peak / MEGABYTE, "MB", "", target))


def _measure_reading(catalog: MeasuredCatalog) -> float:
    """Return the seconds needed to read the columns from the database with filled caches."""
    catalog.database.read_columns()

    began_at = time.perf_counter()
    catalog.database.read_columns()
    return time.perf_counter() - began_at


def measure_snapshot_starts(catalog: MeasuredCatalog, smaller_catalog: MeasuredCatalog) -> None:
    """Print the duration of a start from the snapshot, compared with a catalog of a tenth of the size."""
    print_heading(f"Start from the snapshot, {catalog.label}")
    smaller_seconds = _median_start_seconds(smaller_catalog)
    seconds = _median_start_seconds(catalog)

    counterpart = f"{smaller_seconds:.3g} s with {smaller_catalog.label}"
    print_figure(Figure(f"median of {_SNAPSHOT_STARTS}", seconds, "s", counterpart, Target(_SNAPSHOT_SECONDS)))
    growth = Figure("growth from a tenth of the records", seconds / smaller_seconds, "×", "", Target(_SNAPSHOT_GROWTH))
    print_figure(growth)

    changed_count = min(_CHANGED_RECORDS, catalog.record_count)
    catalog.database.change_records(changed_count)
    seconds_after_changes = _start_seconds(catalog)
    print_figure(Figure(f"after {changed_count:,} changes", seconds_after_changes, "s"))


def _median_start_seconds(catalog: MeasuredCatalog) -> float:
    """Return the median time until a process is ready, over several starts from the snapshot."""
    with catalog.serving():
        pass  # now there is a complete snapshot
    return statistics.median(_start_seconds(catalog) for _ in range(_SNAPSHOT_STARTS))


def _start_seconds(catalog: MeasuredCatalog) -> float:
    """Return the time from the start of the process until the product is ready."""
    began_at = time.perf_counter()
    server: ServerProcess = catalog.launch()
    try:
        server.wait_until_ready(READY_PATH, START_SECONDS)
        return time.perf_counter() - began_at
    finally:
        server.stop()
