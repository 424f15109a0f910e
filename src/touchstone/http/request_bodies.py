"""Request bodies: limits on their size and pace, and buffering of all but uploads before the application is called."""

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

# The rate is measured over this time; a shorter one would cut clients off after an ordinary pause of the network.
RATE_SECONDS: Final = 4.0
# Bodies up to this size are never refused for lack of memory, because all connections together can hold few of them.
SMALL_BYTES: Final = 64 * 1024
_CLOSE: Final = {"Connection": "close"}
T = TypeVar("T")


class LimitedBody:
    """An ASGI `receive` function with a size limit, a minimum rate and, optionally, a deadline for the whole body.

    Only the time spent waiting for the client counts, so the application may read as slowly as it likes.
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

    def check_declared_length(self, content_length: bytes | None) -> None:
        """Check the `Content-Length` header before anything is read.

        Raises:
            BadRequest: it is not a number.
            TooLarge: it is over the limit.
        """
        if content_length is None:
            return
        if not content_length.isdigit():
            raise BadRequest
        if int(content_length[:20]) > self.max_bytes:
            raise TooLarge(limit=self.max_bytes)

    async def __call__(self) -> Message:
        """Return the next message.

        Raises:
            ReceiveTimeout: the client sends too slowly, or for too long.
            TooLarge: the body is longer than allowed.
        """
        if self.is_complete:
            return await self.receive()

        message = await self._receive_in_time()
        if message["type"] == "http.request":
            size = len(message.get("body", b""))
            self._window_bytes += size
            self.received_bytes += size
            self.is_complete = not message.get("more_body", False)
            if self.received_bytes > self.max_bytes:
                raise TooLarge(limit=self.max_bytes)
        return message

    async def _receive_in_time(self) -> Message:
        while True:
            started_at = time.monotonic()
            try:
                return await wait_within(min(self._window_seconds, self._remaining_seconds), self.receive())
            except TimeoutError:
                pass
            finally:
                waited_seconds = time.monotonic() - started_at
                self._window_seconds -= waited_seconds
                self._remaining_seconds -= waited_seconds
            self._check_rate()

    def _check_rate(self) -> None:
        """Start a new measurement window, or raise ReceiveTimeout if the last one had too few bytes."""
        if self._remaining_seconds <= 0 or self._window_bytes < self.minimum_rate * RATE_SECONDS:
            raise ReceiveTimeout(headers=_CLOSE)
        self._window_seconds = RATE_SECONDS
        self._window_bytes = 0


class BodyMemory:
    """The memory for bodies that are buffered before the application is called."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.used = 0

    @contextmanager
    def buffer(self, body: LimitedBody) -> Iterator["BufferedBody"]:
        """Provide a buffer for one body, and release its memory at the end."""
        buffered = BufferedBody(body, self)
        try:
            yield buffered
        finally:
            self.used -= buffered.allocated_bytes


class BufferedBody:
    """An ASGI `receive` function that returns a body, once received completely, in a single message."""

    def __init__(self, body: LimitedBody, memory: BodyMemory) -> None:
        self.allocated_bytes = 0
        self._body = body
        self._memory = memory
        self._chunks: list[bytes] = []
        self._message: Message | None = None

    async def receive_all(self) -> None:
        """Receive the body, or as much of it as the client sends before it disconnects.

        Raises:
            Overloaded: there is not enough memory for so many bodies at once.
            ReceiveTimeout, TooLarge: see `LimitedBody`.
        """
        while not self._body.is_complete:
            message = await self._body()
            if message["type"] != "http.request":
                self._message = message
                return

            chunk = message.get("body", b"")
            self._chunks.append(chunk)
            self._allocate(len(chunk))

        self._message = {"type": "http.request", "body": b"".join(self._chunks), "more_body": False}
        self._chunks.clear()

    async def __call__(self) -> Message:
        """Return the whole body, and the messages after it in later calls."""
        message, self._message = self._message, None
        return message or await self._body.receive()

    def _allocate(self, size: int) -> None:
        is_exhausted = self._memory.used + size > self._memory.limit
        if is_exhausted and self._body.received_bytes > SMALL_BYTES:
            raise Overloaded(retry_after=1)
        self._memory.used += size
        self.allocated_bytes += size


class UploadSlots:
    """Slots for concurrent uploads, of which one client address gets at most half."""

    def __init__(self, settings: Settings) -> None:
        self.limit = settings.max_uploads
        has_address_limits = settings.connections_per_address > 0
        self.limit_per_address = -(-self.limit // 2) if has_address_limits else self.limit
        self._used: Counter[str] = Counter()

    @contextmanager
    def slot(self, scope: Scope) -> Iterator[None]:
        """Hold a slot for one upload.

        Raises:
            Overloaded: all slots are taken, or all those that this client address may have.
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


async def wait_within(seconds: float, awaitable: Awaitable[T]) -> T:
    """Return the result of an awaitable, or raise TimeoutError.

    A result that is available at once needs no timer, which would cost as much as a hot response.
    """
    steps = awaitable.__await__()
    try:
        first_step = next(steps)
    except StopIteration as stop:
        result: T = stop.value
        return result

    async with asyncio.timeout(seconds):
        return await resume(first_step, steps)


@types.coroutine
def resume(first_step: Any, steps: Generator[Any, Any, T]) -> Generator[Any, Any, T]:
    """Run the rest of a coroutine whose first step, on which it waits, has been taken already."""
    try:
        yield first_step
        return (yield from steps)
    finally:
        steps.close()
