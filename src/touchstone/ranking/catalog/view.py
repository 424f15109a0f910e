"""An immutable state of the catalog, which answers all queries."""

import math
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Final
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from touchstone.core.attributes import FLAGS, NUMBERS
from touchstone.core.evidence import Assurance
from touchstone.core.text import fold
from touchstone.ranking.array_types import Facts, Floats, Ints
from touchstone.ranking.catalog.indexed_part import IndexedPart
from touchstone.ranking.catalog.part import CatalogPart, NameAndId
from touchstone.ranking.catalog.relevance_order import sort_by_relevance
from touchstone.ranking.catalog.result_merging import (
    ListOrder,
    ListPlace,
    ListWindow,
    SortedRecords,
    merge_lists,
    merge_rankings,
)
from touchstone.ranking.catalog.results import NO_MATCHES, PartRanking, RankedWindow, ScoredItems, SortedWindow
from touchstone.ranking.catalog.suggestions import Suggestion, suggest
from touchstone.ranking.catalog.unindexed_part import UnindexedPart
from touchstone.ranking.columns.evidence_columns import CLAIM_TYPES
from touchstone.ranking.columns.segment import KNOWN_ETHICAL
from touchstone.ranking.criteria import CRITERION_NAMES
from touchstone.ranking.index.lru_cache import LruCache
from touchstone.ranking.query.facets import FacetCounter, Facets
from touchstone.ranking.query.predicates import Query, Visible
from touchstone.ranking.query.sort_order import RELEVANCE, SORT_KEYS
from touchstone.ranking.weighted_mean import WeightSets

_MAX_CACHED_COUNTS: Final = 256
_MAX_CACHED_FACETS: Final = 16


class View:
    """An immutable state of the catalog, which is safe to use from several threads.

    Positions are only valid within one view. The positions of the tail follow the positions of the index. Weights must
    be finite, not negative, and not all zero.

    The catalog creates views at the assurance `declared`, and `at` returns the same state at another assurance.
    """

    assurance = Assurance.DECLARED

    def __init__(self, tail: UnindexedPart, indexed: IndexedPart | None = None) -> None:
        self._tail = tail
        self._indexed = indexed
        self._tail_offset = indexed.span if indexed else 0
        self._parts: tuple[CatalogPart, ...] = (indexed, tail) if indexed else (tail,)
        self._cached_counts: dict[tuple[Assurance, Query], int] = {}
        self._cached_facets: LruCache[Query, Facets] = LruCache(_MAX_CACHED_FACETS)
        self.size = sum(part.size for part in self._parts)

    @property
    def declared(self) -> "View":
        """The same state of the catalog at the assurance `declared`."""
        return self

    def at(self, assurance: Assurance) -> "View":
        """Return this state of the catalog with only the values known at an assurance.

        Attributes without a claim that counts at this assurance are treated as unknown in filters, criteria, sort keys
        and facets. Positions are the same at every assurance.
        """
        if assurance is self.assurance:
            return self
        if assurance is Assurance.DECLARED:
            return self.declared
        return _StricterView(self.declared, assurance)

    @property
    def is_indexed(self) -> bool:
        """Whether the catalog has an index."""
        return self._indexed is not None

    @property
    def unindexed_size(self) -> int:
        """The number of records outside of the index, which every query scans."""
        return self._tail.span

    def count(self, query: Query) -> int:
        """Return the number of matches, which is cached."""
        key = (self.assurance, query)
        count = self._cached_counts.get(key)
        if count is None:
            count = sum(part.count(query) for part in self._parts if part.size)
            if len(self._cached_counts) >= _MAX_CACHED_COUNTS:
                self._cached_counts.clear()
            self._cached_counts[key] = count
        return count

    def rank(self, query: Query, weights: Mapping[str, float], *, skip: int, limit: int | None) -> RankedWindow:
        """Return one page of the matches, sorted by descending score, then by folded name, then by id.

        Args:
            query: the query.
            weights: the weights by criterion.
            skip: the number of matches before the page.
            limit: the maximum number of records on the page, or None for all remaining matches.
        """
        end = None if limit is None else min(self.size, skip + limit)
        ranking = self._parts[0].rank(query, weights, end=end, min_score=0.0)
        tail_ranking = self._rank_tail(query, weights, ranking, end)
        positions, scores = self._merge_tail(ranking, tail_ranking)

        # A page that is not full contains the last match.
        is_complete = end is None or len(scores) < end
        count_ties = partial(_count_ties, [ranking, tail_ranking])
        ranking_to_end = PartRanking(positions[:end], scores[:end], ranking.plan, count_ties)
        return RankedWindow(ranking_to_end, skip=skip, count=lambda: self.count(query), is_complete=is_complete)

    def rank_by_sets(self, query: Query, sets: WeightSets, *, limit: int) -> list[Ints]:
        """Return the positions of the first `limit` matches in the order of `rank`, for each set of weights.

        For many sets, this is much faster than `rank`.
        """
        end = min(self.size, limit)
        positions_by_set = []
        for index, ranking in enumerate(self._parts[0].rank_by_sets(query, sets, end=end)):
            tail_ranking = self._rank_tail(query, sets.at(index), ranking, end)
            positions, _ = self._merge_tail(ranking, tail_ranking)
            positions_by_set.append(positions[:end])
        return positions_by_set

    def _rank_tail(
        self, query: Query, weights: Mapping[str, float], ranking: PartRanking, end: int | None
    ) -> PartRanking:
        """Rank the tail, which contains the records that are not indexed yet.

        The result is empty if there is no index, because the first part then is the tail itself.

        Args:
            query: the query.
            weights: the weights by criterion.
            ranking: the first `end` matches in the index. If there are that many, tail records with lower scores than
                all of them may be omitted.
            end: the end of the page, or None for all matches.
        """
        if not self._indexed or not self._tail.size:
            return NO_MATCHES

        is_page_full = len(ranking.scores) > 0 and len(ranking.scores) == end
        min_score = float(ranking.scores[-1]) if is_page_full else 0.0  # lower scores cannot be on the page
        return self._tail.rank(query, weights, end=end, min_score=min_score)

    def _merge_tail(self, ranking: PartRanking, tail_ranking: PartRanking) -> tuple[NDArray[Any], Floats]:
        """Merge the rankings of the index and of the tail, and return the positions in this view and the scores."""
        if not self._indexed or not len(tail_ranking.positions):
            return ranking.positions, ranking.scores
        return merge_rankings(self._indexed, ranking, self._tail, tail_ranking)

    def sort(self, query: Query, key: str, *, descending: bool, skip: int, limit: int | None) -> SortedWindow:
        """Return one page of the matches in the order of a sort key.

        Records without a value come last, and ties are sorted by id.

        Args:
            query: the query.
            key: RELEVANCE or one of SORT_KEYS.
            descending: whether to sort in descending order.
            skip: the number of matches before the page.
            limit: the maximum number of records on the page, or None for all remaining matches.
        """
        if key == RELEVANCE:
            return sort_by_relevance(self._parts, query, descending=descending, skip=skip, limit=limit)
        return self.sort_window(query, key, ListWindow(skip, limit), descending=descending)

    def sort_window(self, query: Query, key: str, window: ListWindow, *, descending: bool) -> SortedWindow:
        """Return a window of the matches in the order of one of SORT_KEYS."""
        order = ListOrder(SORT_KEYS[key], descending)
        if not self._indexed:
            return self._tail.sort(query, order.request(self._tail, window))

        # Read the tail from the start of the list to the end of the window.
        skip, limit, after = window
        end = None if limit is None else skip + limit
        tail_window = ListWindow(0, end, after)
        tail_positions, tail_count = self._tail.sort(query, order.request(self._tail, tail_window))

        # All of these tail records may precede the window, so the index is read from that many records earlier.
        start = max(0, skip - len(tail_positions))
        indexed_limit = None if end is None else end - start
        indexed_window = ListWindow(start, indexed_limit, after)
        positions, indexed_count = self._indexed.sort(query, order.request(self._indexed, indexed_window))

        if len(tail_positions):
            indexed_records = SortedRecords(self._indexed, positions)
            tail_records = SortedRecords(self._tail, tail_positions)
            positions = merge_lists(indexed_records, tail_records, order, ListWindow(skip - start, limit))
        else:
            positions = positions[skip - start :]

        return SortedWindow(positions, total_count=indexed_count + tail_count)

    def place(self, key: str, position: int) -> ListPlace:
        """Return the place of the record at a position in a list sorted by one of SORT_KEYS."""
        order = ListOrder(SORT_KEYS[key], descending=False)
        if self._indexed and position < self._tail_offset:
            return order.place(self._indexed, position)
        return order.place(self._tail, position - self._tail_offset)

    def suggest(self, text: str, viewer: UUID | None, limit: int) -> list[Suggestion]:
        """Suggest names, domains and tasks of records visible to a viewer that match a typed text."""
        visible: Query = (Visible(viewer),)
        facets = self._cached_facets.get(visible)
        if facets is None:
            facets = self.facets(visible)
            self._cached_facets.put(visible, facets)
        return suggest(self._parts, text, visible, facets=facets, limit=limit)

    def facets(self, query: Query) -> Facets:
        """Return the facets of the matches."""
        counter = FacetCounter()
        for part in self._parts:
            part.count_facets(query, counter)
        return counter.facets()

    def find_position(self, dataset_id: int) -> int | None:
        """Return the position of the record with an integer id, or None if there is none."""
        tail_position = self._tail.find_position(dataset_id)
        if tail_position is not None:
            return self._tail_offset + tail_position
        return self._indexed.find_position(dataset_id) if self._indexed else None

    def matching_positions(self, query: Query) -> Ints:
        """Return the ascending positions of the matches."""
        tail_positions = self._tail.matching_positions(query) + self._tail_offset
        if not self._indexed:
            return tail_positions
        return np.concatenate([self._indexed.matching_positions(query), tail_positions])

    def count_before(self, position: int, positions: Ints) -> int:
        """Return the number of records at `positions` that precede the record at `position` by folded name, then id.

        This order is the tie-breaker for records with equal scores.
        """
        is_tail = positions >= self._tail_offset
        [name_and_id] = self._names_and_ids(np.array([position]))
        count = self._tail.count_before(name_and_id, positions[is_tail] - self._tail_offset)
        if self._indexed and not is_tail.all():
            count += self._indexed.count_before(name_and_id, positions[~is_tail])
        return count

    def alphabetical_ranks(self, positions: Ints) -> Ints:
        """Return the rank of each record among the given ones by folded name, then id, counted from 0."""
        names_and_ids = self._names_and_ids(positions)
        order = sorted(range(len(positions)), key=names_and_ids.__getitem__)
        ranks = np.empty(len(positions), np.int64)
        ranks[order] = np.arange(len(positions))
        return ranks

    def _names_and_ids(self, positions: Ints) -> list[NameAndId]:
        """Return the folded names and the ids of the records at the given positions."""
        names_and_ids = zip(self.names(positions), self.ids(positions).tolist(), strict=True)
        return [NameAndId(fold(name or ""), id_) for name, id_ in names_and_ids]

    def ids(self, positions: NDArray[Any]) -> Ints:
        """Return the integer ids of the records at the given positions."""
        return self._gather(positions, lambda part, part_positions: part.ids(part_positions), np.int64)

    def names(self, positions: NDArray[Any]) -> list[str]:
        """Return the names of the records at the given positions."""
        return self._texts("dataset_name", positions)

    def criterion_scores(self, positions: NDArray[Any]) -> Floats:
        """Return the criteria as a matrix with one row for each position and one column for each of CRITERIA."""
        return np.stack([self.criterion(name, positions) for name in CRITERION_NAMES], axis=1)

    def facts(self, positions: NDArray[Any]) -> Facts:
        """Return the numbers (NaN if unknown) and flags (-1 if unknown) at the given positions, by name."""
        return {name: self.attribute(name, positions) for name in (*NUMBERS, *FLAGS)}

    def attribute(self, name: str, positions: NDArray[Any]) -> NDArray[Any]:
        """Return a number (NaN if unknown) or a flag (-1 if unknown) of the records at the given positions."""
        return self._attribute(name, positions, CLAIM_TYPES[name])

    def words(self, column: str, positions: NDArray[Any]) -> list[tuple[str, ...]]:
        """Return the folded words of the records at the given positions, or empty tuples where they are unknown."""

        def read_words(part: CatalogPart, part_positions: NDArray[Any]) -> NDArray[Any]:
            """Return a one-dimensional array of word lists, even if all of them have the same length."""
            return np.fromiter(part.words(column, part_positions), object, len(part_positions))

        return list(self._gather(positions, read_words, object))

    def evidence_levels(self, positions: NDArray[Any]) -> NDArray[np.uint64]:
        """Return the packed evidence levels of the records at the given positions, for `unpack_levels`."""
        return self._gather(positions, lambda part, part_positions: part.packed_levels(part_positions), np.uint64)

    def known_ethical_counts(self, positions: NDArray[Any]) -> NDArray[np.uint8]:
        """Return the number of ethical attributes with a known value for each record at the given positions."""
        return np.asarray(self._attribute(KNOWN_ETHICAL, positions, np.uint8))

    def items(self, positions: NDArray[Any]) -> ScoredItems:
        """Return the fields of scored items for the records at the given positions."""
        dataset_ids = self._gather(positions, lambda part, part_positions: part.dataset_ids(part_positions), object)
        instances = self.attribute("instances_number", positions)
        features = self.attribute("features_number", positions)

        return ScoredItems(
            id=self.ids(positions).tolist(),
            dataset_id=dataset_ids.tolist(),
            dataset_name=self.names(positions),
            ethical_score=self.criterion("ethical_score", positions).tolist(),
            technical_score=self.criterion("technical_score", positions).tolist(),
            popularity_score=self.criterion("popularity_score", positions).tolist(),
            instances_number=_to_integers(instances),
            features_number=_to_integers(features),
            objective=self._texts("objective", positions),
            known=self.known_ethical_counts(positions).tolist(),
        )

    def criterion(self, name: str, positions: NDArray[Any]) -> Floats:
        """Return a criterion of the records at the given positions."""
        return self._gather(positions, lambda part, part_positions: part.criterion(name, part_positions), np.float64)

    def scores(self, positions: NDArray[Any], weights: Mapping[str, float]) -> Floats:
        """Return the scores of the records at the given positions."""
        return self._gather(positions, lambda part, part_positions: part.scores(part_positions, weights), np.float64)

    def _attribute(self, name: str, positions: NDArray[Any], dtype: Any) -> NDArray[Any]:
        """Return a number, a flag or KNOWN_ETHICAL at the given positions as an array of type `dtype`."""
        return self._gather(positions, lambda part, part_positions: part.attribute(name, part_positions), dtype)

    def _texts(self, column: str, positions: NDArray[Any]) -> list[Any]:
        """Return a text attribute of the records at the given positions."""
        texts = self._gather(positions, lambda part, part_positions: part.texts(column, part_positions), object)
        return list(texts)

    def _gather(
        self, positions: NDArray[Any], read: Callable[[CatalogPart, NDArray[Any]], Any], dtype: Any
    ) -> NDArray[Any]:
        """Return values of the records at the given positions, read from the parts that contain the records.

        Args:
            positions: the positions in the view.
            read: a function that returns the values for a part and the positions within this part.
            dtype: the type of the values.
        """
        if not self._indexed:
            return np.asarray(read(self._tail, positions), dtype)

        is_indexed = positions < self._tail_offset
        if is_indexed.all():
            return np.asarray(read(self._indexed, positions), dtype)

        values = np.empty(len(positions), dtype)
        values[is_indexed] = read(self._indexed, positions[is_indexed])
        values[~is_indexed] = read(self._tail, positions[~is_indexed] - self._tail_offset)
        return values


class _StricterView(View):
    """A state of the catalog at an assurance above `declared`."""

    def __init__(self, declared: View, assurance: Assurance) -> None:
        indexed = declared._indexed.at(assurance) if declared._indexed else None
        super().__init__(declared._tail.at(assurance), indexed)
        self.assurance = assurance
        self._declared = declared
        self._cached_counts = declared._cached_counts

    @property
    def declared(self) -> View:
        """The same state of the catalog at the assurance `declared`."""
        return self._declared


def _count_ties(rankings: Iterable[PartRanking], score: float) -> int:
    """Return the total number of matches with the given score in all ranked parts."""
    return sum(ranking.count_ties(score) for ranking in rankings)


def _to_integers(values: Floats) -> list[int | None]:
    """Convert numbers to integers, and NaN to None."""
    return [None if math.isnan(value) else int(value) for value in values.tolist()]
