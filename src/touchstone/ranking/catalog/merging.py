"""Merging the answers of the index and of the tail into one order."""

from bisect import bisect_left
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.catalog.part import CatalogPart, NameAndId, read_name_and_id
from touchstone.ranking.catalog.results import PartRanking
from touchstone.ranking.column_types import Floats, Ints

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


class ListOrder:
    """The order of a list: by the values of a column in one direction, records without a value last, ties by id."""

    def __init__(self, column: str, descending: bool) -> None:
        self._column = column
        self._descending = descending

    def key(self, part: CatalogPart, position: int) -> SortKey:
        """Return the sort key of a record, which can be compared with the keys of records in other parts."""
        value = part.sort_value(self._column, position)
        [id_] = part.ids(np.array([position])).tolist()

        is_missing = value is None
        if is_missing:
            value = 0  # records without a value are compared by id only
        elif self._descending:
            value = Descending(value)
        return is_missing, value, id_


def merge_sorted(
    indexed: CatalogPart, indexed_positions: Ints, tail: CatalogPart, tail_positions: Ints, *, order: ListOrder
) -> Ints:
    """Merge two sorted lists, of the records in the index and of those in the tail, which are not indexed yet.

    Both lists, and the result, are in the same order. Returns the positions of the records, as those of a view.
    """

    def indexed_key(position: int) -> SortKey:
        return order.key(indexed, position)

    # The tail is short, so a place is searched for each of its records.
    indexed_list = indexed_positions.tolist()
    insertions = []
    for tail_position in tail_positions.tolist():
        tail_key = order.key(tail, tail_position)
        insertions.append(bisect_left(indexed_list, tail_key, key=indexed_key))

    return _interleave(indexed_positions, tail_positions, np.array(insertions, np.int64), tail_offset=indexed.span)


def _interleave(
    indexed_positions: NDArray[Any], tail_positions: NDArray[Any], insertions: NDArray[Any], *, tail_offset: int
) -> Ints:
    """Return the positions in two parts as one list of positions in a view.

    `insertions` gives for each record of the tail the index in `indexed_positions` before which it goes. In a view the
    positions of the tail begin at `tail_offset`, behind those of the index.
    """
    return np.insert(indexed_positions.astype(np.int64), insertions, tail_positions + tail_offset)
