"""The part of a catalog with an index, which finds results without reading most records."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from touchstone.core.attributes import FLAGS
from touchstone.core.evidence import Assurance
from touchstone.core.text import fold
from touchstone.ranking.array_types import Floats, Ints
from touchstone.ranking.catalog import repeated_rankings
from touchstone.ranking.catalog.leaf_queue import kernel_weights, queue_leaves
from touchstone.ranking.catalog.part import NameAndId, PartSearch, format_uuids, read_name_and_id
from touchstone.ranking.catalog.public_records import PublicRecords
from touchstone.ranking.catalog.repeated_rankings import MatchingRecords, PooledMatches
from touchstone.ranking.catalog.results import NO_MATCHES, PartRanking, SortedWindow
from touchstone.ranking.catalog.sorted_pages import SortedPages
from touchstone.ranking.catalog.ties import count_in_ranking, count_in_unordered
from touchstone.ranking.columns.bitmaps import clear_bits, count_bits_by_leaf, list_bits, pack_bits, read_bit, read_bits
from touchstone.ranking.columns.segment import KNOWN_ETHICAL
from touchstone.ranking.index.catalog_index import CatalogIndex
from touchstone.ranking.index.facet_counts import count_index, warm_up_facets
from touchstone.ranking.index.lru_cache import LruCache
from touchstone.ranking.index.match_counts import divide_leaves
from touchstone.ranking.index.query_translator import TranslatedQuery
from touchstone.ranking.index.text_search import warm_up_search
from touchstone.ranking.kernels import filter_kernels, order_kernels, tie_kernels, top_kernels
from touchstone.ranking.kernels.bits import BITS_PER_WORD, Words
from touchstone.ranking.kernels.inputs import KernelQuery, KernelWeights
from touchstone.ranking.kernels.order_kernels import ScoreKeys
from touchstone.ranking.kernels.radix_sort import sort_by_key, sort_ties_by_score
from touchstone.ranking.kernels.top_kernels import LeafQueue, ScoredRecords, TopSearch
from touchstone.ranking.kernels.two_threads import run_in_chunks, run_in_halves, take_values
from touchstone.ranking.query.facets import FacetCounter
from touchstone.ranking.query.predicates import Contains, Query, Range
from touchstone.ranking.query.sort_order import PageRequest, select_window
from touchstone.ranking.text.query_words import QueryWord
from touchstone.ranking.text.record_words import DecodedWords
from touchstone.ranking.weighted_mean import WeightSets

_CACHED_MATCHES: Final = 8  # bitmaps with one bit for each record
_CACHED_FACETS: Final = 32
_SORTING_FACTOR: Final = 5  # for a page of a list, several times as many matches are sorted as for a ranking


class PlanThresholds(NamedTuple):
    """The thresholds for choosing the query plan of a ranking.

    Attributes:
        gather_up_to: the maximum number of matches that are all collected and sorted.
        best_first_up_to: the maximum end of a page that is found by a best-first search if there are more matches. For
            longer pages, all matches are sorted.
    """

    gather_up_to: int = 20_000
    best_first_up_to: int = 20_000


class _AliveRecords(NamedTuple):
    """A bitmap of the live records, and their number in each leaf."""

    bitmap: Words
    counts: NDArray[np.uint16]


class _Matches(NamedTuple):
    """A bitmap of the records that match a query, and their number."""

    bitmap: Words
    match_count: int


class IndexedPart:
    """An index with a mask of its live records.

    Deleted records remain in the index but never match.
    """

    def __init__(
        self,
        index: CatalogIndex,
        thresholds: PlanThresholds = PlanThresholds(),  # noqa: B008 (a value, never changed)
        alive: _AliveRecords | None = None,
    ) -> None:
        """Combine an index with its live records.

        Args:
            index: the index.
            thresholds: the thresholds for choosing a query plan.
            alive: the live records, or None if no record is deleted.
        """
        self.index = index
        self._columns = index.columns
        self._kernel_columns = index.kernel_columns
        self._thresholds = thresholds
        self._alive = self._all_records() if alive is None else alive
        self.is_searchable = index.columns.word_index is not None
        self.span = index.columns.size
        self.size = int(self._alive.counts.sum(dtype=np.int64))
        self._parts_by_assurance: dict[Assurance, IndexedPart] = {}
        self._pages = SortedPages(index, sort_up_to=_SORTING_FACTOR * thresholds.gather_up_to)
        self._cached_matches: LruCache[Query, _Matches] = LruCache(_CACHED_MATCHES)
        self._cached_facets: LruCache[Query, FacetCounter] = LruCache(_CACHED_FACETS)

    def at(self, assurance: Assurance) -> "IndexedPart":
        """Return the same records at an assurance above `declared`."""
        part = self._parts_by_assurance.get(assurance)
        if part is None:
            part = IndexedPart(self.index.at(assurance), self._thresholds, self._alive)
            self._parts_by_assurance[assurance] = part
        return part

    def _all_records(self) -> _AliveRecords:
        """Return the bitmap and the counts for an index without deleted records."""
        bitmap = pack_bits(np.ones(self._columns.size, np.bool_), self._columns.word_count)
        return _AliveRecords(bitmap, count_bits_by_leaf(bitmap, self._columns.leaf_words))

    def without(self, ids: Sequence[int]) -> "IndexedPart":
        """Return a part without the records with the given ids, ignoring unknown ids.

        This part does not change, because older views of the catalog use it.
        """
        # Each record must be counted only once, even if its id is repeated.
        distinct_ids = np.unique(np.array(ids, np.int64))
        positions = self.index.find_positions(distinct_ids)
        positions = positions[read_bits(self._alive.bitmap, positions)]
        if not len(positions):
            return self

        bitmap = self._alive.bitmap.copy()
        clear_bits(bitmap, positions)

        leaves = positions // self._columns.leaf_size
        deleted_counts = np.bincount(leaves, minlength=self._columns.leaf_count).astype(np.uint16)
        counts = self._alive.counts - deleted_counts
        return IndexedPart(self.index, self._thresholds, _AliveRecords(bitmap, counts))

    def with_index(self, index: CatalogIndex) -> "IndexedPart":
        """Return a copy of this part with an equal index."""
        return IndexedPart(index, self._thresholds, self._alive)

    def find_position(self, dataset_id: int) -> int | None:
        """Return the position of the live record with an integer id, or None if there is none."""
        position = self.index.find_position(dataset_id)
        is_alive = position is not None and read_bit(self._alive.bitmap, position)
        return position if is_alive else None

    def warm_up(self) -> None:
        """Run one query of each kind, so that all kernels are compiled before the first request.

        Only the first leaf is searched, so that the time is almost independent of the size of the catalog.
        """
        first_leaf = np.zeros(self.span, np.bool_)
        first_leaf[: self._columns.leaf_size] = True
        bitmap = pack_bits(first_leaf, self._columns.word_count)
        alive = _AliveRecords(bitmap, count_bits_by_leaf(bitmap, self._columns.leaf_words))
        IndexedPart(self.index, self._thresholds, alive)._run_kernels()

    def _run_kernels(self) -> None:
        """Run every kernel once over the live records, without using the results."""
        weights = {"technical_score": 1.0}
        weights_for_kernels = kernel_weights(weights)
        sets = WeightSets.from_matrix(tuple(weights), np.ones((1, 2)))
        with_substring = (Contains("dataset_name", "warm"),)
        with_ranges = (Range("technical_score", 0.5), Range("year", 1.5))

        for query in ((), with_substring, with_ranges):
            best_record = self.rank(query, weights, end=1, min_score=0.0)
            best_record.count_ties(1.0)
            self.ids(best_record.positions)

            # `rank` has chosen only one query plan, so run the others explicitly.
            translated = self._translate(query)
            if translated:
                matches = PooledMatches(np.zeros(1, np.int64), translated.kernel_query)
                repeated_rankings.rank_best_first_by_sets(self.index, matches, sets, end=1)
                self._rank_best_first(translated.kernel_query, weights_for_kernels, end=1)
                self._rank_gathered(translated.kernel_query, weights_for_kernels, end=1)

        # These steps are the same for every query.
        self.count_facets((), FacetCounter())
        all_matches = self._translate(())
        assert all_matches is not None
        ranking = self._rank_fully(all_matches.kernel_query, weights_for_kernels, end=None)
        self.ids(ranking.positions)

        # Queries read whole columns here, but compiling the kernels requires only the beginning.
        warm_up_facets(self.index)
        leaf_size = self._columns.leaf_size
        warm_up_search(self._columns.names.pool, leaf_size)
        permutation = self._columns.positions_by_id[:leaf_size]
        order_kernels.fill_window(self._alive.bitmap, permutation, 0, np.empty(0, np.int64))

    def _translate(self, query: Query, *, finds_all: bool = False) -> TranslatedQuery | None:
        """Translate a query for the kernels, restricted to live records, or return None if no record can match.

        Set `finds_all` if all matches are needed.
        """
        return self.index.translator.translate(query, self._alive.bitmap, self._alive.counts, finds_all=finds_all)

    def count(self, query: Query) -> int:
        """Return the number of live records that match."""
        cached_matches = self._cached_matches.get(query)
        if cached_matches is not None:
            return cached_matches.match_count

        translated = self._translate(query, finds_all=True)
        if translated is None:
            return 0
        return self._count_and_mark(translated.kernel_query, np.empty(0, np.uint64))

    def _select(self, kernel_query: KernelQuery) -> _Matches:
        """Return the records that match a query for the kernels."""
        bitmap = np.zeros(self._columns.word_count, np.uint64)
        return _Matches(bitmap, self._count_and_mark(kernel_query, bitmap))

    def _count_and_mark(self, kernel_query: KernelQuery, bitmap: Words) -> int:
        """Return the number of matches, and set their bits in a bitmap of zeros unless it is empty."""
        leaf_ranges = divide_leaves(self._columns.leaf_count)
        match_counts = np.zeros(len(leaf_ranges), np.int64)

        def select_chunk(_thread: int, chunk: int) -> None:
            leaf_mask = np.empty(self._columns.leaf_words, np.uint64)
            leaves = leaf_ranges[chunk]
            match_counts[chunk] = filter_kernels.select_records(
                self._kernel_columns, kernel_query, leaves, leaf_mask, bitmap
            )

        run_in_chunks(len(leaf_ranges), select_chunk)
        return int(match_counts.sum())

    def _find_matches(self, query: Query) -> _Matches:
        """Return the matches of a query, which are cached and must not be modified."""
        matches = self._cached_matches.get(query)
        if matches is None:
            translated = self._translate(query, finds_all=True)
            if translated is None:
                matches = _Matches(np.zeros(self._columns.word_count, np.uint64), 0)
            else:
                matches = self._select(translated.kernel_query)
            self._cached_matches.put(query, matches)
        return matches

    def rank(self, query: Query, weights: Mapping[str, float], *, end: int | None, min_score: float) -> PartRanking:
        """Return the best `end` matches, or all matches if it is None, with the fastest query plan.

        If there are few matches, they are collected and sorted. Otherwise, a best-first search finds short pages, and
        all matches are sorted for long pages. At assurances above `declared`, a best-first search finds all short
        pages, because few leaves contain known values.

        `min_score` is ignored, because it only helps parts without an index.
        """
        translated = self._translate(query)
        if translated is None:
            return NO_MATCHES

        kernel_query = translated.kernel_query
        criterion_weights = kernel_weights(weights)
        has_few_matches = translated.max_matches <= self._thresholds.gather_up_to
        is_short = end is not None and end <= self._thresholds.best_first_up_to
        is_declared = self._columns.assurance is Assurance.DECLARED

        if has_few_matches and (is_declared or not is_short):
            return self._rank_gathered(kernel_query, criterion_weights, end)
        if end is None or not is_short:
            return self._rank_fully(kernel_query, criterion_weights, end)
        return self._rank_best_first(kernel_query, criterion_weights, end)

    def _rank_gathered(self, kernel_query: KernelQuery, weights: KernelWeights, end: int | None) -> PartRanking:
        """Rank a few matches by collecting, scoring and sorting all of them."""
        positions = list_bits(*self._select(kernel_query))
        scores = self.index.scores(positions, weights)
        alphabetical_ranks = self._columns.names.places[positions]
        best = select_window((-scores, alphabetical_ranks), skip=0, limit=end)
        return PartRanking(positions[best], scores[best], "gather", count_in_unordered(scores))

    def rank_by_sets(self, query: Query, sets: WeightSets, *, end: int) -> list[PartRanking]:
        """Return the best `end` matches for each set of weights.

        If many records match, the best records with the mean weights form a pool. These records have high scores with
        each set of weights, which quickly rule out most other records.
        """
        matches, match_count = self._find_matches(query)
        if match_count <= max(end, self._thresholds.gather_up_to):
            positions = list_bits(matches, match_count)
            criteria = {name: self.criterion(name, positions) for name in sets.names}
            records = MatchingRecords(positions, criteria, tie_keys=(self._columns.names.places[positions],))
            return repeated_rankings.rank_gathered_by_sets(records, sets, end)

        pool_size = repeated_rankings.POOL_FACTOR * end
        pool = self.rank(query, sets.mean(), end=pool_size, min_score=0.0).positions

        # A query without predicates selects the other matches if only they are marked as alive.
        other_matches = matches.copy()  # the cached bitmap must not be modified
        clear_bits(other_matches, pool)
        other_counts = count_bits_by_leaf(other_matches, self._columns.leaf_words)
        others = self.index.translator.translate((), other_matches, other_counts)
        assert others is not None

        pooled_matches = PooledMatches(pool, others.kernel_query)
        return repeated_rankings.rank_best_first_by_sets(self.index, pooled_matches, sets, end)

    def _rank_best_first(self, kernel_query: KernelQuery, weights: KernelWeights, end: int) -> PartRanking:
        """Rank the best `end` of many matches without scoring most of the others.

        The bound of a leaf is a score that none of its records exceeds. Leaves are searched in descending order of
        their bounds until no remaining leaf can contain any of the best records.
        """
        queue = queue_leaves(self.index, weights)
        search = TopSearch(self._kernel_columns, kernel_query, weights)
        heap = ScoredRecords(np.empty(end, np.int64), np.empty(end))
        heap_size = top_kernels.find_top(search, queue, heap)

        # The heap is not sorted, and there may be fewer than `end` matches.
        positions, scores = heap.positions[:heap_size], heap.scores[:heap_size]
        alphabetical_ranks = self._columns.names.places[positions]
        best = np.lexsort((alphabetical_ranks, -scores))
        return PartRanking(positions[best], scores[best], "best first", partial(self._count_ties, search, queue))

    def _count_ties(self, search: TopSearch, queue: LeafQueue, score: float) -> int:
        """Return the number of matches of a search with the given score.

        `queue` is overwritten.
        """
        return int(tie_kernels.count_ties(search, queue, self._columns.criteria.lower, score))

    def _rank_fully(self, kernel_query: KernelQuery, weights: KernelWeights, end: int | None) -> PartRanking:
        """Rank all of many matches by listing them by name and then sorting the list stably by score."""
        matches, match_count = self._select(kernel_query)

        by_name = np.empty(match_count + 1, np.uint32)  # the kernel requires one spare element
        order_kernels.filter_permutation(matches, self._columns.names.permutation, by_name)
        by_name = by_name[:match_count]

        # Sorting 32-bit keys is faster than sorting scores. Different scores with the same key are sorted afterwards.
        score_keys = self._compute_score_keys(matches, weights)
        keys, positions = sort_by_key(take_values(score_keys.keys, by_name), by_name)
        sort_ties_by_score(keys, positions, score_keys.scores)

        page = positions[:end]
        page_scores = take_values(score_keys.scores, page)
        return PartRanking(page, page_scores, "full order", count_in_ranking(positions, score_keys.scores))

    def _compute_score_keys(self, matches: Words, weights: KernelWeights) -> ScoreKeys:
        """Return the score and the sort key at each position of the index.

        They are only valid at the positions of matches.
        """
        position_count = BITS_PER_WORD * len(matches)
        score_keys = ScoreKeys(scores=np.empty(position_count), keys=np.empty(position_count, np.uint32))

        def fill_range(start: int, end: int) -> None:
            first_word = start // BITS_PER_WORD
            words = matches[first_word : end // BITS_PER_WORD]
            order_kernels.fill_score_keys(self._kernel_columns, weights, words, first_word, score_keys)

        boundary_between_words = BITS_PER_WORD * (len(matches) // 2)
        run_in_halves(position_count, fill_range, boundary_between_words)
        return score_keys

    def sort(self, query: Query, request: PageRequest) -> SortedWindow:
        """Return one page of the matches in the order of a column.

        Records without a value come last, and ties are sorted by id.
        """
        matches, match_count = self._find_matches(query)
        return SortedWindow(self._pages.read(matches, match_count, request), match_count)

    def matching_positions(self, query: Query) -> Ints:
        """Return the ascending positions of the live records that match."""
        return list_bits(*self._find_matches(query))

    def count_before(self, name_and_id: NameAndId, positions: Ints) -> int:
        """Return the number of records at the given positions that precede a folded name and id alphabetically."""

        def name_and_id_at(position: int) -> NameAndId:
            return read_name_and_id(self, int(position))

        names = self._columns.names
        rank = bisect_left(names.permutation, name_and_id, key=name_and_id_at)
        return int(np.count_nonzero(names.places[positions] < rank))

    def search(self, query_words: Sequence[QueryWord], positions: Ints) -> PartSearch:
        """Return the data for the relevance of records that contain every word of a query."""
        return self._public_records.search(self.index, query_words, positions)

    @cached_property
    def _public_records(self) -> PublicRecords:
        """The public and live records."""
        return PublicRecords.from_index(self.index, self._alive.bitmap)

    def find_most_cited_by_name(self, prefixes: Sequence[str], query: Query, limit: int) -> Ints:
        """Return the positions of the `limit` most cited matches whose names have a word for each prefix."""
        word_index = self._columns.searchable_words()
        word_count = self._columns.word_count
        matches, _ = self._find_matches(query)
        for prefix in prefixes:
            matches = matches & word_index.records_with_name_word(prefix, word_count)

        match_count = int(np.bitwise_count(matches).sum(dtype=np.int64))
        return self._pages.read(matches, match_count, PageRequest("popularity_score", True, skip=0, limit=limit))

    def sort_value(self, column: str, position: int) -> Any:
        """Return a sort value that is comparable across parts, such as a folded text, or None if there is none."""
        return self._pages.sort_value(column, position)

    def count_facets(self, query: Query, counter: FacetCounter) -> None:
        """Add the facets of the matches, which are cached, to a counter."""
        facets = self._cached_facets.get(query)
        if facets is None:
            matches, match_count = self._find_matches(query)
            facets = count_index(self.index, matches, match_count)
            self._cached_facets.put(query, facets)
        counter.add_counts(facets)

    def ids(self, positions: NDArray[Any]) -> Ints:
        """Return the integer ids of the records at the given positions."""
        return self.index.integers("id", positions)

    def dataset_ids(self, positions: NDArray[Any]) -> list[str]:
        """Return the UUIDs of the records at the given positions as strings."""
        uuids = self._columns.dataset_ids
        return format_uuids(uuids.high[positions], uuids.low[positions])

    def texts(self, column: str, positions: NDArray[Any]) -> list[str | None]:
        """Return a text attribute of the records at the given positions, or None where it is unknown."""
        return self.index.texts(column, positions)

    def folded_name(self, position: int) -> str:
        """Return the folded name of the record at a position."""
        return fold(self._columns.names.pool[position])

    def words(self, column: str, positions: NDArray[Any]) -> list[tuple[str, ...]]:
        """Return the folded words of the records at the given positions, or empty tuples where they are unknown."""
        return self.index.words(column, positions)

    def attribute(self, name: str, positions: NDArray[Any]) -> NDArray[Any]:
        """Return a number (NaN if unknown), a flag (-1 if unknown) or KNOWN_ETHICAL at the given positions."""
        if name == KNOWN_ETHICAL:
            return np.asarray(self._columns.criteria.known_ethical[positions])
        return self.index.flags(name, positions) if name in FLAGS else self.index.numbers(name, positions)

    def criterion(self, name: str, positions: NDArray[Any]) -> Floats:
        """Return a criterion of the records at the given positions."""
        return self.index.criterion(name, positions)

    def scores(self, positions: NDArray[Any], weights: Mapping[str, float]) -> Floats:
        """Return the scores of the records at the given positions."""
        return self.index.scores(positions, kernel_weights(weights))

    def packed_levels(self, positions: NDArray[Any]) -> NDArray[np.uint64]:
        """Return the packed evidence levels of the records at the given positions, two bits for each attribute."""
        return self._columns.packed_levels().at(positions)

    def live_positions(self) -> Ints:
        """Return the ascending positions of the live records."""
        return list_bits(self._alive.bitmap, self.size)

    def decode_words(self) -> DecodedWords | None:
        """Return the words of the live records in the order of their positions, or None if there is no word index."""
        word_index = self._columns.word_index
        return word_index.decode(self.live_positions()) if word_index else None
