"""Ranking against ready-made engines: `python -m benchmarks ranking [SIZE …]`, by default 1e4 to 1e7 records.

Every engine answers the same questions in the same run. Prints tables with a verdict on each target, and writes a plot
of cost against size.
"""

import gc
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import numpy as np

from benchmarks.ranking.engines import ENGINES, Ask, table
from benchmarks.ranking.generating import segment
from benchmarks.ranking.plotting import plot
from benchmarks.ranking.workloads import EVERYTHING, SIX, THREE, WORKLOADS, Workload
from touchstone.ranking.catalog.catalog import Catalog
from touchstone.ranking.catalog.view import View
from touchstone.ranking.columns.segment import CatalogRow
from touchstone.ranking.column_types import Ints
from touchstone.ranking.criteria import CRITERION_NAMES
from touchstone.ranking.index.builder import build_columns
from touchstone.ranking.index.catalog_index import CatalogIndex
from touchstone.ranking.index.snapshot_file import load_index, save_index
from touchstone.ranking.query.predicates import Contains

SIZES: Final = (10_000, 100_000, 1_000_000, 10_000_000)
_JUDGED_SIZE: Final = 10_000_000  # the size that targets and limits are about, except W4's
REPEATS: Final = 15
PAIRS: Final = 301  # of measurements in turns
TARGETS: Final = {"W1": 100.0, "W2": 60.0, "W3": 40.0, "W4": 3.5, "W5": 12.0}
"""How many times faster than the best engine each workload must be; the others must not be slower."""
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
"""What must not be exceeded at ten million records; growth is reported if both sizes are measured in one run."""
_LARGEST_FULL_ORDER: Final = 1_000_000  # W4 asks for all rows in order, up to this size
_NO_SUBSTRING: Final = "substring without a match"
_PLOT: Final = Path("docs/pictures/ranking.svg")
_STORED_FIGURES: Final = Path("var/benchmarks/ranking.json")
Figures = dict[str, dict[str, float]]


def median_ms(action: Callable[[], Any], repeats: int = REPEATS) -> float:
    """Return the median wall time of an action in milliseconds, after one run that does not count."""
    action()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1000


def answer(view: View, workload: Workload) -> Ints:
    """Return the ids with which the index answers a workload."""
    if workload.weights is None:
        window = view.sort(workload.query, workload.sort, descending=True, skip=0, limit=workload.limit)
        return view.ids(window.positions)
    return view.ids(view.rank(workload.query, workload.weights, skip=0, limit=workload.limit).positions)


def measure_touchstone(view: View, workloads: tuple[Workload, ...]) -> dict[str, float]:
    """Return what each workload costs the index."""
    return {workload.name: median_ms(lambda workload=workload: answer(view, workload)) for workload in workloads}


def measure_engine(ask: Ask, view: View, workloads: tuple[Workload, ...]) -> dict[str, float]:
    """Return what each workload costs an engine; print a warning if its answer differs from the index's."""
    times = {}
    for workload in workloads:
        if list(ask(workload)) != answer(view, workload).tolist():
            print(f"  (another answer to: {workload.name})")
        times[workload.name] = median_ms(lambda workload=workload: ask(workload))
    return times


def build_catalog(size: int, folder: Path) -> tuple[Catalog, Any, dict[str, float]]:
    """Return an indexed catalog, the same records as an Arrow table, and what building them took."""
    records = segment(size)
    data = table(records)

    start = time.perf_counter()
    index = CatalogIndex(build_columns(records, 16))
    facts = {"built in s": time.perf_counter() - start}
    del records

    save_index(folder / "index", index, 1)
    facts["bytes a record"] = (folder / "index").stat().st_size / size
    start = time.perf_counter()
    load_index(folder / "index")
    facts["opened from snapshot in s"] = time.perf_counter() - start

    catalog = Catalog.from_index(index)
    start = time.perf_counter()
    answer(catalog.view, WORKLOADS[0])
    facts["first question in s"] = time.perf_counter() - start
    return catalog, data, facts


def measure_tail(catalog: Catalog) -> dict[str, float]:
    """Add ten thousand fresh records beside the index and return what they add to the first two workloads."""
    view_without_tail = catalog.view
    rng = np.random.default_rng(3)
    fresh_rows = [_fresh_row(10**9 + number, rng) for number in range(10_000)]

    start = time.perf_counter()
    catalog.apply(upserts=fresh_rows[:1], deleted=())
    facts = {"one insert, ms": (time.perf_counter() - start) * 1000}

    catalog.apply(upserts=fresh_rows, deleted=())
    for workload in WORKLOADS[:2]:
        # The two views are measured in turns, so that a busy moment of the machine affects both.
        pairs = [(once_ms(view_without_tail, workload), once_ms(catalog.view, workload)) for _ in range(PAIRS)]
        without_tail, with_tail = (statistics.median(times) for times in zip(*pairs, strict=True))
        facts[f"{workload.name[:2]} with 10 000 fresh records, ms"] = with_tail
        facts[f"{workload.name[:2]} with 10 000 fresh records against none"] = with_tail / without_tail
    return facts


def once_ms(view: View, workload: Workload) -> float:
    """Return the wall time of one answer, in milliseconds."""
    start = time.perf_counter()
    answer(view, workload)
    return (time.perf_counter() - start) * 1000


def _fresh_row(id_: int, rng: np.random.Generator) -> CatalogRow:
    return CatalogRow(
        id=id_,
        dataset_id=UUID(int=id_),
        dataset_name=f"Fresh {id_}",
        year=int(rng.integers(1990, 2025)),
        citations=int(rng.integers(0, 50)),
        **dict.fromkeys(("transparency", "informed_consent"), bool(rng.random() < 0.5)),
    )


def measure_memory_floor(data: Any) -> dict[str, float]:
    """Return the time of one pass over the float32 columns that the first two workloads need, the least for a scan."""
    columns = {name: data[f"c_{name}"].to_numpy().astype(np.float32) for name in {*THREE, *SIX}}
    return {
        "W1 top 20": median_ms(lambda: [columns[name].max() for name in THREE]),
        "W2 filters, top 20": median_ms(lambda: [columns[name].max() for name in SIX]),
    }


def random_weightings() -> list[Workload]:
    """Return workloads with 24 random weightings of all twelve criteria."""
    rng = np.random.default_rng(5)
    weightings = [dict(zip(CRITERION_NAMES, rng.random(12).tolist(), strict=True)) for _ in range(24)]
    return [Workload("the slowest of 24 weightings", (), "1 = 1", weights) for weights in weightings]


def measure_hostile_queries(view: View) -> dict[str, float]:
    """Return what random weightings cost, and a substring for which every name must be read."""
    times = [median_ms(lambda workload=workload: answer(view, workload), 5) for workload in random_weightings()]
    without_trigram = (Contains("dataset_name", "zq"),)
    return {
        "24 weightings, median ms": statistics.median(times),
        "24 weightings, worst ms": max(times),
        "every name looked at, ms": median_ms(lambda: view.rank(without_trigram, THREE, skip=0, limit=20), 3),
    }


def measure_size(size: int) -> tuple[Figures, dict[str, float]]:
    """Measure all engines at one size."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        catalog, data, facts = build_catalog(size, folder)
        slowest = max(random_weightings(), key=lambda workload: median_ms(lambda: answer(catalog.view, workload), 5))
        full_order = (EVERYTHING,) if size <= _LARGEST_FULL_ORDER else ()
        workloads = (*WORKLOADS, slowest, *full_order)

        figures = {
            "Touchstone": measure_touchstone(catalog.view, workloads),
            "memory floor": measure_memory_floor(data),
        }
        for engine, open_engine in ENGINES.items():
            with open_engine(data, folder) as ask:
                figures[engine] = measure_engine(ask, catalog.view, workloads)
            gc.collect()
            _print_times(engine, figures[engine])

        facts |= measure_hostile_queries(catalog.view)
        facts |= measure_tail(catalog)
        facts |= limited_ratios(figures, facts)
    return figures, facts


def limited_ratios(figures: Figures, facts: dict[str, float]) -> dict[str, float]:
    """Return the ratios that the limits are about, within one size."""
    times, floor = figures["Touchstone"], figures["memory floor"]
    ratios = {
        f"{workload[:2]} against one pass over the float32 columns": times[workload] / floor[workload]
        for workload in floor
    }
    every_name = facts["every name looked at, ms"]
    ratios["substring without a match against looking at every name"] = times[_NO_SUBSTRING] / every_name
    ratios["opening the snapshot against building"] = facts["opened from snapshot in s"] / facts["built in s"]
    return ratios


def growth(smaller: Figures, larger: Figures) -> dict[str, float]:
    """Return how much more the first two workloads cost for ten times as many records."""
    return {
        f"growth of {workload.name[:2]} from a tenth of the records": larger["Touchstone"][workload.name]
        / smaller["Touchstone"][workload.name]
        for workload in WORKLOADS[:2]
    }


def _print_times(engine: str, times: dict[str, float]) -> None:
    print(f"  {engine}: " + ", ".join(f"{name[:2]} {value:.2f}" for name, value in times.items()), flush=True)


def print_report(size: int, figures: Figures, facts: dict[str, float]) -> None:
    """Print the tables of one size, in Markdown."""
    names = list(figures)
    print(f"\n## {size:,} records, median ms\n")
    print("| question | " + " | ".join(names) + " | best engine ÷ Touchstone | wanted at ten million (W4: a million) |")
    print("|---|" + "---:|" * (len(names) + 1) + "---|")
    for workload, time_ms in figures["Touchstone"].items():
        cells = [f"{figures[name][workload]:.3f}" if workload in figures[name] else "" for name in names]
        best = min(times[workload] for name, times in figures.items() if name in ENGINES)
        target = TARGETS.get(workload[:2], 1.0)
        is_judged = size == (_LARGEST_FULL_ORDER if workload == EVERYTHING.name else _JUDGED_SIZE)
        verdict = f"≥ {target:g}{_verdict(best / time_ms >= target) if is_judged else ''}"
        print(f"| {workload} | " + " | ".join(cells) + f" | {best / time_ms:.1f} | {verdict} |")

    print("\n| | reached | wanted at ten million |\n|---|---:|---|")
    for name, value in facts.items():
        limit = LIMITS.get(name)
        verdict = f"≤ {limit:g}{_verdict(value <= limit) if size == _JUDGED_SIZE else ''}" if limit else ""
        print(f"| {name} | {value:.3g} | {verdict} |", flush=True)


def _verdict(is_reached: bool) -> str:
    return ", pass" if is_reached else ", missed"


def main() -> None:
    """Measure the sizes given as arguments, or the usual ones."""
    sizes = [int(float(size)) for size in sys.argv[1:]] or list(SIZES)
    figures_by_size: dict[int, Figures] = {}
    for size in sizes:
        figures, facts = measure_size(size)
        figures_by_size[size] = figures
        if size // 10 in figures_by_size:
            facts |= growth(figures_by_size[size // 10], figures)
        print_report(size, figures, facts)
        _store_figures(size, figures)

    plot({int(size): figures for size, figures in json.loads(_STORED_FIGURES.read_text()).items()}, _PLOT)


def _store_figures(size: int, figures: Figures) -> None:
    """Store the figures of one size beside those of earlier runs, so that sizes can be measured one at a time."""
    _STORED_FIGURES.parent.mkdir(parents=True, exist_ok=True)
    stored = json.loads(_STORED_FIGURES.read_text()) if _STORED_FIGURES.exists() else {}
    stored[str(size)] = figures
    _STORED_FIGURES.write_text(json.dumps(dict(sorted(stored.items(), key=lambda entry: int(entry[0])))))
