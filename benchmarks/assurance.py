"""The cost of rankings above `declared`: `python -m benchmarks assurance [SIZE …]`, by default 1e6 records.

A tenth of the records is documented, and a hundredth reviewed. The same questions are asked alternately at each
assurance, and of a catalog with the same records but without evidence. Prints a table with a verdict on each ratio, and
the size of a record in bytes.
"""

import gc
import statistics
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import numpy as np

from benchmarks.ranking.catalog_generator import add_evidence, build_index, generate_segment
from benchmarks.ranking.index_queries import measure_once_ms
from benchmarks.ranking.workloads import WORKLOADS, Workload, random_weightings
from benchmarks.sizes import read_sizes
from touchstone.core.evidence import Assurance
from touchstone.ranking.catalog.catalog import Catalog
from touchstone.ranking.catalog.view import View
from touchstone.ranking.columns.segment import Segment
from touchstone.ranking.index.snapshot_writer import save_index

SIZES: Final = (1_000_000,)
DOCUMENTED_SHARE: Final = 0.1
REVIEWED_SHARE: Final = 0.01
MAX_RATIO: Final = 1.5  # between the times of a question at any assurance and at `declared`
ROUNDS: Final = 201
_LEAF_WORDS: Final = 16
_WITHOUT_EVIDENCE: Final = "without evidence"

Times = dict[str, float]
"""Median milliseconds of a workload, by the name of the view."""


def build_catalog(segment: Segment) -> tuple[Catalog, float]:
    """Return an indexed catalog of the records of a segment, and the size of its index in bytes per record."""
    index = build_index(segment, _LEAF_WORDS)
    with tempfile.TemporaryDirectory() as folder:
        snapshot = Path(folder) / "index"
        save_index(snapshot, index, version=1)
        bytes_per_record = snapshot.stat().st_size / segment.size
    return Catalog.from_index(index), bytes_per_record


def measure_in_turns(views: Mapping[str, View], workload: Workload) -> Times:
    """Return the median time of a workload for each view, measured alternately.

    Other load on the machine therefore affects all of them.
    """
    times: dict[str, list[float]] = {name: [] for name in views}
    for _ in range(ROUNDS):
        for name, view in views.items():
            times[name].append(measure_once_ms(view, workload))
    return {name: statistics.median(milliseconds) for name, milliseconds in times.items()}


def measure_size(size: int) -> None:
    """Measure a catalog of one size, and print the tables."""
    segment = generate_segment(size)
    plain_catalog, plain_bytes = build_catalog(segment)
    segment = add_evidence(segment, DOCUMENTED_SHARE, REVIEWED_SHARE)
    catalog, bytes_with_evidence = build_catalog(segment)
    del segment
    gc.collect()

    views = {_WITHOUT_EVIDENCE: plain_catalog.view}
    views |= {assurance.value: catalog.view.at(assurance) for assurance in Assurance}

    print(f"\n## {size:,} records, median ms\n")
    print(f"| question | {' | '.join(views)} | slowest ÷ declared | wanted |")
    print("|---|" + "---:|" * (len(views) + 1) + "---|")
    for workload in WORKLOADS:
        _print_row(workload.name, measure_in_turns(views, workload))
    _print_row("24 weightings, median", _median_over_weightings(views))

    print(f"\nBytes a record: {plain_bytes:.1f} without evidence, {bytes_with_evidence:.1f} with it.", flush=True)


def _median_over_weightings(views: Mapping[str, View]) -> Times:
    """Return the median time of rankings by random weights for all twelve criteria."""
    times = [measure_in_turns(views, workload) for workload in random_weightings()[:8]]
    return {name: float(np.median([weighting_times[name] for weighting_times in times])) for name in views}


def _print_row(workload: str, times: Times) -> None:
    """Print the row of the table for one workload, with a verdict."""
    declared = times[Assurance.DECLARED.value]
    ratio = max(times[assurance.value] for assurance in Assurance) / declared
    verdict = "pass" if ratio <= MAX_RATIO else "missed"
    cells = " | ".join(f"{milliseconds:.3f}" for milliseconds in times.values())
    print(f"| {workload} | {cells} | {ratio:.2f} | ≤ {MAX_RATIO}, {verdict} |", flush=True)


def main() -> None:
    """Measure the sizes given as arguments, by default SIZES."""
    for size in read_sizes(__doc__, SIZES):
        measure_size(size)


if __name__ == "__main__":
    main()
