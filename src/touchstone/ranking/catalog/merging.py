"""Merging the answers of the index and of the tail into one order."""

from bisect import bisect_left
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from touchstone.core.text import fold
from touchstone.ranking.catalog.part import CatalogPart, PartRanking
from touchstone.ranking.column_types import Floats, Ints

SortKey: TypeAlias = tuple[bool, Any, int]


class Descending:
    """A value that sorts in the opposite order."""

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
    """Return two rankings as one, by score decreasing, then folded name, then id."""
    first = np.searchsorted(-indexed_ranking.scores, -tail_ranking.scores, "left")
    last = np.searchsorted(-indexed_ranking.scores, -tail_ranking.scores, "right")
    insertions = first.copy()

    # Records of the tail whose score occurs in the index are placed by name and id among those of the same score.
    for at in np.flatnonzero(first < last).tolist():
        insertions[at] = bisect_left(
            range(int(last[at])),
            _name_and_id(tail, int(tail_ranking.positions[at])),
            int(first[at]),
            key=lambda k: _name_and_id(indexed, int(indexed_ranking.positions[k])),
        )

    positions = _interleave(indexed_ranking.positions, tail_ranking.positions, insertions, indexed.span)
    return positions, np.insert(indexed_ranking.scores, insertions, tail_ranking.scores)


def _name_and_id(part: CatalogPart, position: int) -> tuple[str, int]:
    at = np.array([position])
    [name] = part.texts("dataset_name", at)
    return fold(name or ""), int(part.ids(at)[0])


def merge_sorted(
    indexed: CatalogPart, indexed_positions: Ints, tail: CatalogPart, tail_positions: Ints, *, order: "ListOrder"
) -> Ints:
    """Return two lists that are sorted by the same order as one."""
    listed = indexed_positions.tolist()
    insertions = [
        bisect_left(listed, order.key(tail, position), key=lambda listed_position: order.key(indexed, listed_position))
        for position in tail_positions.tolist()
    ]
    return _interleave(indexed_positions, tail_positions, np.array(insertions, np.int64), indexed.span)


class ListOrder:
    """The order of a list: records without a value last, then the value in its direction, then the id ascending."""

    def __init__(self, column: str, descending: bool) -> None:
        self._column = column
        self._descending = descending

    def key(self, part: CatalogPart, position: int) -> SortKey:
        """Return what a record is compared by, across parts."""
        value = part.sort_value(self._column, position)
        id_ = int(part.ids(np.array([position]))[0])
        if value is None:
            return True, 0, id_
        return False, Descending(value) if self._descending else value, id_


def _interleave(indexed: NDArray[Any], tail: NDArray[Any], insertions: NDArray[Any], span: int) -> Ints:
    """Return both lists as positions of a view; `insertions` says before which of the index each of the tail goes."""
    return np.insert(indexed.astype(np.int64), insertions, tail + span)
