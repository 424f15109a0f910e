"""A query in the terms of the index: unions of planes, code limits, a needle; and what no plane answers, scanned once.

A clause is a union of planes or the complement of one. Planes that a scan has made are kept for the next queries.
"""

import math
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from touchstone.core.attributes import NUMBERS
from touchstone.core.text import fold
from touchstone.ranking.columns.bitmaps import Words, leaf_counts, pack
from touchstone.ranking.columns.text_pool import all_texts, possible
from touchstone.ranking.criteria import Bools
from touchstone.ranking.index.builder import Arrays, Meta
from touchstone.ranking.kernels import search_kernels
from touchstone.ranking.kernels.leaf_kernels import Asked, Grid
from touchstone.ranking.query.predicate_evaluation import bounds
from touchstone.ranking.query.predicates import AnyWord, Contains, FlagEquals, OneOf, Predicate, Query, Range, Visible

_KEPT: Final = 64  # scanned planes that are kept
_COLUMN: Final = {name: number for number, name in enumerate(NUMBERS)}  # as `kernels.code_of` numbers them


@dataclass(slots=True)
class Clauses:
    """What a query comes to, in the making. `nothing`: it is already known that no record matches."""

    planes: list[tuple[tuple[int, ...], bool]] = field(default_factory=list)
    limits: list[tuple[int, int, int]] = field(default_factory=list)
    scanned: list[Predicate] = field(default_factory=list)
    needle: bytes = b""
    nothing: bool = False


class Planner:
    """Translates queries for one index; safe to use from several threads."""

    def __init__(self, arrays: Arrays, meta: Meta, grid: Grid, integers: Callable[[str], NDArray[Any]]) -> None:
        self._arrays, self._meta, self._grid, self._integers = arrays, meta, grid, integers
        self._plane = {key: number for number, key in enumerate(meta.planes)}
        self._edges = {column: self._edges_of(column) for column in NUMBERS}
        self._spans = {column: self._span_of(column) for column in NUMBERS}
        self._kept: OrderedDict[Predicate, tuple[Words, NDArray[np.uint16]]] = OrderedDict()
        self._pools: dict[str, list[str]] = {}
        self._lock = Lock()

    def _edges_of(self, column: str) -> NDArray[np.int64]:
        start = f"least:{column}:"
        return np.array([int(key.removeprefix(start)) for key in self._plane if key.startswith(start)], np.int64)

    def _span_of(self, column: str) -> tuple[float, float]:
        """The smallest and the largest value; an empty span when no record has one."""
        distinct = self._arrays[f"{column}.values"][1:]
        return (float(distinct[0]), float(distinct[-1])) if len(distinct) else (math.inf, -math.inf)

    def asked(self, query: Query, alive: Words, alive_counts: NDArray[np.uint16]) -> tuple[Asked, int] | None:
        """The query for the kernels, and a number that no more records than match; None when clearly none does."""
        if any(type(predicate) is Range and self._beyond(predicate) for predicate in query):
            return None
        clauses = self._clauses(query)
        if clauses.nothing:
            return None
        extra = [self._scan(predicate) for predicate in clauses.scanned]
        known = len(self._meta.planes)
        unions = clauses.planes + [((known + number,), False) for number in range(len(extra))]
        starts = np.cumsum([0, *(len(planes) for planes, _ in unions)])
        asked = Asked(
            alive=alive,
            alive_counts=alive_counts,
            starts=starts,
            planes=np.array([plane for planes, _ in unions for plane in planes], np.int64),
            negated=np.array([negated for _, negated in unions], np.bool_),
            extra=np.stack([words for words, _ in extra]) if extra else np.empty((0, 0), np.uint64),
            extra_counts=np.stack([counts for _, counts in extra]) if extra else np.empty((0, 0), np.uint16),
            limits=np.array(clauses.limits, np.int64).reshape(-1, 3),
            needle=np.frombuffer(bytearray(clauses.needle), np.uint8),
            possible=possible(self._arrays["name.signatures"], clauses.needle, self._meta.leaves),
        )
        at_most = self._at_most(unions, asked)
        return (asked, at_most) if at_most else None

    def _beyond(self, predicate: Range) -> bool:
        """Whether no record at all reaches a bound: known before anything is looked up."""
        if predicate.column not in self._spans:
            return False
        least, most = self._spans[predicate.column]
        return (predicate.low is not None and predicate.low > most) or (
            predicate.high is not None and predicate.high < least
        )

    def _at_most(self, unions: list[tuple[tuple[int, ...], bool]], asked: Asked) -> int:
        """How many records can match at most: what the rarest clause holds."""
        totals, size = self._totals, self._meta.size
        known = len(totals)
        smallest = size
        for planes, negated in unions:
            held = sum(
                int(totals[plane]) if plane < known else int(asked.extra_counts[plane - known].sum(dtype=np.int64))
                for plane in planes
            )
            smallest = min(smallest, size - held if negated else held)
        return smallest

    @property
    def _totals(self) -> NDArray[np.int64]:
        if "totals" not in self._arrays:
            self._arrays["totals"] = self._arrays["counts"].sum(axis=1, dtype=np.int64)
        return self._arrays["totals"]

    def _clauses(self, query: Query) -> Clauses:
        clauses = Clauses()
        for predicate in query:
            _TRANSLATORS[type(predicate)](self, predicate, clauses)
        return clauses

    def range(self, predicate: Range, clauses: Clauses) -> None:
        """Numbers and citations by their codes, the ethical score by its tenths; other columns are scanned."""
        low, high = bounds(predicate)
        column = predicate.column
        if column == "ethical_score":
            self._tenths(low, high, clauses)
        elif column == "popularity_score":
            table = self._arrays["table.citations"]
            self._codes("citations", _first(table, low), _last(table, high), clauses)
        elif column in _COLUMN:
            distinct = self._arrays[f"{column}.values"][1:]
            first = int(np.searchsorted(distinct, low, "left")) + 1
            self._codes(column, first, int(np.searchsorted(distinct, high, "right")), clauses)
        else:
            clauses.scanned.append(predicate)

    def _tenths(self, low: float, high: float, clauses: Clauses) -> None:
        met = np.arange(11) / 10
        first, last = _first(met, low), _last(met, high)
        if first > last:
            clauses.nothing = True
        if 0 < first <= 10:
            clauses.planes.append(((self._plane[f"ethical:{first}"],), False))
        if 0 <= last < 10:
            clauses.planes.append(((self._plane[f"ethical:{last + 1}"],), True))

    def _codes(self, column: str, first: int, last: int, clauses: Clauses) -> None:
        """`first <= code <= last`: the nearest planes outside of it, and a limit where they are not exact."""
        edges, largest = self._edges[column], len(self._arrays[f"{column}.values"]) - 1
        if first > last:
            clauses.nothing = True
            return
        below, above = edges[edges <= first], edges[edges > last]
        exact = True
        if first > 0:
            clauses.planes.append(((self._plane[f"least:{column}:{below[-1]}"],), False))
            exact = below[-1] == first
        if last < largest:
            if len(above):
                clauses.planes.append(((self._plane[f"least:{column}:{above[0]}"],), True))
            exact = exact and len(above) > 0 and above[0] == last + 1
        if not exact:
            clauses.limits.append((_COLUMN[column], first, last))

    def flag(self, predicate: FlagEquals, clauses: Clauses) -> None:
        """Both values of every flag have a plane."""
        clauses.planes.append(((self._plane[f"flag:{predicate.column}:{int(predicate.value)}"],), False))

    def any_word(self, predicate: AnyWord, clauses: Clauses) -> None:
        """The union of the words' planes; rare words are looked up list by list."""
        planes = [self._plane.get(f"word:{predicate.column}:{fold(word)}") for word in predicate.words]
        if all(plane is not None for plane in planes):
            clauses.nothing |= not planes
            clauses.planes.append((tuple(plane for plane in planes if plane is not None), False))
        else:
            clauses.scanned.append(predicate)

    def contains(self, predicate: Contains, clauses: Clauses) -> None:
        """One needle in the names is left to the kernels; any other is looked up text by text."""
        needle = fold(predicate.text)
        if predicate.column != "dataset_name":
            clauses.scanned.append(predicate)
        elif needle and not clauses.needle:
            clauses.needle = needle.encode()
        elif needle:
            clauses.scanned.append(predicate)

    def one_of(self, predicate: OneOf, clauses: Clauses) -> None:
        """Visibility has a plane; other texts are looked up."""
        if predicate.column != "visibility":
            clauses.scanned.append(predicate)
            return
        wanted = {fold(value) for value in predicate.values} & {"public", "private"}
        clauses.nothing |= not wanted
        if len(wanted) == 1:
            clauses.planes.append(((self._plane["public"],), wanted == {"private"}))

    def visible(self, predicate: Visible, clauses: Clauses) -> None:
        """Public alone for most viewers: only who owns something private needs more."""
        if predicate.viewer is None or not len(self._private_of(predicate)):
            clauses.planes.append(((self._plane["public"],), False))
        else:
            clauses.scanned.append(predicate)

    def _private_of(self, predicate: Visible) -> NDArray[np.uint32]:
        if predicate.viewer is None:
            return np.empty(0, np.uint32)
        owners = self._texts("owner")
        hexadecimal = predicate.viewer.hex
        if hexadecimal not in owners:
            return np.empty(0, np.uint32)
        code = owners.index(hexadecimal)
        start, end = np.searchsorted(self._arrays["private.owner"], [code, code + 1])
        return self._arrays["private.position"][start:end]

    def _texts(self, column: str) -> list[str]:
        """The distinct texts of a column, decoded once."""
        found = self._pools.get(column)
        if found is None:
            texts = all_texts(self._arrays[f"{column}.blob"], self._arrays[f"{column}.offsets"])
            found = self._pools[column] = list(texts)
        return found

    def _scan(self, predicate: Predicate) -> tuple[Words, NDArray[np.uint16]]:
        with self._lock:
            if predicate in self._kept:
                self._kept.move_to_end(predicate)
                return self._kept[predicate]
        words = self._scanned(predicate)
        made = words, leaf_counts(words, self._meta.leaf_words)
        with self._lock:
            self._kept[predicate] = made
            if len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return made

    def _scanned(self, predicate: Predicate) -> Words:
        if isinstance(predicate, Range) and predicate.column == "technical_score":
            words = np.zeros(self._meta.words, np.uint64)
            search_kernels.technical_plane(self._grid, *bounds(predicate), words)
            return words
        if isinstance(predicate, Visible):
            words = np.array(self._arrays["planes"][self._plane["public"]])
            own = self._private_of(predicate)
            np.bitwise_or.at(words, own >> 6, np.uint64(1) << (own & np.uint32(63)).astype(np.uint64))
            return words
        return pack(self._scanned_mask(predicate), self._meta.words)

    def _scanned_mask(self, predicate: Predicate) -> Bools:
        if isinstance(predicate, Range):
            low, high = bounds(predicate)
            values = self._integers(predicate.column)
            return np.asarray((values >= low) & (values <= high))
        if isinstance(predicate, Contains) and predicate.column == "dataset_name":
            needle, names = fold(predicate.text), self._texts("name")
            return np.fromiter((needle in fold(name) for name in names), np.bool_, len(names))
        column = getattr(predicate, "column")  # noqa: B009 (the remaining predicates all have one)
        holds = _holding(predicate)
        table = np.array([False, *map(holds, self._texts(column)[1:])], np.bool_)
        return np.asarray(table[self._arrays[f"{column}.code"]])


def _first(table: NDArray[np.float64], low: float) -> int:
    """The first index of an ascending table whose value is at least `low`."""
    return int(np.searchsorted(table, low, "left"))


def _last(table: NDArray[np.float64], high: float) -> int:
    """The last index whose value is at most `high`; -1 when there is none."""
    return int(np.searchsorted(table, high, "right")) - 1


def _holding(predicate: Predicate) -> Callable[[str], bool]:
    """The test of one stored text; lists of words are stored as JSON."""
    if isinstance(predicate, AnyWord):
        words = {fold(word) for word in predicate.words}
        return lambda text: not words.isdisjoint(map(fold, msgspec.json.decode(text)))
    if isinstance(predicate, Contains):
        needle = fold(predicate.text)
        return lambda text: needle in fold(text)
    values = {fold(value) for value in predicate.values} if isinstance(predicate, OneOf) else set[str]()
    return lambda text: fold(text) in values


_TRANSLATORS: Final[Mapping[type[Any], Callable[[Planner, Any, Clauses], None]]] = {
    Range: Planner.range,
    FlagEquals: Planner.flag,
    AnyWord: Planner.any_word,
    Contains: Planner.contains,
    OneOf: Planner.one_of,
    Visible: Planner.visible,
}
