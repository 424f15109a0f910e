"""Merging the answers of the index and of the tail into one order."""

from bisect import bisect_left
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.catalog.part import CatalogPart, NameAndId, read_name_and_id
from touchstone.ranking.catalog.results import PartRanking
from touchstone.ranking.column_types import Floats, Ints
from touchstone.ranking.query.sort_order import PageRequest

SortKey: TypeAlias = tuple[bool, Any, int]
"""Whether a record has no value, its value, and its id."""


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
    """Merge two rankings, of the records in the index and of those in the tail, which are not indexed yet.

    Both rankings, and the result, are ordered by score decreasing, then folded name, then id. Returns the positions of
    the records, as those of a view, and their scores.
    """

    def indexed_name_and_id(index: int) -> NameAndId:
        return read_name_and_id(indexed, int(indexed_ranking.positions[index]))

    # Each record of the tail goes before the first indexed record that has the same score or a lower one.
    first_tied, after_tied = _find_ties(indexed_ranking.scores, tail_ranking.scores)
    insertions = first_tied.copy()

    # Where indexed records have the same score, its place among them is found by name and id.
    for i in np.flatnonzero(first_tied < after_tied).tolist():
        first, after = int(first_tied[i]), int(after_tied[i])
        name_and_id = read_name_and_id(tail, int(tail_ranking.positions[i]))
        insertions[i] = bisect_left(range(after), name_and_id, lo=first, key=indexed_name_and_id)

    positions = _interleave(indexed_ranking.positions, tail_ranking.positions, insertions, tail_offset=indexed.span)
    scores = np.insert(indexed_ranking.scores, insertions, tail_ranking.scores)
    return positions, scores


def _find_ties(descending_scores: Floats, scores: Floats) -> tuple[Ints, Ints]:
    """Return for each of some scores where the scores that equal it begin and end in a descending list."""
    ascending, negated_scores = -descending_scores, -scores  # because a binary search needs an ascending list
    first_tied = np.searchsorted(ascending, negated_scores, "left")
    after_tied = np.searchsorted(ascending, negated_scores, "right")
    return first_tied, after_tied


class ListPlace(NamedTuple):
    """A place in a sorted list: right behind the record with some value (None: not known) and id, or where it was."""

    value: Any
    id: int


class ListWindow(NamedTuple):
    """Which records of a list are asked for: how many are left out first, and how many follow at most (None: all).

    If `after` is given, the list begins right behind this place.
    """

    skip: int
    limit: int | None
    after: ListPlace | None = None


class ListOrder:
    """The order of a list: by the values of a column in one direction, records without a value last, ties by id."""

    def __init__(self, column: str, descending: bool) -> None:
        self._column = column
        self._descending = descending

    def place(self, part: CatalogPart, position: int) -> ListPlace:
        """Return the place of a record."""
        [id_] = part.ids(np.array([position])).tolist()
        return ListPlace(part.sort_value(self._column, position), id_)

    def key(self, part: CatalogPart, position: int) -> SortKey:
        """Return the sort key of a record, which can be compared with the keys of records in other parts."""
        return self._key_of(self.place(part, position))

    def _key_of(self, place: ListPlace) -> SortKey:
        """Return the sort key of the record at a place."""
        if place.value is None:
            return True, 0, place.id  # records without a value are compared by id only
        return False, Descending(place.value) if self._descending else place.value, place.id

    def request(self, part: CatalogPart, window: ListWindow) -> PageRequest:
        """Return the request for a window of the list of one part."""
        if window.after is None:
            return PageRequest(self._column, self._descending, window.skip, window.limit)

        last_key = self._key_of(window.after)
        return PageRequest(
            self._column,
            self._descending,
            window.skip,
            window.limit,
            is_before=lambda position: not last_key < self.key(part, position),
        )


class SortedRecords(NamedTuple):
    """The positions of some records of one part, in the order of a list."""

    part: CatalogPart
    positions: Ints

    def key(self, index: int, order: ListOrder) -> SortKey:
        """Return the sort key of the record at an index."""
        return order.key(self.part, int(self.positions[index]))


def merge_lists(indexed: SortedRecords, tail: SortedRecords, order: ListOrder, window: ListWindow) -> Ints:
    """Return a window of the list that two sorted lists make up together: of the index, and of the tail.

    Few records are compared with each other: a binary search finds how many records of the tail come before the window.
    Returns the positions of the records, as those of a view.
    """
    skip, limit = window.skip, window.limit
    if skip >= len(indexed.positions) + len(tail.positions):
        return np.empty(0, np.int64)

    def includes_no_more(tail_count: int) -> bool:
        """Return whether the first `skip` records of both lists include at most `tail_count` of the tail."""
        indexed_count = skip - tail_count
        if indexed_count == 0:
            return True
        return indexed.key(indexed_count - 1, order) < tail.key(tail_count, order)

    fewest, most = max(0, skip - len(indexed.positions)), min(skip, len(tail.positions))
    tail_skip = fewest + bisect_left(range(fewest, most), True, key=includes_no_more)
    indexed_page = SortedRecords(indexed.part, indexed.positions[skip - tail_skip :][:limit])
    tail_page = SortedRecords(tail.part, tail.positions[tail_skip:][:limit])
    return _merge_all(indexed_page, tail_page, order)[:limit]


def _merge_all(indexed: SortedRecords, tail: SortedRecords, order: ListOrder) -> Ints:
    """Merge two sorted lists; return the positions of the records, as those of a view."""
    indexed_indices = range(len(indexed.positions))
    insertions: list[int] = []
    for tail_index in range(len(tail.positions)):
        # Once a record of the tail goes behind all indexed records, so do the following ones.
        if insertions and insertions[-1] == len(indexed_indices):
            insertions.append(len(indexed_indices))
            continue

        tail_key = tail.key(tail_index, order)
        insertions.append(bisect_left(indexed_indices, tail_key, key=lambda index: indexed.key(index, order)))

    offset = indexed.part.span
    return _interleave(indexed.positions, tail.positions, np.array(insertions, np.int64), tail_offset=offset)


def _interleave(
    indexed_positions: NDArray[Any], tail_positions: NDArray[Any], insertions: NDArray[Any], *, tail_offset: int
) -> Ints:
    """Return the positions in two parts as one list of positions in a view.

    `insertions` gives for each record of the tail the index in `indexed_positions` before which it goes. In a view the
    positions of the tail begin at `tail_offset`, behind those of the index.
    """
    return np.insert(indexed_positions.astype(np.int64), insertions, tail_positions + tail_offset)
