"""Long work done in two halves at the same time: compiled kernels let other threads run."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.kernels import order_kernels

MIN_ITEMS_FOR_TWO_THREADS: Final = 100_000  # shorter work is finished before a second thread has started
_second_thread: Final = ThreadPoolExecutor(1, "second-half")


def run_in_halves(item_count: int, process_range: Callable[[int, int], None], boundary: int | None = None) -> None:
    """Process `item_count` items in two threads, each of which calls `process_range(start, end)` for its half.

    The second half begins at `boundary`, by default in the middle. Few items are processed in one call by this thread.
    """
    if boundary is None:
        boundary = item_count // 2

    is_short = item_count < MIN_ITEMS_FOR_TWO_THREADS
    has_empty_half = boundary <= 0 or boundary >= item_count
    if is_short or has_empty_half:
        process_range(0, item_count)
        return

    second_half = _second_thread.submit(process_range, boundary, item_count)
    process_range(0, boundary)
    second_half.result()


def take_values(values: NDArray[Any], positions: NDArray[np.uint32]) -> NDArray[Any]:
    """Return `values[positions]`, gathered by two threads if there are many positions."""
    taken_values = np.empty(len(positions), values.dtype)

    def take_range(start: int, end: int) -> None:
        order_kernels.take(values, positions[start:end], taken_values[start:end])

    run_in_halves(len(positions), take_range)
    return taken_values
