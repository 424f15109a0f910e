"""The catalog in memory: `Catalog` takes the writes, a `View` is one unchanging state of it that answers every read."""

from collections.abc import Callable, Mapping
from typing import Any, Final
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from touchstone.core.attributes import FLAGS, NUMBERS
from touchstone.core.text import fold
from touchstone.ranking.catalog.indexed_part import Clustered
from touchstone.ranking.catalog.merging import merged_order, merged_windows, sorting_key
from touchstone.ranking.catalog.part import Part
from touchstone.ranking.catalog.results import Items, RankedWindow, SortedWindow
from touchstone.ranking.catalog.unindexed_part import Flat
from touchstone.ranking.criteria import COMPOSITES, CRITERION_NAMES, Facts, Floats, Ints
from touchstone.ranking.query.facets import Counts, Facets
from touchstone.ranking.query.predicates import Query
from touchstone.ranking.query.sort_order import SORT_KEYS

_CHUNK: Final = 8192
_SPARE: Final = 1024  # dead fresh records that are never worth clearing away
_TAIL: Final = 10_000  # fresh records beside an index that are worth a new one
_REMEMBERED: Final = 256  # counts of queries that a view remembers


def _whole(values: Floats) -> list[int | None]:
    return [None if value != value else int(value) for value in values.tolist()]


class View:
    """One state of the catalog; it never changes, so any thread may read it for as long as it likes.

    Positions are indices into this view alone: those of the index, if there is one, then those of the fresh records.
    Weights must be finite, not negative, and not all zero.
    """

    def __init__(self, fresh: Flat, main: Clustered | None = None) -> None:
        self._fresh, self._main = fresh, main
        self._offset = main.span if main else 0
        self._parts: tuple[Part, ...] = (main, fresh) if main else (fresh,)
        self._counts: dict[Query, int] = {}
        self.size = sum(part.size for part in self._parts)

    @property
    def is_indexed(self) -> bool:
        """Whether most records are behind an index."""
        return self._main is not None

    @property
    def unindexed_size(self) -> int:
        """How many records every query scans."""
        return self._fresh.span

    def position(self, id: int) -> int | None:  # noqa: A002 (the field's own name)
        """Where the record with an id is, None when there is none."""
        return self._found(lambda part: part.find(id))

    def position_of_uuid(self, dataset_id: UUID) -> int | None:
        """Where the record with a UUID is, None when there is none."""
        return self._found(lambda part: part.find_uuid(dataset_id))

    def _found(self, find: Callable[[Part], int | None]) -> int | None:
        fresh = find(self._fresh)
        if fresh is not None:
            return fresh + self._offset
        return find(self._main) if self._main else None

    def _place_of(self, position: int) -> tuple[Part, int]:
        if self._main and position < self._offset:
            return self._main, position
        return self._fresh, position - self._offset

    def count(self, query: Query) -> int:
        """How many records match; a view remembers what it was asked last."""
        found = self._counts.get(query)
        if found is None:
            found = sum(part.count(query) for part in self._parts if part.size)
            if len(self._counts) >= _REMEMBERED:
                self._counts.clear()
            self._counts[query] = found
        return found

    def matches(self, query: Query, position: int) -> bool:
        """Whether the record at a position matches."""
        part, inside = self._place_of(position)
        return part.matches(query, inside)

    def rank(self, query: Query, weights: Mapping[str, float], *, skip: int, limit: int | None) -> RankedWindow:
        """The records that match by score decreasing, then folded name, then id."""
        end = None if limit is None else min(self.size, skip + limit)
        window = self._parts[0].rank(query, weights, end, 0.0)
        positions, scores = window.positions, window.scores
        if self._main and self._fresh.size:
            floor = float(scores[-1]) if end is not None and len(scores) == end > 0 else 0.0
            second = self._fresh.rank(query, weights, end, floor)
            if len(second.positions):
                positions, scores = merged_windows(self._main, window, self._fresh, second)
        kept = slice(skip, end)
        return RankedWindow(positions[kept], scores[kept], window.plan, lambda: self.count(query))

    def sort(self, query: Query, key: str, *, descending: bool, skip: int, limit: int | None) -> SortedWindow:
        """The records that match by one of SORT_KEYS; those without the value last, ties by id ascending."""
        column = SORT_KEYS[key]
        if not self._main:
            return SortedWindow(*self._fresh.ordered(query, column, descending=descending, skip=skip, limit=limit))
        fresh, found = self._fresh.ordered(query, column, descending=descending, skip=0, limit=None)
        start = max(0, skip - found)
        room = None if limit is None else limit + skip - start
        main, total = self._main.ordered(query, column, descending=descending, skip=start, limit=room)
        if found:
            main = merged_order(self._main, main, self._fresh, fresh, sorting_key(column, descending))
        return SortedWindow(main[skip - start :][:limit], total + found)

    def place(self, query: Query, weights: Mapping[str, float], position: int, score: float) -> int:
        """The rank, from 1, that the record at a position would have among those that match if this were its score."""
        part, inside = self._place_of(position)
        at = np.array([inside])
        [name], [id_] = part.texts("dataset_name", at), part.ids(at).tolist()
        folded = fold(name or "")
        return 1 + sum(part.before(query, weights, score, folded, id_) for part in self._parts if part.size)

    def facets(self, query: Query) -> Facets:
        """Counts and ranges over the records that match."""
        counts = Counts()
        for part in self._parts:
            part.tally(query, counts)
        return counts.facets()

    def _gather(self, positions: NDArray[Any], ask: Callable[[Part, NDArray[Any]], Any], dtype: Any) -> NDArray[Any]:
        """Ask each part for its own records and put the answers back in the order of the positions."""
        if not self._main:
            return np.asarray(ask(self._fresh, positions), dtype)
        inside = positions < self._offset
        if inside.all():
            return np.asarray(ask(self._main, positions), dtype)
        out = np.empty(len(positions), dtype)
        out[inside] = ask(self._main, positions[inside])
        out[~inside] = ask(self._fresh, positions[~inside] - self._offset)
        return out

    def ids(self, positions: NDArray[Any]) -> Ints:
        """The integer ids of the records at these positions."""
        return self._gather(positions, lambda part, at: part.ids(at), np.int64)

    def criterion_scores(self, positions: NDArray[Any]) -> Floats:
        """The criteria of the records at these positions: one row a record, columns in the order of CRITERIA."""
        return np.stack([self._criterion(name, positions) for name in CRITERION_NAMES], axis=1)

    def _criterion(self, name: str, positions: NDArray[Any]) -> Floats:
        return self._gather(positions, lambda part, at: part.criterion(name, at), np.float64)

    def facts(self, positions: NDArray[Any]) -> Facts:
        """The numbers (NaN: not known) and flags (-1: not known) of the records at these positions, by name."""
        return {name: self._fact(name, positions, np.float64) for name in NUMBERS} | {
            name: self._fact(name, positions, np.int8) for name in FLAGS
        }

    def _fact(self, name: str, positions: NDArray[Any], dtype: Any) -> NDArray[Any]:
        return self._gather(positions, lambda part, at: part.fact(name, at), dtype)

    def _texts(self, column: str, positions: NDArray[Any]) -> list[Any]:
        return list(self._gather(positions, lambda part, at: part.texts(column, at), object))

    def items(self, positions: NDArray[Any]) -> Items:
        """The fields of scored items, in the order of the positions."""
        return Items(
            id=self.ids(positions).tolist(),
            dataset_id=self._gather(positions, lambda part, at: part.dataset_ids(at), object).tolist(),
            dataset_name=self._texts("dataset_name", positions),
            instances_number=_whole(self._fact("instances_number", positions, np.float64)),
            features_number=_whole(self._fact("features_number", positions, np.float64)),
            objective=self._texts("objective", positions),
            **{name: self._criterion(name, positions).tolist() for name in COMPOSITES},
        )
