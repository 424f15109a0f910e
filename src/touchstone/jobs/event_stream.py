"""A job's events as server-sent events (WHATWG HTML, section 9.2), from any point on until the job has ended."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from time import monotonic
from typing import Final
from uuid import UUID

import msgspec

from touchstone.core.attributes import INT32_MAX
from touchstone.core.errors import Unavailable
from touchstone.database.engine import Database
from touchstone.jobs import store
from touchstone.jobs.job_json import event_json
from touchstone.jobs.records import JobEventRecord
from touchstone.jobs.states import FINAL, JobState

POLL_SECONDS: Final = 0.25
HEARTBEAT_SECONDS: Final = 15.0
HEADERS: Final = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


def parse_last_event_id(value: str | None) -> int:
    """Return the number of the event after which to continue; 0 if the header is absent or not one of our ids."""
    if value and value.isascii() and value.isdigit() and len(value) < 16:
        return min(int(value), INT32_MAX)
    return 0


async def stream_events(
    database: Database, job_id: UUID, last: int, *, locale: str, stop: asyncio.Event
) -> AsyncIterator[bytes]:
    """Yield the events after event number `last` as they come, until the job has ended, is deleted, or `stop` is set.

    A comment is sent every `HEARTBEAT_SECONDS`, so that nothing on the way closes a silent connection.
    """
    yield b"retry: 1000\n\n"
    last_sent_at = monotonic()

    while True:
        try:
            async with database.reading() as rows:
                status = await store.load_status(rows, job_id)
                events = await store.events_after(rows, job_id, last)
        except Unavailable:  # The database may come back: keep the connection.
            status, events = JobState.RUNNING, []

        for event in events:
            last += 1
            last_sent_at = monotonic()
            yield _encode(last, event, locale)

        has_all_events = len(events) < store.EVENTS_AT_ONCE
        if status is None or (status in FINAL and has_all_events):
            return

        if monotonic() - last_sent_at > HEARTBEAT_SECONDS:
            last_sent_at = monotonic()
            yield b": still here\n\n"

        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), POLL_SECONDS)
            return


def _encode(number: int, event: JobEventRecord, locale: str) -> bytes:
    data = msgspec.json.encode(event_json(event, locale))
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (number, event.event.encode(), data)
