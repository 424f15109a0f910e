"""A job's events as a stream (server-sent events, WHATWG HTML, section 9.2), from any point on, until it has ended."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from time import monotonic
from typing import Final
from uuid import UUID

import msgspec

from touchstone.jobs import store
from touchstone.jobs.room import Jobs
from touchstone.jobs.showing import event
from touchstone.jobs.states import FINAL
from touchstone.jobs.store import Row

POLL_SECONDS: Final = 0.25
HEARTBEAT_SECONDS: Final = 15.0
HEADERS: Final = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


def last_event_id(value: str | None) -> int:
    """The event after which to go on; what is not a number of ours starts from the first."""
    return int(value) if value and value.isascii() and value.isdigit() and len(value) < 16 else 0


async def stream(jobs: Jobs, job_id: UUID, last: int, *, locale: str) -> AsyncIterator[bytes]:
    """The events after `last` as they come; ends with the job, with its row, or when this process stops."""
    yield b"retry: 1000\n\n"
    spoken = monotonic()
    while True:
        async with jobs.database.reading() as rows:
            found = await store.events_after(rows, job_id, last)
            there = found or await store.exists(rows, job_id)
        for row in found:
            last, spoken = row["id"], monotonic()
            yield _frame(row, locale)
        if not there or any(row["event"] in FINAL for row in found):
            return
        if monotonic() - spoken > HEARTBEAT_SECONDS:
            spoken = monotonic()
            yield b": still here\n\n"
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(jobs.closing.wait(), POLL_SECONDS)
            return


def _frame(row: Row, locale: str) -> bytes:
    data = msgspec.json.encode(event(row, locale))
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (row["id"], row["event"].encode(), data)
