"""Slots that limit the number of sandboxed processes that run at the same time."""

import asyncio
from typing import Final

from touchstone.core.errors import Overloaded

_RETRY_SECONDS: Final = 5


class ProcessSlots:
    """A limited number of slots. A request is refused if no slot becomes free in time."""

    def __init__(self, count: int, *, max_wait_seconds: float) -> None:
        self._semaphore = asyncio.Semaphore(count)
        self._max_wait_seconds = max_wait_seconds

    async def acquire(self) -> None:
        """Wait for a slot, which the caller has to release.

        Raises:
            Overloaded: no slot became free in time.
        """
        try:
            async with asyncio.timeout(self._max_wait_seconds):
                await self._semaphore.acquire()
        except TimeoutError:
            raise Overloaded(retry_after=_RETRY_SECONDS) from None

    def release(self) -> None:
        """Release an acquired slot."""
        self._semaphore.release()
