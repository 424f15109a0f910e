"""Limits on the size and the rate of request bodies, and buffering of complete bodies."""

import asyncio
import math
import random
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

from starlette.types import Message, Receive, Scope

from touchstone.core.client_address import rate_limit_key
from touchstone.core.errors import BadRequest, Overloaded, ReceiveTimeout, TooLarge
from touchstone.core.settings import Settings
from touchstone.http.started_awaitable import StartedAwaitable

# The rate is measured over this time. With a shorter one, clients would be cut off after an ordinary network delay.
RATE_SECONDS: Final = 4.0
# The first window of a body is longer by a random time of up to this, so that bodies that began together do not all
# time out together.
FIRST_WINDOW_SPREAD_SECONDS: Final = 1.0
# Bodies up to this size are never refused for lack of memory. The limit on connections also limits their total size.
SMALL_BYTES: Final = 64 * 1024
_MAX_LENGTH_DIGITS: Final = 20
_CLOSE: Final = {"Connection": "close"}


class BodyLimits(NamedTuple):
    """The limits on a request body.

    Attributes:
        max_bytes: the maximum size.
        minimum_rate: the minimum rate at which the client must send it, in bytes per second.
        deadline_seconds: the maximum total time for which the server waits for its chunks.
        is_buffered: whether it is received completely before the application is called.
    """

    max_bytes: int
    minimum_rate: int
    deadline_seconds: float = math.inf
    is_buffered: bool = True


class LimitedBody:
    """An ASGI `receive` function with limits on the size and the rate of a body.

    Only the time spent waiting for the client counts, so the application may read as slowly as it likes.
    """

    def __init__(self, receive: Receive, limits: BodyLimits) -> None:
        """Wrap `receive` to enforce the limits."""
        self.receive = receive
        self.max_bytes = limits.max_bytes
        self.minimum_rate = limits.minimum_rate
        self.received_bytes = 0
        self.is_complete = False
        self._remaining_seconds = limits.deadline_seconds
        self._window_seconds = RATE_SECONDS + random.uniform(0, FIRST_WINDOW_SPREAD_SECONDS)  # noqa: S311
        self._window_bytes = 0

    def check_declared_length(self, content_length: bytes | None) -> None:
        """Check the `Content-Length` header, to refuse a body that is too large before it is read.

        Without this header, the size is only checked while the body is received.

        Raises:
            BadRequest: the header is not a number.
            TooLarge: the number exceeds the limit.
        """
        if content_length is None:
            return
        if not content_length.isdigit():
            raise BadRequest

        # Longer numbers exceed the limit anyway, but would take long to parse.
        declared_bytes = int(content_length[:_MAX_LENGTH_DIGITS])
        if declared_bytes > self.max_bytes:
            raise TooLarge(limit=self.max_bytes)

    async def __call__(self) -> Message:
        """Receive the next message, which contains a chunk of the body or reports a disconnected client.

        Raises:
            ReceiveTimeout: the client sends too slowly, or for too long.
            TooLarge: the body exceeds the size limit.
        """
        if self.is_complete:
            return await self.receive()

        # Most bodies have already arrived, and a timer would take as long as a fast handler.
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
        """Wait for a message from a client that keeps the minimum rate.

        The rate is measured over windows of `RATE_SECONDS` of waiting.

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
        """Begin the next window for measuring the rate, if the client was fast enough in the last one.

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
    """The memory used by all buffered request bodies together, and its limit, in bytes."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.used = 0


class BufferedBody:
    """An ASGI `receive` function that returns a completely received body in a single message.

    Its size counts as used memory until `release` is called.
    """

    def __init__(self, body: LimitedBody, memory: BodyMemory) -> None:
        self.allocated_bytes = 0
        self._limited_body = body
        self._memory = memory
        self._chunks: list[bytes] = []
        self._next_message: Message | None = None

    async def receive_all(self) -> None:
        """Receive the whole body into memory, so that the application does not wait for a slow client.

        If the client disconnects first, `__call__` returns the disconnect message instead of the body.

        Raises:
            Overloaded: the memory for buffered bodies is used up.
            ReceiveTimeout: the client sends too slowly, or for too long.
            TooLarge: the body exceeds the size limit.
        """
        while not self._limited_body.is_complete:
            message = await self._limited_body()
            if message["type"] != "http.request":
                self._next_message = message
                return

            chunk = message.get("body", b"")
            self._chunks.append(chunk)
            self._count_memory(len(chunk))

        whole_body = b"".join(self._chunks)
        self._next_message = {"type": "http.request", "body": whole_body, "more_body": False}
        self._chunks.clear()

    async def __call__(self) -> Message:
        """Return the whole body in the first call, and pass later calls on to the server."""
        message = self._next_message
        self._next_message = None
        return message or await self._limited_body.receive()

    def release(self) -> None:
        """Stop counting the memory of the body. This must be called once the request has ended."""
        self._memory.used -= self.allocated_bytes
        self.allocated_bytes = 0

    def _count_memory(self, size_bytes: int) -> None:
        """Count the memory of another chunk of the body.

        Raises:
            Overloaded: the memory for bodies is used up, and this body is larger than `SMALL_BYTES`.
        """
        is_exhausted = self._memory.used + size_bytes > self._memory.limit
        is_small = self._limited_body.received_bytes <= SMALL_BYTES
        if is_exhausted and not is_small:
            raise Overloaded(retry_after=1)

        self._memory.used += size_bytes
        self.allocated_bytes += size_bytes


class UploadSlots:
    """A limit on the number of concurrent uploads. One client may use at most half of them."""

    def __init__(self, settings: Settings) -> None:
        self.limit = settings.max_uploads
        self.limit_per_address = self.limit

        has_address_limits = settings.connections_per_address > 0
        if has_address_limits:
            self.limit_per_address = math.ceil(self.limit / 2)
        self._running_uploads: Counter[str] = Counter()

    @contextmanager
    def acquire(self, scope: Scope) -> Iterator[None]:
        """Count an upload as running while the `with` block runs.

        Raises:
            Overloaded: too many uploads are running, in total or from this client.
        """
        client = scope.get("client")
        client_key = rate_limit_key(client[0]) if client else ""

        is_full = self._running_uploads.total() >= self.limit
        is_full_for_client = self._running_uploads[client_key] >= self.limit_per_address
        if is_full or is_full_for_client:
            raise Overloaded(retry_after=5)

        self._running_uploads[client_key] += 1
        try:
            yield
        finally:
            self._running_uploads[client_key] -= 1
            if not self._running_uploads[client_key]:
                del self._running_uploads[client_key]  # keep no entry for idle clients
