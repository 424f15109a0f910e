"""The rules of following a job's event stream over unreliable connections, without any I/O."""

from typing import Any, Final

import httpx2
import msgspec

from touchstone.client.errors import TouchstoneError, unreachable
from touchstone.client.models import JobEvent

FINAL_STATES: Final = frozenset({"succeeded", "failed", "cancelled"})
MAX_SILENT_CONNECTIONS: Final = 4  # connections in a row without an event, after which the stream is given up
DEFAULT_RECONNECT_DELAY_SECONDS: Final = 0.5


class EventStream:
    """The state of one job's event stream, which may take several connections to read.

    Attributes:
        last_event_id: The id of the last event, after which the next connection continues.
    """

    def __init__(self, last_event_id: str | None = None) -> None:
        self.last_event_id = last_event_id
        self._job_is_done = False
        self._silent_connections = 0
        self._last_error: httpx2.RequestError | None = None
        self._retry_delay_seconds = DEFAULT_RECONNECT_DELAY_SECONDS

    @property
    def reconnect_delay_seconds(self) -> float:
        """The seconds to wait before the next connection; 0 if the job is done and there will be none."""
        return 0.0 if self._job_is_done else self._retry_delay_seconds

    def begin_connection(self) -> bool:
        """Count a new connection and return True, or return False if the stream has ended.

        The stream has ended if the job is done, or if several connections in a row brought no event. A connection
        counts as silent until `read_message` returns an event from it.

        Raises:
            TouchstoneError: Several connections in a row brought no event, and one of them failed.
        """
        if self._job_is_done:
            return False

        if self._silent_connections == MAX_SILENT_CONNECTIONS:
            if self._last_error is not None:
                raise unreachable(self._last_error)
            return False

        self._silent_connections += 1
        return True

    def connection_failed(self, error: httpx2.RequestError) -> None:
        """Remember why a connection ended, for the error message if the stream is given up."""
        self._last_error = error

    def read_message(self, message: httpx2.ServerSentEvent) -> JobEvent | None:
        """Return the event in a message, or None if the message only sets the delay before reconnecting.

        The event also tells whether the job is done, and where the next connection continues.
        """
        if message.retry is not None:
            self._retry_delay_seconds = message.retry / 1000
        if not message.data:
            return None

        self._silent_connections = 0
        self._last_error = None

        data = _decode_data(message)
        self.last_event_id = message.id or self.last_event_id
        if data.get("done") or message.event in FINAL_STATES or data.get("status") in FINAL_STATES:
            self._job_is_done = True
        return JobEvent(id=message.id, event=message.event, data=data)


def _decode_data(message: httpx2.ServerSentEvent) -> dict[str, Any]:
    """Return the JSON object in a message.

    Raises:
        TouchstoneError: The message contains something else.
    """
    try:
        return msgspec.json.decode(message.data, type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise TouchstoneError(200, "unreadable", "The event stream is not one of this service.") from error
