"""Ranking against ready-made engines: `python -m benchmarks ranking [SIZE …]`, by default 1e4 to 1e7 records.

Every engine answers the same questions in the same run. Prints tables with a verdict on each target, and writes a plot
of cost against size.
"""

import gc
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import numpy as np

from benchmarks.ranking.catalog_generator import build_index, generate_segment
from benchmarks.ranking.cost_plot import TimesByEngine, plot_costs
from benchmarks.ranking.engines import ENGINES, Ask, to_arrow
from benchmarks.ranking.index_queries import answer, measure_once_ms
from benchmarks.ranking.workloads import (
    FULL_ORDER,
    SIX_CRITERIA,
    THREE_CRITERIA,
    WORKLOADS,
    Workload,
    random_weightings,
)
from benchmarks.sizes import read_sizes
from touchstone.ranking.catalog.catalog import Catalog
from touchstone.ranking.catalog.view import View
from touchstone.ranking.columns.segment import CatalogRow
from touchstone.ranking.index.snapshot_file import map_snapshot
from touchstone.ranking.index.snapshot_writer import save_index
from touchstone.ranking.query.predicates import Contains

SIZES: Final = (10_000, 100_000, 1_000_000, 10_000_000)
_JUDGED_SIZE: Final = 10_000_000  # the size for which there are targets and limits, except the target of W4
REPEATS: Final = 15
PAIRS: Final = 301  # of alternating measurements
TARGETS: Final = {"W1": 100.0, "W2": 60.0, "W3": 40.0, "W4": 3.5, "W5": 12.0}
"""The required speed-up of each workload over the best engine. Other workloads must not be slower."""
LIMITS: Final = {
    "growth of W1 from a tenth of the records": 3.0,
    "growth of W2 from a tenth of the records": 3.0,
    "W1 against one pass over the float32 columns": 0.1,
    "W2 against one pass over the float32 columns": 0.1,
    "substring without a match against looking at every name": 1 / 20,
    "bytes a record": 120.0,
    "opening the snapshot against building": 1 / 20,
    "W1 with 10 000 fresh records against none": 1.1,
    "W2 with 10 000 fresh records against none": 1.1,
}
"""Limits at ten million records. Growth is only reported if both sizes are measured in one run."""
_LARGEST_FULL_ORDER: Final = 1_000_000  # the largest catalog for W4, which requests all rows
_LEAF_WORDS: Final = 16
_FRESH_ROWS: Final = 10_000
_SUBSTRING_WITHOUT_MATCH: Final = "substring without a match"
_SLOWEST_WEIGHTING: Final = "the slowest of 24 weightings"
_PLOT: Final = Path("docs/pictures/ranking.svg")
_STORED_TIMES: Final = Path("var/benchmarks/ranking.json")

Measurements = dict[str, float]
"""Values measured once for a size, such as seconds, bytes or ratios, by name."""


def median_ms(action: Callable[[], Any], repeats: int = REPEATS) -> float:
    """Return the median wall time of an action in milliseconds, after one run that does not count."""
    action()

    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds) * 1000


def measure_touchstone(view: View, workloads: tuple[Workload, ...]) -> dict[str, float]:
    """Return the median time that the index needs for each workload, in milliseconds."""
    return {workload.name: median_ms(partial(answer, view, workload)) for workload in workloads}


def measure_engine(ask: Ask, view: View, workloads: tuple[Workload, ...]) -> dict[str, float]:
    """Return the median time that an engine needs for each workload, in milliseconds.

    A warning is printed if the engine returns other ids than the index, or in another order.
    """
    times = {}
    for workload in workloads:
        if list(ask(workload)) != answer(view, workload).tolist():
            print(f"  (another answer to: {workload.name})")
        times[workload.name] = median_ms(partial(ask, workload))
    return times


def build_catalog(size: int, folder: Path) -> tuple[Catalog, Any, Measurements]:
    """Return an indexed catalog, its records as an Arrow table, and the cost of building and opening the index."""
    segment = generate_segment(size)
    table = to_arrow(segment)

    start = time.perf_counter()
    index = build_index(segment, _LEAF_WORDS)
    measurements = {"built in s": time.perf_counter() - start}
    del segment

    snapshot = folder / "index"
    save_index(snapshot, index, version=1)
    measurements["bytes a record"] = snapshot.stat().st_size / size
    start = time.perf_counter()
    map_snapshot(snapshot)
    measurements["opened from snapshot in s"] = time.perf_counter() - start

    catalog = Catalog.from_index(index)
    start = time.perf_counter()
    answer(catalog.view, WORKLOADS[0])
    measurements["first question in s"] = time.perf_counter() - start
    return catalog, table, measurements


def measure_tail(catalog: Catalog) -> Measurements:
    """Add ten thousand records outside the index, and return the slowdown of the first two workloads."""
    view_without_tail = catalog.view
    rng = np.random.default_rng(3)
    fresh_rows = [_fresh_row(10**9 + number, rng) for number in range(_FRESH_ROWS)]

    start = time.perf_counter()
    catalog.apply(upserts=fresh_rows[:1], deleted=())
    measurements = {"one insert, ms": (time.perf_counter() - start) * 1000}

    catalog.apply(upserts=fresh_rows, deleted=())
    for workload in WORKLOADS[:2]:
        # The two views are measured alternately, so that other load on the machine affects both.
        pairs = [
            (measure_once_ms(view_without_tail, workload), measure_once_ms(catalog.view, workload))
            for _ in range(PAIRS)
        ]
        without_tail, with_tail = (statistics.median(times) for times in zip(*pairs, strict=True))

        short_name = workload.name[:2]
        measurements[f"{short_name} with 10 000 fresh records, ms"] = with_tail
        measurements[f"{short_name} with 10 000 fresh records against none"] = with_tail / without_tail
    return measurements


def _fresh_row(id_: int, rng: np.random.Generator) -> CatalogRow:
    """Return a record with random attributes, most of them unknown."""
    year = int(rng.integers(1990, 2025))
    citations = int(rng.integers(0, 50))
    flag = bool(rng.random() < 0.5)
    return CatalogRow(
        id=id_,
        dataset_id=UUID(int=id_),
        dataset_name=f"Fresh {id_}",
        year=year,
        citations=citations,
        transparency=flag,
        informed_consent=flag,
    )


def measure_memory_floor(table: Any) -> dict[str, float]:
    """Return the time of one pass over the float32 columns that the first two workloads need, in milliseconds.

    No engine that scans all records can be faster than that.
    """
    names = {*THREE_CRITERIA, *SIX_CRITERIA}
    columns = {name: table[f"c_{name}"].to_numpy().astype(np.float32) for name in names}
    return {
        "W1 top 20": median_ms(lambda: [columns[name].max() for name in THREE_CRITERIA]),
        "W2 filters, top 20": median_ms(lambda: [columns[name].max() for name in SIX_CRITERIA]),
    }


def measure_hostile_queries(view: View) -> Measurements:
    """Return the cost of the least favourable questions: random weights, and a substring too short for signatures."""
    times = [median_ms(partial(answer, view, workload), repeats=5) for workload in random_weightings()]

    too_short_for_signatures = (Contains("dataset_name", "zq"),)
    return {
        "24 weightings, median ms": statistics.median(times),
        "24 weightings, worst ms": max(times),
        "every name looked at, ms": median_ms(
            lambda: view.rank(too_short_for_signatures, THREE_CRITERIA, skip=0, limit=20), repeats=3
        ),
    }


def measure_size(size: int) -> tuple[TimesByEngine, Measurements]:
    """Measure Touchstone and all other engines over a catalog of one size."""
    with tempfile.TemporaryDirectory() as folder_name:
        folder = Path(folder_name)
        catalog, table, measurements = build_catalog(size, folder)
        view = catalog.view

        slowest_weighting = max(
            random_weightings(), key=lambda workload: median_ms(lambda: answer(view, workload), repeats=5)
        )
        slowest_weighting = replace(slowest_weighting, name=_SLOWEST_WEIGHTING)
        full_order = (FULL_ORDER,) if size <= _LARGEST_FULL_ORDER else ()
        workloads = (*WORKLOADS, slowest_weighting, *full_order)

        times = {
            "Touchstone": measure_touchstone(view, workloads),
            "memory floor": measure_memory_floor(table),
        }
        for engine, open_engine in ENGINES.items():
            with open_engine(table, folder) as ask:
                times[engine] = measure_engine(ask, view, workloads)
            gc.collect()
            _print_times(engine, times[engine])

        measurements |= measure_hostile_queries(view)
        measurements |= measure_tail(catalog)  # changes the catalog, and therefore comes last
        measurements |= limited_ratios(times, measurements)
    return times, measurements


def limited_ratios(times: TimesByEngine, measurements: Measurements) -> Measurements:
    """Return the ratios of one size for which there is a limit."""
    touchstone, memory_floor = times["Touchstone"], times["memory floor"]
    ratios = {
        f"{workload[:2]} against one pass over the float32 columns": touchstone[workload] / memory_floor[workload]
        for workload in memory_floor
    }

    every_name = measurements["every name looked at, ms"]
    ratios["substring without a match against looking at every name"] = (
        touchstone[_SUBSTRING_WITHOUT_MATCH] / every_name
    )
    ratios["opening the snapshot against building"] = (
        measurements["opened from snapshot in s"] / measurements["built in s"]
    )
    return ratios


def growth(smaller: TimesByEngine, larger: TimesByEngine) -> Measurements:
    """Return the growth factors of the first two workloads for ten times as many records."""
    ratios = {}
    for workload in WORKLOADS[:2]:
        name = f"growth of {workload.name[:2]} from a tenth of the records"
        ratios[name] = larger["Touchstone"][workload.name] / smaller["Touchstone"][workload.name]
    return ratios


def _print_times(engine: str, times: dict[str, float]) -> None:
    """Print the times of one engine immediately, because a complete run takes long."""
    print(
        f"  {engine}: " + ", ".join(f"{name[:2]} {milliseconds:.2f}" for name, milliseconds in times.items()),
        flush=True,
    )


def print_report(size: int, times: TimesByEngine, measurements: Measurements) -> None:
    """Print the tables of one size, in Markdown, with a verdict on each target and limit."""
    print(f"\n## {size:,} records, median ms\n")
    print(f"| question | {' | '.join(times)} | best engine ÷ Touchstone | target at ten million (W4: a million) |")
    print("|---|" + "---:|" * (len(times) + 1) + "---|")
    for workload in times["Touchstone"]:
        print(_workload_row(size, workload, times))

    print("\n| | reached | target at ten million |\n|---|---:|---|")
    for name, value in measurements.items():
        print(f"| {name} | {value:.3g} | {_limit_cell(size, name, value)} |", flush=True)


def _workload_row(size: int, workload: str, times: TimesByEngine) -> str:
    """Format a table row with the times of one workload. Engines that do not support it have an empty cell."""
    cells = [f"{engine_times[workload]:.3f}" if workload in engine_times else "" for engine_times in times.values()]

    best_engine = min(engine_times[workload] for engine, engine_times in times.items() if engine in ENGINES)
    speedup = best_engine / times["Touchstone"][workload]
    target = TARGETS.get(workload[:2], 1.0)

    judged_size = _LARGEST_FULL_ORDER if workload == FULL_ORDER.name else _JUDGED_SIZE
    verdict = _verdict(speedup >= target) if size == judged_size else ""
    return f"| {workload} | {' | '.join(cells)} | {speedup:.1f} | ≥ {target:g}{verdict} |"


def _limit_cell(size: int, name: str, value: float) -> str:
    """Format the limit of a measurement with a verdict, or return an empty string if there is no limit."""
    limit = LIMITS.get(name)
    if limit is None:
        return ""
    verdict = _verdict(value <= limit) if size == _JUDGED_SIZE else ""
    return f"≤ {limit:g}{verdict}"


def _verdict(is_reached: bool) -> str:
    """Return the end of a table cell that says whether a target or a limit is met."""
    return ", pass" if is_reached else ", missed"


def main() -> None:
    """Measure the sizes given as arguments, by default SIZES, print the tables, and renew the plot."""
    sizes = read_sizes(__doc__, SIZES)

    times_by_size: dict[int, TimesByEngine] = {}
    for size in sizes:
        times, measurements = measure_size(size)
        times_by_size[size] = times
        if size // 10 in times_by_size:
            measurements |= growth(times_by_size[size // 10], times)
        print_report(size, times, measurements)
        _store_times(size, times)

    stored_times = json.loads(_STORED_TIMES.read_text())
    plot_costs({int(size): times for size, times in stored_times.items()}, _PLOT)


def _store_times(size: int, times: TimesByEngine) -> None:
    """Add the times of one size to the results of earlier runs, so that sizes can be measured separately."""
    _STORED_TIMES.parent.mkdir(parents=True, exist_ok=True)
    stored_times = json.loads(_STORED_TIMES.read_text()) if _STORED_TIMES.exists() else {}
    stored_times[str(size)] = times

    by_size = dict(sorted(stored_times.items(), key=lambda entry: int(entry[0])))
    _STORED_TIMES.write_text(json.dumps(by_size))
