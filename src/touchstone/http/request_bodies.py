"""Request bodies: limits on their size and pace, and buffering of all but uploads before the application is called."""

import asyncio
import math
import random
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

from starlette.types import Message, Receive, Scope

from touchstone.core.client_address import address_block
from touchstone.core.errors import BadRequest, Overloaded, ReceiveTimeout, TooLarge
from touchstone.core.settings import Settings
from touchstone.http.started_awaitable import StartedAwaitable

# The rate is measured over this time; a shorter one would cut clients off after an ordinary pause of the network.
RATE_SECONDS: Final = 4.0
# The first window of a body is longer by up to this, so that bodies that began together do not all time out together.
FIRST_WINDOW_SPREAD_SECONDS: Final = 1.0
# Bodies up to this size are never refused for lack of memory, because all connections together can hold few of them.
SMALL_BYTES: Final = 64 * 1024
_MAX_LENGTH_DIGITS: Final = 20
_CLOSE: Final = {"Connection": "close"}


class BodyLimits(NamedTuple):
    """The limits on the bodies of some requests.

    Attributes:
        max_bytes: the largest size of a body.
        minimum_rate: the slowest rate at which a client may send it, in bytes per second.
        deadline_seconds: the longest time for which the server waits for parts of one body, in all.
        is_buffered: whether the body is received completely before the application is called.
    """

    max_bytes: int
    minimum_rate: int
    deadline_seconds: float = math.inf
    is_buffered: bool = True


class LimitedBody:
    """An ASGI `receive` function with limits on the size and the pace of a body.

    Only the time spent waiting for the client counts, so the application may read as slowly as it likes.
    """

    def __init__(self, receive: Receive, limits: BodyLimits) -> None:
        """Limit the body that `receive` returns."""
        self.receive = receive
        self.max_bytes = limits.max_bytes
        self.minimum_rate = limits.minimum_rate
        self.received_bytes = 0
        self.is_complete = False
        self._remaining_seconds = limits.deadline_seconds
        self._window_seconds = RATE_SECONDS + random.uniform(0, FIRST_WINDOW_SPREAD_SECONDS)  # noqa: S311
        self._window_bytes = 0

    def check_declared_length(self, content_length: bytes | None) -> None:
        """Refuse a body that is too large according to its `Content-Length` header, before any of it is read.

        Without this header, the size is only checked while the body is received.

        Raises:
            BadRequest: the header is not a number.
            TooLarge: the number is over the limit.
        """
        if content_length is None:
            return
        if not content_length.isdigit():
            raise BadRequest

        # A longer number is over the limit anyway, and would take long to parse.
        declared_bytes = int(content_length[:_MAX_LENGTH_DIGITS])
        if declared_bytes > self.max_bytes:
            raise TooLarge(limit=self.max_bytes)

    async def __call__(self) -> Message:
        """Receive the next part of the body, or the message that the client has disconnected.

        Raises:
            ReceiveTimeout: the client sends too slowly, or for too long.
            TooLarge: the body is longer than allowed.
        """
        if self.is_complete:
            return await self.receive()

        # Most bodies have arrived already, and a timer would cost as much as the response to a frequent request.
        receiving = StartedAwaitable(self.receive())
        message = receiving.result if receiving.is_done else await self._wait_in_time(receiving)
        if message["type"] != "http.request":
            return message

        chunk_bytes = len(message.get("body", b""))
        self._window_bytes += chunk_bytes
        self.received_bytes += chunk_bytes
        self.is_complete = not message.get("more_body", False)

        if self.received_bytes > self.max_bytes:
            raise TooLarge(limit=self.max_bytes)
        return message

    async def _wait_in_time(self, receiving: StartedAwaitable[Message]) -> Message:
        """Return the message that is being received, waiting for as long as the client keeps up the minimum rate.

        The rate is measured over windows of four seconds of waiting.

        Raises:
            ReceiveTimeout: the client sends too slowly, or the deadline for the whole body has passed.
        """
        while True:
            max_wait_seconds = min(self._window_seconds, self._remaining_seconds)
            started_at = time.monotonic()
            try:
                async with asyncio.timeout(max_wait_seconds):
                    message = await receiving.wait()
            except TimeoutError:
                self._remaining_seconds -= time.monotonic() - started_at
                self._begin_next_window()
                receiving = StartedAwaitable(self.receive())
            else:
                waited_seconds = time.monotonic() - started_at
                self._remaining_seconds -= waited_seconds
                self._window_seconds -= waited_seconds
                return message

    def _begin_next_window(self) -> None:
        """Begin to measure the rate anew, if the client was fast enough so far.

        Raises:
            ReceiveTimeout: there were too few bytes in the last window, or the deadline for the body has passed.
        """
        is_past_deadline = self._remaining_seconds <= 0
        is_too_slow = self._window_bytes < self.minimum_rate * RATE_SECONDS
        if is_past_deadline or is_too_slow:
            raise ReceiveTimeout(headers=_CLOSE)

        self._window_seconds = RATE_SECONDS
        self._window_bytes = 0


class BodyMemory:
    """A limit, in bytes, on the memory of all request bodies that are being buffered at the same time."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.used = 0


class BufferedBody:
    """An ASGI `receive` function that returns a body, once received completely, in a single message.

    Its memory is counted until `release` is called.
    """

    def __init__(self, body: LimitedBody, memory: BodyMemory) -> None:
        self.allocated_bytes = 0
        self._body = body
        self._memory = memory
        self._chunks: list[bytes] = []
        self._message: Message | None = None

    async def receive_all(self) -> None:
        """Receive the whole body into memory, so that the application need not wait for a slow client.

        If the client disconnects before the body is complete, the application receives that message instead.

        Raises:
            Overloaded: there is not enough memory for so many bodies at once.
            ReceiveTimeout: the client sends too slowly, or for too long.
            TooLarge: the body is longer than allowed.
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

    def release(self) -> None:
        """Stop counting the memory of the body; this must be called once the request has ended."""
        self._memory.used -= self.allocated_bytes
        self.allocated_bytes = 0

    def _allocate(self, size_bytes: int) -> None:
        """Count the memory of another chunk of the body.

        Raises:
            Overloaded: the memory for bodies is used up, and this body is not a small one.
        """
        is_exhausted = self._memory.used + size_bytes > self._memory.limit
        is_small = self._body.received_bytes <= SMALL_BYTES
        if is_exhausted and not is_small:
            raise Overloaded(retry_after=1)

        self._memory.used += size_bytes
        self.allocated_bytes += size_bytes


class UploadSlots:
    """A limit on the uploads that are received at the same time, of which one client address gets at most half."""

    def __init__(self, settings: Settings) -> None:
        self.limit = settings.max_uploads
        self.limit_per_address = self.limit

        has_address_limits = settings.connections_per_address > 0
        if has_address_limits:
            self.limit_per_address = math.ceil(self.limit / 2)
        self._used: Counter[str] = Counter()

    @contextmanager
    def slot(self, scope: Scope) -> Iterator[None]:
        """Count an upload as running while the `with` block runs.

        Raises:
            Overloaded: too many uploads are running, in all or from this client address.
        """
        client = scope.get("client")
        client_key = address_block(client[0]) if client else ""

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
