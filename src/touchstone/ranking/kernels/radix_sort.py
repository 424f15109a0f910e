"""A stable radix sort of 32-bit keys, and the exact order of records whose keys are equal."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.column_types import Floats
from touchstone.ranking.kernels import order_kernels
from touchstone.ranking.kernels.order_kernels import DIGIT_BITS, RADIX, KeyedPositions, RunScratch
from touchstone.ranking.kernels.two_threads import run_in_halves

_DIGIT_COUNT: Final = 3  # of 11 bits each


def sort_by_key(keys: NDArray[np.uint32], positions: NDArray[np.uint32]) -> KeyedPositions:
    """Return the keys in ascending order, each with its position; equal keys keep their order.

    Both arrays are used as scratch space, so the caller must not read them afterwards.
    """
    source = KeyedPositions(keys, positions)
    target = KeyedPositions(np.empty_like(keys), np.empty_like(positions))

    # The least significant digit comes first: each pass is stable, so it keeps the order of the digits before it.
    for digit in range(_DIGIT_COUNT):
        if _sort_by_digit(DIGIT_BITS * digit, source, target):
            source, target = target, source
    return source


def _sort_by_digit(shift: int, source: KeyedPositions, target: KeyedPositions) -> bool:
    """Copy keys and positions into the target, sorted by the digit that begins at bit `shift` of the keys.

    The sort is stable, and two threads share the work. If all keys have the same digit, nothing is copied and the
    result is False.
    """
    size = len(source.keys)
    digit_counts = np.zeros((2, RADIX), np.int64)  # one row for each half

    def count_half(start: int, end: int) -> None:
        half = int(start > 0)
        order_kernels.count_digits(shift, source.keys[start:end], digit_counts[half])

    run_in_halves(size, count_half)
    if digit_counts.sum(axis=0).max(initial=0) == size:
        return False

    # Within each digit the keys of the first half go before those of the second, which keeps the sort stable.
    ends = np.cumsum(digit_counts.T.ravel()).reshape(RADIX, 2).T
    starts = np.ascontiguousarray(ends - digit_counts)

    def scatter_half(start: int, end: int) -> None:
        half = int(start > 0)
        half_of_source = KeyedPositions(source.keys[start:end], source.positions[start:end])
        order_kernels.scatter_by_digit(shift, half_of_source, target, starts[half])

    run_in_halves(size, scatter_half)
    return True


def sort_ties_by_score(keys: NDArray[np.uint32], positions: NDArray[np.uint32], scores: Floats) -> None:
    """Sort, in place, each run of positions with equal keys by score decreasing; equal scores keep their order.

    `keys` is sorted already, so equal keys lie together. `scores` is indexed by position.
    """
    size = len(keys)

    def sort_range(start: int, end: int) -> None:
        scratch_size = end - start + 2
        scratch = RunScratch(
            unsorted_runs=np.empty(scratch_size, np.int64),
            positions=np.empty(scratch_size, np.uint32),
            scores=np.empty(scratch_size),
        )
        unsorted_count = order_kernels.sort_runs(keys[start:end], positions[start:end], scores, scratch)

        # What the kernel leaves unsorted, long runs with many distinct scores, is sorted by NumPy.
        unsorted_runs = (start + scratch.unsorted_runs[: 2 * unsorted_count]).reshape(-1, 2)
        for run_start, run_end in unsorted_runs:
            run = positions[run_start:run_end]
            run[:] = run[np.argsort(-scores[run], kind="stable")]

    # The halves meet where a new key begins, so that no run is cut in two.
    boundary = int(np.searchsorted(keys, keys[size // 2])) if size else 0
    run_in_halves(size, sort_range, boundary)
