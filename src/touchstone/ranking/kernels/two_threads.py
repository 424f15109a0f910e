"""Long work done by two threads at the same time: compiled kernels let other threads run."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.kernels import order_kernels

MIN_ITEMS_FOR_TWO_THREADS: Final = 100_000  # shorter work is finished before a second thread has started
_second_thread: Final = ThreadPoolExecutor(1, "second-half")


def run_in_halves(item_count: int, process_range: Callable[[int, int], None], boundary: int | None = None) -> None:
    """Process `item_count` items in two threads, each of which calls `process_range(start, end)` for its half.

    The second half begins at `boundary`, by default in the middle. Few items are processed in one call by this thread.
    If the second thread is busy with other work, this thread processes both halves.
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
    if second_half.cancel():
        process_range(boundary, item_count)
    else:
        second_half.result()


def run_in_chunks(chunk_count: int, process_chunk: Callable[[int, int], None]) -> None:
    """Process some chunks in two threads, each of which takes the next chunk whenever it has finished one.

    So both are busy until the end even if some chunks take much longer than others. `process_chunk(thread, chunk)` is
    told which of the two threads, 0 or 1, processes the chunk. If the second thread is busy with other work, this
    thread processes all chunks.
    """
    if chunk_count == 1:
        process_chunk(0, 0)
        return

    chunks: SimpleQueue[int] = SimpleQueue()
    for chunk in range(chunk_count):
        chunks.put(chunk)

    def process_chunks(thread: int) -> None:
        with suppress(Empty):
            while True:
                process_chunk(thread, chunks.get_nowait())

    second_share = _second_thread.submit(process_chunks, 1)
    process_chunks(0)
    if not second_share.cancel():
        second_share.result()


def take_values(values: NDArray[Any], positions: NDArray[np.uint32]) -> NDArray[Any]:
    """Return `values[positions]`, gathered by two threads if there are many positions."""
    taken_values = np.empty(len(positions), values.dtype)

    def take_range(start: int, end: int) -> None:
        order_kernels.take(values, positions[start:end], taken_values[start:end])

    run_in_halves(len(positions), take_range)
    return taken_values
