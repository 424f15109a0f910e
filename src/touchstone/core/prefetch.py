"""Iteration over values that another thread prepares in advance."""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

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
