"""Long work done in two halves at the same time: compiled kernels let other threads run."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.kernels import order_kernels

LONG: Final = 100_000  # shorter work is finished before a second thread has started
_second_thread: Final = ThreadPoolExecutor(1, "second-half")


def run_in_halves(size: int, work: Callable[[int, int], None], border: int | None = None) -> None:
    """Call `work(start, end)` for the items before `border`, by default the middle, and for those from it on."""
    middle = size // 2 if border is None else border
    if size < LONG or not 0 < middle < size:
        work(0, size)
        return

    second_half = _second_thread.submit(work, middle, size)
    work(0, middle)
    second_half.result()


def take_values(values: NDArray[Any], positions: NDArray[np.uint32]) -> NDArray[Any]:
    """Return the values at some positions."""
    out = np.empty(len(positions), values.dtype)

    def take_part(start: int, end: int) -> None:
        order_kernels.take(values, positions[start:end], out[start:end])

    run_in_halves(len(positions), take_part)
    return out
