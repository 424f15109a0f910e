"""A pool of threads for fitting models in parallel.

Each fit uses a single thread, because the order in which several threads add numbers would change the model. Results
are returned in the order of the work items, so they do not depend on the number of threads.
"""

import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from joblib import parallel_config
from threadpoolctl import threadpool_limits

Item = TypeVar("Item")
Result = TypeVar("Result")


class FittingPool:
    """A pool of threads that fit one model each at a time."""

    def __init__(self, executor: ThreadPoolExecutor, thread_count: int) -> None:
        self.thread_count = thread_count
        self._executor = executor

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Call a function with every item in parallel, and yield the results in the order of the items."""
        return self._executor.map(function, items)

    @contextmanager
    def shared_with_joblib(self) -> Iterator[None]:
        """Let scikit-learn use as many threads as this pool has, for example to encode columns in parallel.

        Use this for work on the calling thread while the pool is idle.
        """
        with parallel_config("threading", n_jobs=self.thread_count):
            yield


@contextmanager
def open_fitting_pool(thread_count: int | None = None) -> Iterator[FittingPool]:
    """Open a pool with the given number of threads, or with one thread per usable core by default.

    Within the block, numeric libraries are also limited to one thread on the calling thread. At its end, the warning
    filters are restored. If it ends with an exception, work that has not started is cancelled.
    """
    count = thread_count or usable_core_count()
    # OpenMP has a separate limit per thread, so each thread of the pool sets its own.
    executor = ThreadPoolExecutor(count, thread_name_prefix="fitting", initializer=threadpool_limits, initargs=(1,))
    try:
        # scikit-learn replaces the warning filters for a while, and then restores them. If several threads do so at the
        # same time, the filters of one thread may be left behind.
        with threadpool_limits(1), warnings.catch_warnings():
            yield FittingPool(executor, count)
    finally:
        executor.shutdown(cancel_futures=True)


def usable_core_count() -> int:
    """Return the number of cores that this process may use, which `OMP_NUM_THREADS` can lower."""
    configured_count = os.environ.get("OMP_NUM_THREADS", "")
    available_count = len(os.sched_getaffinity(0))
    return min(int(configured_count), available_count) if configured_count.isdigit() else available_count
