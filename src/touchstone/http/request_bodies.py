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
# A longer number of digits is too large anyway, and slow to parse.
_MAX_LENGTH_DIGITS: Final = 20
_CLOSE: Final = {"Connection": "close"}
T = TypeVar("T")


class LimitedBody:
    """An ASGI `receive` function with a size limit, a minimum rate and, optionally, a deadline for the whole body.

    Only the time spent waiting for the client counts, so the application may read as slowly as it likes.
    """

    def __init__(
        self, receive: Receive, *, max_bytes: int, minimum_rate: int, deadline_seconds: float = float("inf")
    ) -> None:
        """Limit the body that `receive` returns to `max_bytes`; `minimum_rate` is in bytes per second."""
        self.receive = receive
        self.max_bytes = max_bytes
        self.minimum_rate = minimum_rate
        self.received_bytes = 0
        self.is_complete = False
        self._remaining_seconds = deadline_seconds
        self._window_seconds = RATE_SECONDS
        self._window_bytes = 0

    def check_declared_length(self, content_length: bytes | None) -> None:
        """Check the value of the `Content-Length` header, so that a large body is refused before any of it is read.

        A request without this header passes; the size of its body is checked while it is received.

        Raises:
            BadRequest: the value is not a number.
            TooLarge: the number is over the limit.
        """
        if content_length is None:
            return
        if not content_length.isdigit():
            raise BadRequest

        declared_bytes = int(content_length[:_MAX_LENGTH_DIGITS])
        if declared_bytes > self.max_bytes:
            raise TooLarge(limit=self.max_bytes)

    async def __call__(self) -> Message:
        """Return the next message from the client, which has a part of the body or says that the client disconnected.

        Raises:
            ReceiveTimeout: the client sends too slowly, or for too long.
            TooLarge: the body is longer than allowed.
        """
        if self.is_complete:
            return await self.receive()

        message = await self._receive_in_time()
        if message["type"] != "http.request":
            return message

        chunk_bytes = len(message.get("body", b""))
        self._window_bytes += chunk_bytes
        self.received_bytes += chunk_bytes
        self.is_complete = not message.get("more_body", False)

        if self.received_bytes > self.max_bytes:
            raise TooLarge(limit=self.max_bytes)
        return message

    async def _receive_in_time(self) -> Message:
        """Return the next message, waiting for as long as the client keeps up the minimum rate.

        Raises:
            ReceiveTimeout: the client sends too slowly, or the deadline for the whole body has passed.
        """
        while True:
            max_wait_seconds = min(self._window_seconds, self._remaining_seconds)
            started_at = time.monotonic()
            try:
                return await wait_within(max_wait_seconds, self.receive())
            except TimeoutError:
                pass  # the rate is checked below, once the time has been deducted
            finally:
                waited_seconds = time.monotonic() - started_at
                self._window_seconds -= waited_seconds
                self._remaining_seconds -= waited_seconds

            self._check_rate()

    def _check_rate(self) -> None:
        """Begin a new window for measuring the rate, unless the client sent too little in the last one.

        Raises:
            ReceiveTimeout: there were too few bytes in the last window, or the deadline has passed.
        """
        is_past_deadline = self._remaining_seconds <= 0
        is_too_slow = self._window_bytes < self.minimum_rate * RATE_SECONDS
        if is_past_deadline or is_too_slow:
            raise ReceiveTimeout(headers=_CLOSE)

        self._window_seconds = RATE_SECONDS
        self._window_bytes = 0


class BodyMemory:
    """The memory for bodies that are buffered before the application is called, of which all of them share `limit`."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.used = 0

    @contextmanager
    def buffer(self, body: LimitedBody) -> Iterator["BufferedBody"]:
        """Provide a buffer for one body, and release its memory at the end."""
        buffered_body = BufferedBody(body, self)
        try:
            yield buffered_body
        finally:
            self.used -= buffered_body.allocated_bytes


class BufferedBody:
    """An ASGI `receive` function that returns a body, once received completely, in a single message."""

    def __init__(self, body: LimitedBody, memory: BodyMemory) -> None:
        self.allocated_bytes = 0
        self._body = body
        self._memory = memory
        self._chunks: list[bytes] = []
        self._message: Message | None = None

    async def receive_all(self) -> None:
        """Receive the whole body into memory, so that a slow client does not keep the application waiting.

        If the client disconnects before, the application will be told so instead.

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
        """Return the whole body, and in later calls what the client sends after it."""
        message = self._message
        self._message = None
        return message or await self._body.receive()

    def _allocate(self, size_bytes: int) -> None:
        """Count a chunk that has been received as used memory.

        Raises:
            Overloaded: there is no memory left, and the body is not a small one.
        """
        is_exhausted = self._memory.used + size_bytes > self._memory.limit
        is_small = self._body.received_bytes <= SMALL_BYTES
        if is_exhausted and not is_small:
            raise Overloaded(retry_after=1)

        self._memory.used += size_bytes
        self.allocated_bytes += size_bytes


class UploadSlots:
    """Slots for concurrent uploads, of which one client address gets at most half."""

    def __init__(self, settings: Settings) -> None:
        self.limit = settings.max_uploads
        half_of_limit = -(-self.limit // 2)  # rounded up
        has_address_limits = settings.connections_per_address > 0
        self.limit_per_address = half_of_limit if has_address_limits else self.limit
        self._used: Counter[str] = Counter()

    @contextmanager
    def slot(self, scope: Scope) -> Iterator[None]:
        """Hold a slot for an upload for as long as the `with` block runs.

        Raises:
            Overloaded: all slots are taken, or all those that this client address may have.
        """
        client_key = address_block(scope["client"][0]) if scope.get("client") else ""
        is_full = self._used.total() >= self.limit
        is_full_for_client = self._used[client_key] >= self.limit_per_address
        if is_full or is_full_for_client:
            raise Overloaded(retry_after=5)

        self._used[client_key] += 1
        try:
            yield
        finally:
            self._used[client_key] -= 1
            if not self._used[client_key]:
                del self._used[client_key]  # addresses without uploads are forgotten


async def wait_within(max_seconds: float, awaitable: Awaitable[T]) -> T:
    """Return the result of an awaitable, as `asyncio.wait_for` does.

    A result that is available at once is returned without starting a timer, because most results are, and a timer costs
    as much as the answer to a frequent request.

    Raises:
        TimeoutError: there is no result after `max_seconds`.
    """
    steps = awaitable.__await__()
    try:
        awaited = next(steps)
    except StopIteration as stop:
        result: T = stop.value
        return result

    async with asyncio.timeout(max_seconds):
        return await resume(awaited, steps)


@types.coroutine
def resume(awaited: Any, steps: Generator[Any, Any, T]) -> Generator[Any, Any, T]:
    """Run the rest of a coroutine that has been advanced by one step already, and return its result.

    `awaited` is what the coroutine has been waiting for since that step, and what the event loop has yet to be told.
    """
    try:
        yield awaited
        return (yield from steps)
    finally:
        steps.close()
