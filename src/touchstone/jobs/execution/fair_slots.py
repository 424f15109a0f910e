"""Slots for tasks that are divided fairly between users."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from uuid import UUID


@dataclass(slots=True, eq=False)
class _Ticket:
    """A task of a user that waits for a slot or has one."""

    owner: UUID
    has_slot: asyncio.Event = field(default_factory=asyncio.Event)


class FairSlots:
    """A limited number of tasks that may run at the same time.

    A free slot goes to the user with the fewest running tasks, so that a user with many waiting tasks delays mainly
    their own. Among such users, it goes to the one who has waited longest.
    """

    def __init__(self, count: int) -> None:
        self._free_count = count
        self._waiting: list[_Ticket] = []
        self._running_counts: Counter[UUID] = Counter()

    @asynccontextmanager
    async def occupy(self, owner: UUID) -> AsyncIterator[None]:
        """Wait for a slot, and occupy it for the body of the `async with` statement."""
        ticket = _Ticket(owner)
        self._waiting.append(ticket)
        self._assign_free_slots()
        try:
            await ticket.has_slot.wait()
            yield
        finally:
            self._return(ticket)

    def _assign_free_slots(self) -> None:
        """Give the free slots to tasks that wait for one."""
        while self._free_count > 0 and self._waiting:
            # `min` returns the first one of several minima, which has waited longest.
            ticket = min(self._waiting, key=lambda waiting: self._running_counts[waiting.owner])
            self._waiting.remove(ticket)
            self._free_count -= 1
            self._running_counts[ticket.owner] += 1
            ticket.has_slot.set()

    def _return(self, ticket: _Ticket) -> None:
        """Return the slot of a task that has ended, or end its wait for one."""
        if not ticket.has_slot.is_set():
            self._waiting.remove(ticket)
            return

        self._free_count += 1
        self._running_counts[ticket.owner] -= 1
        if self._running_counts[ticket.owner] == 0:
            del self._running_counts[ticket.owner]
        self._assign_free_slots()
