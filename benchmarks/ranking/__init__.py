"""Ranking against ready-made engines: `python -m benchmarks ranking [SIZE …]`, by default 1e4 to 1e7 records.

Every engine is asked the same questions in the same run. Prints tables, with what has been reached of each target, and
writes a plot of cost against size.
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
from touchstone.ranking.criteria import CRITERION_NAMES, Ints
from touchstone.ranking.index.builder import build_columns
from touchstone.ranking.index.catalog_index import CatalogIndex
from touchstone.ranking.index.snapshot_file import load_index, save_index
from touchstone.ranking.query.predicates import Contains

SIZES: Final = (10_000, 100_000, 1_000_000, 10_000_000)
_JUDGED: Final = 10_000_000  # the size that targets and limits are about, but for W4, which is asked up to a million
REPEATS: Final = 15
PAIRS: Final = 301  # of a comparison in turns
TARGETS: Final = {"W1": 100.0, "W2": 60.0, "W3": 40.0, "W4": 3.5, "W5": 12.0}
"""How many times faster than the best engine each question is to be; the hostile ones are never to be slower."""
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
"""What must not be exceeded at ten million records; growth is told when both sizes are measured in one run."""
_LARGEST_ORDERED: Final = 1_000_000  # all rows in order are asked for up to this size
_NO_SUBSTRING: Final = "substring without a match"
_PLOT: Final = Path("docs/pictures/ranking.svg")
_KEPT: Final = Path("var/benchmarks/ranking.json")
Figures = dict[str, dict[str, float]]


def median_ms(action: Callable[[], Any], repeats: int = REPEATS) -> float:
    """The median wall time of an action in milliseconds, after one that does not count."""
    action()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1000


def answer(view: View, asked: Workload) -> Ints:
    """The ids that the index answers with."""
    if asked.weights is None:
        found = view.sort(asked.query, asked.sort, descending=True, skip=0, limit=asked.limit)
        return view.ids(found.positions)
    return view.ids(view.rank(asked.query, asked.weights, skip=0, limit=asked.limit).positions)


def own_times(view: View, questions: tuple[Workload, ...]) -> dict[str, float]:
    """What each question costs the index."""
    return {asked.name: median_ms(lambda asked=asked: answer(view, asked)) for asked in questions}


def engine_times(ask: Ask, view: View, questions: tuple[Workload, ...]) -> dict[str, float]:
    """What each question costs an engine; says so when its answer differs from the index's."""
    times = {}
    for asked in questions:
        if list(ask(asked)) != answer(view, asked).tolist():
            print(f"  (another answer to: {asked.name})")
        times[asked.name] = median_ms(lambda asked=asked: ask(asked))
    return times


def made(size: int, folder: Path) -> tuple[Catalog, Any, dict[str, float]]:
    """An indexed catalog, the same records as an Arrow table, and what making them took."""
    records = segment(size)
    data, start = table(records), time.perf_counter()
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


def with_tail(catalog: Catalog, facts: dict[str, float]) -> None:
    """What ten thousand fresh records beside the index add to the first two questions; they stay afterwards."""
    alone = catalog.view
    rng = np.random.default_rng(3)
    fresh = [_fresh(10**9 + number, rng) for number in range(10_000)]
    start = time.perf_counter()
    catalog.apply(upserts=fresh[:1], deleted=())
    facts["one insert, ms"] = (time.perf_counter() - start) * 1000
    catalog.apply(upserts=fresh, deleted=())
    for asked in WORKLOADS[:2]:
        # In turns: the views before and after both stay, and a busy moment of the machine meets both.
        pairs = [(once_ms(alone, asked), once_ms(catalog.view, asked)) for _ in range(PAIRS)]
        before, after = (statistics.median(times) for times in zip(*pairs, strict=True))
        facts[f"{asked.name[:2]} with 10 000 fresh records, ms"] = after
        facts[f"{asked.name[:2]} with 10 000 fresh records against none"] = after / before


def once_ms(view: View, asked: Workload) -> float:
    """The wall time of one answer, in milliseconds."""
    start = time.perf_counter()
    answer(view, asked)
    return (time.perf_counter() - start) * 1000


def _fresh(id_: int, rng: np.random.Generator) -> CatalogRow:
    flags = dict.fromkeys(("transparency", "informed_consent"), bool(rng.random() < 0.5))
    year, citations = int(rng.integers(1990, 2025)), int(rng.integers(0, 50))
    return CatalogRow(
        id=id_, dataset_id=UUID(int=id_), dataset_name=f"Fresh {id_}", year=year, citations=citations, **flags
    )


def floors(data: Any) -> dict[str, float]:
    """One pass over the float32 columns that the first two questions need: the least that a scan can cost."""
    columns = {name: data[f"c_{name}"].to_numpy().astype(np.float32) for name in {*THREE, *SIX}}
    return {
        "W1 top 20": median_ms(lambda: [columns[name].max() for name in THREE]),
        "W2 filters, top 20": median_ms(lambda: [columns[name].max() for name in SIX]),
    }


def weightings() -> list[Workload]:
    """24 random weightings of all twelve criteria."""
    rng = np.random.default_rng(5)
    drawn = [dict(zip(CRITERION_NAMES, rng.random(12).tolist(), strict=True)) for _ in range(24)]
    return [Workload("the slowest of 24 weightings", (), "1 = 1", weights) for weights in drawn]


def hostile(view: View) -> dict[str, float]:
    """24 random weightings, and a substring that does not occur against a scan of all names."""
    times = [median_ms(lambda asked=asked: answer(view, asked), 5) for asked in weightings()]
    every = (Contains("dataset_name", "zq"),)  # two letters have no trigram: every name is looked at
    return {
        "24 weightings, median ms": statistics.median(times),
        "24 weightings, worst ms": max(times),
        "every name looked at, ms": median_ms(lambda: view.rank(every, THREE, skip=0, limit=20), 3),
    }


def measured(size: int) -> tuple[Figures, dict[str, float]]:
    """All engines at one size."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        catalog, data, facts = made(size, folder)
        slowest = max(weightings(), key=lambda asked: median_ms(lambda: answer(catalog.view, asked), 5))
        questions = (*WORKLOADS, slowest, *((EVERYTHING,) if size <= _LARGEST_ORDERED else ()))
        figures = {"Touchstone": own_times(catalog.view, questions), "memory floor": floors(data)}
        for engine, opened in ENGINES.items():
            with opened(data, folder) as ask:
                figures[engine] = engine_times(ask, catalog.view, questions)
            gc.collect()
            _show(engine, figures[engine])
        facts |= hostile(catalog.view)
        with_tail(catalog, facts)
        facts |= reached(figures, facts)
    return figures, facts


def reached(figures: Figures, facts: dict[str, float]) -> dict[str, float]:
    """The ratios that the limits are about, within one size."""
    own, floor = figures["Touchstone"], figures["memory floor"]
    against_floor = {
        f"{question[:2]} against one pass over the float32 columns": own[question] / floor[question]
        for question in floor
    }
    return against_floor | {
        "substring without a match against looking at every name": own[_NO_SUBSTRING]
        / facts["every name looked at, ms"],
        "opening the snapshot against building": facts["opened from snapshot in s"] / facts["built in s"],
    }


def growth(smaller: Figures, larger: Figures) -> dict[str, float]:
    """How much more the first two questions cost for ten times as many records."""
    return {
        f"growth of {asked.name[:2]} from a tenth of the records": larger["Touchstone"][asked.name]
        / smaller["Touchstone"][asked.name]
        for asked in WORKLOADS[:2]
    }


def _show(engine: str, times: dict[str, float]) -> None:
    print(f"  {engine}: " + ", ".join(f"{name[:2]} {value:.2f}" for name, value in times.items()), flush=True)


def report(size: int, figures: Figures, facts: dict[str, float]) -> None:
    """The table of one size, in Markdown."""
    names = list(figures)
    print(f"\n## {size:,} records, median ms\n")
    print("| question | " + " | ".join(names) + " | best engine ÷ Touchstone | wanted at ten million (W4: a million) |")
    print("|---|" + "---:|" * (len(names) + 1) + "---|")
    for question, own in figures["Touchstone"].items():
        cells = [f"{figures[name][question]:.3f}" if question in figures[name] else "" for name in names]
        best = min(times[question] for name, times in figures.items() if name in ENGINES)
        wanted = TARGETS.get(question[:2], 1.0)
        judged = size == (_LARGEST_ORDERED if question == EVERYTHING.name else _JUDGED)
        verdict = f"≥ {wanted:g}{_verdict(best / own >= wanted) if judged else ''}"
        print(f"| {question} | " + " | ".join(cells) + f" | {best / own:.1f} | {verdict} |")
    print("\n| | reached | wanted at ten million |\n|---|---:|---|")
    for name, value in facts.items():
        limit = LIMITS.get(name)
        verdict = f"≤ {limit:g}{_verdict(value <= limit) if size == _JUDGED else ''}" if limit else ""
        print(f"| {name} | {value:.3g} | {verdict} |", flush=True)


def _verdict(good: bool) -> str:
    return ", pass" if good else ", missed"


def main() -> None:
    """Measure the sizes that are named, or the usual ones."""
    sizes = [int(float(size)) for size in sys.argv[1:]] or list(SIZES)
    known: dict[int, Figures] = {}
    for size in sizes:
        figures, facts = measured(size)
        known[size] = figures
        if size // 10 in known:
            facts |= growth(known[size // 10], figures)
        report(size, figures, facts)
        _keep(size, figures)
    plot({int(size): figures for size, figures in json.loads(_KEPT.read_text()).items()}, _PLOT)


def _keep(size: int, figures: Figures) -> None:
    """Put the figures of one size beside those of earlier runs, so that sizes may be measured one at a time."""
    _KEPT.parent.mkdir(parents=True, exist_ok=True)
    known = json.loads(_KEPT.read_text()) if _KEPT.exists() else {}
    _KEPT.write_text(json.dumps(dict(sorted((known | {str(size): figures}).items(), key=lambda entry: int(entry[0])))))
