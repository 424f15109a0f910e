"""Both halves of long work at the same time: compiled kernels let other threads run."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.kernels import search_kernels

LONG: Final = 100_000  # shorter work is done before a second thread has begun
_other: Final = ThreadPoolExecutor(1, "second-half")


def in_halves(size: int, work: Callable[[int, int], None], border: int | None = None) -> None:
    """Do the work from 0 to `border` (by default the middle) and from there to `size`."""
    middle = size // 2 if border is None else border
    if size < LONG or not 0 < middle < size:
        work(0, size)
        return
    second = _other.submit(work, middle, size)
    work(0, middle)
    second.result()


def taken(values: NDArray[Any], positions: NDArray[np.uint32]) -> NDArray[Any]:
    """The values at these positions."""
    out = np.empty(len(positions), values.dtype)
    in_halves(len(positions), lambda start, end: search_kernels.take(values, positions[start:end], out[start:end]))
    return out
