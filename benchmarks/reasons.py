"""The cost of questions about a ranking: `python -m benchmarks reasons [SIZE …]`, by default 1e6 records.

The questions are the stability of the first ten records in 100 samples, the lifts of one record with the ranks that its
unknown attributes allow, and a comparison of five records. Stability is measured alternately with the first 20 records
of the same ranking. All times are processor time, because other work of the machine interrupts a long question more
often than a short one. Prints a table with a verdict on the stability, and checks that the points of every record add
up to its score.
"""

import math
import statistics
import time
from collections.abc import Callable
from typing import Any, Final

from benchmarks.assurance import DOCUMENTED_SHARE, REVIEWED_SHARE, build_catalog
from benchmarks.ranking.catalog_generator import add_evidence, generate_segment
from benchmarks.ranking.index_queries import answer
from benchmarks.ranking.workloads import WORKLOADS, Workload, random_weightings
from benchmarks.sizes import read_sizes
from touchstone.core.evidence import Assurance
from touchstone.ranking.catalog.view import View
from touchstone.ranking.reasons.comparison import compare_records, order_records
from touchstone.ranking.reasons.lifts import find_lifts
from touchstone.ranking.reasons.points import points_by_criterion
from touchstone.ranking.reasons.stability import StabilityOptions, measure_stability

SIZES: Final = (1_000_000,)
MAX_QUERIES: Final = 150  # that the stability of a ranking may cost
MAX_POINT_ERROR: Final = 1e-12
ROUNDS: Final = 11
QUERIES_PER_ROUND: Final = 21
_TARGET_RANK: Final = 10
_POINTS_CHUNK: Final = 20_000


def measure_in_turns(view: View, workload: Workload, question: Callable[[], Any]) -> tuple[float, float]:
    """Return the median milliseconds of the first 20 records of a ranking, and of a question about it."""
    query_times, question_times = [], []
    for _ in range(ROUNDS):
        query_times += [measure_once_ms(lambda: answer(view, workload)) for _ in range(QUERIES_PER_ROUND)]
        question_times.append(measure_once_ms(question))
    return statistics.median(query_times), statistics.median(question_times)


def measure_once_ms(action: Callable[[], Any]) -> float:
    """Return the processor time of an action in milliseconds."""
    start = time.thread_time()
    action()
    return (time.thread_time() - start) * 1000


def measure_ranking(view: View, workload: Workload) -> None:
    """Print the row of the table for one ranking."""
    assert workload.weights is not None
    query, weights = workload.query, workload.weights
    positions = view.rank(query, weights, skip=0, limit=100).positions[::20]

    def ask_stability() -> None:
        measure_stability(view, query, weights, StabilityOptions())

    def ask_lifts() -> None:
        find_lifts(view, query, weights, int(positions[-1]), _TARGET_RANK)

    def ask_comparison() -> None:
        compare_records(view, order_records(view, positions, weights), weights)

    ask_stability()  # compiles the kernels
    query_ms, stability_ms = measure_in_turns(view, workload, ask_stability)
    ratio = stability_ms / query_ms
    verdict = "pass" if ratio <= MAX_QUERIES else "missed"
    lifts_ms = statistics.median(measure_once_ms(ask_lifts) for _ in range(3))
    comparison_ms = statistics.median(measure_once_ms(ask_comparison) for _ in range(ROUNDS))
    cells = f"{query_ms:.3f} | {stability_ms:.2f} | {ratio:.0f} | ≤ {MAX_QUERIES}, {verdict}"
    print(f"| {workload.name}, {view.assurance.value} | {cells} | {lifts_ms:.0f} | {comparison_ms:.1f} |", flush=True)


def largest_point_error(view: View, workload: Workload) -> float:
    """Return the maximum difference between the sum of the points and the score of a record."""
    assert workload.weights is not None
    ranking = view.rank((), workload.weights, skip=0, limit=None)

    largest_error = 0.0
    for records in ranking.chunks(_POINTS_CHUNK):
        points = points_by_criterion(view.criterion_scores(records.positions), workload.weights)
        for record_points, score in zip(points, records.scores.tolist(), strict=True):
            largest_error = max(largest_error, abs(math.fsum(record_points.values()) - score))
    return largest_error


def measure_size(size: int) -> None:
    """Measure a catalog of one size, and print the table."""
    segment = add_evidence(generate_segment(size), DOCUMENTED_SHARE, REVIEWED_SHARE)
    catalog, _ = build_catalog(segment)
    weightings = random_weightings()[:3]

    print(f"\n## {size:,} records, median processor time in ms\n")
    print("| ranking | top 20 | stability | queries | wanted | lifts | comparison |")
    print("|---|---:|---:|---:|---|---:|---:|")
    for assurance in (Assurance.DECLARED, Assurance.DOCUMENTED):
        view = catalog.view.at(assurance)
        rankings = [workload for workload in WORKLOADS if workload.weights and len(answer(view, workload))]
        for workload in (*rankings, *weightings):
            measure_ranking(view, workload)

    errors = [largest_point_error(catalog.view, workload) for workload in (WORKLOADS[0], weightings[0])]
    verdict = "pass" if max(errors) <= MAX_POINT_ERROR else "missed"
    print(f"\nPoints differ from scores by {max(errors):.1g} at most (≤ {MAX_POINT_ERROR:g}, {verdict}).", flush=True)


def main() -> None:
    """Measure the sizes given as arguments, by default SIZES."""
    for size in read_sizes(__doc__, SIZES):
        measure_size(size)


if __name__ == "__main__":
    main()
