"""The cost of places and ties: `python -m benchmarks ties [SIZE …]`, by default 1e6 records.

Each ranking is asked for its first 20 records, and then for their places and ties. All times are processor time. Prints
a table with a verdict on the rankings by several criteria. Rankings by a single criterion have very many ties, and no
target.
"""

import statistics
import time
from typing import Final

from benchmarks.assurance import DOCUMENTED_SHARE, REVIEWED_SHARE, build_catalog
from benchmarks.ranking.catalog_generator import add_evidence, generate_segment
from benchmarks.ranking.workloads import WORKLOADS, Workload
from benchmarks.sizes import read_sizes
from touchstone.core.evidence import Assurance
from touchstone.ranking.catalog.view import View

SIZES: Final = (1_000_000,)
MAX_RATIO: Final = 1.0  # between the times of places and ties and of the ranking
ROUNDS: Final = 201


def measure_ranking(view: View, workload: Workload) -> tuple[float, float, int]:
    """Return the median milliseconds of a ranking and of its places and ties, and the ties of the last record."""
    assert workload.weights is not None
    ranking_times, tie_times = [], []
    for _ in range(ROUNDS):
        start = time.thread_time()
        ranking = view.rank(workload.query, workload.weights, skip=0, limit=workload.limit)
        ranked_at = time.thread_time()
        records = ranking.records()
        tie_times.append(time.thread_time() - ranked_at)
        ranking_times.append(ranked_at - start)

    last_ties = records.tied_with[-1:].sum()
    return statistics.median(ranking_times) * 1000, statistics.median(tie_times) * 1000, int(last_ties)


def measure_size(size: int) -> None:
    """Measure a catalog of one size at `declared` and at `documented`, and print the table."""
    segment = add_evidence(generate_segment(size), DOCUMENTED_SHARE, REVIEWED_SHARE)
    catalog, _ = build_catalog(segment)
    rankings = [workload for workload in WORKLOADS if workload.weights and workload.limit]

    print(f"\n## {size:,} records, median ms\n")
    print(
        "| ranking | assurance | first 20 | places and ties | ties of the last | wanted |\n|---|---|---:|---:|---:|---|"
    )
    for workload in rankings:
        for assurance in (Assurance.DECLARED, Assurance.DOCUMENTED):
            ranking_ms, ties_ms, last_ties = measure_ranking(catalog.view.at(assurance), workload)
            verdict = "pass" if ties_ms <= MAX_RATIO * ranking_ms else "missed"
            target = "" if len(workload.weights or ()) == 1 else f"≤ {MAX_RATIO:g} × the ranking, {verdict}"
            row = f"{workload.name} | {assurance} | {ranking_ms:.3f} | {ties_ms:.3f} | {last_ties:,} | {target}"
            print(f"| {row} |", flush=True)


def main() -> None:
    """Measure the sizes given as arguments, by default SIZES."""
    for size in read_sizes(__doc__, SIZES):
        measure_size(size)


if __name__ == "__main__":
    main()
