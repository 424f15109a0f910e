"""Slots for tasks that are divided fairly between users."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final
from uuid import UUID

from touchstone.core.errors import Overloaded

_RETRY_SECONDS: Final = 5


class Slot:
    """A slot that a task of a user occupies, or waits for."""

    def __init__(self, slots: "FairSlots", owner: UUID | None) -> None:
        self.owner = owner
        self.is_assigned = asyncio.Event()
        self._slots = slots

    def release(self) -> None:
        """Return the slot, or stop waiting for one."""
        self._slots.take_back(self)


class FairSlots:
    """A limited number of tasks that may run at the same time.

    A free slot goes to the user with the fewest running tasks, so that a user with many waiting tasks delays mainly
    their own. Among such users, it goes to the one who has waited longest.
    """

    def __init__(self, count: int, *, max_wait_seconds: float | None = None) -> None:
        self._free_count = count
        self._max_wait_seconds = max_wait_seconds
        self._waiting: list[Slot] = []
        self._running_counts: Counter[UUID | None] = Counter()

    @asynccontextmanager
    async def occupy(self, owner: UUID | None) -> AsyncIterator[None]:
        """Wait for a slot, and occupy it for the body of the `async with` statement.

        Raises:
            Overloaded: no slot became free in time.
        """
        slot = await self.acquire(owner)
        try:
            yield
        finally:
            slot.release()

    async def acquire(self, owner: UUID | None) -> Slot:
        """Wait for a slot, which the caller has to release.

        Args:
            owner: the user whose task it is, or None for a task of the service itself.

        Raises:
            Overloaded: no slot became free in time.
        """
        slot = Slot(self, owner)
        self._waiting.append(slot)
        self._assign_free_slots()
        try:
            async with asyncio.timeout(self._max_wait_seconds):
                await slot.is_assigned.wait()
        except TimeoutError:
            slot.release()
            raise Overloaded(retry_after=_RETRY_SECONDS) from None
        except BaseException:
            slot.release()
            raise
        return slot

    def take_back(self, slot: Slot) -> None:
        """Assign the slot of a task that has ended to another one, or end the wait for a slot."""
        if not slot.is_assigned.is_set():
            self._waiting.remove(slot)
            return

        self._free_count += 1
        self._running_counts[slot.owner] -= 1
        if self._running_counts[slot.owner] == 0:
            del self._running_counts[slot.owner]
        self._assign_free_slots()

    def _assign_free_slots(self) -> None:
        """Assign the free slots to tasks that wait for one."""
        while self._free_count > 0 and self._waiting:
            # `min` returns the first one of several minima, which has waited longest.
            slot = min(self._waiting, key=lambda waiting: self._running_counts[waiting.owner])
            self._waiting.remove(slot)
            self._free_count -= 1
            self._running_counts[slot.owner] += 1
            slot.is_assigned.set()
