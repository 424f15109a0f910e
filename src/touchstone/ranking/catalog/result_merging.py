"""Merges sorted results from the index and from the tail, which contains the records that are not indexed yet.

The tail is usually short, so a binary search finds the insertion point of each tail record among the indexed records.
"""

from bisect import bisect_left
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from touchstone.ranking.array_types import Floats, Ints
from touchstone.ranking.catalog.part import CatalogPart, NameAndId, read_name_and_id
from touchstone.ranking.catalog.results import PartRanking
from touchstone.ranking.query.sort_order import PageRequest

SortKey: TypeAlias = tuple[bool, Any, int]
"""A sort key of a record: whether it has no value, its value, and its id."""


class Descending:
    """A wrapper that reverses the order of a value in a sort key."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __lt__(self, other: "Descending") -> bool:
        return bool(other.value < self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Descending) and bool(self.value == other.value)

    __hash__ = None  # type: ignore[assignment]


def merge_rankings(
    indexed: CatalogPart, indexed_ranking: PartRanking, tail: CatalogPart, tail_ranking: PartRanking
) -> tuple[Ints, Floats]:
    """Merge the rankings of the index and of the tail, and return the positions in the view and the scores.

    Both rankings and the result are sorted by descending score, then by folded name, then by id.
    """

    def indexed_name(index: int) -> str:
        return indexed.folded_name(int(indexed_ranking.positions[index]))

    def indexed_name_and_id(index: int) -> NameAndId:
        return read_name_and_id(indexed, int(indexed_ranking.positions[index]))

    # Insert each record of the tail before the first indexed record with the same score or a lower one.
    first_tied, after_tied = _find_ties(indexed_ranking.scores, tail_ranking.scores)
    insertions = first_tied.copy()

    # Among indexed records with the same score, the insertion point depends on the name and the id. A deep page may
    # follow a million ties, so ids are only read where the names are equal, too.
    tied_tail_indices = np.flatnonzero(first_tied < after_tied)
    for tail_index in tied_tail_indices.tolist():
        first, after = int(first_tied[tail_index]), int(after_tied[tail_index])
        position = int(tail_ranking.positions[tail_index])
        name = tail.folded_name(position)
        insertion = bisect_left(range(after), name, lo=first, key=indexed_name)
        if insertion < after and indexed_name(insertion) == name:
            name_and_id = read_name_and_id(tail, position)
            insertion = bisect_left(range(after), name_and_id, lo=insertion, key=indexed_name_and_id)
        insertions[tail_index] = insertion

    # In the view, the positions of the tail follow the positions of the index.
    positions = np.insert(indexed_ranking.positions.astype(np.int64), insertions, tail_ranking.positions + indexed.span)
    scores = np.insert(indexed_ranking.scores, insertions, tail_ranking.scores)
    return positions, scores


def _find_ties(descending_scores: Floats, scores: Floats) -> tuple[Ints, Ints]:
    """Return, for each of `scores`, the range of indices where a descending list has the same score.

    The result consists of the start indices and the end indices of the ranges.
    """
    # `searchsorted` requires an ascending list.
    ascending_scores = -descending_scores
    first_tied = np.searchsorted(ascending_scores, -scores, side="left")
    after_tied = np.searchsorted(ascending_scores, -scores, side="right")
    return first_tied, after_tied


class ListPlace(NamedTuple):
    """The place of a record in a sorted list, which is independent of other records.

    Attributes:
        value: the sort value of the record, or None if it has none.
        id: the id of the record, which is the tie-breaker for equal values.
    """

    value: Any
    id: int


class ListWindow(NamedTuple):
    """The requested part of a sorted list.

    Attributes:
        skip: the number of records to skip after the start.
        limit: the maximum number of records to return, or None for all.
        after: the place after which the window starts, or None for the beginning of the list.
    """

    skip: int
    limit: int | None
    after: ListPlace | None = None


class ListOrder:
    """The order of a list by the values of a column.

    Records without a value come last, and ties are sorted by id.
    """

    def __init__(self, column: str, descending: bool) -> None:
        self._column = column
        self._descending = descending

    def place(self, part: CatalogPart, position: int) -> ListPlace:
        """Return the place of the record at a position of a part."""
        [id_] = part.ids(np.array([position])).tolist()
        return ListPlace(part.sort_value(self._column, position), id_)

    def key(self, part: CatalogPart, position: int) -> SortKey:
        """Return the sort key of the record at a position, which is comparable across parts."""
        return self._key_of(self.place(part, position))

    def _key_of(self, place: ListPlace) -> SortKey:
        """Return the sort key for a place in the list."""
        if place.value is None:
            return True, 0, place.id  # records without a value are compared by id only

        value = Descending(place.value) if self._descending else place.value
        return False, value, place.id

    def request(self, part: CatalogPart, window: ListWindow) -> PageRequest:
        """Create the request to a part for its records in a window."""
        if window.after is None:
            return PageRequest(self._column, self._descending, window.skip, window.limit)

        last_key = self._key_of(window.after)

        def is_before(position: int) -> bool:
            """Return whether the record at a position precedes the start of the window."""
            return not last_key < self.key(part, position)

        return PageRequest(self._column, self._descending, window.skip, window.limit, is_before)


class SortedRecords(NamedTuple):
    """Records of one part, with their positions in the order of a list."""

    part: CatalogPart
    positions: Ints

    def key(self, index: int, order: ListOrder) -> SortKey:
        """Return the sort key of the record at an index of `positions`."""
        return order.key(self.part, int(self.positions[index]))


def merge_lists(indexed: SortedRecords, tail: SortedRecords, order: ListOrder, window: ListWindow) -> Ints:
    """Merge the sorted lists of the index and of the tail, and return the positions in the view for a window.

    Only records in the window are merged. A binary search finds the number of tail records before the window.
    """
    skip, limit = window.skip, window.limit
    if skip >= len(indexed.positions) + len(tail.positions):
        return np.empty(0, np.int64)

    def is_upper_bound(tail_count: int) -> bool:
        """Return whether at most `tail_count` tail records are among the first `skip` records of the merged list."""
        indexed_count = skip - tail_count
        if indexed_count == 0:
            return True
        return indexed.key(indexed_count - 1, order) < tail.key(tail_count, order)

    # The smallest upper bound is the number of tail records before the window.
    fewest = max(0, skip - len(indexed.positions))
    most = min(skip, len(tail.positions))
    tail_skip = fewest + bisect_left(range(fewest, most), True, key=is_upper_bound)
    indexed_skip = skip - tail_skip

    indexed_page = SortedRecords(indexed.part, indexed.positions[indexed_skip:][:limit])
    tail_page = SortedRecords(tail.part, tail.positions[tail_skip:][:limit])
    return _merge_all(indexed_page, tail_page, order)[:limit]


def _merge_all(indexed: SortedRecords, tail: SortedRecords, order: ListOrder) -> Ints:
    """Merge two sorted lists, and return the positions of all records in the view."""
    indexed_count = len(indexed.positions)

    def indexed_key(index: int) -> SortKey:
        return indexed.key(index, order)

    # If a tail record follows all indexed records, so do all later tail records.
    insertions = np.full(len(tail.positions), indexed_count, np.int64)
    for tail_index in range(len(tail.positions)):
        tail_key = tail.key(tail_index, order)
        insertion = bisect_left(range(indexed_count), tail_key, key=indexed_key)
        if insertion == indexed_count:
            break
        insertions[tail_index] = insertion

    # In the view, the positions of the tail follow the positions of the index.
    return np.insert(indexed.positions.astype(np.int64), insertions, tail.positions + indexed.part.span)
