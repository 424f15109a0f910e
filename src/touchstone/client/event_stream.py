"""The protocol of following a job's event stream over unreliable connections, without any I/O."""

from typing import Any, Final

import httpx2
import msgspec

from touchstone.client.errors import TouchstoneError, unreachable
from touchstone.client.models import JobEvent

FINAL: Final = frozenset({"succeeded", "failed", "cancelled"})
SILENT_CONNECTIONS: Final = 4  # connections in a row that brought nothing; then the stream is given up
RECONNECT: Final = 0.5  # seconds, unless the service says otherwise


class EventLog:
    """What has been heard so far, and whether to listen on.

    Attributes:
        last_id: id of the last event, from which a new connection goes on.
        pause: seconds to wait before the next connection.
    """

    def __init__(self, after: str | None = None) -> None:
        self.last_id = after
        self._silent = 0
        self._final = False
        self._reconnect = RECONNECT
        self._problem: httpx2.RequestError | None = None

    @property
    def pause(self) -> float:
        """Return the seconds to wait before the next connection; None if there will be none."""
        return 0.0 if self._final else self._reconnect

    def goes_on(self) -> bool:
        """Return whether another connection may bring more events.

        Raises:
            TouchstoneError: too many have broken in a row.
        """
        if self._silent == SILENT_CONNECTIONS and self._problem is not None:
            raise unreachable(self._problem)
        listening = not self._final and self._silent < SILENT_CONNECTIONS
        self._silent += 1
        return listening

    def broke(self, problem: httpx2.RequestError) -> None:
        """Note why a connection ended."""
        self._problem = problem

    def take(self, message: httpx2.ServerSentEvent) -> JobEvent | None:
        """Return the event of a message; None if the message only sets the delay before reconnecting."""
        self._reconnect = self._reconnect if message.retry is None else message.retry / 1000
        if not message.data:
            return None
        self._silent, self._problem = 0, None
        data = _data(message)
        self.last_id = message.id or self.last_id
        self._final = self._final or bool(data.get("done")) or not FINAL.isdisjoint((message.event, data.get("status")))
        return JobEvent(id=message.id, event=message.event, data=data)


def _data(message: httpx2.ServerSentEvent) -> dict[str, Any]:
    try:
        return msgspec.json.decode(message.data, type=dict[str, Any])
    except msgspec.DecodeError as problem:
        raise TouchstoneError(200, "unreadable", "The event stream is not one of this service.") from problem
