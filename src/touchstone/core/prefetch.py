"""Iteration over values that other threads prepare in advance."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Value = TypeVar("Value")


def prefetch(values: Iterable[Value]) -> Iterator[Value]:
    """Yield values, and produce each next value in a thread while the caller works with the current one.

    No value may be None. Exceptions of the producer are raised in the caller.
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
    """Yield `compute(item)` for each item, in the order of the items, while threads compute the next values.

    There are at most `thread_count + 1` values that the caller has not taken yet. Exceptions are raised in the caller.
    """
    pending_values: deque[Future[Value]] = deque()
    with ThreadPoolExecutor(thread_count, "map-ahead") as executor:
        try:
            for item in items:
                pending_values.append(executor.submit(compute, item))
                if len(pending_values) > thread_count:
                    yield pending_values.popleft().result()

            while pending_values:
                yield pending_values.popleft().result()
        finally:
            # If the caller gives up, values that nobody has begun to compute are not needed.
            executor.shutdown(wait=True, cancel_futures=True)
