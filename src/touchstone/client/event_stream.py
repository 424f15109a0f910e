"""The rules for following event streams over unreliable connections, without any I/O."""

import time
from typing import Any, Final, Protocol

import httpx2
import msgspec

from touchstone.client.call import Call, media_type_of
from touchstone.client.errors import TouchstoneError, connection_error, unreadable_response
from touchstone.client.models import JobEvent
from touchstone.client.retries_and_renewals import MAX_OUTAGE_SECONDS, is_temporary
from touchstone.core.json_decoding import decode_json

EVENT_STREAM: Final = "text/event-stream"
FINAL_STATES: Final = frozenset({"succeeded", "failed", "cancelled"})
# The stream is given up after this many connections in a row without an event, but not before `MAX_OUTAGE_SECONDS`.
MAX_SILENT_CONNECTIONS: Final = 4
DEFAULT_RECONNECT_DELAY_SECONDS: Final = 0.5


class OpenStream(Protocol):
    """A function that describes the call for an event stream."""

    def __call__(self, *, after: str | None) -> Call[httpx2.Response]:
        """Return the call that opens the stream after the event with the id `after`."""


class EventStream:
    """The state of one event stream, which may be read over several connections.

    Attributes:
        last_event_id: the id of the last event that was received; the next connection continues after it.
    """

    def __init__(self, last_event_id: str | None = None) -> None:
        self.last_event_id = last_event_id
        self._job_is_done = False
        self._silent_connections = 0
        self._last_event_at = time.monotonic()
        self._last_error: TouchstoneError | None = None
        self._retry_delay_seconds = DEFAULT_RECONNECT_DELAY_SECONDS

    @property
    def reconnect_delay_seconds(self) -> float:
        """The seconds to wait before the next connection, or 0 if the job is done."""
        return 0.0 if self._job_is_done else self._retry_delay_seconds

    @property
    def has_ended(self) -> bool:
        """Whether the job is done, or the stream was given up after several connections without an event."""
        silent_seconds = time.monotonic() - self._last_event_at
        is_given_up = self._silent_connections >= MAX_SILENT_CONNECTIONS and silent_seconds > MAX_OUTAGE_SECONDS
        return self._job_is_done or is_given_up

    def begin_connection(self) -> None:
        """Count a new connection as silent, until `read_message` returns an event from it."""
        self._silent_connections += 1

    def has_events(self, response: httpx2.Response) -> bool:
        """Return whether an open response contains events; otherwise, the job is done and has no further events.

        Raises:
            TouchstoneError: the response is something else, because a proxy or another service has responded.
        """
        if response.status_code == httpx2.codes.NO_CONTENT:
            self._job_is_done = True
            return False

        if media_type_of(response) != EVENT_STREAM:
            raise unreadable_response(response.status_code, "it is not an event stream")
        return True

    def record_failure(self, error: httpx2.RequestError | TouchstoneError) -> None:
        """Record the error of a failed connection, for the error message if the stream is given up.

        Raises:
            TouchstoneError: another connection cannot succeed, because the service has refused the call.
        """
        self._last_error = connection_error(error) if isinstance(error, httpx2.RequestError) else error
        if not is_temporary(self._last_error):
            raise self._last_error

    def check_completeness(self) -> None:
        """Raise TouchstoneError if connections failed and the stream was given up before the job was done."""
        if self._last_error is not None and not self._job_is_done:
            raise self._last_error

    def read_message(self, message: httpx2.ServerSentEvent) -> JobEvent | None:
        """Return the event in a message, or None if the message only sets the delay before reconnecting.

        The method also updates the id of the last event, and whether the job is done.
        """
        if message.retry is not None:
            self._retry_delay_seconds = message.retry / 1000
        if not message.data:
            return None

        event = JobEvent(id=message.id, event=message.event, data=_decode_data(message))
        if _is_final(event):
            self._job_is_done = True

        self.last_event_id = message.id or self.last_event_id
        self._silent_connections = 0
        self._last_event_at = time.monotonic()
        self._last_error = None
        return event


def _is_final(event: JobEvent) -> bool:
    """Return whether a job is done after this event, which then contains `done` or a final state."""
    if event.data.get("done"):
        return True
    return event.event in FINAL_STATES or event.data.get("status") in FINAL_STATES


def _decode_data(message: httpx2.ServerSentEvent) -> dict[str, Any]:
    """Return the JSON object in a message.

    Raises:
        TouchstoneError: the message does not contain a JSON object.
    """
    try:
        return decode_json(message.data, dict[str, Any])
    except msgspec.DecodeError as error:
        raise unreadable_response(httpx2.codes.OK, error) from error
