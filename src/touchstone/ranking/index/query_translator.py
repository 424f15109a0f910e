"""Translation of queries into the form that the kernels evaluate.

A translated query consists of clauses over planes (bitmaps of records), code ranges, at most one name substring, and
planes that were scanned for this query.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from touchstone.core.attributes import NUMBERS
from touchstone.core.text import fold
from touchstone.core.vocabulary import comparison_key
from touchstone.ranking.array_types import Floats
from touchstone.ranking.columns.trigram_signatures import leaves_with_trigrams
from touchstone.ranking.index.index_columns import (
    PUBLIC_PLANE,
    IndexColumns,
    at_least_plane,
    ethical_plane,
    flag_plane,
    word_plane,
)
from touchstone.ranking.index.plane_scanner import PlaneScanner, ScanCache, ScannedPlane
from touchstone.ranking.kernels.bits import Words
from touchstone.ranking.kernels.inputs import KernelColumns, KernelQuery
from touchstone.ranking.query.predicate_evaluation import range_bounds
from touchstone.ranking.query.predicates import AnyWord, Contains, FlagEquals, FullText, OneOf, Query, Range, Visible
from touchstone.ranking.text.query_words import parse_query

_TENTHS: Final = np.arange(11) / 10  # the values that the ethical score can have
_SCAN_NAMES_FROM_SHARE: Final = 8  # all names are scanned if more than one eighth of the records are candidates
CodeRange: TypeAlias = tuple[int, int, int]
"""The index of a number column in NUMBERS, the lowest code and the highest code."""


class Clause(NamedTuple):
    """A condition on planes: a record must be in at least one of them, or, if negated, not in the only one."""

    planes: tuple[int, ...]
    is_negated: bool = False


@dataclass(frozen=True, slots=True)
class PredicatePlan:
    """The conjunction of conditions that evaluates one predicate.

    Attributes:
        clauses: conditions on planes.
        code_ranges: the permitted ranges of codes in number columns.
        name_substring: bytes that the folded name must contain.
        needs_scan: whether the predicate can be evaluated only by reading a whole column.
        matches_nothing: whether no record can satisfy the predicate.
    """

    clauses: tuple[Clause, ...] = ()
    code_ranges: tuple[CodeRange, ...] = ()
    name_substring: bytes = b""
    needs_scan: bool = False
    matches_nothing: bool = False


_SCAN: Final = PredicatePlan(needs_scan=True)
_NOTHING: Final = PredicatePlan(matches_nothing=True)


class TranslatedQuery(NamedTuple):
    """A query in the form that kernels need.

    Attributes:
        kernel_query: the query itself.
        max_matches: an upper bound for the number of matches, which decides how the query is evaluated.
    """

    kernel_query: KernelQuery
    max_matches: int


class QueryTranslator:
    """Translates queries for one index.

    It is safe to use from several threads.
    """

    def __init__(
        self,
        columns: IndexColumns,
        kernel_columns: KernelColumns,
        scan_cache: ScanCache,
        declared_columns: IndexColumns,
    ) -> None:
        """Prepare the translation.

        Args:
            columns: the columns of the index at its assurance.
            kernel_columns: the same columns in the form that kernels read.
            scan_cache: the planes of earlier scans.
            declared_columns: the columns of the same records at the assurance `declared`.
        """
        self._columns = columns
        self._declared_columns = declared_columns
        self.scanner = PlaneScanner(columns, kernel_columns, scan_cache)
        self._plane_rows = columns.planes.rows
        self._plane_totals = columns.planes.counts.sum(axis=1, dtype=np.int64)
        self._value_ranges = {column: _value_range(columns.numbers[column].values[1:]) for column in NUMBERS}

    def translate(
        self, query: Query, alive: Words, alive_counts: NDArray[np.uint16], *, finds_all: bool = False
    ) -> TranslatedQuery | None:
        """Translate a query for the kernels, or return None if no record can match.

        Predicates that need a scan of a whole column are evaluated here unless a recent result is cached.

        Args:
            query: the predicates.
            alive: a bitmap of the records that are not deleted.
            alive_counts: the number of these records in each leaf.
            finds_all: whether the caller needs all matches. A name substring is then evaluated by a scan if many names
                would have to be searched anyway.
        """
        if any(isinstance(predicate, Range) and self._is_beyond_all_values(predicate) for predicate in query):
            return None

        plans = [_PLANNERS[type(predicate)](self, predicate) for predicate in query]
        if any(plan.matches_nothing for plan in plans):
            return None

        clauses = list(chain.from_iterable(plan.clauses for plan in plans))
        max_candidates = min(self._max_matches(clauses, ()), int(alive_counts.sum(dtype=np.int64)))
        scans_names = finds_all and max_candidates > self._columns.size // _SCAN_NAMES_FROM_SHARE
        name_substring = self._substring_for_kernels(query, plans, scans_names=scans_names)
        # A substring of names that is left to the kernels needs no scan.
        scanned_planes = [
            self.scanner.scan(predicate)
            for predicate, plan in zip(query, plans, strict=True)
            if plan.needs_scan or plan.name_substring not in (b"", name_substring)
        ]

        max_matches = self._max_matches(clauses, scanned_planes)
        if max_matches == 0:
            return None

        # The planes scanned for this query are numbered after the planes of the index.
        index_plane_count = len(self._plane_totals)
        clauses += [Clause((index_plane_count + number,)) for number in range(len(scanned_planes))]
        code_ranges = list(chain.from_iterable(plan.code_ranges for plan in plans))
        clause_planes = list(chain.from_iterable(clause.planes for clause in clauses))

        signatures, leaf_count = self._columns.names.signatures, self._columns.leaf_count
        kernel_query = KernelQuery(
            alive=alive,
            alive_counts=alive_counts,
            clause_starts=np.cumsum([0, *(len(clause.planes) for clause in clauses)]),
            clause_planes=np.array(clause_planes, np.int64),
            clause_is_negated=np.array([clause.is_negated for clause in clauses], np.bool_),
            extra_planes=_stack([plane.bitmap for plane in scanned_planes], np.uint64),
            extra_plane_counts=_stack([plane.counts for plane in scanned_planes], np.uint16),
            code_ranges=np.array(code_ranges, np.int64).reshape(-1, 3),
            name_substring=np.frombuffer(bytearray(name_substring), np.uint8),
            leaf_may_contain_substring=leaves_with_trigrams(signatures, name_substring, leaf_count),
        )
        return TranslatedQuery(kernel_query, max_matches)

    def _substring_for_kernels(self, query: Query, plans: Sequence[PredicatePlan], *, scans_names: bool) -> bytes:
        """Return the name substring that the kernels search for, or empty bytes if there is none.

        Kernels can search for one substring, the first one of the query. The other substrings are evaluated by scans,
        and so is the first one if its plane is cached or if `scans_names` is set.
        """
        for predicate, plan in zip(query, plans, strict=True):
            if plan.name_substring:
                is_plane = scans_names or self.scanner.is_cached(predicate)
                return b"" if is_plane else plan.name_substring
        return b""

    def _is_beyond_all_values(self, predicate: Range) -> bool:
        """Return whether a range begins above the largest or ends below the smallest value of its column."""
        if predicate.column not in self._value_ranges:
            return False

        smallest, largest = self._value_ranges[predicate.column]
        is_above_all = predicate.low is not None and predicate.low > largest
        is_below_all = predicate.high is not None and predicate.high < smallest
        return is_above_all or is_below_all

    def _max_matches(self, clauses: Sequence[Clause], scanned_planes: Sequence[ScannedPlane]) -> int:
        """Return an upper bound for the number of matches, derived from the most selective condition.

        The bound may be too high because the planes of a clause can overlap.
        """
        record_count = self._columns.size
        match_counts = [record_count]

        for clause in clauses:
            count_in_planes = sum(int(self._plane_totals[plane]) for plane in clause.planes)
            if clause.is_negated:
                match_counts.append(record_count - count_in_planes)
            else:
                match_counts.append(count_in_planes)

        match_counts += [int(plane.counts.sum(dtype=np.int64)) for plane in scanned_planes]
        return min(match_counts)

    def _clause(self, key: str, *, is_negated: bool = False) -> Clause:
        """Return a clause for the plane with the given key."""
        return Clause((self._plane_rows[key],), is_negated)

    def plan_range(self, predicate: Range) -> PredicatePlan:
        """Plan a range of a number or a score.

        Other columns need a scan.

        Numbers are stored as codes, which are indices into their sorted distinct values. A range of numbers therefore
        becomes a range of codes.
        """
        low, high = range_bounds(predicate)
        column = predicate.column

        if column == "ethical_score":
            return self._plan_ethical_score(low, high)

        if column == "popularity_score":
            # This score is an increasing function of the citations, so its range becomes a range of their codes.
            score_by_code = self._columns.tables.citations
            lowest_code = _first_at_least(score_by_code, low)
            highest_code = _last_at_most(score_by_code, high)
            return self._plan_codes("citations", lowest_code, highest_code)

        if column in NUMBERS:
            known_values = self._columns.numbers[column].values[1:]  # code 0 means unknown
            lowest_code = _first_at_least(known_values, low) + 1
            highest_code = _last_at_most(known_values, high) + 1
            return self._plan_codes(column, lowest_code, highest_code)

        return _SCAN

    def _plan_ethical_score(self, low: float, high: float) -> PredicatePlan:
        """Plan a range of the ethical score: the share of the ten ethical criteria that a record meets.

        For each n from 1 to 10, the index has a plane of the records that meet at least n criteria. A record is in the
        range if it is in the plane of the lower bound but not in the plane above the upper bound.
        """
        fewest_met, most_met = _first_at_least(_TENTHS, low), _last_at_most(_TENTHS, high)
        if fewest_met > most_met:
            return _NOTHING

        clauses = []
        if fewest_met > 0:
            clauses.append(self._clause(ethical_plane(fewest_met)))
        if most_met < len(_TENTHS) - 1:
            clauses.append(self._clause(ethical_plane(most_met + 1), is_negated=True))
        return PredicatePlan(clauses=tuple(clauses))

    def _plan_codes(self, column: str, lowest_code: int, highest_code: int) -> PredicatePlan:
        """Plan a range of codes of a number column, both ends included.

        Only some codes, called edges, have a plane of the records with this code or a higher one. The nearest edges
        rule out most records. If they do not match the range exactly, kernels check the codes of the remaining records.
        """
        if lowest_code > highest_code:
            return _NOTHING

        number = self._columns.numbers[column]
        largest_code = len(number.values) - 1
        clauses = []
        is_exact = True

        # Include the records from the highest edge that is not above the lower bound.
        if lowest_code > 0:
            edge = int(number.edges[number.edges <= lowest_code][-1])
            clauses.append(self._clause(at_least_plane(column, edge)))
            is_exact = edge == lowest_code

        # Exclude the records from the lowest edge that is above the upper bound.
        if highest_code < largest_code:
            edges_above = number.edges[number.edges > highest_code].tolist()
            edge_above = edges_above[0] if edges_above else None
            if edge_above is not None:
                clauses.append(self._clause(at_least_plane(column, edge_above), is_negated=True))
            is_exact = is_exact and edge_above == highest_code + 1

        if is_exact:
            return PredicatePlan(clauses=tuple(clauses))
        code_range = (NUMBERS.index(column), lowest_code, highest_code)
        return PredicatePlan(clauses=tuple(clauses), code_ranges=(code_range,))

    def plan_flag(self, predicate: FlagEquals) -> PredicatePlan:
        """Plan a flag with the plane of its value, at the assurance of the predicate or, without one, of the index."""
        rows = self._plane_rows
        if predicate.assurance is not None:
            rows = self._declared_columns.plane_rows(predicate.assurance)

        clause = Clause((rows[flag_plane(predicate.column, predicate.value)],))
        return PredicatePlan(clauses=(clause,))

    def plan_any_word(self, predicate: AnyWord) -> PredicatePlan:
        """Plan a choice of words as the union of their planes.

        A scan is needed if a word has no plane.
        """
        if not predicate.words:
            return _NOTHING

        keys = [word_plane(predicate.column, comparison_key(predicate.column, word)) for word in predicate.words]
        if any(key not in self._plane_rows for key in keys):
            return _SCAN

        planes = tuple(self._plane_rows[key] for key in keys)
        return PredicatePlan(clauses=(Clause(planes),))

    def plan_contains(self, predicate: Contains) -> PredicatePlan:
        """Plan a substring of the name, which the kernels search for.

        Substrings of other texts need a scan.
        """
        if predicate.column != "dataset_name":
            return _SCAN
        return PredicatePlan(name_substring=fold(predicate.text).encode())

    def plan_one_of(self, predicate: OneOf) -> PredicatePlan:
        """Plan a choice of visibilities.

        Choices of other texts need a scan.
        """
        if predicate.column != "visibility":
            return _SCAN

        folded_values = {fold(value) for value in predicate.values}
        public, private = "public" in folded_values, "private" in folded_values
        if public and private:
            return PredicatePlan()  # every record matches
        if not public and not private:
            return _NOTHING

        clause = self._clause(PUBLIC_PLANE, is_negated=private)
        return PredicatePlan(clauses=(clause,))

    def plan_full_text(self, predicate: FullText) -> PredicatePlan:
        """Plan a search for words with the word index.

        A query without words matches every record.
        """
        return _SCAN if parse_query(predicate.text) else PredicatePlan()

    def plan_visible(self, predicate: Visible) -> PredicatePlan:
        """Plan the records that a viewer may see.

        A scan is needed if the viewer has private records.
        """
        if len(self.scanner.private_positions(predicate.viewer)):
            return _SCAN
        return PredicatePlan(clauses=(self._clause(PUBLIC_PLANE),))


def _value_range(sorted_values: Floats) -> tuple[float, float]:
    """Return the smallest and the largest of the sorted values, or (inf, -inf) if there are none."""
    if not len(sorted_values):
        return math.inf, -math.inf
    return float(sorted_values[0]), float(sorted_values[-1])


def _first_at_least(sorted_values: Floats, low: float) -> int:
    """Return the index of the first value that is at least `low`, or the number of values if there is none."""
    return int(np.searchsorted(sorted_values, low, "left"))


def _last_at_most(sorted_values: Floats, high: float) -> int:
    """Return the index of the last value that is at most `high`, or -1 if there is none."""
    return int(np.searchsorted(sorted_values, high, "right")) - 1


def _stack(rows: Sequence[NDArray[Any]], dtype: Any) -> NDArray[Any]:
    """Stack rows into a two-dimensional array, which is empty if there are no rows."""
    return np.stack(rows) if rows else np.empty((0, 0), dtype)


_PLANNERS: Final[Mapping[type[Any], Callable[[QueryTranslator, Any], PredicatePlan]]] = {
    Range: QueryTranslator.plan_range,
    FlagEquals: QueryTranslator.plan_flag,
    AnyWord: QueryTranslator.plan_any_word,
    Contains: QueryTranslator.plan_contains,
    OneOf: QueryTranslator.plan_one_of,
    FullText: QueryTranslator.plan_full_text,
    Visible: QueryTranslator.plan_visible,
}
