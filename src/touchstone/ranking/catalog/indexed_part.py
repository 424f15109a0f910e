"""Records behind an index: queries that do not look at most of them."""

from bisect import bisect_left
from collections.abc import Mapping
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from touchstone.core.attributes import FLAGS, NUMBERS
from touchstone.core.text import fold
from touchstone.ranking.catalog.part import Listed, Window, uuid_texts
from touchstone.ranking.columns.bitmaps import Words, leaf_counts, pack
from touchstone.ranking.columns.segment import INTEGER_COLUMNS, Decoded
from touchstone.ranking.criteria import COMPOSITES, CRITERION_NAMES, Floats, Ints
from touchstone.ranking.index.arrays import Index
from touchstone.ranking.index.facet_counts import count_index
from touchstone.ranking.kernels import leaf_kernels, search_kernels
from touchstone.ranking.kernels.leaf_kernels import Asked, Weighing
from touchstone.ranking.kernels.search_kernels import Agenda, Best, Graded, Search
from touchstone.ranking.kernels.two_threads import in_halves, taken
from touchstone.ranking.query.facets import Counts
from touchstone.ranking.query.predicates import Contains, Query, Range
from touchstone.ranking.query.sort_order import ascending, exactly, smallest, stable_order
from touchstone.ranking.weighted_score import active_weights


class PlanThresholds(NamedTuple):
    """Up to how many matches are simply gathered and sorted, and up to where a window is searched best leaf first."""

    gather_up_to: int = 20_000
    best_first_up_to: int = 20_000


def weighing_of(weights: Mapping[str, float]) -> Weighing:
    """The weights for the kernels."""
    kept, total = active_weights(weights)
    values = np.array([weight for _, weight in kept])
    numbers = np.array([CRITERION_NAMES.index(name) for name, _ in kept], np.int64)
    return Weighing(numbers, values, total, (values / total).astype(np.float32))


class Clustered:
    """An index, and which of its records are alive."""

    def __init__(
        self,
        index: Index,
        plans: PlanThresholds = PlanThresholds(),  # noqa: B008 (a value, never changed)
        alive: Words | None = None,
        alive_counts: NDArray[np.uint16] | None = None,
    ) -> None:
        self.index = index
        self._plans = plans
        meta = index.meta
        self._alive = pack(np.ones(meta.size, np.bool_), meta.words) if alive is None else alive
        self._counts = leaf_counts(self._alive, meta.leaf_words) if alive_counts is None else alive_counts
        self.span = meta.size
        self.size = int(self._counts.sum(dtype=np.int64))

    def without(self, positions: list[int]) -> "Clustered":
        """The same without the records at these positions, which must be alive; costs a copy of the bitmap."""
        alive, counts = self._alive.copy(), self._counts.copy()
        gone = np.array(positions, np.int64)
        np.bitwise_and.at(alive, gone >> 6, ~(np.uint64(1) << (gone & 63).astype(np.uint64)))
        np.subtract.at(counts, gone // (64 * self.index.meta.leaf_words), np.uint16(1))
        return Clustered(self.index, self._plans, alive, counts)

    def living(self) -> Ints:
        """The positions of all live records."""
        out = np.empty(self.size, np.int64)
        search_kernels.positions_of(self._alive, out)
        return out

    def find(self, id_: int) -> int | None:
        """The position of the live record with an id: a binary search."""
        by_id, index = self.index.arrays["by_id"], self.index
        at = bisect_left(by_id, id_, key=lambda position: int(index.integers("id", position)))
        found = int(by_id[at]) if at < self.span else -1
        return self._if_alive(found, at < self.span and int(index.integers("id", found)) == id_)

    def find_uuid(self, dataset_id: UUID) -> int | None:
        """The position of the live record with a UUID: a binary search."""
        by_uuid, number = self.index.permutation("dataset_id", False), dataset_id.int
        at = bisect_left(by_uuid, number, key=self._uuid)
        found = int(by_uuid[at]) if at < self.span else -1
        return self._if_alive(found, at < self.span and self._uuid(found) == number)

    def _uuid(self, position: int) -> int:
        high, low = self.index.arrays["uuid_high"][position], self.index.arrays["uuid_low"][position]
        return (int(high) << 64) | int(low)

    def _if_alive(self, position: int, found: bool) -> int | None:
        if found and (int(self._alive[position >> 6]) >> (position & 63)) & 1:
            return position
        return None

    def warm(self) -> None:
        """Ask one question of each kind, so that no caller has to wait for a kernel to be compiled."""
        weights = {"technical_score": 1.0}
        for query in ((), (Contains("dataset_name", "warm"),), (Range("technical_score", 0.5), Range("year", 1.5))):
            for end in (1, None):
                self.ids(self.rank(query, weights, end, 0.0).positions)
            if found := self._asked(query):
                self._fully(found[0], weighing_of(weights), None)
                self._gathered(found[0], weighing_of(weights), 1)
            self.tally(query, Counts())
            self.ordered(query, "year", descending=True, skip=0, limit=1)

    def _asked(self, query: Query) -> tuple[Asked, int] | None:
        return self.index.planner.asked(query, self._alive, self._counts)

    def _matching(self, query: Query) -> tuple[Words, int]:
        """The bitmap of the records that match, and their number."""
        words = np.zeros(self.index.meta.words, np.uint64)
        found = self._asked(query)
        return words, self._match(found[0], words) if found else 0

    def _match(self, asked: Asked, words: Words) -> int:
        return int(leaf_kernels.match(self.index.grid, asked, np.empty(self.index.meta.leaf_words, np.uint64), words))

    def _positions(self, query: Query) -> Ints:
        words, count = self._matching(query)
        out = np.empty(count, np.int64)
        search_kernels.positions_of(words, out)
        return out

    def count(self, query: Query) -> int:
        """How many live records match."""
        found = self._asked(query)
        return self._match(found[0], np.empty(0, np.uint64)) if found else 0

    def matches(self, query: Query, position: int) -> bool:
        """Whether the live record at a position matches: only its leaf is looked at."""
        found = self._asked(query)
        leaf_words = self.index.meta.leaf_words
        mask, leaf = np.empty(leaf_words, np.uint64), position // (64 * leaf_words)
        if not found or not leaf_kernels.chosen(self.index.grid, found[0], leaf, mask):
            return False
        inside = position - leaf * 64 * leaf_words
        return bool((int(mask[inside >> 6]) >> (inside & 63)) & 1)

    def rank(self, query: Query, weights: Mapping[str, float], end: int | None, floor: float) -> Window:
        """The best records: gathered when few can match, in full order when all are wanted, else best leaf first."""
        found = self._asked(query)
        if not found:
            return Window(np.empty(0, np.int64), np.empty(0), "gather")
        asked, at_most = found
        weighing = weighing_of(weights)
        if at_most <= self._plans.gather_up_to:
            return self._gathered(asked, weighing, end)
        if end is None or end > self._plans.best_first_up_to:
            return self._fully(asked, weighing, end)
        return self._best_first(asked, weighing, end)

    def _gathered(self, asked: Asked, weighing: Weighing, end: int | None) -> Window:
        grid = self.index.grid
        words = np.zeros(self.index.meta.words, np.uint64)
        positions = np.empty(self._match(asked, words), np.int64)
        search_kernels.positions_of(words, positions)
        found = np.empty(len(positions))
        leaf_kernels.scores_at(grid, weighing, positions, found)
        chosen = smallest((-found, grid.order[positions]), 0, end)
        return Window(positions[chosen], found[chosen], "gather")

    def _best_first(self, asked: Asked, weighing: Weighing, end: int) -> Window:
        grid, leaves = self.index.grid, self.index.meta.leaves
        room = 64 * self.index.meta.leaf_words
        agenda = Agenda(
            leaves=np.empty(leaves, np.int64),
            bound=np.empty(leaves),
            mask=np.empty(self.index.meta.leaf_words, np.uint64),
            estimates=np.empty(room, np.float32),
            rows=np.empty(room + 1, np.int64),
            scores=np.empty(room),
        )
        leaf_kernels.bounds(grid, weighing, agenda.bound)
        leaf_kernels.by_bound(agenda.bound, np.zeros(leaf_kernels.BUCKETS + 1, np.int64), agenda.leaves)
        best = Best(np.empty(end, np.int64), np.empty(end))
        size, _ = search_kernels.top(Search(grid, asked, weighing), agenda, best)
        heap, found = best.positions[:size], best.scores[:size]
        chosen = np.lexsort((grid.order[heap], -found))
        return Window(heap[chosen], found[chosen], "best first")

    def _fully(self, asked: Asked, weighing: Weighing, end: int | None) -> Window:
        """Every match, scored as it lies, then taken in the order of names and sorted by score, stable."""
        grid, meta = self.index.grid, self.index.meta
        words = np.zeros(meta.words, np.uint64)
        by_name = np.empty(self._match(asked, words) + 1, np.uint32)
        by_name = by_name[: search_kernels.along(words, self.index.arrays["name.by"], by_name)]
        graded = Graded(np.empty(64 * meta.words), np.empty(64 * meta.words, np.uint32))

        def grade(start: int, stop: int) -> None:
            search_kernels.ranking_keys(grid, weighing, words[start // 64 : stop // 64], start // 64, graded)

        in_halves(64 * meta.words, grade, 64 * (meta.words // 2))
        keys, positions = stable_order(taken(graded.keys, by_name), by_name)
        exactly(keys, positions, graded.scores)
        positions = positions[:end]
        return Window(positions, taken(graded.scores, positions), "full order")

    def ordered(self, query: Query, column: str, *, descending: bool, skip: int, limit: int | None) -> Listed:
        """Few matches are gathered and sorted; many are met on a walk along the permutation of the column."""
        words, count = self._matching(query)
        if count <= self._plans.gather_up_to // 4:
            positions = np.empty(count, np.int64)
            search_kernels.positions_of(words, positions)
            keys = self._sort_keys(column, positions, descending)
            return Listed(positions[smallest(keys, skip, limit)], count)
        out = np.empty(max(0, min(count - skip, count if limit is None else limit)), np.int64)
        search_kernels.walk(words, self.index.permutation(column, descending), skip, out)
        return Listed(out, count)

    def _sort_keys(self, column: str, positions: Ints, descending: bool) -> list[NDArray[Any]]:
        arrays, ids = self.index.arrays, self.index.integers("id", positions)
        if column == "dataset_id":
            halves = (arrays["uuid_high"][positions], arrays["uuid_low"][positions])
            return [ascending(half, descending) for half in halves] + [ids]
        return [ascending(self._sort_values(column, positions), descending), ids]

    def _sort_values(self, column: str, positions: Ints) -> NDArray[Any]:
        arrays = self.index.arrays
        if column in FLAGS:
            values = self.index.flag(column, positions).astype(np.float64)
            return np.where(values < 0, np.nan, values)
        if column in NUMBERS:
            return self.index.number(column, positions)
        if column in COMPOSITES:
            return self.index.criterion(column, positions)
        if column in INTEGER_COLUMNS:
            return self.index.integers(column, positions)
        if column == "dataset_name":
            names = [fold(name or "") for name in self.index.texts(column, positions)]
            return np.unique(np.array(names, object), return_inverse=True)[1]
        ranks = arrays[f"{column}.rank"][arrays[f"{column}.code"][positions]].astype(np.float64)
        return np.where(ranks == 0, np.nan, ranks)

    def sort_key(self, column: str, position: int) -> Any:
        """The value that a record is sorted by."""
        if column == "dataset_id":
            return self._uuid(position)
        at = np.array([position])
        if column == "dataset_name" or f"{column}.rank" in self.index.arrays:
            [found] = self.index.texts(column, at)
            return None if found is None else fold(found)
        value = self._sort_values(column, at)[0].item()
        return None if value != value else value

    def before(self, query: Query, weights: Mapping[str, float], score: float, name: str, id_: int) -> int:
        """How many records other than the one with this id come before a score, folded name and id."""
        positions, weighing = self._positions(query), weighing_of(weights)
        found = np.empty(len(positions))
        leaf_kernels.scores_at(self.index.grid, weighing, positions, found)
        near = positions[found >= score]
        others = self.index.integers("id", near) != id_
        higher, tied = found[found >= score][others] > score, near[others]
        earlier = sum(self._name_and_id(position) < (name, id_) for position in tied[~higher].tolist())
        return int(np.count_nonzero(higher)) + earlier

    def _name_and_id(self, position: int) -> tuple[str, int]:
        [name] = self.index.texts("dataset_name", np.array([position]))
        return fold(name or ""), int(self.index.integers("id", position))

    def tally(self, query: Query, counts: Counts) -> None:
        """Add the records that match to facets in the making."""
        words, count = self._matching(query)
        count_index(counts, self.index, words, count)

    def ids(self, positions: NDArray[Any]) -> Ints:
        """Integer ids."""
        return self.index.integers("id", positions)

    def dataset_ids(self, positions: NDArray[Any]) -> list[str]:
        """UUIDs as text."""
        arrays = self.index.arrays
        return uuid_texts(arrays["uuid_high"][positions], arrays["uuid_low"][positions])

    def texts(self, column: str, positions: NDArray[Any]) -> list[str | None]:
        """A text column."""
        return self.index.texts(column, positions)

    def fact(self, name: str, positions: NDArray[Any]) -> NDArray[Any]:
        """A number or a flag."""
        if name in FLAGS:
            return self.index.flag(name, positions)
        return self.index.number(name, positions)

    def criterion(self, name: str, positions: NDArray[Any]) -> Floats:
        """One criterion."""
        return self.index.criterion(name, positions)

    def decoded(self) -> Decoded:
        """The live records, for another layout."""
        return self.index.decoded(self.living())
