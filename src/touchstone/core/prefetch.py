"""Iteration over values that another thread prepares in advance."""

from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Value = TypeVar("Value")


def prefetch(values: Iterable[Value]) -> Iterator[Value]:
    """Yield values, the next of which is already produced in a thread while the caller works with the last one.

    An exception of the producer is raised in the caller.
    """
    iterator = iter(values)
    end = object()

    with ThreadPoolExecutor(1, "prefetch") as executor:
        next_value: Future[Value | object] = executor.submit(next, iterator, end)
        while (value := next_value.result()) is not end:
            next_value = executor.submit(next, iterator, end)
            yield value  # type: ignore[misc]
