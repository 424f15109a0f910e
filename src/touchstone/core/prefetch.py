"""Iteration over values that are computed in advance by other threads."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Value = TypeVar("Value")


def prefetch(values: Iterable[Value]) -> Iterator[Value]:
    """Yield values, and compute the next value in a thread while the caller processes the current one.

    Values must not be None. Exceptions in the thread are raised in the caller.
    """
    iterator = iter(values)

    with ThreadPoolExecutor(1, "prefetch") as executor:
        pending_value = executor.submit(next, iterator, None)
        while True:
            value = pending_value.result()
            if value is None:
                return

            pending_value = executor.submit(next, iterator, None)
            yield value


def map_ahead(compute: Callable[[Item], Value], items: Iterable[Item], thread_count: int) -> Iterator[Value]:
    """Yield `compute(item)` for each item in order, while threads already compute the values of the next items.

    While the caller uses a value, at most `thread_count` further values are computed or waiting. An exception in a
    thread is raised in the caller when its value is due.
    """
    futures: deque[Future[Value]] = deque()
    with ThreadPoolExecutor(thread_count, "map-ahead") as executor:
        try:
            for item in items:
                futures.append(executor.submit(compute, item))
                if len(futures) > thread_count:
                    yield futures.popleft().result()

            while futures:
                yield futures.popleft().result()
        finally:
            # If the caller stops early, pending computations are not needed.
            executor.shutdown(wait=True, cancel_futures=True)
