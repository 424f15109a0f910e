"""An awaitable that is run at once, so that its caller learns whether there is anything to wait for."""

import types
from collections.abc import Awaitable, Generator
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class StartedAwaitable(Generic[T]):
    """An awaitable that has run until it ended or had to wait for something.

    Most sends and receives need not wait. With this class, work that only matters during a wait, such as starting a
    timer, can be left out for them.

    Attributes:
        is_done: whether the awaitable ended without having to wait.
        result: its result, if it is done.
    """

    __slots__ = ("_first_future", "_steps", "is_done", "result")

    def __init__(self, awaitable: Awaitable[T]) -> None:
        """Run the awaitable until it ends or has to wait for something, and raise any exception that it raises."""
        self.is_done = False
        self.result: T
        self._steps = awaitable.__await__()

        # This is how an event loop runs a task: each step ends with a future that the task waits for.
        try:
            self._first_future = next(self._steps)
        except StopIteration as end:
            self.is_done = True
            self.result = end.value

    @types.coroutine
    def wait(self) -> Generator[Any, Any, T]:
        """Return the result of the awaitable, once it has ended."""
        if self.is_done:
            return self.result

        try:
            yield self._first_future
            return (yield from self._steps)
        finally:
            self._steps.close()
