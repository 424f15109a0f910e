"""Translation of queries for the kernels: clauses over planes, code limits, a needle, and scanned planes."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from touchstone.core.attributes import NUMBERS
from touchstone.core.text import fold
from touchstone.ranking.columns.trigram_signatures import leaves_with_trigrams
from touchstone.ranking.column_types import Floats
from touchstone.ranking.index.index_columns import (
    PUBLIC_PLANE,
    IndexColumns,
    at_least_plane,
    ethical_plane,
    flag_plane,
    word_plane,
)
from touchstone.ranking.index.plane_scanner import PlaneScanner, ScannedPlane
from touchstone.ranking.kernels.bits import Words
from touchstone.ranking.kernels.inputs import KernelColumns, KernelQuery
from touchstone.ranking.query.predicate_evaluation import range_bounds
from touchstone.ranking.query.predicates import AnyWord, Contains, FlagEquals, OneOf, Query, Range, Visible

_TENTHS: Final = np.arange(11) / 10  # the values of the ethical score
CodeLimit: TypeAlias = tuple[int, int, int]
"""A number column (its index in NUMBERS), the lowest and the highest code."""


class Clause(NamedTuple):
    """The union of planes, or the complement of a single one."""

    planes: tuple[int, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class PredicatePlan:
    """How an index evaluates one predicate: all of its clauses, code limits and needle must hold.

    `needs_scan`: the index cannot decide the predicate without a scan. `matches_nothing`: no record satisfies it.
    """

    clauses: tuple[Clause, ...] = ()
    code_limits: tuple[CodeLimit, ...] = ()
    needle: bytes = b""
    needs_scan: bool = False
    matches_nothing: bool = False


_SCAN: Final = PredicatePlan(needs_scan=True)
_NOTHING: Final = PredicatePlan(matches_nothing=True)


class TranslatedQuery(NamedTuple):
    """A query for the kernels, and a number that its matches cannot exceed."""

    kernel_query: KernelQuery
    most_matches: int


class QueryTranslator:
    """Translates queries for one index; safe to use from several threads."""

    def __init__(self, columns: IndexColumns, kernel_columns: KernelColumns) -> None:
        self._columns = columns
        self._scanner = PlaneScanner(columns, kernel_columns)
        self._plane_numbers = {key: number for number, key in enumerate(columns.planes.keys)}
        self._plane_totals = columns.planes.counts.sum(axis=1, dtype=np.int64)
        self._spans = {column: _value_span(columns.numbers[column].values[1:]) for column in NUMBERS}

    def translate(self, query: Query, alive: Words, alive_counts: NDArray[np.uint16]) -> TranslatedQuery | None:
        """Return the query for the kernels; None if it is clear already that no record matches."""
        if any(isinstance(predicate, Range) and self._is_beyond_all_values(predicate) for predicate in query):
            return None
        plans = [_PLANNERS[type(predicate)](self, predicate) for predicate in query]
        if any(plan.matches_nothing for plan in plans):
            return None

        # Kernels look for one needle; predicates with another one are scanned.
        needles = [plan.needle for plan in plans if plan.needle]
        needle = needles[0] if needles else b""
        scanned = [
            self._scanner.scan(predicate)
            for predicate, plan in zip(query, plans, strict=True)
            if plan.needs_scan or plan.needle not in (b"", needle)
        ]

        clauses = [clause for plan in plans for clause in plan.clauses]
        most_matches = self._most_matches(clauses, scanned)
        if most_matches == 0:
            return None

        clauses += [Clause((len(self._plane_totals) + number,)) for number in range(len(scanned))]
        kernel_query = KernelQuery(
            alive=alive,
            alive_counts=alive_counts,
            clause_starts=np.cumsum([0, *(len(clause.planes) for clause in clauses)]),
            clause_planes=np.array([plane for clause in clauses for plane in clause.planes], np.int64),
            clause_negated=np.array([clause.negated for clause in clauses], np.bool_),
            extra_planes=_stack([plane.bitmap for plane in scanned], np.uint64),
            extra_counts=_stack([plane.counts for plane in scanned], np.uint16),
            code_limits=np.array([limit for plan in plans for limit in plan.code_limits], np.int64).reshape(-1, 3),
            needle=np.frombuffer(bytearray(needle), np.uint8),
            possible_leaves=leaves_with_trigrams(self._columns.names.signatures, needle, self._columns.leaf_count),
        )
        return TranslatedQuery(kernel_query, most_matches)

    def _is_beyond_all_values(self, predicate: Range) -> bool:
        """Return whether no record at all reaches a bound of a range."""
        if predicate.column not in self._spans:
            return False
        smallest, largest = self._spans[predicate.column]
        is_above = predicate.low is not None and predicate.low > largest
        is_below = predicate.high is not None and predicate.high < smallest
        return is_above or is_below

    def _most_matches(self, clauses: Sequence[Clause], scanned: Sequence[ScannedPlane]) -> int:
        """Return how many records satisfy the rarest clause, at most."""
        totals, size = self._plane_totals, self._columns.size
        smallest = size
        for clause in clauses:
            total = sum(int(totals[plane]) for plane in clause.planes)
            smallest = min(smallest, size - total if clause.negated else total)
        for plane in scanned:
            smallest = min(smallest, int(plane.counts.sum(dtype=np.int64)))
        return smallest

    def _clause(self, key: str, *, negated: bool = False) -> Clause:
        """Return the clause of a single plane."""
        return Clause((self._plane_numbers[key],), negated)

    def plan_range(self, predicate: Range) -> PredicatePlan:
        """Plan numbers and citations by their codes, the ethical score by its tenths; other columns need a scan."""
        low, high = range_bounds(predicate)
        column = predicate.column
        if column == "ethical_score":
            return self._plan_ethical_score(low, high)
        if column == "popularity_score":
            scores = self._columns.tables.citations
            return self._plan_codes("citations", _first_at_least(scores, low), _last_at_most(scores, high))
        if column in NUMBERS:
            values = self._columns.numbers[column].values[1:]
            first, last = _first_at_least(values, low) + 1, _last_at_most(values, high) + 1
            return self._plan_codes(column, first, last)
        return _SCAN

    def _plan_ethical_score(self, low: float, high: float) -> PredicatePlan:
        first, last = _first_at_least(_TENTHS, low), _last_at_most(_TENTHS, high)
        if first > last:
            return _NOTHING

        clauses = []
        if first > 0:
            clauses.append(self._clause(ethical_plane(first)))
        if last < 10:
            clauses.append(self._clause(ethical_plane(last + 1), negated=True))
        return PredicatePlan(tuple(clauses))

    def _plan_codes(self, column: str, first: int, last: int) -> PredicatePlan:
        """Plan `first <= code <= last`: by the nearest planes around it, and a code limit if they are not exact."""
        if first > last:
            return _NOTHING

        edges, largest = self._columns.numbers[column].edges, len(self._columns.numbers[column].values) - 1
        clauses = []
        is_exact = True
        if first > 0:
            edge = int(edges[edges <= first][-1])
            clauses.append(self._clause(at_least_plane(column, edge)))
            is_exact = edge == first
        if last < largest:
            edges_above = edges[edges > last]
            if len(edges_above):
                clauses.append(self._clause(at_least_plane(column, int(edges_above[0])), negated=True))
            is_exact = is_exact and len(edges_above) > 0 and int(edges_above[0]) == last + 1

        limit = (NUMBERS.index(column), first, last)
        return PredicatePlan(tuple(clauses), () if is_exact else (limit,))

    def plan_flag(self, predicate: FlagEquals) -> PredicatePlan:
        """Plan a flag by the plane of its value."""
        return PredicatePlan((self._clause(flag_plane(predicate.column, predicate.value)),))

    def plan_any_word(self, predicate: AnyWord) -> PredicatePlan:
        """Plan words by the union of their planes; a word without a plane needs a scan."""
        if not predicate.words:
            return _NOTHING
        keys = [word_plane(predicate.column, fold(word)) for word in predicate.words]
        if any(key not in self._plane_numbers for key in keys):
            return _SCAN
        return PredicatePlan((Clause(tuple(self._plane_numbers[key] for key in keys)),))

    def plan_contains(self, predicate: Contains) -> PredicatePlan:
        """Plan a substring of the name as a needle; other texts need a scan."""
        if predicate.column != "dataset_name":
            return _SCAN
        return PredicatePlan(needle=fold(predicate.text).encode())

    def plan_one_of(self, predicate: OneOf) -> PredicatePlan:
        """Plan the visibility by its plane; other texts need a scan."""
        if predicate.column != "visibility":
            return _SCAN

        values = {fold(value) for value in predicate.values} & {"public", "private"}
        if not values:
            return _NOTHING
        if len(values) == 2:
            return PredicatePlan()
        return PredicatePlan((self._clause(PUBLIC_PLANE, negated="private" in values),))

    def plan_visible(self, predicate: Visible) -> PredicatePlan:
        """Plan visibility by the plane of public records, which is enough for viewers without private records."""
        if len(self._scanner.private_positions(predicate.viewer)):
            return _SCAN
        return PredicatePlan((self._clause(PUBLIC_PLANE),))


def _value_span(values: Floats) -> tuple[float, float]:
    """Return the smallest and the largest of sorted values; an empty span if there are none."""
    return (float(values[0]), float(values[-1])) if len(values) else (math.inf, -math.inf)


def _first_at_least(values: Floats, low: float) -> int:
    """Return the index of the first of some sorted values that is at least `low`."""
    return int(np.searchsorted(values, low, "left"))


def _last_at_most(values: Floats, high: float) -> int:
    """Return the index of the last of some sorted values that is at most `high`; -1 if there is none."""
    return int(np.searchsorted(values, high, "right")) - 1


def _stack(rows: Sequence[NDArray[Any]], dtype: Any) -> NDArray[Any]:
    """Return rows as one array, which is empty if there are none."""
    return np.stack(rows) if rows else np.empty((0, 0), dtype)


_PLANNERS: Final[Mapping[type[Any], Callable[[QueryTranslator, Any], PredicatePlan]]] = {
    Range: QueryTranslator.plan_range,
    FlagEquals: QueryTranslator.plan_flag,
    AnyWord: QueryTranslator.plan_any_word,
    Contains: QueryTranslator.plan_contains,
    OneOf: QueryTranslator.plan_one_of,
    Visible: QueryTranslator.plan_visible,
}
