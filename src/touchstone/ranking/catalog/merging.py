"""Putting the answers of the index and of the fresh records beside it together, in one order."""

from bisect import bisect_left
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from touchstone.core.text import fold
from touchstone.ranking.catalog.part import Part, Window
from touchstone.ranking.criteria import Floats, Ints


class Reversed:
    """A value that sorts the other way round."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __lt__(self, other: "Reversed") -> bool:
        return bool(other.value < self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reversed) and bool(self.value == other.value)

    __hash__ = None  # type: ignore[assignment]


def interleave(main: NDArray[Any], fresh: NDArray[Any], places: NDArray[Any], offset: int) -> Ints:
    """Positions of both parts in order: each fresh one before the main one at its place; fresh positions are moved."""
    return np.insert(main.astype(np.int64), places, fresh + offset)


def merged_windows(main: Part, first: Window, fresh: Part, second: Window) -> tuple[Ints, Floats]:
    """Two rankings as one: by score decreasing, then folded name, then id."""
    places = np.searchsorted(-first.scores, -second.scores, "left")
    ends = np.searchsorted(-first.scores, -second.scores, "right")
    for at in np.flatnonzero(places < ends).tolist():
        key = _name_and_id(fresh, int(second.positions[at]))
        places[at] = bisect_left(
            range(int(ends[at])), key, int(places[at]), key=lambda k: _name_and_id(main, int(first.positions[k]))
        )
    positions = interleave(first.positions, second.positions, places, main.span)
    return positions, np.insert(first.scores, places, second.scores)


def _name_and_id(part: Part, position: int) -> tuple[str, int]:
    at = np.array([position])
    [name] = part.texts("dataset_name", at)
    return fold(name or ""), int(part.ids(at)[0])


def merged_order(main: Part, first: Ints, fresh: Part, second: Ints, key: Callable[[Part, int], Any]) -> Ints:
    """Two lists that are sorted by a key as one."""
    listed = first.tolist()
    wanted = (key(fresh, position) for position in second.tolist())
    places = np.array([bisect_left(listed, one, key=lambda p: key(main, p)) for one in wanted], np.int64)
    return interleave(first, second, places, main.span)


def sorting_key(column: str, descending: bool) -> Callable[[Part, int], tuple[bool, Any, int]]:
    """What records are compared by across parts: missing last, the value in its direction, id ascending."""

    def key(part: Part, position: int) -> tuple[bool, Any, int]:
        value = part.sort_key(column, position)
        id_ = int(part.ids(np.array([position]))[0])
        if value is None:
            return True, 0, id_
        return False, Reversed(value) if descending else value, id_

    return key
