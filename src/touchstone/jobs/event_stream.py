"""A job's events as a stream (server-sent events, WHATWG HTML, section 9.2), from any point on, until it has ended."""

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
from touchstone.jobs.job_view import event
from touchstone.jobs.states import FINAL, JobState
from touchstone.jobs.store import Row

POLL_SECONDS: Final = 0.25
HEARTBEAT_SECONDS: Final = 15.0
HEADERS: Final = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


def last_event_id(value: str | None) -> int:
    """The event after which to go on; what is not a number of ours starts from the first."""
    is_ours = value and value.isascii() and value.isdigit() and len(value) < 16
    return min(int(value or 0), INT32_MAX) if is_ours else 0


async def stream(
    database: Database, job_id: UUID, last: int, *, locale: str, stop: asyncio.Event
) -> AsyncIterator[bytes]:
    """The events after `last` as they come; ends with the job, with its row, or at the stop."""
    yield b"retry: 1000\n\n"
    spoken = monotonic()
    while True:
        try:
            async with database.reading() as rows:
                status = await store.status(rows, job_id)
                found = await store.events_after(rows, job_id, last)
        except Unavailable:  # for a while: whoever listens goes on listening
            status, found = JobState.RUNNING, ()
        for row in found:
            last, spoken = last + 1, monotonic()
            yield _frame(last, row, locale)
        if status is None or (status in FINAL and len(found) < store.EVENTS_AT_ONCE):
            return
        if monotonic() - spoken > HEARTBEAT_SECONDS:
            spoken = monotonic()
            yield b": still here\n\n"
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), POLL_SECONDS)
            return


def _frame(number: int, row: Row, locale: str) -> bytes:
    data = msgspec.json.encode(event(row, locale))
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (number, row["event"].encode(), data)
