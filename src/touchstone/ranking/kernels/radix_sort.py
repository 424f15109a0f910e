"""A stable radix sort of 32-bit keys, and sorting of equal keys by exact score."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.array_types import Floats
from touchstone.ranking.kernels import order_kernels
from touchstone.ranking.kernels.order_kernels import DIGIT_BITS, RADIX, KeyedPositions, RunScratch
from touchstone.ranking.kernels.two_threads import run_in_halves

_DIGIT_COUNT: Final = 3  # digits of 11 bits in a key of 32 bits


def sort_by_key(keys: NDArray[np.uint32], positions: NDArray[np.uint32]) -> KeyedPositions:
    """Sort keys and their positions stably by key.

    Both input arrays are overwritten, so the caller must not use them afterwards.
    """
    source = KeyedPositions(keys, positions)
    target = KeyedPositions(np.empty_like(keys), np.empty_like(positions))

    # Start with the least significant digit: each pass is stable and preserves the order of the lower digits.
    for digit in range(_DIGIT_COUNT):
        is_sorted_into_target = _sort_by_digit(DIGIT_BITS * digit, source, target)
        if is_sorted_into_target:
            source, target = target, source
    return source


def _sort_by_digit(shift: int, source: KeyedPositions, target: KeyedPositions) -> bool:
    """Copy keys and positions into the target, stably sorted by the digit that begins at bit `shift`.

    Two threads process one half of the keys each. If all keys have the same digit, nothing is copied and the result is
    False.
    """
    size = len(source.keys)
    digit_counts = np.zeros((2, RADIX), np.int64)  # one row for each half

    def count_half(start: int, end: int) -> None:
        half = 0 if start == 0 else 1
        order_kernels.count_digits(shift, source.keys[start:end], digit_counts[half])

    run_in_halves(size, count_half)
    if digit_counts.sum(axis=0).max(initial=0) == size:
        return False

    # The keys are placed digit by digit, and for each digit those of the first half before those of the second half, so
    # that the sort is stable. So the counts are added up in this order.
    ends = np.cumsum(digit_counts.T.ravel()).reshape(RADIX, 2).T
    starts = np.ascontiguousarray(ends - digit_counts)

    def scatter_half(start: int, end: int) -> None:
        half = 0 if start == 0 else 1
        half_of_source = KeyedPositions(source.keys[start:end], source.positions[start:end])
        order_kernels.scatter_by_digit(shift, half_of_source, target, starts[half])

    run_in_halves(size, scatter_half)
    return True


def sort_ties_by_score(keys: NDArray[np.uint32], positions: NDArray[np.uint32], scores: Floats) -> None:
    """Sort positions with equal keys stably by descending score, in place.

    Args:
        keys: the sorted keys.
        positions: the position of each key's record, modified in place.
        scores: the scores by position.
    """
    size = len(keys)

    def sort_range(start: int, end: int) -> None:
        _sort_runs(keys[start:end], positions[start:end], scores)

    # Let the second half begin with a new key, so that no run of equal keys is split.
    boundary = int(np.searchsorted(keys, keys[size // 2])) if size else 0
    run_in_halves(size, sort_range, boundary)


def _sort_runs(keys: NDArray[np.uint32], positions: NDArray[np.uint32], scores: Floats) -> None:
    """Sort each run of positions with equal keys stably by descending score, in place."""
    scratch_size = len(keys) + 2
    scratch = RunScratch(
        unsorted_runs=np.empty(scratch_size, np.int64),
        positions=np.empty(scratch_size, np.uint32),
        scores=np.empty(scratch_size),
    )
    unsorted_count = order_kernels.sort_runs(keys, positions, scores, scratch)

    # The kernel leaves long runs with many distinct scores to NumPy.
    unsorted_runs = scratch.unsorted_runs[: 2 * unsorted_count].reshape(-1, 2)
    for start, end in unsorted_runs:
        run = positions[start:end]
        run[:] = run[np.argsort(-scores[run], kind="stable")]
