"""Receipt of request bodies: within a size, at a minimum rate, and (but for uploads) whole before work begins."""

import asyncio
import time
import types
from collections import Counter
from collections.abc import Awaitable, Generator, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeVar

from starlette.types import Message, Receive, Scope

from touchstone.core.client_address import address_block
from touchstone.core.errors import BadRequest, Overloaded, ReceiveTimeout, TooLarge
from touchstone.core.settings import Settings

# The rate is looked at over this long: shorter, and an ordinary pause of a network would cut a client off.
RATE_SECONDS: Final = 4.0
# Bodies up to this size are never refused for want of memory; all connections together can hold few of them.
SMALL_BYTES: Final = 64 * 1024
_CLOSE: Final = {"Connection": "close"}
T = TypeVar("T")


class LimitedBody:
    """A receive channel with a size limit, a minimum rate and, if given, a deadline for the whole body.

    Only the time that is spent waiting for the client counts: a reader may take the parts as slowly as it likes.
    """

    def __init__(
        self, receive: Receive, *, max_bytes: int, minimum_rate: int, deadline_seconds: float = float("inf")
    ) -> None:
        self.receive = receive
        self.max_bytes = max_bytes
        self.minimum_rate = minimum_rate
        self.received_bytes = 0
        self.is_complete = False
        self._remaining_seconds = deadline_seconds
        self._window_seconds = RATE_SECONDS
        self._window_bytes = 0

    def check_length(self, declared: bytes | None) -> None:
        """Refuse a declared length over the limit before a byte is read."""
        if declared is not None and not declared.isdigit():
            raise BadRequest
        if declared is not None and int(declared[:20]) > self.max_bytes:
            raise TooLarge(limit=self.max_bytes)

    async def __call__(self) -> Message:
        """Return the next message.

        Raises:
            ReceiveTimeout: the client sends too slowly, or for too long.
            TooLarge: the body is longer than allowed.
        """
        if self.is_complete:
            return await self.receive()

        message = await self._next()
        if message["type"] == "http.request":
            size = len(message.get("body", b""))
            self._window_bytes += size
            self.received_bytes += size
            self.is_complete = not message.get("more_body", False)
            if self.received_bytes > self.max_bytes:
                raise TooLarge(limit=self.max_bytes)
        return message

    async def _next(self) -> Message:
        while True:
            started = time.monotonic()
            try:
                return await within(min(self._window_seconds, self._remaining_seconds), self.receive())
            except TimeoutError:
                pass
            finally:
                waited = time.monotonic() - started
                self._window_seconds -= waited
                self._remaining_seconds -= waited
            self._check_rate()

    def _check_rate(self) -> None:
        if self._remaining_seconds <= 0 or self._window_bytes < self.minimum_rate * RATE_SECONDS:
            raise ReceiveTimeout(headers=_CLOSE)
        self._window_seconds, self._window_bytes = RATE_SECONDS, 0


class BodyMemory:
    """The memory for bodies that are received before anybody works on them."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.used = 0

    @contextmanager
    def received(self, body: LimitedBody) -> Iterator["WholeBody"]:
        """Give out the memory for one body, and take it back at the end."""
        whole = WholeBody(body, self)
        try:
            yield whole
        finally:
            self.used -= whole.counted_bytes


class WholeBody:
    """A body that is received completely, then handed on as one message."""

    def __init__(self, body: LimitedBody, memory: BodyMemory) -> None:
        self.counted_bytes = 0
        self._body = body
        self._memory = memory
        self._parts: list[bytes] = []
        self._last: Message | None = None

    async def receive_all(self) -> None:
        """Receive the body, or as much of it as the client sends before it goes away.

        Raises:
            Overloaded: there is no memory for so many bodies at once.
            ReceiveTimeout, TooLarge: see `LimitedBody`.
        """
        while not self._body.is_complete:
            message = await self._body()
            if message["type"] != "http.request":
                self._last = message
                return
            part = message.get("body", b"")
            self._parts.append(part)
            self._count(len(part))
        self._last = {"type": "http.request", "body": b"".join(self._parts), "more_body": False}
        self._parts.clear()

    async def __call__(self) -> Message:
        """Return the whole body, later what comes after it."""
        message, self._last = self._last, None
        return message or await self._body.receive()

    def _count(self, size: int) -> None:
        if self._memory.used + size > self._memory.limit and self._body.received_bytes > SMALL_BYTES:
            raise Overloaded(retry_after=1)
        self._memory.used += size
        self.counted_bytes += size


class UploadSlots:
    """The uploads that are received at once; one client address has at most half of them, so that others get theirs."""

    def __init__(self, settings: Settings) -> None:
        self.limit = settings.max_uploads
        is_limited = settings.connections_per_address > 0
        self.limit_per_address = -(-self.limit // 2) if is_limited else self.limit
        self._used: Counter[str] = Counter()

    @contextmanager
    def slot(self, scope: Scope) -> Iterator[None]:
        """Hold a slot for one upload.

        Raises:
            Overloaded: all slots are taken, or as many as this client address may have.
        """
        client = address_block(scope["client"][0]) if scope.get("client") else ""
        if self._used.total() >= self.limit or self._used[client] >= self.limit_per_address:
            raise Overloaded(retry_after=5)
        self._used[client] += 1
        try:
            yield
        finally:
            self._used[client] -= 1
            if not self._used[client]:
                del self._used[client]


async def within(seconds: float, awaited: Awaitable[T]) -> T:
    """Return what is awaited, or raise TimeoutError.

    What is there at once gets no timer: one costs as much as a hot answer.
    """
    steps = awaited.__await__()
    try:
        first = next(steps)
    except StopIteration as done:
        there: T = done.value
        return there
    async with asyncio.timeout(seconds):
        return await resumed(first, steps)


@types.coroutine
def resumed(first: Any, steps: Generator[Any, Any, T]) -> Generator[Any, Any, T]:
    """Wait for what a coroutine already waits for, then for the rest of it."""
    try:
        yield first
        return (yield from steps)
    finally:
        steps.close()
