"""Workloads as queries of the product's index."""

import time

from benchmarks.ranking.workloads import Workload
from touchstone.ranking.array_types import Ints
from touchstone.ranking.catalog.view import View


def answer(view: View, workload: Workload) -> Ints:
    """Return the ids in the result of a workload."""
    if workload.weights is None:
        page = view.sort(workload.query, workload.sort_column, descending=True, skip=0, limit=workload.limit)
        return view.ids(page.positions)

    ranking = view.rank(workload.query, workload.weights, skip=0, limit=workload.limit)
    return view.ids(ranking.positions)


def measure_once_ms(view: View, workload: Workload) -> float:
    """Return the wall time of a single query of the index in milliseconds."""
    start = time.perf_counter()
    answer(view, workload)
    return (time.perf_counter() - start) * 1000
