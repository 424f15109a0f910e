"""Records behind an index, which answers without looking at most of them."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from touchstone.core.attributes import FLAGS, NUMBERS
from touchstone.core.text import fold
from touchstone.ranking.catalog.part import PartRanking, format_uuids
from touchstone.ranking.catalog.results import SortedWindow
from touchstone.ranking.columns.bitmaps import clear_bits, count_bits_by_leaf, pack_bits, read_bit
from touchstone.ranking.columns.segment import INTEGER_COLUMNS, DecodedColumns
from touchstone.ranking.column_types import Floats, Ints
from touchstone.ranking.criteria import COMPOSITES, CRITERION_NAMES
from touchstone.ranking.index.catalog_index import CatalogIndex
from touchstone.ranking.index.facet_counts import count_index
from touchstone.ranking.index.query_translator import TranslatedQuery
from touchstone.ranking.kernels import filter_kernels, order_kernels, score_kernels, top_kernels
from touchstone.ranking.kernels.bits import Words
from touchstone.ranking.kernels.inputs import KernelQuery, KernelWeights
from touchstone.ranking.kernels.order_kernels import ScoreKeys
from touchstone.ranking.kernels.radix_sort import sort_by_key, sort_ties_by_score
from touchstone.ranking.kernels.top_kernels import LeafQueue, TopHeap, TopSearch
from touchstone.ranking.kernels.two_threads import run_in_halves, take_values
from touchstone.ranking.query.facets import FacetCounter
from touchstone.ranking.query.predicates import Contains, Query, Range
from touchstone.ranking.query.sort_order import select_window, to_ascending
from touchstone.ranking.weighted_mean import active_weights

_NOTHING: Final = PartRanking(np.empty(0, np.int64), np.empty(0), "gather")


class PlanThresholds(NamedTuple):
    """When an index answers in which way.

    `gather_up_to`: so many matches are simply collected and sorted. `best_first_up_to`: windows that end here are
    searched best leaf first, longer ones are cut from the full order.
    """

    gather_up_to: int = 20_000
    best_first_up_to: int = 20_000


def kernel_weights(weights: Mapping[str, float]) -> KernelWeights:
    """Return weights in the form that kernels use."""
    terms, total = active_weights(weights)
    values = np.array([weight for _, weight in terms])
    numbers = np.array([CRITERION_NAMES.index(name) for name, _ in terms], np.int64)
    return KernelWeights(numbers, values, total, (values / total).astype(np.float32))


class _AliveRecords(NamedTuple):
    """A bitmap of the records that are alive, and their number in each leaf."""

    bitmap: Words
    counts: NDArray[np.uint16]


class IndexedPart:
    """An index, and which of its records are alive."""

    def __init__(
        self,
        index: CatalogIndex,
        thresholds: PlanThresholds = PlanThresholds(),  # noqa: B008 (a value, never changed)
        alive: _AliveRecords | None = None,
    ) -> None:
        self.index = index
        self._columns = index.columns
        self._kernel_columns = index.kernel_columns
        self._thresholds = thresholds
        self._alive = self._all_records() if alive is None else alive
        self.span = index.columns.size
        self.size = int(self._alive.counts.sum(dtype=np.int64))

    def _all_records(self) -> _AliveRecords:
        bitmap = pack_bits(np.ones(self._columns.size, np.bool_), self._columns.word_count)
        return _AliveRecords(bitmap, count_bits_by_leaf(bitmap, self._columns.leaf_words))

    def without(self, ids: Sequence[int]) -> "IndexedPart":
        """Return the same part without the live records that have these ids; costs a copy of the bitmap."""
        positions_or_none = [self._find(id_) for id_ in ids]
        positions = np.array([position for position in positions_or_none if position is not None], np.int64)
        if not len(positions):
            return self

        bitmap, counts = self._alive.bitmap.copy(), self._alive.counts.copy()
        clear_bits(bitmap, positions)
        np.subtract.at(counts, positions // self._columns.leaf_size, np.uint16(1))
        return IndexedPart(self.index, self._thresholds, _AliveRecords(bitmap, counts))

    def _find(self, id_: int) -> int | None:
        """Return the position of the live record with an id, found by binary search."""
        by_id = self._columns.positions_by_id
        at = bisect_left(by_id, id_, key=lambda position: int(self.index.integers("id", position)))
        if at == self.span:
            return None

        position = int(by_id[at])
        has_id = int(self.index.integers("id", position)) == id_
        return position if has_id and read_bit(self._alive.bitmap, position) else None

    def warm_up(self) -> None:
        """Answer one question of each kind, so that no caller has to wait until a kernel is compiled."""
        weights = {"technical_score": 1.0}
        ranges = (Range("technical_score", 0.5), Range("year", 1.5))
        for query in ((), (Contains("dataset_name", "warm"),), ranges):
            self.ids(self.rank(query, weights, 1, 0.0).positions)
            self.ids(self.rank(query, weights, None, 0.0).positions)
            translated = self._translate(query)
            if translated:
                self._rank_fully(translated.kernel_query, kernel_weights(weights), None)
                self._rank_gathered(translated.kernel_query, kernel_weights(weights), 1)
            self.count_facets(query, FacetCounter())
            self.sort(query, "year", descending=True, skip=0, limit=1)

    def _translate(self, query: Query) -> TranslatedQuery | None:
        return self.index.translator.translate(query, self._alive.bitmap, self._alive.counts)

    def count(self, query: Query) -> int:
        """Return how many live records match."""
        translated = self._translate(query)
        return self._select(translated.kernel_query, np.empty(0, np.uint64)) if translated else 0

    def _select(self, kernel_query: KernelQuery, out: Words) -> int:
        """Write the bitmap of the records that match, unless `out` is empty, and return their number."""
        mask = np.empty(self._columns.leaf_words, np.uint64)
        return int(filter_kernels.select_all(self._kernel_columns, kernel_query, mask, out))

    def _find_matches(self, query: Query) -> tuple[Words, int]:
        """Return the bitmap of the records that match, and their number."""
        bitmap = np.zeros(self._columns.word_count, np.uint64)
        translated = self._translate(query)
        return bitmap, self._select(translated.kernel_query, bitmap) if translated else 0

    def rank(self, query: Query, weights: Mapping[str, float], end: int | None, floor: float) -> PartRanking:
        """Return the best records: gathered if few can match, in full order if many are asked for, else best first."""
        translated = self._translate(query)
        if translated is None:
            return _NOTHING

        kernel_query, criteria_weights = translated.kernel_query, kernel_weights(weights)
        if translated.most_matches <= self._thresholds.gather_up_to:
            return self._rank_gathered(kernel_query, criteria_weights, end)
        if end is None or end > self._thresholds.best_first_up_to:
            return self._rank_fully(kernel_query, criteria_weights, end)
        return self._rank_best_first(kernel_query, criteria_weights, end)

    def _rank_gathered(self, kernel_query: KernelQuery, weights: KernelWeights, end: int | None) -> PartRanking:
        """Score all matches and sort them."""
        bitmap = np.zeros(self._columns.word_count, np.uint64)
        positions = np.empty(self._select(kernel_query, bitmap), np.int64)
        order_kernels.list_positions(bitmap, positions)

        scores = np.empty(len(positions))
        score_kernels.fill_scores(self._kernel_columns, weights, positions, scores)
        best = select_window((-scores, self._columns.names.places[positions]), 0, end)
        return PartRanking(positions[best], scores[best], "gather")

    def _rank_best_first(self, kernel_query: KernelQuery, weights: KernelWeights, end: int) -> PartRanking:
        """Visit the leaves in the order of their bounds until none can hold one of the best records."""
        columns, leaf_count = self._columns, self._columns.leaf_count
        queue = LeafQueue(
            leaves=np.empty(leaf_count, np.int64),
            bounds=np.empty(leaf_count),
            mask=np.empty(columns.leaf_words, np.uint64),
            estimates=np.empty(columns.leaf_size, np.float32),
            rows=np.empty(columns.leaf_size + 1, np.int64),
            scores=np.empty(columns.leaf_size),
        )
        top_kernels.fill_bounds(self._kernel_columns, weights, queue.bounds)
        top_kernels.queue_leaves(queue.bounds, np.zeros(top_kernels.BUCKETS + 1, np.int64), queue.leaves)

        heap = TopHeap(np.empty(end, np.int64), np.empty(end))
        size = top_kernels.find_top(TopSearch(self._kernel_columns, kernel_query, weights), queue, heap)
        positions, scores = heap.positions[:size], heap.scores[:size]
        best = np.lexsort((columns.names.places[positions], -scores))
        return PartRanking(positions[best], scores[best], "best first")

    def _rank_fully(self, kernel_query: KernelQuery, weights: KernelWeights, end: int | None) -> PartRanking:
        """Score all matches, list them by name, and sort this list by score with a stable sort."""
        word_count = self._columns.word_count
        bitmap = np.zeros(word_count, np.uint64)
        by_name = np.empty(self._select(kernel_query, bitmap) + 1, np.uint32)
        size = order_kernels.filter_permutation(bitmap, self._columns.names.permutation, by_name)
        by_name = by_name[:size]

        score_keys = ScoreKeys(np.empty(64 * word_count), np.empty(64 * word_count, np.uint32))

        def fill_part(start: int, stop: int) -> None:
            words = bitmap[start // 64 : stop // 64]
            order_kernels.fill_score_keys(self._kernel_columns, weights, words, start // 64, score_keys)

        run_in_halves(64 * word_count, fill_part, 64 * (word_count // 2))
        keys, positions = sort_by_key(take_values(score_keys.keys, by_name), by_name)
        sort_ties_by_score(keys, positions, score_keys.scores)

        positions = positions[:end]
        return PartRanking(positions, take_values(score_keys.scores, positions), "full order")

    def sort(self, query: Query, column: str, *, descending: bool, skip: int, limit: int | None) -> SortedWindow:
        """Return the records that match: sorted if they are few, else taken from the permutation of the column."""
        bitmap, count = self._find_matches(query)
        if count <= self._thresholds.gather_up_to // 4:
            matches = np.empty(count, np.int64)
            order_kernels.list_positions(bitmap, matches)
            keys = self._sort_keys(column, matches, descending)
            return SortedWindow(matches[select_window(keys, skip, limit)], count)

        window_size = count if limit is None else limit
        positions = np.empty(max(0, min(count - skip, window_size)), np.int64)
        order_kernels.walk_permutation(bitmap, self.index.permutation(column, descending), skip, positions)
        return SortedWindow(positions, count)

    def _sort_keys(self, column: str, positions: Ints, descending: bool) -> list[NDArray[Any]]:
        """Return what records are sorted by, most significant first, ties by id."""
        ids = self.index.integers("id", positions)
        if column == "dataset_id":
            uuids = self._columns.dataset_ids
            halves = (uuids.high[positions], uuids.low[positions])
            return [*(to_ascending(half, descending) for half in halves), ids]
        return [to_ascending(self._sort_values(column, positions), descending), ids]

    def _sort_values(self, column: str, positions: Ints) -> NDArray[Any]:
        """Return numbers that a column is sorted by; NaN for records without a value."""
        if column in FLAGS:
            flags = self.index.flags(column, positions).astype(np.float64)
            return np.where(flags < 0, np.nan, flags)
        if column in NUMBERS:
            return self.index.numbers(column, positions)
        if column in COMPOSITES:
            return self.index.criterion(column, positions)
        if column in INTEGER_COLUMNS:
            return self.index.integers(column, positions)
        if column == "dataset_name":
            names = [fold(name or "") for name in self.index.texts(column, positions)]
            return np.unique(np.array(names, object), return_inverse=True)[1]

        text = self._columns.texts[column]
        ranks = text.ranks[text.codes[positions]].astype(np.float64)
        return np.where(ranks == 0, np.nan, ranks)

    def sort_value(self, column: str, position: int) -> Any:
        """Return what a record is sorted by; None if it has no value."""
        if column == "dataset_id":
            return self._columns.dataset_ids.at(position)

        at = np.array([position])
        if column == "dataset_name" or column in self._columns.texts:
            [text] = self.index.texts(column, at)
            return None if text is None else fold(text)
        value = self._sort_values(column, at)[0].item()
        return None if np.isnan(value) else value

    def count_facets(self, query: Query, counter: FacetCounter) -> None:
        """Add the records that match to a counter of facets."""
        bitmap, count = self._find_matches(query)
        count_index(counter, self.index, bitmap, count)

    def ids(self, positions: NDArray[Any]) -> Ints:
        """Return integer ids."""
        return self.index.integers("id", positions)

    def dataset_ids(self, positions: NDArray[Any]) -> list[str]:
        """Return UUIDs as text."""
        uuids = self._columns.dataset_ids
        return format_uuids(uuids.high[positions], uuids.low[positions])

    def texts(self, column: str, positions: NDArray[Any]) -> list[str | None]:
        """Return a text column."""
        return self.index.texts(column, positions)

    def fact(self, name: str, positions: NDArray[Any]) -> NDArray[Any]:
        """Return a number or a flag."""
        return self.index.flags(name, positions) if name in FLAGS else self.index.numbers(name, positions)

    def criterion(self, name: str, positions: NDArray[Any]) -> Floats:
        """Return a criterion."""
        return self.index.criterion(name, positions)

    def decode(self) -> DecodedColumns:
        """Return the live records for another layout."""
        positions = np.empty(self.size, np.int64)
        order_kernels.list_positions(self._alive.bitmap, positions)
        return self.index.decode(positions)
