"""Threads in which models are fitted at the same time.

Each fit uses a single thread, because the order in which several threads add numbers up would change the model. The
results come in the order of the work, so that they are the same for any number of threads.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from joblib import parallel_config
from threadpoolctl import threadpool_limits

Item = TypeVar("Item")
Result = TypeVar("Result")


class FittingPool:
    """A number of threads, each of which fits one model at a time."""

    def __init__(self, executor: ThreadPoolExecutor, thread_count: int) -> None:
        self.thread_count = thread_count
        self._executor = executor

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Call a function with every item, and yield the results in the order of the items."""
        return self._executor.map(function, items)

    @contextmanager
    def shared_with_joblib(self) -> Iterator[None]:
        """Let scikit-learn use as many threads as this pool has, for example to encode kinds of columns at once.

        This is for work on the calling thread, while the pool has nothing to do.
        """
        with parallel_config("threading", n_jobs=self.thread_count):
            yield


@contextmanager
def open_fitting_pool(thread_count: int | None = None) -> Iterator[FittingPool]:
    """Open a pool with a thread for every core that this process may use, or with a given number of threads.

    In its block the calling thread uses a single thread, too. If the block ends with an exception, work that has not
    begun is dropped.
    """
    count = thread_count or usable_core_count()
    # OpenMP keeps its limit for every thread apart, so each thread sets its own.
    executor = ThreadPoolExecutor(count, thread_name_prefix="fitting", initializer=threadpool_limits, initargs=(1,))
    try:
        with threadpool_limits(1):
            yield FittingPool(executor, count)
    finally:
        executor.shutdown(cancel_futures=True)


def usable_core_count() -> int:
    """Return the number of cores that this process may use: `OMP_NUM_THREADS` if it is set, or else all of them."""
    configured_count = os.environ.get("OMP_NUM_THREADS", "")
    available_count = len(os.sched_getaffinity(0))
    return min(int(configured_count), available_count) if configured_count.isdigit() else available_count
