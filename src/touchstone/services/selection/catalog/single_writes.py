"""Single writes, for which bulk imports make room."""

import asyncio
import math
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

# Whoever has written a single record is expected to write another one for this long.
RECENT_SECONDS: Final = 2.0
# A bulk import waits no longer than this at a time, so that it goes on even if somebody writes all the time.
_MAX_WAIT_SECONDS: Final = 0.02


class SingleWrites:
    """The writes of single records that a process is carrying out."""

    def __init__(self) -> None:
        self._count = 0
        self._are_done = asyncio.Event()
        self._are_done.set()
        # When the last one ended.
        self._last_end = -math.inf

    @contextmanager
    def track(self) -> Iterator[None]:
        """Count the block as a single write."""
        self._count += 1
        self._are_done.clear()
        try:
            yield
        finally:
            self._count -= 1
            self._last_end = time.monotonic()
            if self._count == 0:
                self._are_done.set()

    @property
    def are_recent(self) -> bool:
        """Whether somebody writes single records now, or has done so within the last seconds."""
        return self._count > 0 or time.monotonic() - self._last_end < RECENT_SECONDS

    async def wait_until_done(self) -> None:
        """Wait until no single write is being carried out, but for `_MAX_WAIT_SECONDS` at most."""
        if self._are_done.is_set():
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(_MAX_WAIT_SECONDS):
                await self._are_done.wait()
