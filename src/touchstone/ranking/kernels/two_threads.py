"""Running of kernels in two threads, which work in parallel because compiled kernels release the GIL."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.kernels import order_kernels

MIN_ITEMS_FOR_TWO_THREADS: Final = 100_000  # fewer items are processed before a second thread would have started
_second_thread: Final = ThreadPoolExecutor(1, "second-half")


def run_in_halves(item_count: int, process_range: Callable[[int, int], None], boundary: int | None = None) -> None:
    """Process `item_count` items in two threads.

    Few items are processed by this thread in a single call. If the second thread is busy with other work, this thread
    processes both halves.

    Args:
        item_count: the number of items.
        process_range: a function that processes the items from a start index to before an end index.
        boundary: the index of the first item of the second half, by default in the middle.
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
    """Process chunks in two threads, each of which takes the next chunk when it has finished one.

    Both threads are busy until the end even if some chunks take much longer than others. If the second thread is busy
    with other work, this thread processes all chunks.

    Args:
        chunk_count: the number of chunks.
        process_chunk: a function that is called with the number of the thread (0 or 1) and the number of the chunk.
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
    """Return `values[positions]`, using two threads if there are many positions."""
    taken_values = np.empty(len(positions), values.dtype)

    def take_range(start: int, end: int) -> None:
        order_kernels.take(values, positions[start:end], taken_values[start:end])

    run_in_halves(len(positions), take_range)
    return taken_values
