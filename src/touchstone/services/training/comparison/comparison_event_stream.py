"""The event stream of a comparison, which sends the whole comparison whenever it changes."""

import asyncio
import contextlib
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable
from time import monotonic
from typing import Final

import msgspec
from msgspec import Struct

from touchstone.core.errors import JobNotFound, Unavailable
from touchstone.core.event_waiting import wait_until_set
from touchstone.jobs.comparisons.comparison_records import Comparison
from touchstone.jobs.job_event_stream import (
    HEARTBEAT_COMMENT,
    HEARTBEAT_SECONDS,
    RECONNECT_AFTER_ONE_SECOND,
)
from touchstone.jobs.job_states import FINAL_STATES
from touchstone.services.training.comparison.comparison_json import comparison_json

POLL_SECONDS: Final = 1.0  # longer than for jobs, because each poll reads the metrics of all trainings
ID_LENGTH: Final = 16


class ComparisonEvent(Struct, frozen=True):
    """An event with the state of a comparison. Its id is a digest of the state."""

    id: str
    data: bytes

    @classmethod
    def from_comparison(cls, comparison: Comparison, locale: str) -> "ComparisonEvent":
        """Create the event for the current state of a comparison in one language."""
        data = msgspec.json.encode(comparison_json(comparison, locale))
        return cls(hashlib.sha256(data).hexdigest()[:ID_LENGTH], data)

    def encode(self) -> bytes:
        """Format the event as a server-sent event."""
        return b"id: %s\nevent: comparison\ndata: %s\n\n" % (self.id.encode(), self.data)


async def stream_comparison(
    comparison: Comparison,
    reload: Callable[[], Awaitable[Comparison]],
    last_event_id: str | None,
    *,
    locale: str,
    stop: asyncio.Event,
) -> AsyncIterator[bytes]:
    """Yield an event whenever the state of a comparison changes.

    The stream ends when all trainings have ended, when the comparison is deleted, or when `stop` is set. Without
    events, a comment is sent every `HEARTBEAT_SECONDS`, so that no proxy closes a silent connection.

    Args:
        comparison: the comparison in its current state.
        reload: a function that returns the latest state, or raises `JobNotFound` if the comparison was deleted.
        last_event_id: the id of the last event that the client has received, which is not sent again.
        locale: the language of the events.
        stop: the event that ends the stream.
    """
    yield RECONNECT_AFTER_ONE_SECOND
    last_sent_at = monotonic()

    while True:
        event = ComparisonEvent.from_comparison(comparison, locale)
        if event.id != last_event_id:
            last_event_id = event.id
            last_sent_at = monotonic()
            yield event.encode()

        if comparison.state in FINAL_STATES:
            return
        if monotonic() - last_sent_at > HEARTBEAT_SECONDS:
            last_sent_at = monotonic()
            yield HEARTBEAT_COMMENT
        if await wait_until_set(stop, POLL_SECONDS):
            return

        # While the database is unavailable, the client stays connected.
        try:
            with contextlib.suppress(Unavailable):
                comparison = await reload()
        except JobNotFound:
            return
