"""The questions of the benchmark, as queries of the product and as conditions and an order in SQL."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from benchmarks.ranking.catalog_generator import DOMAINS
from touchstone.ranking.criteria import CRITERION_NAMES
from touchstone.ranking.query.predicates import AnyWord, Contains, Query, Range

Weights = Mapping[str, float]
THREE_CRITERIA: Final = {"ethical_score": 0.4, "technical_score": 0.4, "popularity_score": 0.2}
SIX_CRITERIA: Final = {
    "ethical_score": 0.3,
    "technical_score": 0.2,
    "popularity_score": 0.1,
    "documentation": 0.1,
    "data_quality": 0.1,
    "year": 0.2,
}


@dataclass(frozen=True, slots=True)
class Workload:
    """A question that every engine answers: a ranking, or a sorted list with the number of all matches.

    Attributes:
        name: The name in the tables.
        query: The filters as predicates.
        sql_conditions: The same filters in SQL. The engines have columns for criteria, numbers, folded names, and the
            domains as bits of one integer.
        weights: The weights of a ranking; None for a list.
        sort_column: The column by which a list is sorted, in descending order.
        limit: The length of the page; None for all records.
    """

    name: str
    query: Query
    sql_conditions: str
    weights: Weights | None = None
    sort_column: str = ""
    limit: int | None = 20

    def sql_score(self) -> str:
        """Return the score of a ranking as an SQL expression over the columns of criteria."""
        weights = self.weights or {}
        weighted_sum = " + ".join(f"{weight!r} * c_{name}" for name, weight in weights.items())
        return f"({weighted_sum}) / {sum(weights.values())!r}"


def _domain_bits(*domains: str) -> int:
    """Return a bit mask of the given domains."""
    return sum(1 << DOMAINS.index(domain) for domain in domains)


_FILTERS: Final = (
    AnyWord("domain", ("health", "finance")),
    Range("year", low=2015),
    Range("instances_number", low=1000),
    Range("ethical_score", low=0.4),
)
_FILTERS_IN_SQL: Final = (
    f"(domains & {_domain_bits('health', 'finance')}) <> 0 AND year >= 2015 AND instances_number >= 1000 "
    "AND c_ethical_score >= 0.399999999"
)
_EVERY_RECORD: Final = "1 = 1"
_WORD_IN_NO_NAME: Final = "xylophone"

WORKLOADS: Final = (
    Workload("W1 top 20", (), _EVERY_RECORD, THREE_CRITERIA),
    Workload("W2 filters, top 20", _FILTERS, _FILTERS_IN_SQL, SIX_CRITERIA),
    Workload(
        "W3 filters and substring",
        (*_FILTERS, Contains("dataset_name", "survey")),
        f"{_FILTERS_IN_SQL} AND name LIKE '%survey%'",
        SIX_CRITERIA,
    ),
    Workload("W5 list, page, count", _FILTERS, _FILTERS_IN_SQL, sort_column="citations", limit=12),
    Workload("one criterion (massive ties)", (), _EVERY_RECORD, {"transparency": 1.0}),
    Workload("year alone (massive ties)", (), _EVERY_RECORD, {"year": 1.0}),
    Workload(
        "nothing matches",
        (*_FILTERS, Range("citations", low=10**9)),
        f"{_FILTERS_IN_SQL} AND citations >= 1000000000",
        SIX_CRITERIA,
    ),
    Workload(
        "substring without a match",
        (Contains("dataset_name", _WORD_IN_NO_NAME),),
        f"name LIKE '%{_WORD_IN_NO_NAME}%'",
        THREE_CRITERIA,
    ),
)
FULL_ORDER: Final = Workload("W4 all rows in order", (), _EVERY_RECORD, THREE_CRITERIA, limit=None)


def random_weightings() -> list[Workload]:
    """Return rankings by 24 random sets of weights for all criteria."""
    rng = np.random.default_rng(5)
    weight_sets = [
        dict(zip(CRITERION_NAMES, rng.random(len(CRITERION_NAMES)).tolist(), strict=True)) for _ in range(24)
    ]
    return [
        Workload(f"weighting {number} of 24", (), _EVERY_RECORD, weights)
        for number, weights in enumerate(weight_sets, 1)
    ]
