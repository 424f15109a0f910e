"""Facets under filters, and pages deep in a sorted list, compared with DuckDB."""

import statistics
from collections.abc import Mapping
from typing import Final

from benchmarks.scale.duckdb_catalog import DuckDbCatalog, duckdb_catalog
from benchmarks.scale.measured_catalog import MeasuredCatalog, sign_in
from benchmarks.scale.questions import QuestionSender, Request, get
from benchmarks.scale.report import Figure, Target, print_figure, print_heading
from touchstone.ranking.query.sort_order import SORT_KEYS

_REPEATS: Final = 15
_PAGE: Final = 1000
_PAGE_SIZE: Final = 12
_FACETS_MILLISECONDS: Final = 15.0
_PAGE_MILLISECONDS: Final = 5.0
# The columns by which DuckDB sorts: a number, a string, a time and a sum.
_DUCKDB_COLUMNS: Final = {
    "citations": "citations",
    "dataset_name": "dataset_name",
    "created_at": "created_at",
    "ethical_score": "true_flags",
}


def measure_facets_and_pages(catalog: MeasuredCatalog) -> None:
    """Print the times of facets, of a filtered count, and of deep pages for every sort key."""
    print_heading(f"Facets and pages, {catalog.label}")

    with duckdb_catalog(catalog.folder, catalog.record_count) as duckdb, catalog.serving() as server:
        # The product closes connections that are idle, as they are while DuckDB is measured.
        duckdb_time = statistics.median(duckdb.facet_milliseconds() for _ in range(5))
        with QuestionSender(server.address, sign_in(server)) as sender:
            _measure_facets(sender, duckdb_time)
            _measure_pages(sender, duckdb)


def _measure_facets(sender: QuestionSender, duckdb_time: float) -> None:
    """Print the times of facets and of a filtered count, with `duckdb_time` in milliseconds for comparison."""
    facets_time = _median_milliseconds(sender, [_facets_request(number) for number in range(_REPEATS)])
    print_figure(
        Figure(
            "facets under three filters",
            facets_time,
            "ms",
            f"DuckDB counts the same in {duckdb_time:.3g} ms",
            Target(_FACETS_MILLISECONDS),
        )
    )

    unfiltered_time = _median_milliseconds(sender, [get("facets")] * _REPEATS)
    print_figure(Figure("facets without filters", unfiltered_time, "ms"))
    count_time = _median_milliseconds(sender, [_count_request(number) for number in range(_REPEATS)])
    print_figure(Figure("count under three filters", count_time, "ms"))


def _facets_request(number: int) -> Request:
    """Return the request for facets under three filters, which vary with `number`."""
    return get(f"facets?domain=health,natural-language-processing&year_min=2015&instances_number_min={1000 + number}")


def _count_request(number: int) -> Request:
    """Return the request for a short filtered list with the number of all matches."""
    return get(f"?domain=health&year_min=2015&instances_number_min={1000 + number}&page=1&page_size=1")


def _measure_pages(sender: QuestionSender, duckdb: DuckDbCatalog) -> None:
    """Print the times of deep pages for several sort keys, compared with DuckDB, and for the slowest key."""
    medians = {key: _median_milliseconds(sender, _page_requests(key)) for key in sorted(SORT_KEYS)}
    for key, column in _DUCKDB_COLUMNS.items():
        duckdb_time = statistics.median(duckdb.page_milliseconds(column, _PAGE, _PAGE_SIZE) for _ in range(5))
        print_figure(
            Figure(
                f"page {_PAGE:,} of {_PAGE_SIZE} by {key}",
                medians[key],
                "ms",
                f"DuckDB: {duckdb_time:.3g} ms",
                Target(_PAGE_MILLISECONDS),
            )
        )

    slowest_key = _slowest(medians)
    all_keys = f"page {_PAGE:,} by any of {len(medians)} keys, the slowest: {slowest_key}"
    print_figure(Figure(all_keys, medians[slowest_key], "ms", "", Target(_PAGE_MILLISECONDS)))


def _page_requests(key: str) -> list[Request]:
    """Return requests for consecutive deep pages, sorted by a key in descending order."""
    pages = range(_PAGE, _PAGE + _REPEATS)
    return [get(f"?page={page}&page_size={_PAGE_SIZE}&sort_by={key}&sort_order=desc") for page in pages]


def _slowest(milliseconds_by_key: Mapping[str, float]) -> str:
    """Return the slowest sort key."""
    return max(milliseconds_by_key, key=lambda key: milliseconds_by_key[key])


def _median_milliseconds(sender: QuestionSender, requests: list[Request]) -> float:
    """Return the median time of the requests, after the first of them was sent once to warm up the product."""
    sender.ask(requests[0])
    return statistics.median(sender.milliseconds(request) for request in requests)
