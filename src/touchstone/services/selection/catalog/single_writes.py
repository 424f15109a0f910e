"""Tracking of single-record writes, so that bulk imports can wait for them."""

import asyncio
import math
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

# After a single write, another one is expected for this long.
RECENT_SECONDS: Final = 2.0
# A bulk import waits at most this long at a time, so that it makes progress even if others write all the time.
_MAX_WAIT_SECONDS: Final = 0.02


class SingleWrites:
    """The writes of single records that are in progress in a process."""

    def __init__(self) -> None:
        self._count = 0
        self._all_done = asyncio.Event()
        self._all_done.set()
        # The time at which the last write ended, on the monotonic clock.
        self._last_end = -math.inf

    @contextmanager
    def track(self) -> Iterator[None]:
        """Count the block as a single write."""
        self._count += 1
        self._all_done.clear()
        try:
            yield
        finally:
            self._count -= 1
            self._last_end = time.monotonic()
            if self._count == 0:
                self._all_done.set()

    @property
    def are_recent(self) -> bool:
        """Whether a single write is in progress, or ended less than `RECENT_SECONDS` ago."""
        return self._count > 0 or time.monotonic() - self._last_end < RECENT_SECONDS

    async def wait_until_done(self) -> None:
        """Wait until no single write is in progress, but at most `_MAX_WAIT_SECONDS`."""
        if self._all_done.is_set():
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(_MAX_WAIT_SECONDS):
                await self._all_done.wait()
