"""Merging of the results from the index and from the tail, which holds the records that are not indexed yet.

Both parts return sorted results. Usually the tail is short, so the place of each of its records among the indexed ones
is found by a binary search.
"""

from bisect import bisect_left
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.array_types import Floats, Ints
from touchstone.ranking.catalog.part import CatalogPart, NameAndId, read_name_and_id
from touchstone.ranking.catalog.results import PartRanking
from touchstone.ranking.query.sort_order import PageRequest

SortKey: TypeAlias = tuple[bool, Any, int]
"""What records are compared by: whether a record has no value, its value, and its id."""


class Descending:
    """A value in a sort key that is compared in the opposite order."""

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
    """Merge the rankings of the index and of the tail; return the positions of the records in a view, and their scores.

    Both rankings and the result are sorted by descending score, then by folded name, then by id.
    """

    def indexed_name_and_id(index: int) -> NameAndId:
        return read_name_and_id(indexed, int(indexed_ranking.positions[index]))

    # Each record of the tail goes before the first indexed record that has the same score or a lower one.
    first_tied, after_tied = _find_ties(indexed_ranking.scores, tail_ranking.scores)
    insertions = first_tied.copy()

    # Among indexed records with the same score, its place depends on its name and id.
    tied_tail_records = np.flatnonzero(first_tied < after_tied)
    for i in tied_tail_records.tolist():
        first, after = int(first_tied[i]), int(after_tied[i])
        name_and_id = read_name_and_id(tail, int(tail_ranking.positions[i]))
        insertions[i] = bisect_left(range(after), name_and_id, lo=first, key=indexed_name_and_id)

    positions = _interleave(indexed_ranking.positions, tail_ranking.positions, insertions, tail_offset=indexed.span)
    scores = np.insert(indexed_ranking.scores, insertions, tail_ranking.scores)
    return positions, scores


def _find_ties(descending_scores: Floats, scores: Floats) -> tuple[Ints, Ints]:
    """Return, for each of `scores`, the range of the indices at which a descending list has the same score.

    The ranges are returned as two arrays, with the first index of each range and the first one after it.
    """
    # A binary search needs an ascending list.
    ascending_scores = -descending_scores
    first_tied = np.searchsorted(ascending_scores, -scores, side="left")
    after_tied = np.searchsorted(ascending_scores, -scores, side="right")
    return first_tied, after_tied


class ListPlace(NamedTuple):
    """The place of a record in a sorted list, which stays the same when other records come and go.

    Attributes:
        value: The sort value of the record; None if it has none.
        id: Its id, by which records with the same value are sorted.
    """

    value: Any
    id: int


class ListWindow(NamedTuple):
    """The part of a sorted list that a caller asks for.

    Attributes:
        skip: How many records to leave out first.
        limit: How many records to return at most; None for all.
        after: The place after which to begin counting; None for the beginning of the list.
    """

    skip: int
    limit: int | None
    after: ListPlace | None = None


class ListOrder:
    """The order of a list by the values of a column; records without a value come last, and ties are sorted by id."""

    def __init__(self, column: str, descending: bool) -> None:
        self._column = column
        self._descending = descending

    def place(self, part: CatalogPart, position: int) -> ListPlace:
        """Return the place of the record at a position of a part."""
        [id_] = part.ids(np.array([position])).tolist()
        return ListPlace(part.sort_value(self._column, position), id_)

    def key(self, part: CatalogPart, position: int) -> SortKey:
        """Return the sort key of the record at a position; the keys of different parts can be compared."""
        return self._key_of(self.place(part, position))

    def _key_of(self, place: ListPlace) -> SortKey:
        """Return the sort key of the record at a place."""
        if place.value is None:
            return True, 0, place.id  # records without a value are compared by id only

        value = Descending(place.value) if self._descending else place.value
        return False, value, place.id

    def request(self, part: CatalogPart, window: ListWindow) -> PageRequest:
        """Return the request with which one part is asked for its records in a window."""
        if window.after is None:
            return PageRequest(self._column, self._descending, window.skip, window.limit)

        last_key = self._key_of(window.after)

        def is_before(position: int) -> bool:
            """Return whether the window begins after the record at a position."""
            return not last_key < self.key(part, position)

        return PageRequest(self._column, self._descending, window.skip, window.limit, is_before)


class SortedRecords(NamedTuple):
    """Records of one part, given by their positions in the order of a list."""

    part: CatalogPart
    positions: Ints

    def key(self, index: int, order: ListOrder) -> SortKey:
        """Return the sort key of the record at an index of the list."""
        return order.key(self.part, int(self.positions[index]))


def merge_lists(indexed: SortedRecords, tail: SortedRecords, order: ListOrder, window: ListWindow) -> Ints:
    """Merge the sorted lists of the index and of the tail; return the positions, in a view, of the records in a window.

    Only records in the window are merged. A binary search finds how many records of the tail come before it.
    """
    skip, limit = window.skip, window.limit
    if skip >= len(indexed.positions) + len(tail.positions):
        return np.empty(0, np.int64)

    def includes_no_more(tail_count: int) -> bool:
        """Return whether at most `tail_count` records of the tail are among the first `skip` of the merged list."""
        indexed_count = skip - tail_count
        if indexed_count == 0:
            return True
        return indexed.key(indexed_count - 1, order) < tail.key(tail_count, order)

    fewest = max(0, skip - len(indexed.positions))
    most = min(skip, len(tail.positions))
    tail_skip = fewest + bisect_left(range(fewest, most), True, key=includes_no_more)
    indexed_skip = skip - tail_skip

    indexed_page = SortedRecords(indexed.part, indexed.positions[indexed_skip:][:limit])
    tail_page = SortedRecords(tail.part, tail.positions[tail_skip:][:limit])
    return _merge_all(indexed_page, tail_page, order)[:limit]


def _merge_all(indexed: SortedRecords, tail: SortedRecords, order: ListOrder) -> Ints:
    """Merge two sorted lists; return the positions of all their records in a view."""
    indexed_count = len(indexed.positions)

    def indexed_key(index: int) -> SortKey:
        return indexed.key(index, order)

    # Records of the tail that come after all indexed ones stay at the end.
    insertions = np.full(len(tail.positions), indexed_count, np.int64)
    for tail_index in range(len(tail.positions)):
        tail_key = tail.key(tail_index, order)
        insertion = bisect_left(range(indexed_count), tail_key, key=indexed_key)
        if insertion == indexed_count:
            break
        insertions[tail_index] = insertion

    return _interleave(indexed.positions, tail.positions, insertions, tail_offset=indexed.part.span)


def _interleave(
    indexed_positions: NDArray[Any], tail_positions: NDArray[Any], insertions: NDArray[Any], *, tail_offset: int
) -> Ints:
    """Return the positions of the records of both parts as one list of positions in a view.

    `insertions` holds, for each record of the tail, the index in `indexed_positions` before which it is inserted. In a
    view, the positions of the tail begin at `tail_offset`, after those of the index.
    """
    return np.insert(indexed_positions.astype(np.int64), insertions, tail_positions + tail_offset)
