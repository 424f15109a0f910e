"""A stable radix sort of 32-bit keys, and the exact order of records whose keys are equal."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.criteria import Floats
from touchstone.ranking.kernels import order_kernels
from touchstone.ranking.kernels.order_kernels import DIGIT_BITS, RADIX, KeyedPositions, RunSpace
from touchstone.ranking.kernels.two_threads import run_in_halves

_DIGITS: Final = 3  # of 11 bits each


def sort_by_key(keys: NDArray[np.uint32], positions: NDArray[np.uint32]) -> KeyedPositions:
    """Return the keys in ascending order with their positions; equal keys keep their order.

    Both arrays are used as scratch space and hold nothing of use afterwards.
    """
    source = KeyedPositions(keys, positions)
    target = KeyedPositions(np.empty_like(keys), np.empty_like(positions))
    for digit in range(_DIGITS):
        if _sort_by_digit(DIGIT_BITS * digit, source, target):
            source, target = target, source
    return source


def _sort_by_digit(shift: int, source: KeyedPositions, target: KeyedPositions) -> bool:
    """Copy keys and positions to the target in the order of one digit, both halves at the same time.

    Return False, and copy nothing, if all keys have the same digit.
    """
    size = len(source.keys)
    counts = np.zeros((2, RADIX), np.int64)  # by half and digit

    def count(start: int, end: int) -> None:
        order_kernels.count_digits(shift, source.keys[start:end], counts[int(start > 0)])

    run_in_halves(size, count)
    if counts.sum(axis=0).max(initial=0) == size:
        return False

    # Within each digit the first half comes before the second, which keeps the sort stable.
    ends = np.cumsum(counts.T.ravel()).reshape(RADIX, 2).T
    starts = np.ascontiguousarray(ends - counts)

    def scatter(start: int, end: int) -> None:
        half = KeyedPositions(source.keys[start:end], source.positions[start:end])
        order_kernels.scatter_by_digit(shift, half, target, starts[int(start > 0)])

    run_in_halves(size, scatter)
    return True


def sort_ties_by_score(keys: NDArray[np.uint32], positions: NDArray[np.uint32], scores: Floats) -> None:
    """Sort positions with equal keys, which lie together, by score decreasing; equal scores keep their order."""
    size = len(keys)

    def sort_part(start: int, end: int) -> None:
        space_size = end - start + 2
        space = RunSpace(np.empty(space_size, np.int64), np.empty(space_size, np.uint32), np.empty(space_size))
        unsorted = order_kernels.sort_runs(keys[start:end], positions[start:end], scores, space)
        for first, last in (start + space.unsorted[: 2 * unsorted]).reshape(-1, 2):
            run = positions[first:last]
            run[:] = run[np.argsort(-scores[run], kind="stable")]

    # The halves meet where a key begins, so that no run is cut in two.
    border = int(np.searchsorted(keys, keys[size // 2])) if size else 0
    run_in_halves(size, sort_part, border)
