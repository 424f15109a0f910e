"""The event stream of a comparison: the whole comparison as a server-sent event, whenever something has changed."""

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

POLL_SECONDS: Final = 1.0  # Each look reads the metrics of all trainings.
ID_LENGTH: Final = 16


class ComparisonEvent(Struct, frozen=True):
    """A state of a comparison; `id` is a digest of it, by which a client says which state it has received last."""

    id: str
    data: bytes

    @classmethod
    def of(cls, comparison: Comparison, locale: str) -> "ComparisonEvent":
        """Return the event that tells the present state of a comparison in one language."""
        data = msgspec.json.encode(comparison_json(comparison, locale))
        return cls(hashlib.sha256(data).hexdigest()[:ID_LENGTH], data)

    def encode(self) -> bytes:
        """Return the event in the text format of server-sent events."""
        return b"id: %s\nevent: comparison\ndata: %s\n\n" % (self.id.encode(), self.data)


async def stream_comparison(
    comparison: Comparison,
    load_again: Callable[[], Awaitable[Comparison]],
    last_event_id: str | None,
    *,
    locale: str,
    stop: asyncio.Event,
) -> AsyncIterator[bytes]:
    """Yield the states of a comparison as they change, unless the first one is that of `last_event_id`.

    `load_again` returns the present state, and raises `JobNotFound` if the comparison was deleted. The stream ends when
    all trainings have ended, when the comparison is deleted, or when `stop` is set. While nothing happens, a comment is
    sent every `HEARTBEAT_SECONDS`, so that no proxy closes a silent connection.
    """
    yield RECONNECT_AFTER_ONE_SECOND
    last_sent_at = monotonic()

    while True:
        event = ComparisonEvent.of(comparison, locale)
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

        # While the database is away, the client stays connected until it is back.
        try:
            with contextlib.suppress(Unavailable):
                comparison = await load_again()
        except JobNotFound:
            return
