"""The questions that are asked: each as a query for the evaluator and as conditions and an order in SQL."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from benchmarks.ranking.generating import DOMAINS
from touchstone.ranking.query.predicates import AnyWord, Contains, Query, Range

Weights = Mapping[str, float]
THREE: Final = {"ethical_score": 0.4, "technical_score": 0.4, "popularity_score": 0.2}
SIX: Final = {
    "ethical_score": 0.3,
    "technical_score": 0.2,
    "popularity_score": 0.1,
    "documentation": 0.1,
    "data_quality": 0.1,
    "year": 0.2,
}


@dataclass(frozen=True, slots=True)
class Workload:
    """A question: `weights` for a ranking, else the column that a list is sorted by, decreasing, with its count.

    `conditions`: the same as `query`, as SQL over the columns that every engine is given ready-made: criteria, numbers,
    folded names, and the domains as bits of one integer.
    """

    name: str
    query: Query
    conditions: str
    weights: Weights | None = None
    sort: str = ""
    limit: int | None = 20

    def score(self) -> str:
        """Return the score in SQL."""
        total = sum((self.weights or {}).values())
        added = " + ".join(f"{weight!r} * c_{name}" for name, weight in (self.weights or {}).items())
        return f"({added}) / {total!r}"


def _bits(*domains: str) -> int:
    return sum(1 << DOMAINS.index(domain) for domain in domains)


_FILTERS: Final = (
    AnyWord("domain", ("health", "finance")),
    Range("year", low=2015),
    Range("instances_number", low=1000),
    Range("ethical_score", low=0.4),
)
_SQL: Final = (
    f"(domains & {_bits('health', 'finance')}) <> 0 AND year >= 2015 AND instances_number >= 1000 "
    "AND c_ethical_score >= 0.399999999"
)
_NEVER: Final = "xylophone"

WORKLOADS: Final = (
    Workload("W1 top 20", (), "1 = 1", THREE),
    Workload("W2 filters, top 20", _FILTERS, _SQL, SIX),
    Workload(
        "W3 filters and substring",
        (*_FILTERS, Contains("dataset_name", "survey")),
        f"{_SQL} AND name LIKE '%survey%'",
        SIX,
    ),
    Workload("W5 list, page, count", _FILTERS, _SQL, sort="citations", limit=12),
    Workload("one criterion (massive ties)", (), "1 = 1", {"transparency": 1.0}),
    Workload("year alone (massive ties)", (), "1 = 1", {"year": 1.0}),
    Workload("nothing matches", (*_FILTERS, Range("citations", low=10**9)), f"{_SQL} AND citations >= 1000000000", SIX),
    Workload(
        "substring without a match",
        (Contains("dataset_name", _NEVER),),
        f"name LIKE '%{_NEVER}%'",
        THREE,
    ),
)
EVERYTHING: Final = Workload("W4 all rows in order", (), "1 = 1", THREE, limit=None)
