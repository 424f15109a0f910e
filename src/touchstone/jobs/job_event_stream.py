"""The event stream of a job, as server-sent events (WHATWG HTML, section 9.2) until the job has ended."""

import asyncio
from collections.abc import AsyncIterator
from time import monotonic
from typing import Final, NamedTuple
from uuid import UUID

import msgspec

from touchstone.core.attributes import INT32_MAX
from touchstone.core.errors import Unavailable
from touchstone.core.event_waiting import wait_until_set
from touchstone.database.engine import Database
from touchstone.jobs import job_store
from touchstone.jobs.job_json import event_json
from touchstone.jobs.job_records import JobEventRecord
from touchstone.jobs.job_states import FINAL_STATES, JobState

POLL_SECONDS: Final = 0.25
HEARTBEAT_SECONDS: Final = 15.0
MAX_EVENT_ID_DIGITS: Final = 15
HEADERS: Final = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}

RECONNECT_AFTER_ONE_SECOND: Final = b"retry: 1000\n\n"
HEARTBEAT_COMMENT: Final = b": still here\n\n"


class _Progress(NamedTuple):
    """The state of a job, or None if it is deleted, and the events after the last one that was sent."""

    state: JobState | None
    events: list[JobEventRecord]


def parse_last_event_id(header_value: str | None) -> int:
    """Return the number of the last event that a reconnecting client has received.

    Args:
        header_value: the Last-Event-ID header, or None.

    Returns:
        the number, or 0 for all events if the header is absent or is not an id from this service.
    """
    if not header_value or len(header_value) > MAX_EVENT_ID_DIGITS:
        return 0
    if not (header_value.isascii() and header_value.isdigit()):
        return 0
    return min(int(header_value), INT32_MAX)


async def stream_events(
    database: Database, job_id: UUID, last_event_number: int, *, locale: str, stop: asyncio.Event
) -> AsyncIterator[bytes]:
    """Yield the events of a job after event `last_event_number`, as they happen.

    The stream ends when the job has ended and all its events are sent, when the job is deleted, or when `stop` is set.
    Without events, a comment is sent every `HEARTBEAT_SECONDS`, so that no proxy closes a silent connection.
    """
    yield RECONNECT_AFTER_ONE_SECOND
    last_sent_at = monotonic()

    while True:
        progress = await _load_progress(database, job_id, last_event_number)

        for event in progress.events:
            last_event_number += 1
            last_sent_at = monotonic()
            yield _encode_event(last_event_number, event, locale)

        is_deleted = progress.state is None
        may_have_more_events = len(progress.events) == job_store.MAX_EVENTS_PER_QUERY
        has_ended = progress.state in FINAL_STATES and not may_have_more_events
        if is_deleted or has_ended:
            return

        if monotonic() - last_sent_at > HEARTBEAT_SECONDS:
            last_sent_at = monotonic()
            yield HEARTBEAT_COMMENT

        if await wait_until_set(stop, POLL_SECONDS):
            return


async def _load_progress(database: Database, job_id: UUID, last_event_number: int) -> _Progress:
    """Return the state of a job and its next events.

    While the database is unavailable, the job counts as running without events, so that the client stays connected.
    """
    try:
        async with database.reading() as connection:
            state = await job_store.load_state(connection, job_id)
            events = await job_store.load_events_after(connection, job_id, last_event_number)
    except Unavailable:
        return _Progress(JobState.RUNNING, [])
    return _Progress(state, events)


def _encode_event(number: int, event: JobEventRecord, locale: str) -> bytes:
    """Format a server-sent event, with its number as the id and JSON as the data."""
    data = msgspec.json.encode(event_json(event, locale))
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (number, event.name.encode(), data)
