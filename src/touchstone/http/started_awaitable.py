"""An awaitable that starts to run immediately, and whose caller knows whether it must wait."""

import types
from collections.abc import Awaitable, Generator
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class StartedAwaitable(Generic[T]):
    """An awaitable that runs immediately until it ends or has to wait for something.

    Most send and receive calls end without waiting, so work that is only needed while waiting, such as starting a
    timer, can be skipped for them.

    Attributes:
        is_done: whether the awaitable ended without having to wait.
        result: the result of the awaitable, if it is done.
    """

    __slots__ = ("_first_future", "_steps", "is_done", "result")

    def __init__(self, awaitable: Awaitable[T]) -> None:
        """Run the awaitable until it ends or has to wait for something. Its exceptions are not caught."""
        self.is_done = False
        self.result: T
        self._steps = awaitable.__await__()

        # An event loop runs a task in the same way. Each step ends with a future that the task waits for.
        try:
            self._first_future = next(self._steps)
        except StopIteration as end:
            self.is_done = True
            self.result = end.value

    @types.coroutine
    def wait(self) -> Generator[Any, Any, T]:
        """Wait until the awaitable has ended, and return its result."""
        if self.is_done:
            return self.result

        try:
            yield self._first_future
            return (yield from self._steps)
        finally:
            self._steps.close()
