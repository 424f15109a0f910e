"""The order of answers: sort keys, and a window of the smallest without sorting the rest."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from touchstone.core.attributes import FLAGS, NUMBERS
from touchstone.ranking.columns.segment import INTEGER_COLUMNS, TEXT_COLUMNS, Segment
from touchstone.ranking.criteria import COMPOSITES, Floats, Ints
from touchstone.ranking.kernels import search_kernels
from touchstone.ranking.kernels.leaf_kernels import DIGIT, RADIX
from touchstone.ranking.kernels.search_kernels import Keyed, Repairs
from touchstone.ranking.kernels.two_threads import in_halves

_TEXTS: Final = tuple(name for name in TEXT_COLUMNS if name != "visibility")
_ALIASES: Final = {"name": "dataset_name", "num_citations": "citations"}
_OWN_NAMES: Final = (*_TEXTS, "dataset_id", *NUMBERS, *FLAGS, *COMPOSITES, *INTEGER_COLUMNS)
SORT_KEYS: Final[Mapping[str, str]] = MappingProxyType({name: name for name in _OWN_NAMES} | _ALIASES)
"""Every name that a list may be sorted by, and the column that it means."""


def sort_values(segment: Segment, column: str) -> tuple[NDArray[Any], ...]:
    """What a column is sorted by, most significant first, ascending; NaN is a record without the value."""
    if column == "dataset_id":
        return segment.columns["uuid_high"], segment.columns["uuid_low"]
    if column in COMPOSITES:
        return (segment.criteria[column],)
    values = segment.columns[column]
    if column in TEXT_COLUMNS:
        values = segment.vocabularies[column].ranks[values]
    if column in TEXT_COLUMNS or column in FLAGS:
        return (np.where(values < 0, np.nan, values),)
    return (values,)


def ascending(values: NDArray[Any], descending: bool) -> NDArray[Any]:
    """The same order as an ascending one without NaN: missing values last, whichever way the rest is sorted."""
    if values.dtype.kind != "f":
        return ~values if descending else values
    return np.where(np.isnan(values), np.inf, -values if descending else values)


def smallest(keys: Sequence[NDArray[Any]], skip: int, limit: int | None) -> Ints:
    """The indices of the `skip`-th to the `skip + limit`-th smallest by `keys`, most significant first.

    Only what can reach the window is sorted: a selection on the first key leaves out the rest, ties kept.
    """
    first, size = keys[0], len(keys[0])
    end = size if limit is None else min(size, skip + limit)
    if end <= skip:
        return np.empty(0, np.int64)
    candidates = np.arange(size)
    if end < size // 2:
        candidates = np.flatnonzero(first <= np.partition(first, end - 1)[end - 1])
    order = np.lexsort([key[candidates] for key in reversed(keys)])
    return candidates[order[skip:end]]


def stable_order(keys: NDArray[np.uint32], places: NDArray[np.uint32]) -> Keyed:
    """Keys in ascending order with the places that came with them, equal keys in the order they had.

    A radix sort, which uses up both arrays.
    """
    sorted_, spare = Keyed(keys, places), Keyed(np.empty_like(keys), np.empty_like(places))
    for digit in range(3):
        if _pass(DIGIT * digit, sorted_, spare):
            sorted_, spare = spare, sorted_
    return sorted_


def _pass(shift: int, source: Keyed, target: Keyed) -> bool:
    """One stable pass, both halves at the same time; false when all keys share the digit and nothing was moved."""
    size, counts = len(source.keys), np.zeros((2, RADIX), np.int64)

    def count(start: int, end: int) -> None:
        search_kernels.count_digits(shift, source.keys[start:end], counts[int(start > 0)])

    def deal(start: int, end: int) -> None:
        part = Keyed(source.keys[start:end], source.places[start:end])
        search_kernels.deal_digits(shift, part, target, starts[int(start > 0)])

    in_halves(size, count)
    if counts.sum(axis=0).max(initial=0) == size:
        return False
    # Of each digit the first half's come first: the order that equal ones had stays.
    ends = np.cumsum(counts.T.ravel()).reshape(RADIX, 2).T
    starts = np.ascontiguousarray(ends - counts)
    in_halves(size, deal)
    return True


def exactly(keys: NDArray[np.uint32], places: NDArray[np.uint32], scores: Floats) -> None:
    """Put records of equal keys, which come together, in the order of their scores; equal ones stay as they are."""
    size = len(keys)

    def repair(start: int, end: int) -> None:
        part, room = slice(start, end), end - start + 2
        spare = Repairs(np.empty(room, np.int64), np.empty(room, np.uint32), np.empty(room))
        left = search_kernels.repair(keys[part], places[part], scores, spare)
        for first, last in (start + spare.left[: 2 * left]).reshape(-1, 2):
            run = places[first:last]
            run[:] = run[np.argsort(-scores[run], kind="stable")]

    # The halves meet between two keys.
    in_halves(size, repair, int(np.searchsorted(keys, keys[size // 2])) if size else 0)
